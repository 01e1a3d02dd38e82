"""A campaign of random sequences that is interrupted goes on where it stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.sequences import PARTS, iterate_sequences


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUAESTOR_SEQUENCES", "60")
    monkeypatch.setenv("QUAESTOR_CAMPAIGN", str(tmp_path / "campaign"))


def run(name: str, part: int, *, fails_at: int = -1) -> list[int]:
    """Returns the sequences that ran; raises KeyboardInterrupt in the middle of one of them."""
    ran = []
    for number in iterate_sequences(name, part):
        if number == fails_at:
            raise KeyboardInterrupt
        ran.append(number)
    return ran


def test_without_a_campaign_every_run_has_all_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUAESTOR_CAMPAIGN", raising=False)
    monkeypatch.setenv("QUAESTOR_SEQUENCES", "60")
    for _ in range(2):
        assert sorted(number for part in range(PARTS) for number in run("rounds", part)) == list(range(60))


@pytest.mark.usefixtures("campaign")
def test_an_interrupted_campaign_begins_with_the_sequence_that_did_not_pass() -> None:
    with pytest.raises(KeyboardInterrupt):
        run("rounds", 3, fails_at=33)
    assert run("rounds", 3) == [33, 43, 53]
    assert run("rounds", 3) == []


@pytest.mark.usefixtures("campaign")
def test_each_recount_and_part_has_its_own_progress() -> None:
    assert run("rounds", 3) == [3, 13, 23, 33, 43, 53]
    assert run("surveys", 3) == [3, 13, 23, 33, 43, 53]
    assert run("rounds", 4) == [4, 14, 24, 34, 44, 54]
