"""Archives that Python cannot unpack are unpacked by an external program with the same checks."""

import os
import subprocess
import time
import zlib
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest
from tests.support.archives import (
    METHODS,
    PPMD,
    SITE,
    deflated,
    fake_program,
    find_seven_zip,
    needs_bsdtar,
    needs_seven_zip,
    only,
    pack,
    rows,
    single_member,
    unpack,
    written,
)

from quaestor.base.errors import InputError
from quaestor.evidence.sources.sevenzip import Member, SevenZip
from quaestor.evidence.sources.sevenzip import archive as sevenzip

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
    def test_archives_of_the_7z_program_are_unpacked(self, arguments: tuple[str, ...], tmp_path: Path) -> None:
        seven_zip = find_seven_zip()
        assert seven_zip
        for name, data in LARGE.items():
            (tmp_path / name).write_bytes(data)
        command = [seven_zip, "a", *arguments, "site.7z", *LARGE]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        archive = SevenZip(tmp_path / "site.7z")
        assert unpack(archive, programs=True) == LARGE
        if not any(method in " ".join(arguments) for method in ("lc=8", "deflate64", "ppmd", "bcj2")):
            assert unpack(archive, programs=False) == LARGE

    @needs_seven_zip
    @pytest.mark.parametrize("method", METHODS)
    def test_an_external_program_gives_the_same_bytes(
        self, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sevenzip, "PROGRAM_THRESHOLD", 0)
        commands = spied(monkeypatch)
        archive = SevenZip(pack(tmp_path / "site.7z", SITE, METHODS[method]))
        assert unpack(archive, programs=True) == SITE
        assert len(commands) == (0 if method == "Copy" else 1)

    @needs_seven_zip
    def test_no_program_is_started_for_small_blocks_or_if_not_allowed(
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
    def test_special_characters_in_member_names_are_passed_literally_to_programs(
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
        only(monkeypatch, tmp_path / "programs", Path(find_seven_zip() or "").name if program == "7zz" else program)
        monkeypatch.setenv("LC_ALL", locale)
        archive = SevenZip(pack(tmp_path / "-@*names.7z", contents, PPMD))
        for name in names:
            got = {m.name: b"".join(pieces) for m, pieces in archive.stream(Member(name, len(contents[name])).__eq__)}
            assert got == {name: contents[name]}
        assert unpack(archive, programs=True) == contents

    @needs_seven_zip
    @pytest.mark.parametrize("name", ["a\\b", "../up", "./here", "line\nbreak", "folder"])
    def test_member_names_that_a_program_might_misread_are_read_without_it_or_refused(
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
        with pytest.raises(InputError, match="names that cannot safely be passed to a program; pack it again"):
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
    def test_damage_is_reported_the_same_way_through_a_program(self, tmp_path: Path) -> None:
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
    def test_the_program_is_stopped_when_the_caller_stops_early(self, tmp_path: Path) -> None:
        archive = SevenZip(pack(tmp_path / "large.7z", {"Posts.xml": bytes(60_000_000)}))
        stream = archive.stream(lambda _: True)
        _, pieces = next(stream)
        assert len(next(pieces)) == sevenzip.PIECE_BYTES
        children = programs()
        assert [child.name() for child in children] == [Path(find_seven_zip() or "").name]
        del stream, pieces
        assert not any(child.is_running() for child in children)

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in program is a shell script")
    @pytest.mark.parametrize(
        ("script", "told"),
        [
            ("echo broken disk >&2; exit 2", "7zz ended with 2: broken disk"),
            ("exit 3", "7zz ended with 3: no error message"),
            ("exit 0", "the data ends too early"),
            ("yes complaint | head -c 3000000 >&2; echo last >&2; exit 2", "7zz ended with 2: last"),
            ("head -c 9000000 /dev/zero", "checksum is wrong"),
        ],
    )
    def test_the_error_of_a_failed_program_is_quoted(
        self, script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = pack(tmp_path / "large.7z", {"Posts.xml": LARGE["Posts.xml"]}, METHODS["LZMA2"])
        fake_program(monkeypatch, tmp_path / "programs", script)
        with pytest.raises(InputError, match=rf"large\.7z: member 'Posts\.xml' fails .*{told}"):
            unpack(SevenZip(path), programs=True)

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in program is a shell script")
    @pytest.mark.parametrize("script", ["cat /dev/zero", "head -c 5000001 /dev/zero"])
    def test_a_program_that_returns_too_many_bytes_is_stopped(
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
    def test_a_program_that_never_ends_does_not_block_a_caller_that_stops(
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
