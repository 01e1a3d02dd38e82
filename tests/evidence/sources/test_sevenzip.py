"""7z archives are unpacked completely in small pieces."""

import bz2
import lzma
import struct
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import py7zr
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.archives import METHODS, SITE, named, pack, pack_in_blocks, rows, single_member, unpack, written

from quaestor.base.errors import InputError
from quaestor.evidence.sources.sevenzip import Member, SevenZip
from quaestor.evidence.sources.sevenzip import archive as sevenzip


class TestContents:
    @pytest.mark.parametrize("method", METHODS)
    def test_every_compression_method_is_unpacked(self, method: str, tmp_path: Path) -> None:
        archive = SevenZip(pack(tmp_path / "site.7z", SITE, METHODS[method]))
        assert [(m.name, m.size) for m in archive.members] == [(n, len(data)) for n, data in SITE.items()]
        assert unpack(archive) == SITE

    @pytest.mark.parametrize("method", METHODS)
    def test_data_of_every_length_is_complete_after_a_filter(self, method: str, tmp_path: Path) -> None:
        for length in (1, 2, 4, 5, 9, 65_535, 65_536, 65_537, 1_048_576, 1_048_577):
            data = (b"\xe8\x01\x02\x00\x00" * (length // 5 + 1))[:length]
            path = pack(tmp_path / f"{length}.7z", {"a": data}, METHODS[method])
            assert unpack(SevenZip(path)) == {"a": data}

    def test_folders_are_not_members(self, tmp_path: Path) -> None:
        (tmp_path / "site" / "empty folder").mkdir(parents=True)
        (tmp_path / "site" / "empty.xml").touch()
        (tmp_path / "site" / "Posts.xml").write_bytes(b"<posts/>")
        with py7zr.SevenZipFile(tmp_path / "site.7z", "w") as archive:
            archive.writeall(tmp_path / "site", "site")
        assert unpack(SevenZip(tmp_path / "site.7z")) == {
            "site/Posts.xml": b"<posts/>",
            "site/empty.xml": b"",
        }

    def test_empty_files_are_members_and_deleted_entries_are_not(self, tmp_path: Path) -> None:
        # Four of five have no stream: a folder, an empty file, a deleted file and a deleted folder.
        marks = b"\x0e\x01\xb8" + b"\x0f\x01\x60" + b"\x10\x01\x30" + b"\x19\x02\x00\x00" + b"\x7f\x01x"
        files = named("folder", "full", "empty", "deleted", "deleted folder", marks=marks)
        archive = SevenZip(written(tmp_path / "marks.7z", single_member(b"abc", 3, files=files)))
        assert unpack(archive) == {"full": b"abc", "empty": b""}

    def test_members_keep_their_checksums_if_their_block_has_one(self, tmp_path: Path) -> None:
        checksums = struct.pack("<II", zlib.crc32(b"ab"), zlib.crc32(b"c"))
        lists = b"\x08\x0d\x02\x09\x02\x0a\x01" + checksums + b"\x00"
        data = single_member(b"abc", 3, digest=zlib.crc32(b"abc"), substreams=lists, files=named("a", "b"))
        assert unpack(SevenZip(written(tmp_path / "two.7z", data))) == {"a": b"ab", "b": b"c"}

    def test_a_lone_surrogate_in_a_member_name_is_replaced(self, tmp_path: Path) -> None:
        names = b"\x05\x01\x11\x07\x00" + b"\x00\xd8" + b"a\x00" + b"\x00\x00" + b"\x00"
        (member,) = SevenZip(written(tmp_path / "half.7z", single_member(b"abc", 3, files=names))).members
        assert member.name.encode().decode() == member.name == "\ufffda"

    def test_an_empty_archive_has_no_members(self, tmp_path: Path) -> None:
        path = pack(tmp_path / "nothing.7z", {})
        assert SevenZip(path).members == ()
        assert unpack(SevenZip(path)) == {}

    def test_an_uncompressed_header_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "plain.7z"
        with py7zr.SevenZipFile(path, "w") as archive:
            archive.set_encoded_header_mode(False)
            archive.writestr(SITE["Posts.xml"], "Posts.xml")
        assert unpack(SevenZip(path)) == {"Posts.xml": SITE["Posts.xml"]}

    def test_all_streams_of_multi_stream_bzip2_are_read(self, tmp_path: Path) -> None:
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
    def test_any_packed_content_is_unpacked_unchanged(
        self, contents: dict[str, bytes], method: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "any.7z"
        path.unlink(missing_ok=True)
        assert unpack(SevenZip(pack(path, contents, METHODS[method]))) == contents


class TestStreaming:
    def test_only_selected_members_are_returned_in_archive_order(self, tmp_path: Path) -> None:
        archive = SevenZip(pack(tmp_path / "site.7z", SITE))
        wanted = {"Tags.xml", "folder/Users.xml"}
        got = [(m, b"".join(pieces)) for m, pieces in archive.stream(lambda m: m.name in wanted)]
        assert got == [(Member(n, len(SITE[n])), SITE[n]) for n in ("folder/Users.xml", "Tags.xml")]

    def test_an_unread_member_is_skipped(self, tmp_path: Path) -> None:
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

    def test_a_block_without_selected_members_is_not_decoded(self, tmp_path: Path) -> None:
        path = pack_in_blocks(tmp_path / "site.7z", {"a": rows(900)}, {"b": rows(900, 2)}, {"c": b"c"})
        data = bytearray(path.read_bytes())
        data[2_000:6_000] = bytes(4_000)
        archive = SevenZip(written(path, bytes(data)))
        got = {m.name: b"".join(p) for m, p in archive.stream(lambda m: m.name != "a", programs=False)}
        assert got == {"b": rows(900, 2), "c": b"c"}
        with pytest.raises(InputError, match="'a' fails"):
            unpack(archive)

    def test_a_damaged_block_does_not_prevent_reading_the_next(self, tmp_path: Path) -> None:
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
    def test_a_highly_compressed_member_is_read_in_bounded_memory(self, method: str, tmp_path: Path) -> None:
        size = 30_000_000
        archive = SevenZip(pack(tmp_path / "bomb.7z", {"bomb": bytes(size)}, METHODS[method]))
        tracemalloc.start()
        lengths = [len(p) for _, pieces in archive.stream(lambda _: True, programs=False) for p in pieces]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert sum(lengths) == size
        assert max(lengths) <= sevenzip.PIECE_BYTES
        assert peak < 10 * sevenzip.PIECE_BYTES
