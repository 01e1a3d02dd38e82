"""A settable clock and an empty people.db for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.desk import SetClock

from quaestor.people.directory import Directory


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    with Directory(tmp_path / "people.db") as opened:
        yield opened
