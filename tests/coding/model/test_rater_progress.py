"""A rater's incrementally updated progress always equals the full view."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.acting import FACETS, ITEMS, Table, try_something

from quaestor.base.errors import StateError
from quaestor.coding.model.assignment import ItemQueue
from quaestor.coding.model.views import build_rater_position, build_rater_view

RATERS = ["first", "second", "third"]


def assert_same(table: Table, rater: str) -> None:
    if table.state.round("main").slot_of(rater) is None:
        return
    view, place = build_rater_view(table.state, "main", rater), build_rater_position(table.state, "main", rater)
    progress = place.progress
    assert tuple(progress) == view.items
    assert progress.done == len(view.items) - len(view.left)
    assert tuple(progress.iterate_waiting(0)) == view.left
    for turn, item in enumerate(view.items):
        assert progress.turn_of(item) == turn
        assert progress.item(turn) == item
        assert place.rating(item) == view.ratings.get(item)
        assert place.proposals(item) == view.proposals.get(item, {})
        behind = [one for one in (*view.items[turn:], *view.items[:turn]) if one in view.left]
        assert list(progress.iterate_waiting(turn)) == behind
        assert progress.list_from(turn, 2) == list(view.items[turn : turn + 2])
    assert progress.turn_of("elsewhere") == -1
    assert sorted(one.item for one in place.recent(len(ITEMS))) == sorted(view.ratings)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0, 2, 3]), st.sampled_from([0.0, 0.5, 1.0]))
def test_incrementally_updated_progress_equals_the_raters_view(seed: int, set_size: int, overlap: float) -> None:
    dice = random.Random(seed)
    table = Table()
    table.codebook()
    table.open(items=ITEMS, facets=FACETS, set_size=set_size, overlap=overlap)
    for _ in range(25):
        try_something(table, dice, RATERS)
        for rater in RATERS:
            assert_same(table, rater)


def test_a_person_who_does_not_rate_has_no_position_in_the_round() -> None:
    table = Table()
    table.open()
    with pytest.raises(StateError, match="does not rate"):
        build_rater_position(table.state, "main", "lead")


def test_waiting_items_continue_at_the_start_after_the_last() -> None:
    items = ("a", "b", "c", "d")
    progress = ItemQueue(items, {item: place for place, item in enumerate(items)}, ("d", "b", "a"))
    progress.mark_rated("b")
    progress.mark_rated("c")  # not among theirs
    assert list(progress.iterate_waiting(1)) == ["a", "d"]
    assert (progress.done, len(progress)) == (1, 3)
