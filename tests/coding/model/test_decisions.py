"""Disagreements and decisions: on the record, in the ways a round allows, and without touching a rating."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.acting import PHRASE, Table, rated

from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.decisions import (
    build_agreed_act,
    build_comment_act,
    build_decision_act,
    build_published_act,
    build_tie_act,
    count_undecided_agreements,
    is_settled_round,
    list_disagreements,
    list_kept,
)
from quaestor.coding.model.decisions import find_decisions as decided_answers
from quaestor.coding.model.phrases import build_unify_act
from quaestor.coding.model.ratings import list_labels
from quaestor.measures.agreement import agreement, build_rating_table, to_json
from quaestor.store.records import NewAct

WORDS = st.sampled_from(["keep", "exclude: crash", "exclude: installation", "cannot judge"])


def figures(table: Table) -> dict[str, Any]:
    found = [(item, rater, label if isinstance(label, str) else None)
             for item, rater, label in list_labels(table.state, "main", "relevance")]  # fmt: skip
    return to_json(agreement(build_rating_table(found, cannot_judge=["cannot judge"]), facet="relevance"))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=12))
def test_settling_disagreements_does_not_change_agreement(pairs: list[tuple[str, str]]) -> None:
    table = rated(*pairs, tie_breaker="breaker", settle="two-step")
    before = figures(table)
    table.record(build_agreed_act(table.state, "main", "lead"))
    for number, found in enumerate(list_disagreements(table.state, "main")):
        if number % 2:
            table.record(build_tie_act(table.state, "main", "breaker", found.item, "relevance", "keep"))
            table.record(
                build_decision_act(
                    table.state, "main", "lead", found.item, "relevance", "keep", "together", lead="lead"
                )
            )
        else:
            table.record(build_comment_act(table.state, "main", "first", found.item, "relevance", "I see"))
            table.record(
                build_decision_act(table.state, "main", "first", found.item, "relevance", "keep", "discussion")
            )
    assert is_settled_round(table.state, "main")
    assert figures(table) == before


def test_unanimous_answers_are_decided_and_others_wait() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"), ("exclude: crash", "exclude: installation"))
    table.record(build_agreed_act(table.state, "main", "lead"))
    made = table.state.round("main").last_decisions("relevance")
    assert {item: (one.answer["answer"], one.how) for item, one in made.items()} == {
        "i1": ("keep", "agreement"),
        "i3": ("exclude", "agreement"),
    }
    assert made["i3"].answer["reason"] == "crash; installation"
    assert build_agreed_act(table.state, "main", "lead") is None
    assert list_kept(table.state, "main") is None, "as long as one item is open nothing is fed on"
    table.record(
        build_decision_act(table.state, "main", "second", "i2", "relevance", "keep", "discussion", "the code works")
    )
    assert list_kept(table.state, "main") == {"i1", "i2"}


def test_cannot_judge_has_to_be_settled() -> None:
    table = rated(("keep", "cannot judge"), ("cannot judge", "cannot judge"))
    assert [disagreement.item for disagreement in list_disagreements(table.state, "main")] == ["i1", "i2"]


def test_two_step_settling_needs_the_tie_breaker_before_a_joint_decision() -> None:
    table = rated(("keep", "exclude: crash"), tie_breaker="breaker", settle="two-step")
    with pytest.raises(StateError, match="has not commented on 'i1' yet"):
        build_decision_act(table.state, "main", "first", "i1", "relevance", "keep", "together")
    with pytest.raises(InputError, match="allowed: discussion or together"):
        build_decision_act(table.state, "main", "breaker", "i1", "relevance", "keep", "tie-breaker")
    with pytest.raises(StateError, match="'first' is not the tie-breaker"):
        build_tie_act(table.state, "main", "first", "i1", "relevance", "keep")
    with pytest.raises(StateError, match="takes no part in the discussion"):
        build_decision_act(table.state, "main", "breaker", "i1", "relevance", "keep", "discussion")
    with pytest.raises(StateError, match="record the independent comment"):
        build_comment_act(table.state, "main", "breaker", "i1", "relevance", "I think")
    table.record(build_tie_act(table.state, "main", "breaker", "i1", "relevance", "exclude: crash", "it crashes"))
    with pytest.raises(StateError, match="cannot be changed"):
        build_tie_act(table.state, "main", "breaker", "i1", "relevance", "keep")
    table.record(build_decision_act(table.state, "main", "first", "i1", "relevance", "exclude: crash", "together"))
    found = list_disagreements(table.state, "main")[0]
    assert found.decision is not None
    assert found.tie_comment is not None
    assert (found.decision.how, found.tie_comment.answer["answer"]) == ("together", "exclude")


def test_only_the_tie_breaker_decides_if_the_round_says_so() -> None:
    table = rated(("keep", "exclude: crash"), tie_breaker="breaker", settle="tie-breaker")
    with pytest.raises(StateError, match="only breaker may decide alone"):
        build_decision_act(table.state, "main", "first", "i1", "relevance", "keep", "tie-breaker")
    table.record(build_decision_act(table.state, "main", "breaker", "i1", "relevance", "keep", "tie-breaker"))
    assert is_settled_round(table.state, "main")


def test_only_raters_settle_and_cannot_judge_is_not_a_decision() -> None:
    table = rated(("keep", "exclude: crash"), tie_breaker="breaker", settle="two-step")
    with pytest.raises(StateError, match="'stranger' does not rate in 'main'"):
        build_decision_act(table.state, "main", "stranger", "i1", "relevance", "keep", "discussion")
    with pytest.raises(StateError, match="'stranger' does not rate in 'main'"):
        build_comment_act(table.state, "main", "stranger", "i1", "relevance", "keep it")
    with pytest.raises(InputError, match="cannot be settled with 'cannot judge'"):
        build_decision_act(table.state, "main", "first", "i1", "relevance", "cannot judge", "discussion")
    table.record(build_decision_act(table.state, "main", "lead", "i1", "relevance", "keep", "discussion", lead="lead"))
    with pytest.raises(StateError, match="would no longer be independent"):
        build_tie_act(table.state, "main", "breaker", "i1", "relevance", "keep")


def test_phrases_disagree_only_if_their_unified_words_differ() -> None:
    table = Table()
    table.open(items=["i1", "i2"], facets=(PHRASE,))
    for item, second in (("i1", "restore, model"), ("i2", "save, model")):
        table.rate("first", item, phrase="load, model")
        table.rate("second", item, phrase=second)
    table.record(build_unify_act(table.state, "main", "first", "verb", ["restore"], "load", "same meaning"))
    table.close()
    assert [disagreement.item for disagreement in list_disagreements(table.state, "main")] == ["i2"]
    table.record(build_agreed_act(table.state, "main", "lead"))
    assert table.state.round("main").last_decisions("phrase")["i1"].answer == {"verb": "load", "object": "model"}


def test_agreed_items_and_open_rounds_cannot_be_settled() -> None:
    table = rated(("keep", "keep"))
    with pytest.raises(StateError, match="the raters agree on 'i1'"):
        build_decision_act(table.state, "main", "first", "i1", "relevance", "keep", "discussion")
    with pytest.raises(InputError, match="has no facet 'phase'"):
        build_decision_act(table.state, "main", "first", "i1", "phase", "x", "discussion")
    with pytest.raises(InputError, match="no ratings"):
        build_decision_act(table.state, "main", "first", "i7", "relevance", "keep", "discussion")
    open_table = Table()
    open_table.open(items=["i1"])
    with pytest.raises(StateError, match="close it before"):
        build_agreed_act(open_table.state, "main", "lead")


def test_a_decision_can_be_replaced_and_both_are_kept() -> None:
    table = rated(("keep", "exclude: crash"))
    for word in ("keep", "exclude: crash"):
        table.record(build_decision_act(table.state, "main", "first", "i1", "relevance", word, "discussion"))
    made = table.state.round("main").decisions["i1", "relevance"]
    assert [one.answer["answer"] for one in made] == ["keep", "exclude"]


def test_with_partial_overlap_a_single_rating_decides_and_is_marked_as_such() -> None:
    table = Table()
    table.open(items=[f"i{number}" for number in range(10)], overlap=0.0)
    for seat in table.state.round("main").slots:
        for item in seat.items[0]:
            table.rate(seat.rater, item, relevance="keep")
    table.close()
    table.record(build_agreed_act(table.state, "main", "lead"))
    assert {one.how for one in table.state.round("main").last_decisions("relevance").values()} == {"single"}


def test_published_decisions_name_their_source_instead_of_raters() -> None:
    table = Table()
    entries = [{"item": "i1", "facet": "phase", "answer": "training"}]
    table.record(build_published_act("labels", "lead", "replication package", entries, 1))
    made = decided_answers(table.state, "labels", "phase")["i1"]
    assert (made.answer, made.how, made.source) == ("training", "published", "replication package")


@pytest.mark.parametrize("when", ["open", "closed", "agreed"])
def test_items_of_a_withdrawn_participant_are_never_left_to_settle(when: str) -> None:
    table = Table()
    table.open(items=["P1/00001", "P1/00003", "P1/00005", "P2/00001", "P2/00003"])
    said = {"P1/00003": ("keep", "exclude: crash"), "P2/00003": ("exclude: crash", "keep")}
    one = table.state.round("main")

    def withdrawn_if(now: str) -> None:
        if when == now:
            table.record(NewAct("interview.withdraw", "P1", {"participant": "P1", "how": "by link"}))
            assert "P1/00003" not in [case.item for case in list_disagreements(table.state, "main")]

    for item in one.plan.items:
        for rater, word in zip(("first", "second"), said.get(item, ("keep", "keep")), strict=True):
            if (item, rater) != ("P1/00005", "second"):
                table.rate(rater, item, relevance=word)
    withdrawn_if("open")
    table.close(incomplete="" if when == "open" else "the deadline")
    assert list_kept(table.state, "main") is None
    assert ("P1/00003" in [case.item for case in list_disagreements(table.state, "main")]) == (when != "open")
    withdrawn_if("closed")
    left = count_undecided_agreements(table.state, "main")
    table.record(build_agreed_act(table.state, "main", "lead"))
    assert (left, len(one.decisions)) == ((3, 3) if when == "agreed" else (1, 1))
    withdrawn_if("agreed")
    assert (count_undecided_agreements(table.state, "main"), is_settled_round(table.state, "main")) == (0, False)
    assert [case.item for case in list_disagreements(table.state, "main")] == ["P2/00003"]
    table.record(build_decision_act(table.state, "main", "first", "P2/00003", "relevance", "keep", "discussion"))
    assert is_settled_round(table.state, "main")
    assert {"P2/00001", "P2/00003"} <= (list_kept(table.state, "main") or set())


def test_a_round_is_settled_when_the_last_disputed_participant_withdraws() -> None:
    table = Table()
    table.open(items=["P1/00001", "P2/00001"])
    for rater, word in (("first", "keep"), ("second", "exclude: crash")):
        table.rate(rater, "P1/00001", relevance=word)
        table.rate(rater, "P2/00001", relevance="keep")
    table.close()
    table.record(build_agreed_act(table.state, "main", "lead"))
    assert (is_settled_round(table.state, "main"), list_kept(table.state, "main")) == (False, None)
    table.record(NewAct("interview.withdraw", "P1", {"participant": "P1", "how": "by link"}))
    assert (is_settled_round(table.state, "main"), list_kept(table.state, "main")) == (True, {"P2/00001"})
