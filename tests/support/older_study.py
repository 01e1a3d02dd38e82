"""Studies made by an older version, as they lay on the disk, with what that version printed about them."""

from __future__ import annotations

import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.paths import TESTS

FOLDER = TESTS / "data" / "older-study"
NAMES = ("posts", "survey", "interviews")


def unpack_older_study(name: str, folder: Path) -> Path:
    """Unpacks a study with the modes and times of its files and returns its folder."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="fully_trusted")  # noqa: S202 - it is our own
    return folder / name


@cache
def expected() -> Any:
    return json.loads((FOLDER / "expected.json").read_text("utf-8"))
