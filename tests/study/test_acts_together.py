"""Acts that arrive while the disk is busy are recorded together, and each is answered for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from quaestor.base.errors import QuaestorError, StateError
from quaestor.coding.state import State
from quaestor.store.records import Act, NewAct
from quaestor.study.coding import Coding, open_coding, rebuilt
from quaestor.study.ratings import rate
from quaestor.study.round_acts import open_by_name
from small_study import small_study


@pytest.fixture
def coding(tmp_path: Path) -> Iterator[Coding]:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    with open_coding(study) as opened:
        yield opened


def at_once(coding: Coding, works: list[Callable[[], object]]) -> list[Future[object]]:
    """Everybody asks while somebody looks, so that all wait and are recorded together."""
    with ThreadPoolExecutor(len(works)) as pool, coding.looking():
        futures = [pool.submit(work) for work in works]
        while len(coding._waiting) < len(works):
            pass
    return futures


def test_each_gets_its_own_act_and_a_refusal_is_nobody_elses(coding: Coding) -> None:
    items = coding.state.rounds["pilot"].plan.items
    works: list[Callable[[], object]] = [
        *(lambda item=item: rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}) for item in items),
        lambda: rate(coding, "pilot", "rater-1", items[0], {"relevance": "nonsense"}),
        lambda: rate(coding, "pilot", "nobody", items[0], {"relevance": "keep"}),
        lambda: rate(coding, "pilot", "rater-2", items[0], {"relevance": "keep"}, key="the same"),
        lambda: rate(coding, "pilot", "rater-2", items[0], {"relevance": "keep"}, key="the same"),
    ]
    futures = at_once(coding, works)
    refused = [future.exception() for future in futures[len(items) : len(items) + 2]]
    assert all(isinstance(error, QuaestorError) for error in refused)
    numbers = [future.result() for future in (*futures[: len(items)], *futures[-2:])]
    assert numbers[-1] == numbers[-2], "the same key is the same act"
    assert len(set(numbers)) == len(items) + 1
    acts = {act.number: act for act in coding.journal.acts()}
    for item, number in zip(items, numbers, strict=False):
        assert isinstance(number, int)
        assert (acts[number].actor, acts[number].payload["item"]) == ("rater-1", item)
    assert coding.state == rebuilt(coding.journal)


def test_each_is_checked_against_what_those_before_it_did(coding: Coding) -> None:
    """Two who would both be first: one is, the other hears of it."""

    def first_only(state: State) -> NewAct:
        if state.rounds["pilot"].ratings:
            raise QuaestorError("somebody was first")
        item = state.rounds["pilot"].plan.items[0]
        return NewAct("rating", "rater-1", {"round": "pilot", "item": item, "answers": {}})

    futures = at_once(coding, [lambda: coding.act(first_only) for _ in range(6)])
    assert sorted(future.exception() is None for future in futures) == [False] * 5 + [True]


def test_one_that_breaks_what_is_recorded_breaks_alone(coding: Coding) -> None:
    item = coding.state.rounds["pilot"].plan.items[0]
    before = coding.journal.head()

    def broken() -> list[Act]:
        return coding.act(lambda state: NewAct("rating", "rater-1", {"round": "no such round", "item": item}))

    good = lambda: rate(coding, "pilot", "rater-2", item, {"relevance": "keep"})  # noqa: E731
    futures = at_once(coding, [good, broken, good])
    assert isinstance(futures[1].exception(), KeyError)
    assert [futures[place].exception() for place in (0, 2)] == [None, None]
    assert coding.journal.head() == before + 2
    assert coding.state == rebuilt(coding.journal)


@pytest.mark.parametrize(
    ("answer", "memo", "unsure"), [("exclude: crash", "why", True), ("keep", "other", True), ("keep", "why", False)]
)
def test_a_rating_sent_again_says_the_same_or_is_refused(coding: Coding, answer: str, memo: str, unsure: bool) -> None:
    item = coding.state.rounds["pilot"].plan.items[0]

    def send(answer: str, memo: str, unsure: bool) -> int:
        doubt = ("relevance",) if unsure else ()
        return rate(coding, "pilot", "rater-1", item, {"relevance": answer}, memo=memo, unsure=doubt, key="one")

    made = send("keep", "why", True)
    assert send("keep", "why", True) == made
    with pytest.raises(StateError, match="something else"):
        send(answer, memo, unsure)


def test_a_memo_sent_by_script_and_by_form_is_the_same(coding: Coding) -> None:
    item = coding.state.rounds["pilot"].plan.items[0]
    one, other = (
        rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}, memo=memo, key="one")
        for memo in ("two\nlines", "two\r\nlines")
    )
    assert one == other
