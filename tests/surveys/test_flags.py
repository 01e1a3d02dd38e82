"""Which responses are flagged for the lead and which are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.small_survey import FORMS, NAME, Form, answered, fielded

from quaestor.base.errors import InputError, StateError
from quaestor.store.records import new_key
from quaestor.surveys.flags import FlagKind, flag_responses
from quaestor.surveys.lifecycle import Surveys, review_response
from quaestor.surveys.model.records import Response

OWN = {"q.hardest": ["What nobody else says."]}


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path) as opened:
        yield opened


def somebody(surveys: Surveys, words: str, page: str = "words", seconds: float = 30, **fields: list[str]) -> Response:
    """Somebody who answers in words of their own, with some fields of one page otherwise."""
    forms: dict[str, Form] = {**FORMS, "words": {**FORMS["words"], "q.hardest": [words]}}
    forms[page] = {**forms[page], **{name.replace("__", "."): value for name, value in fields.items()}}
    return answered(surveys, forms=forms, seconds=seconds)[1]


def signs(surveys: Surveys) -> dict[str, list[FlagKind]]:
    return {one.response: [reason.sign for reason in one.reasons] for one in flag_responses(surveys, NAME)}


def test_ordinary_and_unfinished_responses_are_not_flagged(surveys: Surveys) -> None:
    somebody(surveys, "one")
    somebody(surveys, "two")
    answered(surveys, forms={"consent": FORMS["consent"]}, seconds=0.5)
    assert signs(surveys) == {}


def test_fast_responses_are_flagged(surveys: Surveys) -> None:
    fast = somebody(surveys, "one", seconds=4.9)
    somebody(surveys, "two", seconds=5)
    at_once = somebody(surveys, "three", seconds=0)
    assert signs(surveys) == {fast.id: [FlagKind.FAST], at_once.id: [FlagKind.FAST]}
    words = {flagged.response: flagged.reasons[0].words for flagged in flag_responses(surveys, NAME)}
    assert words[fast.id] == "Answered in 20 seconds, less than 20."
    assert words[at_once.id] == "Answered in 0 seconds, less than 20."


def test_a_filled_trap_a_failed_check_and_straight_lining_are_flagged(surveys: Surveys) -> None:
    trapped = somebody(surveys, "one", "you", website=["https://example.org"])
    missed = somebody(surveys, "two", "tools", q__careful=["first"])
    rows = ("wrong-results", "a-crash", "missing-operators", "other")
    straight = somebody(surveys, "three", "tools", **{f"q__met__{row}": ["often"] for row in rows})
    skipped = {**FORMS, "tools": {name: said for name, said in FORMS["tools"].items() if name != "q.careful"}}
    answered(surveys, forms=skipped)
    assert signs(surveys) == {
        trapped.id: [FlagKind.TRAP],
        missed.id: [FlagKind.ATTENTION],
        straight.id: [FlagKind.STRAIGHT],
    }


def test_identical_responses_are_flagged_and_name_each_other(surveys: Surveys) -> None:
    twins = [somebody(surveys, "the same") for _ in range(2)]
    somebody(surveys, "the same, almost")
    found = {flagged.response: flagged.reasons for flagged in flag_responses(surveys, NAME)}
    assert set(found) == {twin.id for twin in twins}
    assert twins[1].id in found[twins[0].id][0].words
    assert [reason.sign for reason in found[twins[1].id]] == [FlagKind.ALIKE]


def test_empty_answers_and_order_do_not_matter_for_identical_responses(surveys: Surveys) -> None:
    first = somebody(surveys, "the same")
    turned = dict(reversed({**first.answers, "why-none": {}}.items()))
    other = replace(first, id="0" * 16, answers=turned, source="elsewhere.csv")
    surveys.answers.add([("a code of their own", other, [("words", turned, new_key())])])
    assert signs(surveys) == {other.id: [FlagKind.ALIKE], first.id: [FlagKind.ALIKE]}


def test_short_identical_responses_are_not_flagged(surveys: Surveys) -> None:
    few: dict[str, Form] = {
        **FORMS, "tools": {name: said for name, said in FORMS["tools"].items() if "met" in name}, "words": {},
    }  # fmt: skip
    for _ in range(2):
        answered(surveys, forms=few)
    assert signs(surveys) == {}


def test_a_decision_about_a_flag_needs_a_reason_and_keeps_the_flag(surveys: Surveys) -> None:
    fast = somebody(surveys, "one", seconds=1)
    with pytest.raises(InputError, match="give a reason for keeping or excluding"):
        review_response(surveys, NAME, fast.id, False, " ")
    with pytest.raises(StateError, match="not the lead"):
        review_response(surveys, NAME, fast.id, False, "too fast", "rater-1")
    review_response(surveys, NAME, fast.id, False, "too fast")
    review_response(surveys, NAME, fast.id, True, "a fast reader")
    [flagged] = flag_responses(surveys, NAME)
    assert flagged.decision is not None
    assert (flagged.decision.keep, flagged.decision.why) == (True, "a fast reader")
