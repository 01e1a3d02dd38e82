"""Ingest of the same text from .7z and .xml.gz; the archive format determines the speed."""

from __future__ import annotations

import argparse
import gzip
import lzma
import shutil
from pathlib import Path

import py7zr

from benchmarks.ingest import TAGS, dump, ours

GB = 0.2


def main(folder: Path, options: argparse.Namespace) -> None:
    text = dump(folder, GB)
    size = text.stat().st_size
    packed = {"7z (LZMA2)": folder / "lzma.7z", "7z (BZip2)": folder / "bzip2.7z", "xml.gz": folder / "Posts.xml.gz"}
    filters = {
        "7z (LZMA2)": {"id": py7zr.FILTER_LZMA2, "preset": lzma.PRESET_DEFAULT & 1 | 1},
        "7z (BZip2)": {"id": py7zr.FILTER_BZIP2},
    }
    for name, path in packed.items():
        if path.exists():
            continue
        if name in filters:
            with py7zr.SevenZipFile(path, "w", filters=[filters[name]]) as archive:
                archive.write(text, "Posts.xml")
        else:
            with text.open("rb") as source, gzip.open(path, "wb", compresslevel=6) as target:
                shutil.copyfileobj(source, target)
    program = next((name for name in ("7zz", "7z", "7za", "bsdtar") if shutil.which(name)), "none")
    print(f"{size / 1e6:.0f} MB of text; program for archives on this machine: {program}")
    for name, path in packed.items():
        for way, tags in (("whole", []), ("selective", TAGS)):
            seconds = ours(path, folder, tags).seconds
            print(f"{name:11} {way:10} {seconds:6.2f} s ({size / 1e6 / seconds:4.0f} MB/s of text)")
