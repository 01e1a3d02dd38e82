"""Studies made by an older version, as they lay on the disk, with what that version printed about them.

Together with the source they say which kinds of acts a journal can hold.
"""

from __future__ import annotations

import json
import re
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT, TESTS

FOLDER = TESTS / "data" / "older-study"
NAMES = ("posts", "survey", "interviews")
_ACT_KIND = re.compile(r'"((?:codebook|decision|interview|ratings|round|survey|tie|words)\.[a-z]+)"')
_NO_ACT_KINDS = re.compile(r"\.(?:css|csv|db|html|js|json|key|md|number|again|without|sqlite|toml|txt)$")


def unpack_older_study(name: str, folder: Path) -> Path:
    """Unpacks a study with the modes and times of its files and returns its folder."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="fully_trusted")  # noqa: S202 - it is our own
    return folder / name


@cache
def expected() -> Any:
    return json.loads((FOLDER / "expected.json").read_text("utf-8"))


def act_kinds_in_source() -> set[str]:
    """The kinds of acts with a dot in their name that the source mentions."""
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    return {kind for kind in _ACT_KIND.findall(source) if not _NO_ACT_KINDS.search(kind)}
