"""Acts that arrive while the disk is busy are recorded together, and each has its own outcome."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.acting import rebuilt
from tests.support.small_study import small_study

from quaestor.base.errors import QuaestorError, StateError
from quaestor.coding.model.state import State
from quaestor.coding.rating_files import NewRating, WrongStudy, queue_rating, rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.session import CodingSession, open_coding
from quaestor.store.records import NewAct
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.session import PendingAct


@pytest.fixture
def coding(tmp_path: Path) -> Iterator[CodingSession]:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    with open_coding(study) as opened:
        yield opened


def together(coding: CodingSession, all_wanted: list[PendingAct]) -> list[PendingAct]:
    """All wait in the line, and one who records records them all."""
    for wanted in all_wanted:
        coding.pending.add(wanted)
    coding.pending.record()
    return all_wanted


def rating(coding: CodingSession, rater: str, item: str, answer: str = "keep", key: str = "") -> PendingAct:
    return queue_rating(coding, "pilot", rater, NewRating(item, {"relevance": answer}, key=key))


def test_queued_acts_get_their_own_results_and_a_refusal_affects_no_others(coding: CodingSession) -> None:
    items = coding.state.rounds["pilot"].plan.items
    good = [rating(coding, "rater-1", item) for item in items]
    bad = [rating(coding, "rater-1", items[0], "nonsense"), rating(coding, "nobody", items[0])]
    same = [rating(coding, "rater-2", items[0], key="the same") for _ in range(2)]
    together(coding, [*good, *bad, *same])
    assert all(isinstance(one.outcome, QuaestorError) for one in bad)
    numbers = [one.result()[0].number for one in (*good, *same)]
    assert numbers[-1] == numbers[-2], "the same key is the same act"
    assert len(set(numbers)) == len(items) + 1
    acts = {act.number: act for act in coding.journal.acts()}
    for item, number in zip(items, numbers, strict=False):
        assert (acts[number].actor, acts[number].payload["item"]) == ("rater-1", item)
    assert coding.state == rebuilt(coding.journal)


def test_each_queued_act_is_checked_against_the_acts_before_it(coding: CodingSession) -> None:
    """Two who would both be first: one is, the other hears of it."""

    def first_only(state: State) -> NewAct:
        if state.rounds["pilot"].ratings:
            raise QuaestorError("somebody was first")
        item = state.rounds["pilot"].plan.items[0]
        return NewAct("rating", "rater-1", {"round": "pilot", "item": item, "answers": {}})

    done = together(coding, [PendingAct(first_only) for _ in range(6)])
    assert sorted(isinstance(one.outcome, QuaestorError) for one in done) == [False] + [True] * 5


def test_a_failing_act_does_not_affect_others_in_the_batch(coding: CodingSession) -> None:
    item = coding.state.rounds["pilot"].plan.items[0]
    before = coding.journal.head()
    broken = PendingAct(lambda state: NewAct("rating", "rater-1", {"round": "no such round", "item": item}))
    good = [rating(coding, "rater-2", item) for _ in range(2)]
    together(coding, [good[0], broken, good[1]])
    with pytest.raises(KeyError):
        broken.result()
    assert [len(one.result()) for one in good] == [1, 1]
    assert coding.journal.head() == before + 2
    assert coding.state == rebuilt(coding.journal)


def test_concurrent_acts_are_all_recorded(coding: CodingSession) -> None:
    items = coding.state.rounds["pilot"].plan.items
    with ThreadPoolExecutor(8) as pool:
        numbers = list(
            pool.map(lambda item: rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}), [*items] * 5)
        )
    assert len(set(numbers)) == len(items) * 5
    assert {act.number for act in coding.journal.acts() if act.kind == "rating"} == set(numbers)
    assert coding.state == rebuilt(coding.journal)


def test_a_session_shows_a_restored_backup(coding: CodingSession, tmp_path: Path) -> None:
    item = coding.state.rounds["pilot"].plan.items[0]
    kept = back_up_study(coding.study, tmp_path / "kept.backup")
    rate(coding, "pilot", "rater-1", item, {"relevance": "keep"})
    assert coding.state.rounds["pilot"].ratings
    restore_study(coding.study, kept.file, replacing=True)
    assert not coding.state.rounds["pilot"].ratings


def test_a_rating_for_a_round_of_another_study_is_refused(coding: CodingSession) -> None:
    one = coding.state.rounds["pilot"]
    said = NewRating(one.plan.items[0], {"relevance": "keep"}, opened="2001-01-01T00:00:00")
    [wanted] = together(coding, [queue_rating(coding, "pilot", "rater-1", said)])
    with pytest.raises(WrongStudy):
        wanted.result()
    right = replace(said, opened=one.opened)
    [wanted] = together(coding, [queue_rating(coding, "pilot", "rater-1", right)])
    assert wanted.result()


@pytest.mark.parametrize(
    ("answer", "memo", "unsure"), [("exclude: crash", "why", True), ("keep", "other", True), ("keep", "why", False)]
)
def test_resending_a_rating_with_other_content_is_refused(
    coding: CodingSession, answer: str, memo: str, unsure: bool
) -> None:
    item = coding.state.rounds["pilot"].plan.items[0]

    def send(answer: str, memo: str, unsure: bool) -> int:
        doubt = ("relevance",) if unsure else ()
        return rate(coding, "pilot", "rater-1", item, {"relevance": answer}, memo=memo, unsure=doubt, key="one")

    made = send("keep", "why", True)
    assert send("keep", "why", True) == made
    with pytest.raises(StateError, match="used before for another act"):
        send(answer, memo, unsure)


def test_line_endings_of_a_resent_memo_do_not_matter(coding: CodingSession) -> None:
    item = coding.state.rounds["pilot"].plan.items[0]
    one, other = (
        rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}, memo=memo, key="one")
        for memo in ("two\nlines", "two\r\nlines")
    )
    assert one == other
