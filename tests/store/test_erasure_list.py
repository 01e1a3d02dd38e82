"""The list of withdrawn participants: additions keep invalid lines, reading refuses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from quaestor.base.errors import InputError
from quaestor.store.erasure import ErasedList


@pytest.fixture
def listed(tmp_path: Path) -> ErasedList:
    return ErasedList.for_file(tmp_path / "interviews.db")


def test_a_participant_keeps_the_first_day(listed: ErasedList) -> None:
    assert (listed.read(), listed.list_names()) == ({}, set())
    listed.add({"P2": "2026-01-02"})
    listed.add({"P2": "2026-05-05", "P10": "2026-01-03"})
    assert listed.read() == {"P2": "2026-01-02", "P10": "2026-01-03"}
    assert listed.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("line", ["P1", "P1\ttoday", "somebody\t2026-01-02", "P1\t2026-01-02\tmore", ""])
def test_an_invalid_line_is_refused_when_reading_and_kept_when_adding(listed: ErasedList, line: str) -> None:
    listed.path.write_text(f"{line}\n")
    with pytest.raises(InputError, match="line 1 is not a withdrawal: restore a copy of the list, or remove the line"):
        listed.read()
    listed.add({"P7": "2026-01-02"})
    assert listed.path.read_text() == f"{line}\nP7\t2026-01-02\n"
    assert "P7" in listed.list_names()
