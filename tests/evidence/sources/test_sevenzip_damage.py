"""An archive that is damaged, hostile or unknown is refused in one sentence, and nothing is read beyond its bounds."""

import random
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import py7zr
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.archives import (
    METHODS,
    PPMD,
    SITE,
    deflated,
    named,
    number,
    pack,
    rows,
    single_member,
    unpack,
    with_start,
    written,
)

from quaestor.base.errors import InputError
from quaestor.evidence.sources.sevenzip import SevenZip, looks_like_sevenzip
from quaestor.evidence.sources.sevenzip import archive as sevenzip
from quaestor.evidence.sources.sevenzip.header import HEADER_LIMIT


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


class TestRefusals:
    def test_a_file_that_is_not_an_archive_is_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path / "Posts.xml", b"<posts></posts>" * 10)
        assert not looks_like_sevenzip(path)
        with pytest.raises(InputError, match=r"Posts\.xml is not a 7z archive; give"):
            SevenZip(path)

    def test_a_missing_path_is_refused(self, tmp_path: Path) -> None:
        assert not looks_like_sevenzip(tmp_path / "nowhere.7z")
        with pytest.raises(InputError, match=r"cannot be read .*; check the path"):
            SevenZip(tmp_path / "nowhere.7z")

    def test_an_archive_is_recognized_by_its_signature(self, tmp_path: Path) -> None:
        assert looks_like_sevenzip(pack(tmp_path / "site.7z", {"a": b"a"}))

    @pytest.mark.parametrize("hide_names", [False, True])
    def test_an_encrypted_archive_is_refused(self, hide_names: bool, tmp_path: Path) -> None:
        path = tmp_path / "secret.7z"
        with py7zr.SevenZipFile(path, "w", password="key", header_encryption=hide_names) as archive:
            archive.writestr(b"secret", "a")
        with pytest.raises(InputError, match=r"is encrypted; unpack it with its password"):
            SevenZip(path)

    @pytest.mark.usefixtures("no_programs")
    def test_ppmd_without_a_program_names_the_method_and_the_remedy(self, tmp_path: Path) -> None:
        path = pack(tmp_path / "ppmd.7z", SITE, PPMD)
        with pytest.raises(InputError, match=r"packed with PPMd and needs the program 7zz; install .* `7zip`"):
            SevenZip(path)

    @pytest.mark.usefixtures("no_programs")
    def test_an_unknown_method_is_refused_without_a_program(self, tmp_path: Path) -> None:
        path = written(tmp_path / "new.7z", single_member(b"abc", 3, coder=b"\x02\xab\xcd"))
        with pytest.raises(InputError, match="the method abcd"):
            SevenZip(path)

    @pytest.mark.parametrize(
        ("coder", "is_refused"),
        [
            (b"\x23\x03\x01\x01\x05\x5d" + struct.pack("<I", 2**29), False),
            (b"\x23\x03\x01\x01\x05\x5d" + struct.pack("<I", 2**29 + 1), True),
            (b"\x21\x21\x01\x22", False),
            (b"\x21\x21\x01\x23", True),
            (b"\x21\x21\x01\xff", True),
        ],
    )
    def test_a_dictionary_over_the_limit_is_refused(self, coder: bytes, is_refused: bool, tmp_path: Path) -> None:
        path = written(tmp_path / "wide.7z", single_member(b"abc", 3, coder=coder))
        if is_refused:
            with pytest.raises(InputError, match=r"dictionary of .* bytes of memory, over 536,870,912; pack"):
                SevenZip(path)
        else:
            assert len(SevenZip(path).members) == 1

    def test_too_many_members_or_blocks_are_refused(self, tmp_path: Path) -> None:
        lies: list[dict[str, Any]] = [
            {"files": named("a", count=100_001)},
            {"files": named("a", count=2**64 - 1)},
            {"blocks": 2**60},
        ]
        for lie in lies:
            path = written(tmp_path / "many.7z", single_member(b"abc", 3, **lie))
            with pytest.raises(InputError, match=r"broken 7z header \(it claims .*, more than 100,000\)"):
                SevenZip(path)

    def test_a_header_with_a_huge_declared_size_is_refused(self, tmp_path: Path) -> None:
        start = struct.pack("<QQI", 0, 2**62, 0)
        data = sevenzip.MAGIC + b"\x00\x04" + struct.pack("<I", zlib.crc32(start)) + start
        with pytest.raises(InputError, match="7z header of 4,611,686,018,427,387,904 bytes"):
            SevenZip(written(tmp_path / "huge.7z", data))

    def test_a_header_that_unpacks_over_the_limit_is_refused(self, tmp_path: Path) -> None:
        size = HEADER_LIMIT + 1
        streams = b"\x06\x00\x01\x09\x01\x00\x07\x0b\x01\x00\x01\x01\x00\x0c" + number(size) + b"\x00\x00"
        path = written(tmp_path / "bomb.7z", with_start(b"x", b"\x17" + streams))
        with pytest.raises(InputError, match="unpacks to more than"):
            SevenZip(path)

    def test_a_header_of_endless_parts_is_refused_at_once(self, tmp_path: Path) -> None:
        path = written(tmp_path / "parts.7z", with_start(b"", b"\x01\x05\x00" + b"\x19\x00" * 2_000_000))
        begun = time.monotonic()
        with pytest.raises(InputError, match="more than 1,000 parts"):
            SevenZip(path)
        assert time.monotonic() - begun < 1

    @pytest.mark.usefixtures("no_programs")
    def test_lzma_with_unsupported_properties_is_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path / "lc8.7z", single_member(b"abc", 3, coder=b"\x23\x03\x01\x01\x05\x08\0\0\1\0"))
        with pytest.raises(InputError, match="packed with LZMA in unusual settings"):
            SevenZip(path)

    @pytest.mark.usefixtures("no_programs")
    @pytest.mark.parametrize(
        ("joints", "told"),
        [
            (b"\x01\x02\x02\x01", "do not form a chain"),
            (b"\x00\x01\x01\x01", "joined wrongly"),
            (b"\x01\x00\x01\x02", "joined wrongly"),
            (b"\x01\x00\x03\x02", "it claims 3 inputs"),
        ],
        ids=["a ring beside the last", "one output twice", "one input twice", "an input that is not there"],
    )
    def test_coders_that_do_not_form_a_chain_are_refused(self, joints: bytes, told: str, tmp_path: Path) -> None:
        coders = b"\x03" + b"\x01\x00" * 3 + joints
        streams = b"\x06\x00\x01\x09\x03\x00\x07\x0b\x01\x00" + coders + b"\x0c\x03\x03\x03\x00\x00"
        header = b"\x01\x04" + streams + named("a") + b"\x00"
        with pytest.raises(InputError, match=told):
            SevenZip(written(tmp_path / "joints.7z", with_start(b"abc", header)))

    @pytest.mark.parametrize(
        ("lie", "told"),
        [
            ({"offset": 1_000}, "cut short"),
            ({"offset": 2**64 - 1}, "cut short"),
            (
                {"blocks": 2, "coder": b"\x01\x00\x01\x01\x00", "sizes": (3, 3)},
                "a block has no packed stream",
            ),
            ({"substreams": b"\x08\x0d\x02\x09\x04\x00"}, "larger than their block"),
            ({"substreams": b"\x08\x0d\x02\x00"}, "the sizes of the members are missing"),
            ({"files": named("a", "b")}, "as many members as it holds"),
            ({"files": named("a", "b", count=1)}, "as many members as it holds"),
            ({"files": named("a", count=2)}, "as many members as it holds"),
            ({"files": b"\x05\x01\x11\x04\x00a\x00\x00\x00"}, "as many members as it holds"),
            ({"files": b"\x05\x01\x00"}, "the names are missing"),
            ({"files": b"\x05\x01\x11\x01\x01\x00"}, "outside of the header"),
            ({"files": b"\x77"}, "its part 0x77 is unknown"),
        ],
        ids=str,
    )
    def test_a_contradictory_header_is_refused(self, lie: dict[str, Any], told: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=told):
            SevenZip(written(tmp_path / "lie.7z", single_member(b"abc", 3, **lie)))


class TestDamage:
    def test_an_archive_truncated_anywhere_is_refused(self, tmp_path: Path) -> None:
        whole = pack(tmp_path / "site.7z", {"a": rows(50), "b": rows(20, 2)}).read_bytes()
        for length in range(len(whole)):
            with pytest.raises(InputError, match=r"cut short|not a 7z archive"):
                SevenZip(written(tmp_path / "cut.7z", whole[:length]))

    @pytest.mark.parametrize("method", METHODS)
    def test_flipped_bytes_give_an_error_or_the_original_content(self, method: str, tmp_path: Path) -> None:
        contents = {"a": rows(60), "b": rows(20, 2), "c": b""}
        whole = pack(tmp_path / "site.7z", contents, METHODS[method]).read_bytes()
        chance = random.Random(7)
        failures = 0
        for _ in range(300):
            data = bytearray(whole)
            for _ in range(chance.choice((1, 1, 3))):
                data[chance.randrange(len(data))] ^= chance.randint(1, 255)
            try:
                assert unpack(SevenZip(written(tmp_path / "flipped.7z", bytes(data)))) == contents
            except InputError:
                failures += 1
        assert failures > 200

    @settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(header=st.binary(max_size=200))
    @example(header=b"")
    @example(header=b"\x01")
    @example(header=b"\x17")
    def test_any_header_with_a_right_checksum_gives_members_or_an_error(self, header: bytes, tmp_path: Path) -> None:
        opens_or_says_why(written(tmp_path / "hostile.7z", with_start(rows(20), header)))

    def test_a_header_changed_or_cut_at_any_byte_gives_members_or_an_error(self, tmp_path: Path) -> None:
        packed, header = plain_archive(tmp_path)
        path = tmp_path / "hostile.7z"
        opened = [opens_or_says_why(written(path, with_start(packed, header)))]
        for place in range(len(header)):
            opens_or_says_why(written(path, with_start(packed, header[:place])))
            opens_or_says_why(written(path, with_start(packed, header[:place] + header[place + 1 :])))
            for value in (0, 1, 2, 3, 6, 9, 10, 14, 15, 17, 25, 0x40, 0x7F, 0x80, 0xC0, 0xFE, 0xFF):
                hostile = header[:place] + bytes([value]) + header[place + 1 :]
                opened.append(opens_or_says_why(written(path, with_start(packed, hostile))))
        assert opened[0]
        assert 0.1 < sum(opened) / len(opened) < 0.9

    def test_a_flipped_byte_in_the_start_header_is_found(self, tmp_path: Path) -> None:
        data = bytearray(pack(tmp_path / "site.7z", {"a": b"a"}).read_bytes())
        data[12] ^= 1
        with pytest.raises(InputError, match=r"damaged 7z beginning .*; get the archive again"):
            SevenZip(written(tmp_path / "flipped.7z", bytes(data)))

    def test_a_flipped_byte_in_a_plain_header_is_found(self, tmp_path: Path) -> None:
        data = single_member(b"abc", 3).replace(b"P\0o\0s\0t\0", b"P\0a\0s\0t\0")
        with pytest.raises(InputError, match=r"damaged 7z header \(its checksum is wrong\); get the"):
            SevenZip(written(tmp_path / "flipped.7z", data))

    @pytest.mark.parametrize("is_right", [True, False])
    def test_a_flipped_byte_in_a_packed_header_is_found(self, is_right: bool, tmp_path: Path) -> None:
        packed, header = plain_archive(tmp_path)
        checksum = struct.pack("<I", zlib.crc32(header) ^ (not is_right))
        pack_info = b"\x06" + number(len(packed)) + b"\x01\x09" + number(len(header)) + b"\x00"
        sizes = b"\x0c" + number(len(header)) + b"\x0a\x01" + checksum + b"\x00"
        encoded = b"\x17" + pack_info + b"\x07\x0b\x01\x00\x01\x01\x00" + sizes + b"\x00"
        path = written(tmp_path / "packed.7z", with_start(packed + header, encoded))
        if is_right:
            assert [member.name for member in SevenZip(path).members] == ["a", "b", "c"]
        else:
            with pytest.raises(InputError, match=r"damaged 7z header \(it unpacks wrongly\); get the"):
                SevenZip(path)

    def test_a_wrong_checksum_is_reported_after_the_bytes(self, tmp_path: Path) -> None:
        data = rows(30_000)
        archive = SevenZip(written(tmp_path / "a.7z", single_member(data, len(data), digest=1)))
        got = []
        with pytest.raises(InputError, match=r"a\.7z: member 'Posts\.xml' .*checksum is wrong.*; get the") as error:
            for _, pieces in archive.stream(lambda _: True):
                for piece in pieces:
                    got.append(piece)
        assert b"".join(got) == data
        assert f"at byte {len(data):,} of {len(data):,}" in str(error.value)

    @pytest.mark.parametrize(("method", "coder"), [("Copy", b"\x01\x00"), ("Deflate", b"\x03\x04\x01\x08")])
    def test_a_member_shorter_than_declared_gives_its_bytes_first(
        self, method: str, coder: bytes, tmp_path: Path
    ) -> None:
        data = rows(30_000)
        archive = SevenZip(written(tmp_path / "a.7z", single_member(deflated(data, method), 2**62, coder=coder)))
        got = []
        with pytest.raises(InputError, match=f"at byte {len(data):,} of .*ends too early"):
            for _, pieces in archive.stream(lambda _: True, programs=False):
                for piece in pieces:
                    got.append(piece)
        assert b"".join(got) == data

    @pytest.mark.parametrize(("method", "coder"), [("Copy", b"\x01\x00"), ("Deflate", b"\x03\x04\x01\x08")])
    @pytest.mark.parametrize("size", [10, 1_048_576])
    def test_a_member_longer_than_declared_is_cut_at_its_declared_size(
        self, method: str, coder: bytes, size: int, tmp_path: Path
    ) -> None:
        data = rows(30_000)
        lie = single_member(deflated(data, method), size, coder=coder, digest=zlib.crc32(data[:size]))
        got = []
        with pytest.raises(InputError, match="more data follows than the header declares"):
            for _, pieces in SevenZip(written(tmp_path / "a.7z", lie)).stream(lambda _: True, programs=False):
                for piece in pieces:
                    got.append(piece)
        assert b"".join(got) == data[:size]


def plain_archive(folder: Path) -> tuple[bytes, bytes]:
    """The packed data and the readable header of three members in one block, for changing."""
    path = folder / "plain.7z"
    with py7zr.SevenZipFile(path, "w", filters=METHODS["LZMA"]) as archive:
        archive.set_encoded_header_mode(False)
        for name, data in {"a": rows(20), "b": b"", "c": b"c"}.items():
            archive.writestr(data, name)
    data = path.read_bytes()
    (offset,) = struct.unpack("<Q", data[12:20])
    return data[sevenzip.START_SIZE : sevenzip.START_SIZE + offset], data[sevenzip.START_SIZE + offset :]


def opens_or_says_why(path: Path) -> bool:
    """Says whether an archive could be read; any other failure than the one for people is the test's."""
    try:
        unpack(SevenZip(path))
    except InputError as error:
        assert str(error).startswith(str(path))
        return False
    return True
