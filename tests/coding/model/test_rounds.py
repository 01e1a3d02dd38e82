"""Rounds: opening, closing, assignment of items, and valid ratings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.acting import KEEP, NOW, PHASE, PHRASE, TEXT, TOPICS, Table, rated

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.coding.model.answers import check_answer
from quaestor.coding.model.assignment import assign_items, order_items
from quaestor.coding.model.closing import build_close_acts, build_reopen_act, can_reopen_blind
from quaestor.coding.model.decisions import build_agreed_act, is_settled_round, list_disagreements
from quaestor.coding.model.facet_kinds.base import write_answer
from quaestor.coding.model.phrases import build_compare_act, build_reread_act
from quaestor.coding.model.ratings import (
    build_practice_act,
    build_rating_act,
    count_hours,
    list_drift_labels,
    list_labels,
)
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, Practice, RoundPlan
from quaestor.coding.model.rounds import (
    build_deadline_act,
    build_next_set_act,
    build_open_act,
    build_replace_act,
    build_waive_act,
    count_left_by_rater,
    list_missing,
    list_round_notes,
)
from quaestor.coding.model.state import State
from quaestor.coding.model.views import build_rater_position, build_rater_view, build_unblind_act
from quaestor.coding.session import new_state
from quaestor.store.records import NewAct


def test_folding_acts_one_by_one_equals_folding_all_at_once() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"))
    again = State()
    again.fold(table.acts)
    assert again == table.state


def test_a_main_round_needs_a_closed_pilot_that_reached_its_threshold() -> None:
    table = Table()
    with pytest.raises(StateError, match="'pilot', which has not been opened"):
        table.open("main", after="pilot")
    table.open("pilot", items=["i1"], kind="pilot", threshold=0.6)
    with pytest.raises(StateError, match="still open"):
        table.open("main", after="pilot")
    table.rate("first", "i1", "pilot", relevance="keep")
    table.rate("second", "i1", "pilot", relevance="keep")
    table.close("pilot")
    with pytest.raises(StateError, match=r"did not reach its kappa of 0\.6"):
        table.open("main", after="pilot", passed=False)
    table.record(build_waive_act(table.state, "pilot", "lead", "a sample of one"))
    assert table.state.round("pilot").waived == "a sample of one"
    table.open("main", after="pilot", passed=False)
    assert table.state.round("main").status == "open"


def test_a_round_with_a_passed_gate_needs_no_waiver() -> None:
    table = Table()
    table.open("pilot", items=["i1"], kind="pilot", threshold=0.6)
    table.close("pilot", "only a test")
    table.open("main", after="pilot", passed=True)


def test_an_incomplete_round_closes_only_with_a_reason() -> None:
    table = Table()
    table.open(items=["i1", "i2"])
    table.rate("first", "i1", relevance="keep")
    with pytest.raises(StateError, match="3 ratings missing"):
        table.close()
    table.close(incomplete="the deadline")
    assert table.state.round("main").incomplete == "the deadline"
    with pytest.raises(StateError, match="closed: its ratings can no longer change"):
        table.rate("first", "i2", relevance="keep")


def test_items_of_a_withdrawn_participant_are_neither_assigned_nor_missing() -> None:
    table = Table()
    table.open(items=["P1/00001", "P1-2/00003", "P1/00005", "P10/00001"])
    table.rate("first", "P1/00001", relevance="keep")
    one, place = table.state.round("main"), build_rater_position(table.state, "main", "second")
    assert len(place.progress) == 4
    assert count_left_by_rater(one) == {"first": 3, "second": 4}
    table.record(NewAct("interview.withdraw", "P1", {"participant": "P1", "how": "by link"}))
    assert count_left_by_rater(one) == {"first": 1, "second": 1}
    assert list(build_rater_position(table.state, "main", "second").progress) == ["P10/00001"]
    assert set(build_rater_view(table.state, "main", "first").items) == {"P1/00001", "P10/00001"}, (
        "what was rated stays"
    )
    with pytest.raises(InputError, match="not assigned"):
        table.rate("second", "P1/00001", relevance="keep")
    for rater in ("first", "second"):
        table.rate(rater, "P10/00001", relevance="keep")
    table.close()
    assert not one.incomplete
    again = new_state()
    again.fold(table.acts)
    assert again == table.state


def test_a_requested_rereading_of_a_withdrawn_item_is_not_missing() -> None:
    table = Table()
    table.open(items=["P1/00001", "P2/00001"], facets=(PHRASE,), set_size=2)
    for item in ("P1/00001", "P2/00001"):
        table.rate("first", item, phrase="load, model")
        table.rate("second", item, phrase="read, model")
    table.record(build_reread_act(table.state, "main", "lead", "P1/00001"))
    assert count_left_by_rater(table.state.round("main")) == {"first": 1, "second": 1}
    table.record(NewAct("interview.withdraw", "lead", {"participant": "P1", "how": "asked"}))
    assert count_left_by_rater(table.state.round("main")) == {"first": 0, "second": 0}
    table.close()


def test_a_closed_round_can_be_reopened_until_a_rater_saw_the_other_ratings() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"))
    table.record(build_reopen_act(table.state, "main", "lead", "an item was changed"))
    table.rate("second", "i2", relevance="keep")
    table.close()
    table.record(build_unblind_act(table.state, "main", "second"))
    with pytest.raises(StateError, match="second saw the ratings"):
        build_reopen_act(table.state, "main", "lead", "again")
    assert build_unblind_act(table.state, "main", "second") is None, "it is on record once"
    assert build_unblind_act(table.state, "main", "lead") is not None, "the look of somebody without a part counts too"


def test_after_any_recorded_view_a_round_reopens_only_as_not_blind() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"))
    assert can_reopen_blind(table.state, "main")
    table.record(build_unblind_act(table.state, "main", "a-reader"))
    assert not can_reopen_blind(table.state, "main")
    with pytest.raises(StateError, match=r"a-reader saw the ratings, .* --not-blind"):
        build_reopen_act(table.state, "main", "lead", "again")
    table.record(build_reopen_act(table.state, "main", "lead", "again", not_blind=True))
    table.close()
    assert table.state.round("main").blindness == "not blind: reopened after ratings had been seen"
    assert list_round_notes(table.state.rounds.values()) == [
        "The round main is not blind: reopened after ratings had been seen."
    ]


def test_a_round_whose_raters_compared_phrases_cannot_be_reopened_blind() -> None:
    table = Table()
    table.open(items=["i1"], facets=(PHRASE,), set_size=1)
    for rater in ("first", "second"):
        table.rate(rater, "i1", phrase="load, model")
    table.record(build_compare_act(table.state, "main", "first"))
    table.close()
    with pytest.raises(StateError, match="its raters saw each other's words"):
        build_reopen_act(table.state, "main", "lead", "again")


def test_a_round_without_recorded_views_stays_blind_after_reopening() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"))
    table.record(build_reopen_act(table.state, "main", "lead", "again", not_blind=True))
    assert table.state.round("main").blindness == ""


def test_a_round_with_missing_ratings_is_settled_only_if_final() -> None:
    table = Table()
    table.open(items=["i1", "i2"])
    for item in ("i1", "i2"):
        table.rate("first", item, relevance="keep")
    table.record(build_close_acts(table.state, "main", "lead", "second stopped"))
    assert not list_disagreements(table.state, "main")
    assert not is_settled_round(table.state, "main"), "second may still differ after a reopening"
    table.record(build_close_acts(table.state, "main", "lead", final=True))
    assert not is_settled_round(table.state, "main"), "one rating of two is no agreement"
    table.record(build_agreed_act(table.state, "main", "lead", incomplete="second left the project"))
    assert is_settled_round(table.state, "main")
    assert {decision.how for decision in table.state.round("main").last_decisions("relevance").values()} == {"single"}
    assert table.state.round("main").incomplete == "second stopped", "the reason stays"
    with pytest.raises(StateError, match="closed as final"):
        build_reopen_act(table.state, "main", "lead", "second is back", not_blind=True)
    with pytest.raises(StateError, match="is closed"):
        build_close_acts(table.state, "main", "lead", final=True)


def test_a_round_with_an_unopened_set_is_not_settled() -> None:
    table = Table()
    table.open(items=["i1", "i2"], facets=(PHRASE,), set_size=1)
    for rater in ("first", "second"):
        table.rate(rater, "i1", phrase="load, model")
    table.record(build_close_acts(table.state, "main", "lead", "enough"))
    assert not is_settled_round(table.state, "main")


def test_a_second_rating_replaces_the_first_and_both_are_kept() -> None:
    table = Table()
    table.open(items=["i1"])
    table.rate("first", "i1", relevance="keep")
    table.rate("first", "i1", relevance="exclude: crash")
    one = table.state.round("main")
    assert [rating.answers["relevance"]["answer"] for rating in one.all_ratings()] == ["keep", "exclude"]
    current = one.current("first", "i1")
    assert current is not None
    assert current.answers["relevance"] == {"answer": "exclude", "reason": "crash"}


def test_a_replaced_rater_keeps_their_ratings_and_the_replacement_gets_the_rest() -> None:
    table = Table()
    table.open(items=["i1", "i2", "i3"])
    table.rate("second", "i2", relevance="keep")
    table.record(build_replace_act(table.state, "main", "lead", "second", "third"))
    with pytest.raises(StateError, match="'second' was replaced by 'third'"):
        table.rate("second", "i1", relevance="keep")
    with pytest.raises(InputError, match="not assigned to 'third'"):
        table.rate("third", "i2", relevance="keep")
    for item in ("i1", "i3"):
        table.rate("third", item, relevance="exclude: crash")
    for item in ("i1", "i2", "i3"):
        table.rate("first", item, relevance="keep")
    table.close()
    found = [(item, label) for item, rater, label in list_labels(table.state, "main", "relevance") if "second" in rater]
    assert found == [("i1", "exclude"), ("i2", "keep"), ("i3", "exclude")]
    with pytest.raises(StateError, match="is closed"):
        build_replace_act(table.state, "main", "lead", "first", "fourth")


def test_ratings_after_the_deadline_are_refused_until_it_is_extended() -> None:
    table = Table()
    table.open(items=["i1"], deadline="2026-02-01T00:00:00+00:00")
    with pytest.raises(StateError, match="deadline of 'main'"):
        table.rate("first", "i1", relevance="keep")
    table.record(build_deadline_act(table.state, "main", "lead", "2026-04-01T00:00:00+00:00"))
    table.rate("first", "i1", relevance="keep")


def test_sets_have_24_items_and_the_last_takes_the_remainder() -> None:
    items = tuple(f"i{number}" for number in range(2401))
    sets = RoundPlan("phrases", "main", items, (PHRASE,), ("first", "second"), set_size=24).sets()
    assert len(sets) == 100
    assert {len(set_) for set_ in sets[:-1]} == {24}
    assert len(sets[-1]) == 25
    assert [item for set_ in sets for item in set_] == list(items)


def test_the_next_set_opens_when_the_current_one_is_complete() -> None:
    table = Table()
    table.open(items=["i1", "i2", "i3"], facets=(PHRASE,), set_size=1)
    with pytest.raises(StateError, match="not in set 1"):
        table.rate("first", "i2", phrase="load, model")
    table.rate("first", "i1", phrase="load, model")
    with pytest.raises(StateError, match="not complete, 1 rating missing"):
        build_next_set_act(table.state, "main", "lead")
    table.rate("second", "i1", phrase="load, model")
    table.record(build_next_set_act(table.state, "main", "lead"))
    table.rate("first", "i2", phrase="load, model")
    with pytest.raises(StateError, match="1 rating missing"):
        build_close_acts(table.state, "main", "lead")


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.floats(0, 1), st.integers(0, 9), st.integers(2, 4))
def test_partial_overlap_assigns_every_item_and_the_shared_part_to_all_raters(
    count: int, overlap: float, seed: int, raters: int
) -> None:
    items = tuple(f"i{number}" for number in range(count))
    names = tuple(f"r{number}" for number in range(raters))
    plan = RoundPlan("main", "main", items, (KEEP,), names, overlap=overlap, seed=seed)
    shares = [set(assign_item) for assign_item in assign_items(plan)]
    assert set().union(*shares) == set(items)
    assert len(set.intersection(*shares)) >= round(overlap * count)
    own = [share - set.intersection(*shares) for share in shares]
    assert max(len(one) for one in own) - min(len(one) for one in own) <= 1


def test_each_rater_has_a_different_stable_order() -> None:
    items = tuple(f"i{number}" for number in range(50))
    plan = RoundPlan("main", "main", items, (KEEP,), ("first", "second"), seed=3)
    assert order_items(plan, "first", items) == order_items(plan, "first", items)
    assert order_items(plan, "first", items) != order_items(plan, "second", items) != items
    assert sorted(order_items(plan, "first", items)) == sorted(items)


BOOK = Codebook()


@pytest.mark.parametrize(
    ("facet", "said", "kept"),
    [
        (KEEP, "keep", {"answer": "keep"}),
        (KEEP, "exclude: crash", {"answer": "exclude", "reason": "crash"}),
        (KEEP, {"answer": "Exclude", "reason": "crash"}, {"answer": "exclude", "reason": "crash"}),
        (TOPICS, "c; a", ["a", "c"]),
        (TOPICS, ["b"], ["b"]),
        (PHRASE, "Rotate ,  an Image", {"verb": "rotate", "object": "an image"}),
        (TEXT, "anything: at, all", "anything: at, all"),
        (Facet("ok", "confirm"), "no: training", {"answer": "no", "instead": "training"}),
        (Facet("ok", "confirm"), "yes", {"answer": "yes"}),
        (KEEP, CANNOT_JUDGE, CANNOT_JUDGE),
    ],
)
def test_an_answer_has_one_canonical_form_and_can_be_read_back(facet: Facet, said: Any, kept: Any) -> None:
    assert check_answer(facet, BOOK, said) == kept
    assert check_answer(facet, BOOK, write_answer(kept)) == kept


@pytest.mark.parametrize(
    ("facet", "said", "words"),
    [
        (KEEP, "maybe", 'write keep, or "exclude: "'),
        (KEEP, "exclude", "without a reason"),
        (KEEP, "exclude: instalation", "choose from: installation or crash"),
        (KEEP, "keep: crash", "only exclude takes a reason"),
        (TOPICS, "a; d", "topics is 'd'; choose from"),
        (TOPICS, ";", "is empty"),
        (PHASE, ["training"], "phase is"),
        (PHRASE, "rotate", "a verb and an object"),
        (Facet("ok", "confirm"), "perhaps", "write yes, no"),
    ],
)
def test_an_invalid_answer_is_refused_in_one_sentence(facet: Facet, said: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_answer(facet, BOOK, said)


def test_a_rating_by_the_wrong_person_or_of_the_wrong_item_is_refused() -> None:
    table = Table()
    table.codebook()
    table.open(items=["i1"], facets=(PHASE, TEXT))
    for rater, item, answers, words in (
        ("nobody", "i1", {"phase": "training"}, "'nobody' does not rate"),
        ("first", "i9", {"phase": "training"}, "not assigned"),
        ("first", "i1", {"phase": "trainin"}, "choose from: training or setting"),
        ("first", "i1", {"phase": "training/loss"}, "choose from: training or setting"),
        ("first", "i1", {"phases": "training"}, "has no facet 'phases'; choose from: phase"),
        ("first", "i1", {}, "phase has no answer"),
    ):
        with pytest.raises(QuaestorError, match=words):
            build_rating_act(table.state, "main", rater, item, answers, now=NOW)
    with pytest.raises(InputError, match="unsure of 'colour'"):
        build_rating_act(table.state, "main", "first", "i1", {"phase": "training"}, now=NOW, unsure=("colour",))
    table.rate("first", "i1", phase="model training")
    assert table.state.round("main").all_ratings()[0].answers == {"phase": "training"}


def test_a_round_keeps_its_codebook_version_and_ratings_can_be_read_under_a_later_one() -> None:
    table = Table()
    table.codebook()
    object_ = Facet("object", "single", codes="issue", level="object")
    table.open(items=["i1"], facets=(object_,))
    from quaestor.store.records import NewAct

    table.record(NewAct("codebook.merge", "lead", {"codes": ["setting/loss"], "into": "training/loss"}))
    table.rate("first", "i1", object="setting/loss")
    table.rate("second", "i1", object="training/loss")
    assert [label for _, _, label in list_labels(table.state, "main", "object")] == ["setting/loss", "training/loss"]
    assert [label for _, _, label in list_labels(table.state, "main", "object", 2)] == [
        "training/loss",
        "training/loss",
    ]
    assert [label for _, _, label in list_labels(table.state, "main", "object", level="phase")] == [
        "setting",
        "training",
    ]


def test_hours_include_replaced_ratings() -> None:
    table = Table()
    table.open(items=["i1"])
    for word in ("keep", "exclude: crash"):
        table.record(build_rating_act(table.state, "main", "first", "i1", {"relevance": word}, now=NOW, seconds=1800))
    assert count_hours(table.state.round("main")) == {"first": 1.0}


def test_an_invalid_round_plan_is_refused() -> None:
    table = Table()
    with pytest.raises(StateError, match="has no items"):
        table.open(items=[])
    with pytest.raises(StateError, match="cannot be its tie-breaker"):
        table.open(tie_breaker="second")
    with pytest.raises(StateError, match="no codes in the facet 'issue'"):
        table.open(facets=(PHASE,))
    table.open()
    with pytest.raises(StateError, match="already been opened"):
        table.open()
    assert list_missing(table.state.round("main"))
    with pytest.raises(StateError, match="the round 'mian' has not been opened, opened so far: main"):
        table.state.round("mian")
    assert build_open_act


def test_practice_items_come_first_give_feedback_and_are_not_counted() -> None:
    table = Table()
    practice = (Practice("p1", {"relevance": "exclude: crash"}, "The answer mends an error."),)
    table.open(items=["i1"], practice=practice)
    with pytest.raises(StateError, match=r"must finish 1 practice item of 'main' first"):
        table.rate("first", "i1", relevance="keep")
    act, right, feedback = build_practice_act(table.state, "main", "first", "p1", {"relevance": "keep"})
    table.record(act)
    assert (right, feedback) == ({"relevance": False}, "The answer mends an error.")
    assert not table.state.round("main").all_ratings()
    table.rate("first", "i1", relevance="keep")
    with pytest.raises(InputError, match="not a practice item of 'main'; choose from: p1"):
        build_practice_act(table.state, "main", "second", "i1", {"relevance": "keep"})


@pytest.mark.parametrize(
    ("practice", "words"),
    [
        (Practice("i1", {"relevance": "keep"}), "cannot also be a practice item"),
        (Practice("p", {"relevance": "exclude: nosuch"}), "the practice item 'p' of 'main'"),
        (Practice("p", {"phase": "x"}), "has no facet 'phase'"),
    ],
)
def test_impossible_practice_items_are_refused_when_the_round_opens(practice: Practice, words: str) -> None:
    with pytest.raises(StateError, match=words):
        Table().open(items=["i1"], practice=(practice,))


def test_a_person_who_saw_ratings_of_an_open_round_cannot_replace_a_rater() -> None:
    table = Table()
    table.open(items=["i1"])
    table.record(build_unblind_act(table.state, "main", "lead"))
    with pytest.raises(StateError, match="'lead' has seen the ratings"):
        build_replace_act(table.state, "main", "lead", "second", "lead")
    with pytest.raises(StateError, match="no replacement"):
        build_replace_act(table.state, "main", "lead", "second", " ")


def test_a_pilot_cannot_be_reopened_after_the_next_round_was_opened() -> None:
    table = rated(("keep", "keep"))
    table.open("next", items=["i1"], after="main")
    with pytest.raises(StateError, match="'next' was opened after 'main'"):
        build_reopen_act(table.state, "main", "lead", "again")


def test_an_invalid_memo_or_time_is_refused() -> None:
    table = Table()
    table.open(items=["i1"])
    for more, words in (
        ({"memo": "half \ud800"}, "invalid character"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": -1}, "seconds"),
    ):
        with pytest.raises(InputError, match=words):
            build_rating_act(table.state, "main", "first", "i1", {"relevance": "keep"}, now=NOW, **more)  # type: ignore[arg-type]


def test_drift_compares_each_rater_with_their_earlier_ratings() -> None:
    table = rated(("keep", "keep"), ("keep", "exclude: crash"), ("keep", "keep"))
    table.open("drift", items=["i1", "i2"], kind="drift")
    for rater, item, word in (
        ("first", "i1", "keep"), ("first", "i2", "exclude: crash"),
        ("second", "i1", "keep"), ("second", "i2", "exclude: crash"),
    ):  # fmt: skip
        table.rate(rater, item, "drift", relevance=word)
    drift_labels = list_drift_labels(table.state, "drift", "main", "relevance")
    now = {item: label for item, which, label in drift_labels if which == "drift"}
    then = {item: label for item, which, label in drift_labels if which == "main"}
    assert {item for item in now if now[item] != then[item]} == {"i2 (first)"}
    assert len(now) == len(then) == 4
