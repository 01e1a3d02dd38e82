"""An acknowledged page survives `kill -9` and is stored once."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns.kill_respondents import kill_respondents


def test_two_hundred_kills_lose_no_acknowledged_page(tmp_path: Path) -> None:
    tally = kill_respondents(tmp_path / "answers.db", kills=200, seed=6)
    assert tally.clean, tally
    assert tally.acknowledged > 140
