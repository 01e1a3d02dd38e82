"""Every free text in an act is found, with the items it is about; codes and choices are left as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from quaestor.coding.model.free_text_fields import WALKS
from quaestor.coding.model.records import Facet, Practice, RoundPlan
from quaestor.coding.model.rounds import build_open_act
from quaestor.coding.model.state import State, write_plan
from quaestor.store.records import Act

FACETS = (
    Facet("themes", "stretches"),
    Facet("note", "text", required=False),
    Facet("fits", "keep", required=False),
    Facet("kept", "keep", required=False, reasons=("too short",)),
    Facet("right", "confirm", required=False),
    Facet("phrase", "phrase", required=False),
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
    plan = RoundPlan("main", "main", ("P1/00001", "P2/00001"), FACETS, ("rater-1", "rater-2"), measured="themes")
    opened = build_open_act(made, plan, "lead")
    made.fold([Act(1, "2026-11-16T00:00:00", opened.kind, "lead", dict(opened.payload), 0, "k")])
    return made


def changed(state: State, kind: str, said: dict[str, Any]) -> dict[str, Any]:
    def change(items: Sequence[str], text: str, is_label: bool) -> str:
        return f"{'+'.join(items)}{'=' if is_label else ':'}{text}"

    return WALKS[kind](state, {"round": "main", **said}, change)


@pytest.mark.parametrize("kind", ["rating", "practice"])
def test_texts_of_a_rating_are_found(state: State, kind: str) -> None:
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


def test_a_rating_that_cannot_be_judged_has_no_texts(state: State) -> None:
    answers = {"themes": "cannot judge", "note": "cannot judge"}
    assert changed(state, "rating", {"item": "P1/00001", "answers": answers})["answers"] == answers


def test_texts_of_comments_are_found(state: State) -> None:
    said = {"item": "P1/00001", "facet": "themes", "text": "T"}
    assert changed(state, "comment", said) == {"round": "main", **said, "text": "P1/00001:T"}
    tie = changed(state, "tie.comment", {**said, "answer": STRETCHES})
    assert (tie["text"], tie["answer"]) == ("P1/00001:T", CHANGED)


def test_texts_of_decisions_are_found(state: State) -> None:
    made = [
        {"item": "P1/00001", "facet": "themes", "answer": STRETCHES, "how": "agreement"},
        {"item": "P2/00001", "facet": "note", "answer": "N", "how": "single"},
    ]
    said = changed(state, "decision", {"decisions": made})
    assert [decision["answer"] for decision in said["decisions"]] == [CHANGED, "P2/00001:N"]
    assert "reason" not in said
    assert changed(state, "decision", {"decisions": made[1:], "reason": "R"})["reason"] == "P2/00001:R"


def test_corrections_are_texts_and_words_of_a_phrase_are_labels(state: State) -> None:
    answers = {"right": {"answer": "no", "instead": "I"}, "phrase": {"verb": "V", "object": "O"}}
    said = changed(state, "rating", {"item": "P1/00001", "answers": answers})
    assert said["answers"] == {
        "right": {"answer": "no", "instead": "P1/00001:I"},
        "phrase": {"verb": "P1/00001=V", "object": "P1/00001=O"},
    }


def test_unified_words_belong_to_the_items_with_those_phrases(state: State) -> None:
    for number, (item, thing) in enumerate((("P1/00001", "image"), ("P2/00001", "picture")), start=2):
        payload = {"round": "main", "item": item, "answers": {"phrase": {"verb": "turn", "object": thing}}}
        state.fold([Act(number, "2026-11-16T00:00:00", "rating", "rater-1", payload, 0, f"k{number}")])
    said = {"set": 1, "part": "object", "words": ["image", "picture"], "rule": "hypernym", "reason": "R"}
    both = "P1/00001+P2/00001"
    made = changed(state, "words.unify", {**said, "to": "thing"})
    assert (made["words"], made["to"], made["reason"]) == (
        ["P1/00001=image", "P2/00001=picture"],
        f"{both}=thing",
        f"{both}:R",
    )
    assert changed(state, "words.unify", {**said, "to": "image"})["to"] == "P1/00001=image"


def test_texts_of_practice_items_and_proposals_in_an_opened_round_are_found(state: State) -> None:
    practice = (Practice("P1/00001", {"note": "N"}, "F"),)
    proposals = {"P2/00001": {"phrase": "turn, image", "object": "image"}}
    plan = RoundPlan("next", "main", ("P2/00001",), FACETS, ("rater-1",), practice=practice, proposals=proposals)
    made = changed(state, "round.open", {"plan": write_plan(plan)})["plan"]
    assert [(one["answers"], one["feedback"]) for one in made["practice"]] == [({"note": "P1/00001:N"}, "P1/00001:F")]
    assert made["proposals"] == {"P2/00001": {"phrase": "P2/00001:turn, image", "object": "P2/00001:image"}}


def test_codes_in_published_decisions_are_not_texts(state: State) -> None:
    codebook = {"facets": [{"id": "theme"}], "codes": [{"id": "layers", "facet": "theme", "name": "layers"}]}
    state.fold([Act(2, "2026-11-16T00:00:00", "codebook.import", "lead", codebook, 1, "k2")])
    made = [{"item": "P1/00001", "facet": facet, "answer": answer} for facet, answer in (("t", "layers"), ("s", "S"))]
    said = WALKS["decision.import"](state, {"name": "paper", "decisions": made}, lambda items, text, is_label: "")
    assert [decision["answer"] for decision in said["decisions"]] == ["layers", ""]
