"""7z archives made by hand and by py7zr, sound and not, and programs that unpack them or pretend to."""

from __future__ import annotations

import os
import random
import shutil
import stat
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import py7zr
import pytest

from quaestor.evidence.sources.sevenzip import SevenZip
from quaestor.evidence.sources.sevenzip import archive as sevenzip

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
needs_seven_zip = pytest.mark.needs("7-zip")
needs_bsdtar = pytest.mark.needs("bsdtar")


def find_seven_zip() -> str | None:
    return next(filter(None, map(shutil.which, ("7zz", "7z", "7za"))), None)


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


def deflated(data: bytes, method: str) -> bytes:
    if method == "Copy":
        return data
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(data) + deflate.flush()
