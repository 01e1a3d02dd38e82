"""Disagreements and decisions: recorded, in the ways a round allows, and no rating is changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.acting import KEEP, PHRASE, TEXT, Table, rated

from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.closing import build_reopen_act
from quaestor.coding.model.decisions import (
    build_agreed_act,
    build_published_act,
    count_undecided_agreements,
    find_undecided,
    is_settled_round,
    list_disagreements,
    list_kept,
)
from quaestor.coding.model.decisions import find_decisions as decided_answers
from quaestor.coding.model.phrases import build_unify_act
from quaestor.coding.model.ratings import list_labels
from quaestor.coding.model.records import Facet
from quaestor.coding.model.settlement import build_assent_acts, build_comment_act, build_settling_acts, build_tie_act
from quaestor.coding.session import new_state
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
    for number, found in enumerate(list_disagreements(table.state, "main")):
        if number % 2:
            table.record(build_tie_act(table.state, "main", "breaker", found.item, "relevance", "keep"))
            table.settle("lead", found.item, "relevance", "keep", "together", lead="lead")
        else:
            table.record(build_comment_act(table.state, "main", "first", found.item, "relevance", "I see"))
            table.settle("first", found.item, "relevance", "keep", "discussion")
    assert is_settled_round(table.state, "main")
    assert figures(table) == before


def test_unanimous_answers_are_decided_and_others_wait() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"), ("exclude: crash", "exclude: installation"))
    made = table.state.round("main").last_decisions("relevance")
    assert {item: (one.answer["answer"], one.how) for item, one in made.items()} == {
        "i1": ("keep", "agreement"),
        "i3": ("exclude", "agreement"),
    }
    assert made["i3"].answer["reason"] == "crash; installation"
    assert build_agreed_act(table.state, "main", "lead") is None
    assert list_kept(table.state, "main") is None, "as long as one item is open nothing is fed on"
    table.settle("second", "i2", "relevance", "keep", "discussion", "the code works")
    assert list_kept(table.state, "main") == {"i1", "i2"}


def test_cannot_judge_has_to_be_settled() -> None:
    table = rated(("keep", "cannot judge"), ("cannot judge", "cannot judge"))
    assert [disagreement.item for disagreement in list_disagreements(table.state, "main")] == ["i1", "i2"]


def test_two_step_settling_needs_the_tie_breaker_before_a_joint_decision() -> None:
    table = rated(("keep", "exclude: crash"), tie_breaker="breaker", settle="two-step")
    with pytest.raises(StateError, match="has not commented on 'i1' yet"):
        build_settling_acts(table.state, "main", "first", "i1", "relevance", "keep", "together")
    with pytest.raises(InputError, match="choose from: discussion, one-person or together"):
        build_settling_acts(table.state, "main", "breaker", "i1", "relevance", "keep", "tie-breaker")
    with pytest.raises(StateError, match="'first' is not the tie-breaker"):
        build_tie_act(table.state, "main", "first", "i1", "relevance", "keep")
    with pytest.raises(StateError, match="takes no part in the discussion"):
        build_settling_acts(table.state, "main", "breaker", "i1", "relevance", "keep", "discussion")
    with pytest.raises(StateError, match="record the independent comment"):
        build_comment_act(table.state, "main", "breaker", "i1", "relevance", "I think")
    table.record(build_tie_act(table.state, "main", "breaker", "i1", "relevance", "exclude: crash", "it crashes"))
    with pytest.raises(StateError, match="cannot be changed"):
        build_tie_act(table.state, "main", "breaker", "i1", "relevance", "keep")
    table.settle("first", "i1", "relevance", "exclude: crash", "together")
    found = list_disagreements(table.state, "main")[0]
    assert found.decision is not None
    assert found.tie_comment is not None
    assert (found.decision.how, found.tie_comment.answer["answer"]) == ("together", "exclude")


def test_only_the_tie_breaker_decides_if_the_round_says_so() -> None:
    table = rated(("keep", "exclude: crash"), tie_breaker="breaker", settle="tie-breaker")
    with pytest.raises(StateError, match="only breaker may decide alone"):
        build_settling_acts(table.state, "main", "first", "i1", "relevance", "keep", "tie-breaker")
    table.settle("breaker", "i1", "relevance", "keep", "tie-breaker")
    assert is_settled_round(table.state, "main")


def test_only_raters_settle_and_cannot_judge_is_not_a_decision() -> None:
    table = rated(("keep", "exclude: crash"), tie_breaker="breaker", settle="two-step")
    with pytest.raises(StateError, match="'stranger' does not rate in 'main'"):
        build_settling_acts(table.state, "main", "stranger", "i1", "relevance", "keep", "discussion")
    with pytest.raises(StateError, match="'stranger' does not rate in 'main'"):
        build_comment_act(table.state, "main", "stranger", "i1", "relevance", "keep it")
    with pytest.raises(InputError, match="cannot be settled with 'cannot judge'"):
        build_settling_acts(table.state, "main", "first", "i1", "relevance", "cannot judge", "discussion")
    table.settle("lead", "i1", "relevance", "keep", "discussion", lead="lead")
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
        build_settling_acts(table.state, "main", "first", "i1", "relevance", "keep", "discussion")
    with pytest.raises(InputError, match="has no facet 'phase'"):
        build_settling_acts(table.state, "main", "first", "i1", "phase", "x", "discussion")
    with pytest.raises(InputError, match="no ratings"):
        build_settling_acts(table.state, "main", "first", "i7", "relevance", "keep", "discussion")
    open_table = Table()
    open_table.open(items=["i1"])
    with pytest.raises(StateError, match="close it before"):
        build_agreed_act(open_table.state, "main", "lead")


def test_a_decision_can_be_replaced_and_both_are_kept() -> None:
    table = rated(("keep", "exclude: crash"))
    for word in ("keep", "exclude: crash"):
        table.settle("first", "i1", "relevance", word, "discussion")
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
    assert (made.answer, made.how, made.source) == ("training", "decided outside Quaestor", "replication package")


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
    # P1/00005 has one rating of two, which is no agreement.
    decided = {item for item, _ in one.decisions}
    assert decided == ({"P2/00001"} if when == "open" else {"P1/00001", "P2/00001"})
    withdrawn_if("agreed")
    assert (count_undecided_agreements(table.state, "main"), is_settled_round(table.state, "main")) == (0, False)
    assert [case.item for case in list_disagreements(table.state, "main")] == ["P2/00003"]
    table.settle("first", "P2/00003", "relevance", "keep", "discussion")
    assert is_settled_round(table.state, "main")
    assert {"P2/00001", "P2/00003"} <= (list_kept(table.state, "main") or set())


def test_a_round_is_settled_when_the_last_disputed_participant_withdraws() -> None:
    table = Table()
    table.open(items=["P1/00001", "P2/00001"])
    for rater, word in (("first", "keep"), ("second", "exclude: crash")):
        table.rate(rater, "P1/00001", relevance=word)
        table.rate(rater, "P2/00001", relevance="keep")
    table.close()
    assert (is_settled_round(table.state, "main"), list_kept(table.state, "main")) == (False, None)
    table.record(NewAct("interview.withdraw", "P1", {"participant": "P1", "how": "by link"}))
    assert (is_settled_round(table.state, "main"), list_kept(table.state, "main")) == (True, {"P2/00001"})


def methods(table: Table, facet: str = "relevance") -> dict[str, str]:
    return {item: decision.how for item, decision in table.state.round("main").last_decisions(facet).items()}


def test_closing_a_round_decides_what_all_assigned_raters_agree_on() -> None:
    table = Table()
    table.open(items=["i1", "i2", "i3", "i4"], facets=(KEEP, TEXT))
    for item, (first, second) in {"i1": ("keep", "keep"), "i2": ("keep", "exclude: crash")}.items():
        table.rate("first", item, relevance=first, why="a note")
        table.rate("second", item, relevance=second)
    table.rate("first", "i3", relevance="keep")
    table.close(incomplete="second stopped")
    assert methods(table) == {"i1": "agreement"}
    undecided = find_undecided(table.state, "main")
    assert (undecided.disagreements, undecided.incomplete, undecided.unrated) == (
        {("i2", "relevance")},
        {("i3", "relevance")},
        {("i4", "relevance")},
    ), "a text facet needs no decision"
    assert undecided.describe() == ("1 with an open disagreement, 1 answered by fewer raters than planned, 1 not rated")


def test_reopening_a_round_undoes_its_decisions_by_agreement() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"))
    assert methods(table) == {"i1": "agreement"}
    table.record(build_reopen_act(table.state, "main", "lead", "an item was changed"))
    assert methods(table) == {}
    table.rate("second", "i1", relevance="exclude: crash")
    table.close()
    assert methods(table) == {}, "the raters no longer agree"
    again = new_state()
    again.fold(table.acts)
    assert again == table.state


def test_an_item_that_the_plan_gives_to_one_rater_is_decided_as_single() -> None:
    table = Table()
    table.open(items=["i1", "i2", "i3", "i4"], overlap=0.5)
    for slot in table.state.round("main").slots:
        for item in slot.items[0]:
            table.rate(slot.rater, item, relevance="keep")
    table.close()
    assert sorted(methods(table).values()) == ["agreement", "agreement", "single", "single"]
    assert not find_undecided(table.state, "main")


def test_an_optional_answer_of_one_rater_of_two_is_not_agreement() -> None:
    table = Table()
    optional = Facet("topics", "multiple", options=("a", "b"), required=False)
    table.open(items=["i1", "i2", "i3"], facets=(KEEP, optional))
    for item in ("i1", "i2", "i3"):
        table.rate("first", item, relevance="exclude: crash" if item == "i3" else "keep", topics=["a"])
        table.rate("second", item, relevance="exclude: crash" if item == "i3" else "keep",
                   **({"topics": ["a"]} if item == "i1" else {}))  # fmt: skip
    table.close()
    assert methods(table, "topics") == {"i1": "agreement"}
    assert find_undecided(table.state, "main").incomplete == {("i2", "topics")}, "i3 is excluded and needs no topic"
    table.settle("first", "i2", "topics", ["a"])
    assert methods(table, "topics") == {"i1": "agreement", "i2": "discussion"}
    assert not find_undecided(table.state, "main")


def test_a_decision_by_discussion_needs_the_assent_of_each_rater_of_the_item() -> None:
    table = rated(("keep", "exclude: crash"))
    table.record(build_settling_acts(table.state, "main", "lead", "i1", "relevance", "keep", "discussion", lead="lead"))
    table.record(build_assent_acts(table.state, "main", "first", "i1", "relevance"))
    assert methods(table) == {}, "second has not assented"
    table.record(build_assent_acts(table.state, "main", "second", "i1", "relevance"))
    decision = table.state.round("main").last_decisions("relevance")["i1"]
    assert (decision.how, decision.assents) == ("discussion", ("first", "second"))
    with pytest.raises(StateError, match="nobody has proposed"):
        build_assent_acts(table.state, "main", "second", "i1", "relevance")


def test_one_person_can_decide_with_a_reason_which_is_recorded_as_such() -> None:
    table = rated(("keep", "exclude: crash"))
    with pytest.raises(InputError, match="one person decides 'i1' alone: say why"):
        build_settling_acts(table.state, "main", "first", "i1", "relevance", "keep", "one-person", " ")
    table.settle("first", "i1", "relevance", "keep", "one-person", "second is away")
    assert methods(table) == {"i1": "one-person"}


def test_overruling_a_majority_or_the_tie_breaker_needs_a_reason() -> None:
    table = Table()
    table.open(items=["i1", "i2"], raters=("first", "second", "third"), tie_breaker="breaker", settle="two-step")
    for rater, first, second in (("first", "keep", "keep"), ("second", "keep", "exclude: crash"),
                                 ("third", "exclude: crash", "cannot judge")):  # fmt: skip
        table.rate(rater, "i1", relevance=first)
        table.rate(rater, "i2", relevance=second)
    table.close()
    with pytest.raises(InputError, match="overrules 2 of 3 raters"):
        build_settling_acts(table.state, "main", "first", "i1", "relevance", "exclude: crash", "discussion")
    table.settle("first", "i1", "relevance", "exclude: crash", "discussion", "the title misled two of us")
    table.record(build_tie_act(table.state, "main", "breaker", "i2", "relevance", "keep"))
    with pytest.raises(InputError, match="overrules the tie-breaker"):
        build_settling_acts(table.state, "main", "first", "i2", "relevance", "exclude: crash", "together")
    table.settle("first", "i2", "relevance", "exclude: crash", "together", "the tie-breaker read an older version")
    decision = table.state.round("main").last_decisions("relevance")["i2"]
    assert (decision.how, decision.assents) == ("together", ("first", "second", "third", "breaker"))


def test_overruling_a_decision_of_the_tie_breaker_needs_a_reason() -> None:
    table = Table()
    table.open(items=["i1"], tie_breaker="breaker")
    table.rate("first", "i1", relevance="keep")
    table.rate("second", "i1", relevance="exclude: crash")
    table.close()
    table.settle("breaker", "i1", "relevance", "keep", "tie-breaker")
    with pytest.raises(InputError, match="overrules the tie-breaker"):
        build_settling_acts(table.state, "main", "first", "i1", "relevance", "exclude: crash", "discussion")
    table.settle("first", "i1", "relevance", "exclude: crash", "discussion", "the answer shows a crash")
    assert methods(table) == {"i1": "discussion"}
