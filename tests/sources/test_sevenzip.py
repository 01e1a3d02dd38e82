"""A 7z archive gives back what was packed into it, in small pieces, or says in one sentence why it cannot."""

import bz2
import lzma
import os
import random
import shutil
import stat
import struct
import subprocess
import time
import tracemalloc
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped,unused-ignore]
import py7zr
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.sources.sevenzip import Member, SevenZip, looks_like_sevenzip
from quaestor.sources.sevenzip import archive as sevenzip
from quaestor.sources.sevenzip.header import HEADER_LIMIT

METHODS: dict[str, list[dict[str, int]] | None] = {
    "the default of py7zr": None,
    "LZMA2": [{"id": py7zr.FILTER_LZMA2, "preset": 1}],
    "LZMA": [{"id": py7zr.FILTER_LZMA, "preset": 1}],
    "BZip2": [{"id": py7zr.FILTER_BZIP2}],
    "Deflate": [{"id": py7zr.FILTER_DEFLATE}],
    "Copy": [{"id": py7zr.FILTER_COPY}],
    "Delta and LZMA2": [{"id": py7zr.FILTER_DELTA, "dist": 3}, {"id": py7zr.FILTER_LZMA2, "preset": 1}],
    "Delta and LZMA": [{"id": py7zr.FILTER_DELTA, "dist": 1}, {"id": py7zr.FILTER_LZMA, "preset": 1}],
    "BCJ and LZMA": [{"id": py7zr.FILTER_X86}, {"id": py7zr.FILTER_LZMA, "preset": 1}],
    "BCJ and BZip2": [{"id": py7zr.FILTER_X86}, {"id": py7zr.FILTER_BZIP2}],
}
PPMD = [{"id": py7zr.FILTER_PPMD, "order": 6, "mem": 20}]
SEVEN_ZIP = next(filter(None, map(shutil.which, ("7zz", "7z", "7za"))), None)
BSDTAR = shutil.which("bsdtar")

needs_seven_zip = pytest.mark.skipif(not SEVEN_ZIP, reason="no 7zz, 7z or 7za on this machine")
needs_bsdtar = pytest.mark.skipif(not BSDTAR, reason="no bsdtar on this machine")


def rows(count: int, seed: int = 1) -> bytes:
    """Text as in a dump; the opcodes of near calls in it give a BCJ filter something to change."""
    chance = random.Random(seed)
    lines = (
        b'  <row Id="%d" Score="%d" Body="\xe8%b\xff %x" />\n'
        % (number, chance.randint(-3, 50), chance.randbytes(3), chance.getrandbits(64))
        for number in range(count)
    )
    return b"".join(lines)


SITE = {
    "Posts.xml": rows(3_000) * 9,
    "folder/Users.xml": rows(500, seed=2),
    "наборы/Ψηφίδες 📦.xml": rows(300, seed=3),
    "empty.xml": b"",
    "one byte": b"\xe8",
    "Tags.xml": rows(7, seed=4),
}


def pack(
    path: Path,
    contents: Mapping[str, bytes],
    filters: list[dict[str, int]] | None = None,
    password: str | None = None,
    mode: str = "w",
) -> Path:
    with py7zr.SevenZipFile(path, mode, filters=filters, password=password) as archive:
        for name, data in contents.items():
            archive.writestr(data, name)
    return path


def pack_in_blocks(path: Path, *blocks: Mapping[str, bytes]) -> Path:
    """Each addition to an archive becomes a solid block of its own."""
    for block in blocks:
        pack(path, block, METHODS["LZMA2"], mode="a" if path.exists() else "w")
    return path


def unpack(archive: SevenZip, *, programs: bool = False) -> dict[str, bytes]:
    return {m.name: b"".join(pieces) for m, pieces in archive.stream(lambda _: True, programs=programs)}


def with_start(packed: bytes, header: bytes) -> bytes:
    """A whole archive around packed data and a plain header, as hostile as the header is."""
    start = struct.pack("<QQI", len(packed), len(header), zlib.crc32(header))
    return sevenzip.MAGIC + b"\x00\x04" + struct.pack("<I", zlib.crc32(start)) + start + packed + header


def number(value: int) -> bytes:
    return b"\xff" + value.to_bytes(8, "little")


def single_member(
    packed: bytes,
    size: int,
    *,
    coder: bytes = b"\x01\x00",
    digest: int | None = None,
    name: str = "Posts.xml",
    blocks: int = 1,
    sizes: tuple[int, ...] = (),
    offset: int = 0,
    substreams: bytes = b"",
    files: bytes | None = None,
) -> bytes:
    """An archive of one member and one coder, where each part may be a lie."""
    digests = b"" if digest is None else b"\x0a\x01" + struct.pack("<I", digest)
    pack_info = b"\x06" + number(offset) + b"\x01\x09" + number(len(packed)) + b"\x00"
    folders = b"\x0b" + number(blocks) + b"\x00" + b"\x01" + coder
    unpack_info = b"\x07" + folders + b"\x0c" + b"".join(map(number, sizes or (size,))) + digests + b"\x00"
    streams = b"\x04" + pack_info + unpack_info + substreams + b"\x00"
    return with_start(packed, b"\x01" + streams + (named(name) if files is None else files) + b"\x00")


def named(*names: str, count: int | None = None, marks: bytes = b"") -> bytes:
    """The part of a header that lists the members."""
    text = b"\x00" + "".join(f"{name}\0" for name in names).encode("utf-16-le")
    listed = b"\x11" + number(len(text)) + text
    return b"\x05" + number(len(names) if count is None else count) + marks + listed + b"\x00"


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


def only(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    """Leaves one program on the PATH."""
    found = shutil.which(program)
    assert found
    folder.mkdir()
    (folder / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))


def fake_program(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Puts a 7zz on the PATH that does what the test needs a program to do."""
    folder.mkdir()
    program = folder / "7zz"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


class TestContents:
    @pytest.mark.parametrize("method", METHODS)
    def test_every_method_gives_back_what_was_packed(self, method: str, tmp_path: Path) -> None:
        archive = SevenZip(pack(tmp_path / "site.7z", SITE, METHODS[method]))
        assert [(m.name, m.size) for m in archive.members] == [(n, len(data)) for n, data in SITE.items()]
        assert unpack(archive) == SITE

    @pytest.mark.parametrize("method", METHODS)
    def test_every_length_near_the_end_of_a_filter_is_whole(self, method: str, tmp_path: Path) -> None:
        for length in (1, 2, 4, 5, 9, 65_535, 65_536, 65_537, 1_048_576, 1_048_577):
            data = (b"\xe8\x01\x02\x00\x00" * (length // 5 + 1))[:length]
            path = pack(tmp_path / f"{length}.7z", {"a": data}, METHODS[method])
            assert unpack(SevenZip(path)) == {"a": data}

    def test_folders_are_no_members(self, tmp_path: Path) -> None:
        (tmp_path / "site" / "empty folder").mkdir(parents=True)
        (tmp_path / "site" / "empty.xml").touch()
        (tmp_path / "site" / "Posts.xml").write_bytes(b"<posts/>")
        with py7zr.SevenZipFile(tmp_path / "site.7z", "w") as archive:
            archive.writeall(tmp_path / "site", "site")
        assert unpack(SevenZip(tmp_path / "site.7z")) == {
            "site/Posts.xml": b"<posts/>",
            "site/empty.xml": b"",
        }

    def test_only_what_is_marked_as_an_empty_file_and_not_as_deleted_is_a_member(self, tmp_path: Path) -> None:
        # Four of five have no stream: a folder, an empty file, a deleted file and a deleted folder.
        marks = b"\x0e\x01\xb8" + b"\x0f\x01\x60" + b"\x10\x01\x30" + b"\x19\x02\x00\x00" + b"\x7f\x01x"
        files = named("folder", "full", "empty", "deleted", "deleted folder", marks=marks)
        archive = SevenZip(written(tmp_path / "marks.7z", single_member(b"abc", 3, files=files)))
        assert unpack(archive) == {"full": b"abc", "empty": b""}

    def test_members_of_a_block_with_its_own_checksum_keep_theirs(self, tmp_path: Path) -> None:
        checksums = struct.pack("<II", zlib.crc32(b"ab"), zlib.crc32(b"c"))
        lists = b"\x08\x0d\x02\x09\x02\x0a\x01" + checksums + b"\x00"
        data = single_member(b"abc", 3, digest=zlib.crc32(b"abc"), substreams=lists, files=named("a", "b"))
        assert unpack(SevenZip(written(tmp_path / "two.7z", data))) == {"a": b"ab", "b": b"c"}

    def test_half_a_surrogate_in_a_name_becomes_a_name_that_can_be_written(self, tmp_path: Path) -> None:
        names = b"\x05\x01\x11\x07\x00" + b"\x00\xd8" + b"a\x00" + b"\x00\x00" + b"\x00"
        (member,) = SevenZip(written(tmp_path / "half.7z", single_member(b"abc", 3, files=names))).members
        assert member.name.encode().decode() == member.name == "\ufffda"

    def test_an_archive_of_nothing_has_no_members(self, tmp_path: Path) -> None:
        path = pack(tmp_path / "nothing.7z", {})
        assert SevenZip(path).members == ()
        assert unpack(SevenZip(path)) == {}

    def test_a_header_that_is_not_packed_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "plain.7z"
        with py7zr.SevenZipFile(path, "w") as archive:
            archive.set_encoded_header_mode(False)
            archive.writestr(SITE["Posts.xml"], "Posts.xml")
        assert unpack(SevenZip(path)) == {"Posts.xml": SITE["Posts.xml"]}

    def test_bzip2_in_several_streams_is_read_to_the_last(self, tmp_path: Path) -> None:
        data = rows(2_000)
        packed = b"".join(bz2.compress(data[start : start + 30_000]) for start in range(0, len(data), 30_000))
        path = tmp_path / "streams.7z"
        written(path, single_member(packed, len(data), coder=b"\x03\x04\x02\x02", digest=zlib.crc32(data)))
        assert unpack(SevenZip(path)) == {"Posts.xml": data}

    def test_bytes_agree_with_py7zr(self, tmp_path: Path) -> None:
        path = pack(tmp_path / "site.7z", SITE)
        with py7zr.SevenZipFile(path) as archive:
            archive.extractall(tmp_path / "out")
        oracle = {name: (tmp_path / "out" / name).read_bytes() for name in SITE}
        assert unpack(SevenZip(path)) == oracle

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        contents=st.dictionaries(
            st.text("abcé📦 -@*", min_size=1, max_size=8).map(lambda name: f"folder/{name}x"),
            st.binary(max_size=3_000),
            min_size=1,
            max_size=6,
        ),
        method=st.sampled_from(sorted(METHODS)),
    )
    def test_whatever_is_packed_comes_back(self, contents: dict[str, bytes], method: str, tmp_path: Path) -> None:
        path = tmp_path / "any.7z"
        path.unlink(missing_ok=True)
        assert unpack(SevenZip(pack(path, contents, METHODS[method]))) == contents


class TestStreaming:
    def test_only_wanted_members_come_and_in_archive_order(self, tmp_path: Path) -> None:
        archive = SevenZip(pack(tmp_path / "site.7z", SITE))
        wanted = {"Tags.xml", "folder/Users.xml"}
        got = [(m, b"".join(pieces)) for m, pieces in archive.stream(lambda m: m.name in wanted)]
        assert got == [(Member(n, len(SITE[n])), SITE[n]) for n in ("folder/Users.xml", "Tags.xml")]

    def test_what_is_left_unread_is_skipped(self, tmp_path: Path) -> None:
        archive = SevenZip(pack(tmp_path / "site.7z", SITE))
        got: dict[str, bytes] = {}
        left: list[Iterator[bytes]] = []
        for member, pieces in archive.stream(lambda _: True, programs=False):
            if member.name == "Posts.xml":
                assert SITE["Posts.xml"].startswith(next(pieces))
                left.append(pieces)
            elif member.name == "folder/Users.xml":
                left.append(pieces)
            else:
                got[member.name] = b"".join(pieces)
        assert got == {n: data for n, data in SITE.items() if n not in ("Posts.xml", "folder/Users.xml")}
        assert [list(pieces) for pieces in left] == [[], []]

    def test_a_solid_block_is_decoded_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        archive = SevenZip(pack(tmp_path / "site.7z", SITE, METHODS["LZMA2"]))
        begun: list[object] = []
        decompressor = lzma.LZMADecompressor

        def counted(*arguments: Any, **settings: Any) -> lzma.LZMADecompressor:
            begun.append(arguments)
            return decompressor(*arguments, **settings)

        monkeypatch.setattr(lzma, "LZMADecompressor", counted)
        assert unpack(archive) == SITE
        assert len(begun) == 1

    def test_a_block_without_wanted_members_is_never_decoded(self, tmp_path: Path) -> None:
        path = pack_in_blocks(tmp_path / "site.7z", {"a": rows(900)}, {"b": rows(900, 2)}, {"c": b"c"})
        data = bytearray(path.read_bytes())
        data[2_000:6_000] = bytes(4_000)
        archive = SevenZip(written(path, bytes(data)))
        got = {m.name: b"".join(p) for m, p in archive.stream(lambda m: m.name != "a", programs=False)}
        assert got == {"b": rows(900, 2), "c": b"c"}
        with pytest.raises(InputError, match="'a' fails"):
            unpack(archive)

    def test_after_a_damaged_block_the_next_is_still_read(self, tmp_path: Path) -> None:
        path = pack_in_blocks(tmp_path / "site.7z", {"a": rows(900), "b": rows(9)}, {"c": rows(8)})
        data = bytearray(path.read_bytes())
        data[2_000:6_000] = bytes(4_000)
        got: dict[str, bytes | str] = {}
        for member, pieces in SevenZip(written(path, bytes(data))).stream(lambda _: True, programs=False):
            try:
                got[member.name] = b"".join(pieces)
            except InputError as error:
                got[member.name] = str(error)
        assert "fails at byte" in str(got["a"])
        assert "fails at byte 0 of" in str(got["b"])
        assert got["c"] == rows(8)

    @pytest.mark.parametrize("method", ["LZMA2", "LZMA", "BZip2", "Deflate", "BCJ and LZMA"])
    def test_a_member_that_was_packed_very_small_stays_small_in_memory(self, method: str, tmp_path: Path) -> None:
        size = 30_000_000
        archive = SevenZip(pack(tmp_path / "bomb.7z", {"bomb": bytes(size)}, METHODS[method]))
        tracemalloc.start()
        lengths = [len(p) for _, pieces in archive.stream(lambda _: True, programs=False) for p in pieces]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert sum(lengths) == size
        assert max(lengths) <= sevenzip.PIECE
        assert peak < 10 * sevenzip.PIECE


class TestRefusals:
    def test_a_file_that_is_no_archive(self, tmp_path: Path) -> None:
        path = written(tmp_path / "Posts.xml", b"<posts></posts>" * 10)
        assert not looks_like_sevenzip(path)
        with pytest.raises(InputError, match=r"Posts\.xml is not a 7z archive; give"):
            SevenZip(path)

    def test_a_path_that_leads_nowhere(self, tmp_path: Path) -> None:
        assert not looks_like_sevenzip(tmp_path / "nowhere.7z")
        with pytest.raises(InputError, match=r"cannot be read .*; check the path"):
            SevenZip(tmp_path / "nowhere.7z")

    def test_an_archive_looks_like_one(self, tmp_path: Path) -> None:
        assert looks_like_sevenzip(pack(tmp_path / "site.7z", {"a": b"a"}))

    @pytest.mark.parametrize("hide_names", [False, True])
    def test_an_encrypted_archive(self, hide_names: bool, tmp_path: Path) -> None:
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
    def test_an_unknown_method_without_a_program(self, tmp_path: Path) -> None:
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
    def test_a_dictionary_over_the_limit(self, coder: bytes, is_refused: bool, tmp_path: Path) -> None:
        path = written(tmp_path / "wide.7z", single_member(b"abc", 3, coder=coder))
        if is_refused:
            with pytest.raises(InputError, match=r"dictionary of .* bytes of memory, over 536,870,912; pack"):
                SevenZip(path)
        else:
            assert len(SevenZip(path).members) == 1

    def test_more_members_or_blocks_than_allowed(self, tmp_path: Path) -> None:
        lies: list[dict[str, Any]] = [
            {"files": named("a", count=100_001)},
            {"files": named("a", count=2**64 - 1)},
            {"blocks": 2**60},
        ]
        for lie in lies:
            path = written(tmp_path / "many.7z", single_member(b"abc", 3, **lie))
            with pytest.raises(InputError, match=r"broken 7z header \(it claims .*, more than 100,000\)"):
                SevenZip(path)

    def test_a_header_that_claims_to_be_huge(self, tmp_path: Path) -> None:
        start = struct.pack("<QQI", 0, 2**62, 0)
        data = sevenzip.MAGIC + b"\x00\x04" + struct.pack("<I", zlib.crc32(start)) + start
        with pytest.raises(InputError, match="7z header of 4,611,686,018,427,387,904 bytes"):
            SevenZip(written(tmp_path / "huge.7z", data))

    def test_a_packed_header_that_unpacks_to_too_much(self, tmp_path: Path) -> None:
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
    def test_lzma_with_more_state_than_the_standard_library_holds(self, tmp_path: Path) -> None:
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
    def test_coders_that_are_joined_in_other_ways_than_a_chain(self, joints: bytes, told: str, tmp_path: Path) -> None:
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
    def test_a_header_that_contradicts_itself(self, lie: dict[str, Any], told: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=told):
            SevenZip(written(tmp_path / "lie.7z", single_member(b"abc", 3, **lie)))


class TestDamage:
    def test_a_cut_archive_is_refused_wherever_it_was_cut(self, tmp_path: Path) -> None:
        whole = pack(tmp_path / "site.7z", {"a": rows(50), "b": rows(20, 2)}).read_bytes()
        for length in range(len(whole)):
            with pytest.raises(InputError, match=r"cut short|not a 7z archive"):
                SevenZip(written(tmp_path / "cut.7z", whole[:length]))

    @pytest.mark.parametrize("method", METHODS)
    def test_flipped_bytes_give_an_error_or_the_very_same_bytes(self, method: str, tmp_path: Path) -> None:
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

    def test_a_flipped_byte_in_the_beginning_is_found(self, tmp_path: Path) -> None:
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

    def test_a_wrong_checksum_is_told_after_the_bytes(self, tmp_path: Path) -> None:
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
    def test_a_member_longer_than_declared_never_gives_more(
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


def deflated(data: bytes, method: str) -> bytes:
    if method == "Copy":
        return data
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(data) + deflate.flush()


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


LARGE = {"Posts.xml": rows(4_000) * 20, "Users.xml": rows(2_000, 2) * 4, "Tags.xml": rows(5, 3)}


def programs() -> list[psutil.Process]:
    """The children of this process that are not Python's own, which stay once another test has begun a process."""
    return [child for child in psutil.Process().children() if not child.name().startswith("python")]


class TestPrograms:
    @needs_seven_zip
    @pytest.mark.parametrize(
        "arguments",
        [
            ("-mx=1",),
            ("-mx=5", "-ms=on"),
            ("-mx=9", "-ms=off"),
            ("-m0=lzma",),
            ("-m0=lzma:lc=8",),
            ("-m0=bzip2", "-mmt=4"),
            ("-m0=deflate",),
            ("-m0=deflate64",),
            ("-m0=ppmd",),
            ("-m0=copy",),
            ("-m0=bcj", "-m1=lzma"),
            ("-m0=bcj2", "-m1=lzma", "-m2=lzma", "-m3=lzma", "-mb0:1", "-mb0s1:2", "-mb0s2:3"),
            ("-m0=delta:4", "-m1=bzip2"),
            ("-mhc=off",),
        ],
        ids=" ".join,
    )
    def test_archives_of_the_real_program_come_back(self, arguments: tuple[str, ...], tmp_path: Path) -> None:
        assert SEVEN_ZIP
        for name, data in LARGE.items():
            (tmp_path / name).write_bytes(data)
        command = [SEVEN_ZIP, "a", *arguments, "site.7z", *LARGE]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        archive = SevenZip(tmp_path / "site.7z")
        assert unpack(archive, programs=True) == LARGE
        if not any(method in " ".join(arguments) for method in ("lc=8", "deflate64", "ppmd", "bcj2")):
            assert unpack(archive, programs=False) == LARGE

    @needs_seven_zip
    @pytest.mark.parametrize("method", METHODS)
    def test_the_program_gives_the_same_bytes(
        self, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sevenzip, "PROGRAM_THRESHOLD", 0)
        commands = spied(monkeypatch)
        archive = SevenZip(pack(tmp_path / "site.7z", SITE, METHODS[method]))
        assert unpack(archive, programs=True) == SITE
        assert len(commands) == (0 if method == "Copy" else 1)

    @needs_seven_zip
    def test_the_program_is_left_alone_for_small_blocks_and_when_not_allowed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commands = spied(monkeypatch)
        assert unpack(SevenZip(pack(tmp_path / "small.7z", SITE)), programs=True) == SITE
        large = SevenZip(pack(tmp_path / "large.7z", LARGE, METHODS["LZMA2"]))
        assert unpack(large, programs=False) == LARGE
        assert commands == []
        assert unpack(large, programs=True) == LARGE
        assert len(commands) == 1

    @pytest.mark.parametrize(
        "program", [pytest.param("7zz", marks=needs_seven_zip), pytest.param("bsdtar", marks=needs_bsdtar)]
    )
    @pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
    def test_names_mean_themselves_to_every_program(
        self, program: str, locale: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        names = [
            "-so",
            "@list",
            "a*b",
            "axb",
            "[z]",
            "z",
            "!x",
            "a?",
            "ab",
            "-",
            "--",
            "folder/-so",
            "é 📦",
            "q'\"$(x)",
        ]
        contents = {name: name.encode() * 3 for name in names}
        only(monkeypatch, tmp_path / "programs", Path(SEVEN_ZIP or "").name if program == "7zz" else program)
        monkeypatch.setenv("LC_ALL", locale)
        archive = SevenZip(pack(tmp_path / "-@*names.7z", contents, PPMD))
        for name in names:
            got = {m.name: b"".join(pieces) for m, pieces in archive.stream(Member(name, len(contents[name])).__eq__)}
            assert got == {name: contents[name]}
        assert unpack(archive, programs=True) == contents

    @needs_seven_zip
    @pytest.mark.parametrize("name", ["a\\b", "../up", "./here", "line\nbreak", "folder"])
    def test_names_that_a_program_might_misread_are_read_without_or_refused(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sevenzip, "PROGRAM_THRESHOLD", 0)
        commands = spied(monkeypatch)
        data = deflated(b"data", "Deflate")
        plain = single_member(data, 4, coder=b"\x03\x04\x01\x08", digest=zlib.crc32(b"data"), name=name)
        if name == "folder":
            archive = SevenZip(pack(tmp_path / "a.7z", {"folder": b"data", "folder/inside": b"more"}))
            odd = SevenZip(pack(tmp_path / "b.7z", {"folder": b"data", "folder/inside": b"more"}, PPMD))
        else:
            archive = SevenZip(written(tmp_path / "a.7z", plain))
            odd = SevenZip(written(tmp_path / "b.7z", single_member(b"data", 4, coder=b"\x02\xab\xcd", name=name)))
        got = [(m.name, b"".join(pieces)) for m, pieces in archive.stream(lambda m: m.name == name)]
        assert got == [(name, b"data")]
        with pytest.raises(InputError, match="names that no program can safely be asked for; pack it again"):
            list(odd.stream(lambda m: m.name == name))
        assert commands == []

    @needs_bsdtar
    def test_bsdtar_reads_what_the_standard_library_cannot(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        only(monkeypatch, tmp_path / "programs", "bsdtar")
        archive = SevenZip(pack(tmp_path / "ppmd.7z", SITE, PPMD))
        assert unpack(archive, programs=True) == SITE
        with pytest.raises(InputError, match="packed with PPMd"):
            unpack(archive, programs=False)

    @needs_seven_zip
    def test_damage_is_told_the_same_way_through_a_program(self, tmp_path: Path) -> None:
        path = pack(tmp_path / "large.7z", LARGE, METHODS["LZMA2"])
        data = bytearray(path.read_bytes())
        data[len(data) // 2 : len(data) // 2 + 40] = bytes(40)
        got = []
        with pytest.raises(InputError, match=r"member '.*' fails at byte [1-9].*; get the archive again"):
            for _, pieces in SevenZip(written(path, bytes(data))).stream(lambda _: True):
                for piece in pieces:
                    got.append(piece)
        assert b"".join(got)[:50_000] == LARGE["Posts.xml"][:50_000]

    @needs_seven_zip
    def test_the_program_is_gone_when_the_caller_stops_early(self, tmp_path: Path) -> None:
        archive = SevenZip(pack(tmp_path / "large.7z", {"Posts.xml": bytes(60_000_000)}))
        stream = archive.stream(lambda _: True)
        _, pieces = next(stream)
        assert len(next(pieces)) == sevenzip.PIECE
        children = programs()
        assert [child.name() for child in children] == [Path(SEVEN_ZIP or "").name]
        del stream, pieces
        assert not any(child.is_running() for child in children)

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in program is a shell script")
    @pytest.mark.parametrize(
        ("script", "told"),
        [
            ("echo broken disk >&2; exit 2", "7zz ended with 2: broken disk"),
            ("exit 3", "7zz ended with 3: nothing"),
            ("exit 0", "the data ends too early"),
            ("yes complaint | head -c 3000000 >&2; echo last >&2; exit 2", "7zz ended with 2: last"),
            ("head -c 9000000 /dev/zero", "checksum is wrong"),
        ],
    )
    def test_a_program_that_fails_is_quoted(
        self, script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = pack(tmp_path / "large.7z", {"Posts.xml": LARGE["Posts.xml"]}, METHODS["LZMA2"])
        fake_program(monkeypatch, tmp_path / "programs", script)
        with pytest.raises(InputError, match=rf"large\.7z: member 'Posts\.xml' fails .*{told}"):
            unpack(SevenZip(path), programs=True)

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in program is a shell script")
    @pytest.mark.parametrize("script", ["cat /dev/zero", "head -c 5000001 /dev/zero"])
    def test_a_program_that_gives_too_much_is_cut_off(
        self, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = bytes(5_000_000)
        path = pack(tmp_path / "large.7z", {"zeros": data})
        fake_program(monkeypatch, tmp_path / "programs", script)
        got = []
        with pytest.raises(InputError, match="more data follows than the header declares"):
            for _, pieces in SevenZip(path).stream(lambda _: True):
                for piece in pieces:
                    got.append(piece)
        assert b"".join(got) == data

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in program is a shell script")
    def test_a_program_that_never_ends_does_not_hold_up_a_caller_who_stops(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = pack(tmp_path / "large.7z", {"zeros": bytes(5_000_000)})
        fake_program(monkeypatch, tmp_path / "programs", "head -c 2000000 /dev/zero; exec sleep 60")
        begun = time.monotonic()
        for _, pieces in SevenZip(path).stream(lambda _: True):
            next(pieces)
            break
        assert programs() == []
        assert time.monotonic() - begun < 30


def spied(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Notes every program that is started, and starts it."""
    commands: list[list[str]] = []
    start = subprocess.Popen

    def noted(command: list[str], **settings: Any) -> subprocess.Popen[bytes]:
        commands.append(command)
        return start(command, **settings)

    monkeypatch.setattr(subprocess, "Popen", noted)
    return commands
