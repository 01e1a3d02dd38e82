"""Field values of two raters: merged spellings, reported differences and how they are settled."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.acting import Table

from quaestor.base.errors import StateError
from quaestor.coding.model.decisions import (
    build_agreed_act,
    count_undecided_agreements,
    is_settled,
    is_settled_round,
    list_disagreements,
    list_word_differences,
)
from quaestor.coding.model.facet_kinds.passages import SEPARATOR, differing_fields, merge_passages
from quaestor.coding.model.records import Facet
from quaestor.coding.model.settlement import build_comment_act, build_settling_acts
from quaestor.store.records import NewAct

LOSS = "training/loss"
THEMES = Facet("themes", "stretches", codes="issue", fields=((LOSS, ("importance", "case")),))
WORDS = st.sampled_from(["high", "High", " high ", "low", "LOW", "not at all", "not  At all"])


def passage_with(start: int = 0, end: int = 9, **fields: str) -> dict[str, Any]:
    return {"start": start, "end": end, "code": LOSS, "fields": fields}


def coded(*pairs: tuple[Any, Any], **more: Any) -> Table:
    """A closed round in which two raters coded items i1, i2, … like this, with what they agree on decided."""
    table = Table()
    table.codebook()
    table.open(items=[f"i{number}" for number in range(1, len(pairs) + 1)], facets=(THEMES,), **more)
    for number, pair in enumerate(pairs, start=1):
        for rater, stretches in zip(("first", "second"), pair, strict=True):
            table.rate(rater, f"i{number}", themes=stretches)
    table.close()
    table.record(build_agreed_act(table.state, "main", "lead"))
    return table


def test_field_values_that_differ_only_in_case_and_spaces_are_merged() -> None:
    later = passage_with(4, 9, importance="High", case="on  export")
    earlier = passage_with(0, 6, importance="high", case="On export ")
    (found,) = merge_passages([[later], [earlier]])
    assert (found["start"], found["end"]) == (0, 9)
    assert found["fields"] == {"importance": "High", "case": "on  export"}
    assert differing_fields([found]) == []


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_each_field_value_appears_once_whichever_rater_gave_it(words: list[str]) -> None:
    (found,) = merge_passages([passage_with(place, 9, importance=one)] for place, one in enumerate(words))
    kept = found["fields"]["importance"].split(SEPARATOR)
    spelled = [" ".join(one.split()).casefold() for one in kept]
    assert spelled == list(dict.fromkeys(" ".join(one.split()).casefold() for one in words))
    assert set(kept) <= set(words)


def test_different_field_values_are_reported_but_are_not_a_disagreement_about_codes() -> None:
    table = coded(
        ([passage_with(importance="High")], [passage_with(importance="low")]),
        ([passage_with(importance="high")], [passage_with(importance="High")]),
        ([passage_with(importance="high")], []),
        ([passage_with(importance="high")], [passage_with()]),
    )
    assert [disagreement.item for disagreement in list_disagreements(table.state, "main")] == ["i3"]
    (found,) = list_word_differences(table.state, "main")
    assert (found.item, found.facet, found.words_only) == ("i1", "themes", True)
    assert found.decision is not None
    assert not is_settled(found)
    assert found.decision.answer[0]["fields"] == {"importance": f"High{SEPARATOR}low"}


@pytest.mark.parametrize("settle", ["discussion", "agreement", "two-step", "tie-breaker"])
def test_raters_can_settle_field_values_in_every_kind_of_round(settle: str) -> None:
    breaker = {"tie_breaker": "breaker"} if settle in ("two-step", "tie-breaker") else {}
    table = coded(([passage_with(importance="High")], [passage_with(importance="low")]), settle=settle, **breaker)
    left = count_undecided_agreements(table.state, "main")
    table.record(build_comment_act(table.state, "main", "first", "i1", "themes", "it stops everybody"))
    wanted = [passage_with(importance="High")]
    table.settle("second", "i1", "themes", wanted, "discussion", "we talked")
    made = table.state.round("main").decisions["i1", "themes"]
    assert [one.how for one in made] == ["agreement", "discussion"]
    assert made[-1].answer == wanted
    assert [is_settled(word_difference) for word_difference in list_word_differences(table.state, "main")] == [True]
    assert (count_undecided_agreements(table.state, "main"), is_settled_round(table.state, "main")) == (left, True)
    table.settle("lead", "i1", "themes", wanted, "discussion", lead="lead")


def test_settling_field_values_keeps_the_agreed_codes() -> None:
    table = coded(
        ([passage_with(importance="High")], [passage_with(importance="low")]),
        ([passage_with()], [passage_with(importance="low")]),
    )
    with pytest.raises(StateError, match="agree on the codes of 'i1': settle the fields"):
        build_settling_acts(table.state, "main", "first", "i1", "themes", [], "discussion")
    with pytest.raises(StateError, match="the raters agree on 'i2'"):
        build_settling_acts(
            table.state, "main", "first", "i2", "themes", [passage_with(importance="high")], "discussion"
        )
    with pytest.raises(StateError, match="'stranger' does not rate"):
        build_settling_acts(
            table.state, "main", "stranger", "i1", "themes", [passage_with(importance="high")], "discussion"
        )


def test_two_passages_of_one_rater_stay_separate_and_are_no_difference() -> None:
    both = [passage_with(29, 60, importance="10"), passage_with(40, 86, importance="1")]
    table = coded((both, both), (both, [passage_with(30, 58, importance="10"), passage_with(50, 90, importance="2")]))
    made = table.state.round("main").last_decisions("themes")
    assert made["i1"].answer == both
    assert made["i2"].answer == [
        passage_with(29, 60, importance="10"),
        passage_with(40, 90, importance=f"1{SEPARATOR}2"),
    ]
    assert [word_difference.item for word_difference in list_word_differences(table.state, "main")] == ["i2"]


def test_the_separator_in_a_single_value_is_replaced_by_a_plain_bar() -> None:
    typed = [passage_with(importance=f"a{SEPARATOR}b")]
    table = coded((typed, typed), (typed, [passage_with(importance="c")]))
    made = table.state.round("main").last_decisions("themes")
    assert made["i1"].answer == [passage_with(importance="a | b")]
    (found,) = list_word_differences(table.state, "main")
    assert (found.item, made["i2"].answer) == ("i2", [passage_with(importance=f"a | b{SEPARATOR}c")])
    mine = found.answers[0][1]
    table.settle("first", "i2", "themes", mine, "discussion")
    assert [is_settled(one) for one in list_word_differences(table.state, "main")] == [True]


def test_an_older_combined_decision_can_be_settled_even_if_raters_agree() -> None:
    both = [passage_with(29, 60, importance="10"), passage_with(40, 86, importance="1")]
    table = coded((both, both))
    entry = {"item": "i1", "facet": "themes", "answer": [passage_with(29, 86, importance=f"10{SEPARATOR}1")]}
    table.record(NewAct("decision", "lead", {"round": "main", "decisions": [{**entry, "how": "agreement"}]}))
    assert [is_settled(one) for one in list_word_differences(table.state, "main")] == [False]
    table.settle("first", "i1", "themes", both, "discussion")
    assert list_word_differences(table.state, "main") == []
