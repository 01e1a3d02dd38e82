"""A rater's view of an open round depends only on the plan and the rater's own ratings."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.acting import FACETS, ITEMS, Table, anything, rated, try_something

from quaestor.base.errors import StateError
from quaestor.coding.model.records import Practice
from quaestor.coding.model.views import build_rater_view, list_tie_cases, list_visible_cases, require_lead_view


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0, 2]))
def test_a_raters_view_does_not_depend_on_acts_of_others(seed: int, set_size: int) -> None:
    dice = random.Random(seed)
    table = Table()
    table.codebook()
    table.open(items=ITEMS, facets=FACETS, tie_breaker="breaker", settle="two-step", set_size=set_size)
    for item in table.state.round("main").open_items()[1:]:  # the set stays incomplete: nobody may compare yet
        if dice.random() < 0.5:
            table.rate("first", item, **anything(dice))
    before = build_rater_view(table.state, "main", "first")
    for _ in range(25):
        try_something(table, dice, ["second", "third", "breaker", "lead"])
    assert build_rater_view(table.state, "main", "first") == before


def test_a_raters_own_acts_change_the_view() -> None:
    table = Table()
    table.open(items=["i1", "i2"])
    before = build_rater_view(table.state, "main", "first")
    table.rate("first", "i1", relevance="keep")
    assert build_rater_view(table.state, "main", "first") != before
    assert build_rater_view(table.state, "main", "first").left == ("i2",)


def test_only_a_lead_who_neither_rates_nor_breaks_ties_sees_an_open_round() -> None:
    table = Table()
    table.open(items=["i1"], raters=("first", "lead"), tie_breaker="breaker")
    for actor, words in (("first", "rates in 'main'"), ("lead", "rates in 'main'"), ("breaker", "is the tie-breaker")):
        with pytest.raises(StateError, match=words):
            require_lead_view(table.state, "main", actor, "lead")
    require_lead_view(table.state, "main", "supervisor", "supervisor")
    with pytest.raises(StateError, match="has no role"):
        require_lead_view(table.state, "main", "stranger", "supervisor")
    table.rate("first", "i1", relevance="keep")
    table.rate("lead", "i1", relevance="exclude: crash")
    table.close()
    require_lead_view(table.state, "main", "lead", "lead")
    with pytest.raises(StateError, match="once all disagreements are settled"):
        require_lead_view(table.state, "main", "breaker", "lead")
    table.settle("first", "i1", "relevance", "keep", "discussion")
    require_lead_view(table.state, "main", "breaker", "lead")


def test_a_tie_breaker_of_a_non_blind_round_sees_no_names() -> None:
    table = rated(("keep", "exclude: crash"), tie_breaker="breaker", blind=False)
    with pytest.raises(StateError, match="once all disagreements are settled"):
        require_lead_view(table.state, "main", "breaker", "lead")


def test_a_raters_view_does_not_contain_the_answers_to_practice_items() -> None:
    table = Table()
    table.open(items=["i1"], practice=(Practice("p", {"relevance": "exclude: crash"}, "It mends an error."),))
    assert "crash" not in repr(build_rater_view(table.state, "main", "first").practice)


def test_disagreements_are_hidden_while_the_round_is_open() -> None:
    table = Table()
    table.open(items=["i1"], tie_breaker="breaker")
    for actor in ("supervisor", "first"):
        with pytest.raises(StateError):
            list_visible_cases(table.state, "main", actor, "supervisor")
    with pytest.raises(StateError, match="is open"):
        list_tie_cases(table.state, "main", "breaker")


def test_the_tie_breaker_sees_answers_without_their_raters() -> None:
    pairs = [("keep", "exclude: crash"), ("exclude: crash", "keep")] * 10
    one = rated(*pairs, tie_breaker="breaker")
    swapped = rated(*[(second, first) for first, second in pairs], tie_breaker="breaker")
    assert list_tie_cases(one.state, "main", "breaker") == list_tie_cases(swapped.state, "main", "breaker")
    shown = repr(list_tie_cases(one.state, "main", "breaker"))
    assert "first" not in shown
    assert "second" not in shown
    with pytest.raises(StateError, match="'first' is not the tie-breaker"):
        list_tie_cases(one.state, "main", "first")
    first = {case.answers[0]["answer"] for case in list_tie_cases(one.state, "main", "breaker")}
    assert first == {"keep", "exclude"}, "the order is not always the same, so it gives no one away"
