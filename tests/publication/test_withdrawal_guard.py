"""Results built during a withdrawal are never published, because they may quote the participant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.labelled_study import labelled_study
from tests.support.small_interviews import AGREEMENT, GUIDE, SMALL, a_study, with_transcript

from quaestor.base.errors import StateError, TemporarilyUnavailable
from quaestor.base.files import build_folder
from quaestor.interviews.feature import WithdrawalGuard
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.report.make import build_report
from quaestor.study.folder import Study, open_study


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Interviews]:
    with open_interviews(a_study(tmp_path / "talks")) as opened:
        with_transcript(opened)
        with_transcript(opened)
        yield opened


def report(study: Study, tell: Callable[[], None]) -> None:
    build_report(study, lambda words: tell(), with_audit=False)


def handbook(study: Study, tell: Callable[[], None]) -> None:
    make_handbook(study, lambda what, done, total: tell())


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with decided items and interviews, and with as little to compute as there can be."""
    study = labelled_study(tmp_path_factory.mktemp("made") / "labelled", 20)
    (study.root / "instruments").mkdir(exist_ok=True)
    (study.root / "instruments" / f"{GUIDE}.md").write_text(SMALL)
    (study.root / "instruments" / "agreement.md").write_text(AGREEMENT)
    computed = re.compile(r"^\[\[(?:findings|quantities|tables)\]\].*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
    study.file.write_text(computed.sub("", study.file.read_text("utf-8")), "utf-8")
    return open_study(study.root)


@pytest.mark.parametrize("make", [report, handbook])
def test_results_built_during_a_withdrawal_are_not_published(
    labelled: Study, make: Callable[[Study, Callable[[], None]], None]
) -> None:
    with open_interviews(labelled) as opened:
        name = with_transcript(opened).participant
        withdrawing = iter([name])  # at the first word of how far it is

        def tell() -> None:
            for one in withdrawing:
                withdraw(opened, one)

        (labelled.published / make.__name__).mkdir(parents=True, exist_ok=True)
        with pytest.raises(
            StateError, match=f"{name} withdrew while the {make.__name__} was generated, .*: rebuild it"
        ):
            make(labelled, tell)
        assert list(labelled.published.iterdir()) == [], "neither the old one nor what it was made in"


def built(room: Interviews, during: Callable[[], object] = lambda: None) -> None:
    """A page that quotes P1, made the way reports are."""
    guard = WithdrawalGuard(room.study, "report")
    with build_folder(
        room.study.published / "report", kind="report", marker="m", guard_placement=guard.placing
    ) as folder:
        (folder / "m").write_text(room.transcript("P1").turns[1].text)
        during()
        (folder / "index.html").write_text("and more")


def test_a_withdrawal_waits_while_results_are_placed(room: Interviews, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an erasure could fall between the last look and the exchange."""
    monkeypatch.setattr("quaestor.store.private_file.PATIENCE", 0.0)
    with open_interviews(room.study) as other, WithdrawalGuard(room.study, "report").placing():
        with pytest.raises(TemporarilyUnavailable, match="has been busy"):
            other.file.erase("P1", "2026-01-01")
        with pytest.raises(TemporarilyUnavailable, match="has been busy"):
            withdraw(other, "P1")
    assert room.file.list_erased() == {}


def test_results_placed_just_before_the_erasure_are_removed(room: Interviews, monkeypatch: pytest.MonkeyPatch) -> None:
    erase = room.file.erase

    def late(participant: str, day: str) -> bool:
        built(room)
        return erase(participant, day)

    monkeypatch.setattr(room.file, "erase", late)
    assert withdraw(room, "P1").published
    assert list(room.study.published.iterdir()) == []


def test_a_withdrawal_during_a_build_makes_the_build_fail_without_leftovers(room: Interviews) -> None:
    with pytest.raises(StateError, match="P1 withdrew while the report was generated"):
        built(room, lambda: withdraw(room, "P1"))
    assert list(room.study.published.iterdir()) == []


def test_a_withdrawal_removes_leftovers_of_a_killed_build(room: Interviews) -> None:
    left = room.study.published / ".report.aside" / "new" / "index.html"
    left.parent.mkdir(parents=True)
    left.write_text("words of P1")
    withdraw(room, "P1")
    assert list(room.study.published.iterdir()) == []


def test_a_repeated_withdrawal_removes_results_that_an_interrupted_one_left(
    room: Interviews,
) -> None:
    built(room)
    room.file.erase("P1", room.today())
    assert withdraw(room, "P1").published
    built_by_others = room.study.published / "report"
    built_by_others.mkdir()
    assert not withdraw(room, "P1").published, "once it is whole, what is made without them stays"
