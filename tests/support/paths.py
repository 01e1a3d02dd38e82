"""Where things are: the project, its documentation, its bundled studies, and the real data next to the project."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
DOCS = ROOT / "docs"
STUDIES = ROOT / "studies"
SHARED = ROOT.parent / "shared"


def in_ci() -> bool:
    """Whether nothing may be skipped that could have been installed."""
    return os.environ.get("CI") == "true"
