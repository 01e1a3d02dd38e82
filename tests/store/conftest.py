"""Fixtures that run a test on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quaestor.store.journal import Journal


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """An empty store: a file that is not there yet, or a new database on a real server."""
    if request.param == "sqlite":
        return tmp_path / "study.db"
    return str(request.getfixturevalue("postgresql"))


@pytest.fixture
def journal(address: str | Path) -> Iterator[Journal]:
    with Journal.open(address) as opened:
        yield opened
