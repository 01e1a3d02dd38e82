"""Every piece of free words in an act is found, with the item it is about; codes and choices are left as they are."""

from __future__ import annotations

from typing import Any

import pytest

from quaestor.coding.free_words import with_words_changed
from quaestor.coding.records import Facet, Plan
from quaestor.coding.rounds import open_round
from quaestor.coding.state import State
from quaestor.store.records import Act, NewAct

FACETS = (
    Facet("themes", "stretches"),
    Facet("note", "text", required=False),
    Facet("fits", "keep", required=False),
    Facet("kept", "keep", required=False, reasons=("too short",)),
    Facet("choice", "single", required=False, options=("one", "two words")),
)
STRETCHES = [
    {"start": 0, "end": 4, "code": "a", "memo": "M", "fields": {"what": "W", "limit": ""}, "link": "x"},
    {"start": 2, "end": 6, "code": "b"},
]
CHANGED = [
    {**STRETCHES[0], "memo": "P1/00001:M", "fields": {"what": "P1/00001:W", "limit": ""}},
    {"start": 2, "end": 6, "code": "b"},
]


@pytest.fixture
def state() -> State:
    made = State()
    plan = Plan("main", "main", ("P1/00001", "P2/00001"), FACETS, ("rater-1", "rater-2"), measured="themes")
    opened = open_round(made, plan, "lead")
    made.take([Act(1, "2026-11-16T00:00:00", opened.kind, "lead", dict(opened.payload), 0, "k")])
    return made


def changed(state: State, kind: str, said: dict[str, Any]) -> dict[str, Any]:
    made = with_words_changed(state, NewAct(kind, "rater-1", {"round": "main", **said}), lambda item, x: f"{item}:{x}")
    return dict(made.payload)


@pytest.mark.parametrize("kind", ["rating", "practice"])
def test_a_rating(state: State, kind: str) -> None:
    answers = {
        "themes": STRETCHES,
        "note": "N",
        "fits": {"answer": "exclude", "reason": "R"},
        "kept": {"answer": "exclude", "reason": "too short"},
        "choice": "two words",
    }
    said = changed(state, kind, {"item": "P1/00001", "answers": answers, "memo": "own", "seconds": 3.0})
    assert said["memo"] == "P1/00001:own"
    assert said["answers"] == {
        "themes": CHANGED,
        "note": "P1/00001:N",
        "fits": {"answer": "exclude", "reason": "P1/00001:R"},
        "kept": {"answer": "exclude", "reason": "too short"},
        "choice": "two words",
    }
    assert (said["round"], said["item"], said["seconds"]) == ("main", "P1/00001", 3.0)


def test_nobody_could_judge(state: State) -> None:
    answers = {"themes": "cannot judge", "note": "cannot judge"}
    assert changed(state, "rating", {"item": "P1/00001", "answers": answers})["answers"] == answers


def test_comments(state: State) -> None:
    said = {"item": "P1/00001", "facet": "themes", "text": "T"}
    assert changed(state, "comment", said) == {"round": "main", **said, "text": "P1/00001:T"}
    tie = changed(state, "tie.comment", {**said, "answer": STRETCHES})
    assert (tie["text"], tie["answer"]) == ("P1/00001:T", CHANGED)


def test_a_decision_on_several_items_and_one_with_its_reason(state: State) -> None:
    made = [
        {"item": "P1/00001", "facet": "themes", "answer": STRETCHES, "how": "agreement"},
        {"item": "P2/00001", "facet": "note", "answer": "N", "how": "single"},
    ]
    said = changed(state, "decision", {"decisions": made})
    assert [one["answer"] for one in said["decisions"]] == [CHANGED, "P2/00001:N"]
    assert "reason" not in said
    assert changed(state, "decision", {"decisions": made[1:], "reason": "R"})["reason"] == "P2/00001:R"


def test_acts_of_other_kinds_are_left_alone(state: State) -> None:
    act = NewAct("round.close", "lead", {"round": "main", "incomplete": "why"})
    assert with_words_changed(state, act, lambda item, words: "") is act
