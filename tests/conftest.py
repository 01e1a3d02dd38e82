"""What many tests share: where the real data is, and small dumps written by hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"

WriteTable = Callable[..., Path]


@pytest.fixture
def coffee() -> Path:
    """A whole small site's real dump, which lies beside the project and is never part of it."""
    folder = SHARED / "stackexchange" / "coffee"
    if not folder.exists():
        pytest.skip("the real dump ../shared/data/stackexchange/coffee is not here")
    return folder


@pytest.fixture
def write_posts(tmp_path: Path) -> WriteTable:
    """Writes Posts.xml from rows given as text and returns its folder."""

    def write(*rows: str | bytes, name: str = "Posts.xml", root: str = "posts", end: bool = True) -> Path:
        folder = tmp_path / "dump"
        folder.mkdir(exist_ok=True)
        parts = [b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\n', f"<{root}>\n".encode()]
        for row in rows:
            parts += [b"  ", row.encode() if isinstance(row, str) else row, b"\n"]
        if end:
            parts.append(f"</{root}>".encode())
        (folder / name).write_bytes(b"".join(parts))
        return folder

    return write


def in_ci() -> bool:
    return os.environ.get("CI") == "true"
