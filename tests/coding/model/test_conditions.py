"""Facets that are asked only under a condition: what is asked, accepted, compared, decided and counted."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.acting import KEEP, NOW, Table

from quaestor.base.errors import InputError, StateError
from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.decisions import (
    build_agreed_act,
    find_undecided,
    is_settled_round,
    list_disagreements,
    list_incomplete_cases,
    list_kept,
)
from quaestor.coding.model.phrases import list_agreed_phrases
from quaestor.coding.model.ratings import build_practice_act, build_rating_act
from quaestor.coding.model.records import Facet, Practice
from quaestor.coding.model.settlement import build_assent_acts, build_settling_acts
from quaestor.coding.model.state import State, read_plan, write_plan
from quaestor.coding.model.views import list_tie_cases
from quaestor.coding.session import new_state

TOPIC = Facet("topic", "single", options=("a", "b", "c"), ask_if=(("relevance", ("keep",)),))
PART = Facet("part", "single", options=("x", "y"), ask_if=(("topic", ("a", "b")),))
NOTE = Facet("note", "text", ask_if=(("topic", ("c",)),), required=False)
FACETS = (KEEP, TOPIC, PART, NOTE)
OUT = "exclude: crash"


def opened(items: str = "i1 i2 i3", facets: tuple[Facet, ...] = (KEEP, TOPIC), **more: Any) -> Table:
    table = Table()
    table.open(items=items.split(), facets=facets, **more)
    return table


def closed(*pairs: tuple[dict[str, Any], dict[str, Any]], **more: Any) -> Table:
    """A closed round in which two raters gave these answers about i1, i2, …"""
    table = opened(" ".join(f"i{number}" for number in range(1, len(pairs) + 1)), **more)
    for number, pair in enumerate(pairs, start=1):
        for rater, answers in zip(("first", "second"), pair, strict=True):
            table.rate(rater, f"i{number}", **answers)
    table.close()
    return table


def decided(table: Table, facet: str = "topic") -> dict[str, Any]:
    return {item: decision.answer for item, decision in table.state.round("main").last_decisions(facet).items()}


def test_an_answer_is_required_where_it_is_asked_and_refused_where_it_is_not() -> None:
    table = opened(facets=FACETS)
    with pytest.raises(InputError, match="topic has no answer"):
        table.rate("first", "i1", relevance="keep")
    with pytest.raises(InputError, match="topic is asked only if relevance is keep: leave it without an answer"):
        table.rate("first", "i1", relevance=OUT, topic="a")
    with pytest.raises(InputError, match="topic is asked only if relevance is keep"):
        table.rate("first", "i1", relevance="cannot judge", topic="cannot judge")
    with pytest.raises(InputError, match="part is asked only if topic is a or b"):
        table.rate("first", "i1", relevance="keep", topic="c", part="x")
    table.rate("first", "i1", relevance=OUT)
    table.rate("first", "i2", relevance="keep", topic="c", note="odd")
    table.rate("first", "i3", relevance="keep", topic="a", part="y")
    answers = {item: dict(ratings[-1].answers) for item, ratings in table.state.round("main").ratings["first"].items()}
    assert answers["i1"] == {"relevance": {"answer": "exclude", "reason": "crash"}}
    assert answers["i3"] == {"relevance": {"answer": "keep"}, "topic": "a", "part": "y"}


def test_a_rater_cannot_be_unsure_of_a_question_that_was_not_asked() -> None:
    table = opened()
    with pytest.raises(InputError, match="unsure of 'topic'; choose from: relevance"):
        build_rating_act(table.state, "main", "first", "i1", {"relevance": OUT}, now=NOW, unsure=("topic",))
    build_rating_act(
        table.state, "main", "first", "i1", {"relevance": "keep", "topic": "a"}, now=NOW, unsure=("topic",)
    )


def test_one_of_several_codes_fulfils_a_condition() -> None:
    several = Facet("several", "multiple", options=("a", "b", "c"))
    more = Facet("more", "single", options=("x",), ask_if=(("several", ("a", "b")),))
    table = opened(facets=(several, more))
    with pytest.raises(InputError, match="more has no answer"):
        table.rate("first", "i1", several=["a", "c"])
    table.rate("first", "i1", several=["c"])


def test_all_conditions_of_a_facet_must_hold() -> None:
    both = replace(TOPIC, id="both", ask_if=(("relevance", ("keep",)), ("topic", ("a",))))
    table = opened(facets=(KEEP, TOPIC, both))
    assert describe_condition(both.ask_if) == "relevance is keep and topic is a"
    table.rate("first", "i1", relevance="keep", topic="b")
    with pytest.raises(InputError, match="both has no answer"):
        table.rate("first", "i2", relevance="keep", topic="a")


def test_a_plan_of_an_earlier_version_has_no_conditions_and_a_new_one_keeps_them() -> None:
    plan = opened(facets=FACETS).state.round("main").plan
    payload = json.loads(json.dumps(write_plan(plan)))
    assert read_plan(payload) == plan
    for facet in payload["facets"]:
        del facet["ask_if"]
    assert [facet.ask_if for facet in read_plan(payload).facets] == [(), (), (), ()]


def test_opening_checks_the_codes_of_a_condition_and_freezes_their_ids() -> None:
    phase = Facet("phase", "single", codes="issue", level="phase")
    table = Table()
    table.codebook()
    for answer, problem in (("loss", "phase is 'loss'"), ("training/loss", "phase is 'training/loss'")):
        with pytest.raises(StateError, match=f"ask_if of 'topic' in 'main': {problem}"):
            table.open(facets=(phase, replace(TOPIC, ask_if=(("phase", (answer,)),))))
    with pytest.raises(StateError, match="list 'phase' before it"):
        table.open(facets=(replace(TOPIC, ask_if=(("phase", ("training",)),)), phase))
    table.open(facets=(phase, replace(TOPIC, ask_if=(("phase", ("Model Training", "setting")),))))
    assert table.state.round("main").plan.facets[1].ask_if == (("phase", ("training", "setting")),)


def test_a_practice_item_answers_only_what_is_asked_about_it() -> None:
    wrong = ({"relevance": OUT, "topic": "a"}, {"topic": "a"})
    for answers in wrong:
        with pytest.raises(StateError, match="answers 'topic', which is asked only if relevance is keep"):
            opened(practice=(Practice("p1", answers),))
    table = opened(practice=(Practice("p1", {"relevance": "keep", "topic": "a"}),))
    _, right, _ = build_practice_act(table.state, "main", "first", "p1", {"relevance": OUT})
    assert right == {"relevance": False}, "the rater was not asked for the topic"
    _, right, _ = build_practice_act(table.state, "main", "first", "p1", {"relevance": "keep", "topic": "b"})
    assert right == {"relevance": True, "topic": False}


def test_a_rater_who_was_not_asked_does_not_disagree_on_the_facet() -> None:
    table = closed(
        ({"relevance": "keep", "topic": "a"}, {"relevance": "keep", "topic": "a"}),
        ({"relevance": "keep", "topic": "a"}, {"relevance": OUT}),
        ({"relevance": OUT}, {"relevance": OUT}),
    )
    assert [(case.item, case.facet) for case in list_disagreements(table.state, "main")] == [("i2", "relevance")]
    assert list_incomplete_cases(table.state, "main") == []
    assert decided(table) == {"i1": "a"}, "closing decides what all were asked and agree on"
    undecided = find_undecided(table.state, "main")
    assert undecided.disagreements == {("i2", "relevance")}
    assert undecided.waiting == {("i2", "topic")}
    assert undecided.describe() == "1 with an open disagreement"
    assert undecided.about("topic").describe() == "1 waiting for another decision"


def test_once_the_condition_is_settled_the_answer_of_one_rater_is_a_case_to_settle() -> None:
    table = closed(({"relevance": "keep", "topic": "a"}, {"relevance": OUT}))
    with pytest.raises(StateError, match="'topic' is asked about 'i1' only if relevance is keep, which is not decided"):
        build_settling_acts(table.state, "main", "first", "i1", "topic", "a", "discussion")
    table.settle("first", "i1", "relevance", "keep")
    assert not is_settled_round(table.state, "main")
    assert find_undecided(table.state, "main").incomplete == {("i1", "topic")}
    (case,) = list_incomplete_cases(table.state, "main")
    assert (case.facet, case.answers) == ("topic", (("first", "a"),))
    table.settle("first", "i1", "topic", "a")
    assert decided(table) == {"i1": "a"}
    assert is_settled_round(table.state, "main")
    assert not find_undecided(table.state, "main")


def test_once_the_condition_is_settled_otherwise_the_answers_no_longer_count() -> None:
    table = closed(({"relevance": "keep", "topic": "a"}, {"relevance": OUT}))
    table.settle("first", "i1", "relevance", OUT)
    assert not find_undecided(table.state, "main")
    assert is_settled_round(table.state, "main")
    with pytest.raises(StateError, match="which is decided otherwise"):
        build_settling_acts(table.state, "main", "first", "i1", "topic", "a", "discussion")


def test_an_answer_that_nobody_was_asked_for_can_be_settled() -> None:
    table = closed(({"relevance": OUT}, {"relevance": "cannot judge"}), tie_breaker="third", settle="tie-breaker")
    table.settle("third", "i1", "relevance", "keep", "tie-breaker", "it is no crash")
    assert find_undecided(table.state, "main").incomplete == {("i1", "topic")}
    assert [(case.facet, case.answers) for case in list_tie_cases(table.state, "main", "third")][-1] == ("topic", ())
    assert build_agreed_act(table.state, "main", "lead", incomplete="they left") is None, "there is no answer to take"
    table.settle("third", "i1", "topic", "c", "tie-breaker")
    assert decided(table) == {"i1": "c"}


def test_answers_that_agree_are_decided_when_the_condition_is() -> None:
    cause = Facet("cause", "single", options=("a", "b", "c"))
    sub_cause = Facet("sub", "single", options=("x", "y"), ask_if=(("cause", ("a", "b")),))
    table = closed(({"cause": "a", "sub": "x"}, {"cause": "b", "sub": "x"}), facets=(cause, sub_cause))
    assert decided(table, "sub") == {}
    table.settle("first", "i1", "cause", "b")
    assert find_undecided(table.state, "main").agreed == {("i1", "sub")}
    table.record(build_agreed_act(table.state, "main", "lead", item="i1"))
    assert decided(table, "sub") == {"i1": "x"}
    table.settle("first", "i1", "cause", "c", reason="read it again")
    assert decided(table, "sub") == {}, "the sub-cause no longer counts"
    assert not find_undecided(table.state, "main")
    table.settle("first", "i1", "cause", "a", reason="and again")
    assert decided(table, "sub") == {"i1": "x"}


def test_a_question_that_depends_on_one_without_an_answer_is_not_asked() -> None:
    cause = Facet("cause", "single", options=("a", "b"), required=False)
    sub_cause = Facet("sub", "single", options=("x", "y"), ask_if=(("cause", ("a",)),))
    table = closed(({}, {}), ({"cause": "a", "sub": "x"}, {}), facets=(cause, sub_cause))
    undecided = find_undecided(table.state, "main")
    assert (undecided.incomplete, undecided.waiting) == ({("i2", "cause")}, {("i2", "sub")})
    assert undecided.items == {"i2"}, "nothing is asked about i1"
    table.settle("first", "i2", "cause", "a")
    table.settle("first", "i2", "sub", "x")
    assert not find_undecided(table.state, "main")


def test_nobody_assents_to_an_answer_that_is_no_longer_asked() -> None:
    table = closed(({"relevance": "keep", "topic": "a"}, {"relevance": OUT}))
    table.settle("first", "i1", "relevance", "keep")
    table.record(build_settling_acts(table.state, "main", "first", "i1", "topic", "a", "discussion"))
    table.settle("first", "i1", "relevance", OUT, reason="read it again")
    with pytest.raises(StateError, match="which is decided otherwise"):
        build_assent_acts(table.state, "main", "second", "i1", "topic")


def test_what_is_kept_is_known_although_some_items_were_not_asked() -> None:
    language = Facet("language", "single", options=("English", "other"))
    keep = Facet("relevance", "keep", ask_if=(("language", ("English",)),))
    english = {"language": "English", "relevance": "keep"}
    table = closed((english, english), (english, {"language": "other"}), facets=(language, keep))
    assert list_kept(table.state, "main") is None
    table.settle("first", "i2", "language", "other")
    assert list_kept(table.state, "main") == {"i1"}


def test_a_phrase_that_is_not_asked_in_the_end_is_no_agreed_phrase() -> None:
    cause = Facet("cause", "single", options=("a", "b", "c"))
    phrase = Facet("phrase", "phrase", ask_if=(("cause", ("a", "b")),))
    first, second = ({"cause": cause, "phrase": "load, model"} for cause in "ab")
    table = closed((first, second), (first, first), facets=(cause, phrase))
    assert list_agreed_phrases(table.state.round("main")).keys() == {"i1", "i2"}
    table.settle("first", "i1", "cause", "c")
    assert list_agreed_phrases(table.state.round("main")).keys() == {"i2"}


def test_agreement_uses_only_items_that_were_asked_and_states_its_base() -> None:
    kept = {"relevance": "keep", "topic": "a"}
    pairs = (
        [(kept, kept)] * 3
        + [(kept, {**kept, "topic": "b"}), (kept, {"relevance": OUT})]
        + [({"relevance": OUT}, {"relevance": OUT})] * 2
    )
    table = closed(*pairs)
    agreement = compute_round_agreement(table.state, "main", "topic")
    assert (agreement.n, agreement.percent.value) == (4, 0.75)
    base = "The question topic is asked only if relevance is keep: 4 of 7 items were asked by all raters."
    assert agreement.warnings[0] == base
    assert compute_round_agreement(table.state, "main", "relevance").n == 7


def test_agreement_over_time_states_its_base_too() -> None:
    kept = {"relevance": "keep", "topic": "a"}
    table = closed((kept, kept), (kept, kept), (kept, kept))
    table.open("drift", ("i1", "i2", "i3"), facets=(KEEP, TOPIC), kind="drift", raters=("first",))
    for item in ("i1", "i2"):
        table.rate("first", item, "drift", **kept)
    table.rate("first", "i3", "drift", relevance=OUT)
    agreement = compute_round_agreement(table.state, "drift", "topic", against="main")
    assert agreement.n == 2
    assert agreement.warnings[0].endswith("2 of 3 items were asked in both rounds.")


ANSWERS: tuple[dict[str, Any], ...] = (
    {"relevance": OUT},
    {"relevance": "cannot judge"},
    {"relevance": "keep", "topic": "c"},
    *({"relevance": "keep", "topic": topic, "part": part} for topic, part in itertools.product("ab", "xy")),
    {"relevance": "keep", "topic": "cannot judge"},
)
SETTLED = {"relevance": ("keep", OUT), "topic": ("a", "b", "c"), "part": ("x", "y")}


def needed(answers: dict[str, Any]) -> Iterator[str]:
    """The facets that need an answer, given the final ones; written without the package."""
    yield "relevance"
    if answers.get("relevance", {}).get("answer") == "keep":
        yield "topic"
        if answers.get("topic") in ("a", "b"):
            yield "part"


@given(
    ratings=st.lists(st.tuples(*[st.sampled_from(ANSWERS)] * 3), min_size=1, max_size=5),
    choices=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30),
)
def test_a_settled_round_has_a_final_answer_exactly_where_one_is_asked(
    ratings: list[tuple[dict[str, Any], ...]], choices: list[tuple[int, int]]
) -> None:
    raters = ("first", "second", "third")
    table = opened(" ".join(f"i{number}" for number in range(len(ratings))), (KEEP, TOPIC, PART), raters=raters)
    for number, by_rater in enumerate(ratings):
        for rater, answers in zip(raters, by_rater, strict=True):
            table.rate(rater, f"i{number}", **answers)
    table.close()
    for which, answer in itertools.chain(choices, itertools.repeat((0, 0))):
        table.record(build_agreed_act(table.state, "main", "lead"))
        cases = [*list_disagreements(table.state, "main"), *list_incomplete_cases(table.state, "main")]
        chosen = cases if choices and which > 7 else [case for case in cases if case.decision is None]
        if not [case for case in cases if case.decision is None]:
            break
        case = chosen[which % len(chosen)]
        values = SETTLED[case.facet]
        table.settle("first", case.item, case.facet, values[answer % len(values)], reason="so we decided")
    assert_complete(table.state, len(ratings))
    again = new_state()
    again.fold(table.acts)
    assert_complete(again, len(ratings))


def assert_complete(state: State, items: int) -> None:
    round_state = state.round("main")
    final: dict[str, dict[str, Any]] = {f"i{number}": {} for number in range(items)}
    for decision in round_state.counted_decisions():
        final[decision.item][decision.facet] = decision.answer
    excluded = {item for item, answers in final.items() if answers.get("relevance", {}).get("answer") != "keep"}
    for item, answers in final.items():
        assert set(answers) == set(needed(answers)), item
    assert not find_undecided(state, "main")
    assert is_settled_round(state, "main")
    assert list_kept(state, "main") == set(final) - excluded
