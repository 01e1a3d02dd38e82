"""Responses that the lead should look at, each with the reasons; a flag drops nothing, the lead decides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from quaestor.instruments.answers import is_attentive
from quaestor.instruments.records import Answer, Kind, Question, Questionnaire, Response, Standing
from quaestor.study.surveys.answering import TRAP, questionnaire_of
from quaestor.study.surveys.fielding import Decision, Surveys

LEAST_ROWS = 4
"""A matrix of fewer rows is often answered with one step in good faith."""
LEAST_ALIKE = 5
"""So many questions must have been answered, the consent not counted, before being alike says anything."""


class Sign(StrEnum):
    """What can be odd about a response."""

    FAST = "fast"
    TRAP = "trap"
    ATTENTION = "attention"
    ALIKE = "alike"
    STRAIGHT = "straight"


@dataclass(frozen=True)
class Reason:
    """One thing that is odd about a response, and a sentence that says so."""

    sign: Sign
    words: str


@dataclass(frozen=True)
class Flagged:
    """A response to look at, why, and what the lead has decided about it."""

    response: Response
    reasons: tuple[Reason, ...]
    decision: Decision | None = None


def flags(surveys: Surveys, name: str) -> list[Flagged]:
    """Finished responses with something odd, in the order of their ids."""
    finished = [one for one in surveys.answers.responses(name) if one.standing is Standing.FINISHED]
    decisions = surveys.fielding(name).decisions
    alike = _alike(finished)
    found = []
    for response in finished:
        asked = questionnaire_of(surveys, response)
        reasons = (*_signs(asked, response), *_of_alike(response, alike))
        if reasons:
            found.append(Flagged(response, reasons, decisions.get(response.id)))
    return found


def _signs(asked: Questionnaire, response: Response) -> Iterator[Reason]:
    """What one response shows by itself."""
    # Of what was imported the time is not known; who sends a page within the second has taken none.
    timed = response.source == "web" and not response.synthetic
    if timed and response.seconds < asked.least_seconds:
        yield Reason(Sign.FAST, f"Answered in {response.seconds:.0f} seconds, less than {asked.least_seconds:.0f}.")
    if response.answers.get(TRAP):
        yield Reason(Sign.TRAP, "Something was written into a field that people do not see.")
    for question in asked.questions():
        answer = response.answers.get(question.id) or {}
        if not is_attentive(question, answer):
            yield Reason(Sign.ATTENTION, f"The attention check {question.id!r} was answered otherwise than it asks.")
        if step := _straight(question, answer):
            yield Reason(Sign.STRAIGHT, f"All {len(answer['rows'])} rows of {question.id!r} have the step {step!r}.")


def _straight(question: Question, answer: Answer) -> str:
    """The one step of a matrix in which every row has the same; empty where they differ or are few."""
    said: Mapping[str, str] = answer.get("rows", {}) if question.kind is Kind.MATRIX else {}
    if len(said) < LEAST_ROWS or len(set(said.values())) > 1:
        return ""
    step = question.option(next(iter(said.values())))
    return step.label if step else next(iter(said.values()))


def _alike(responses: Sequence[Response]) -> dict[str, list[str]]:
    """Responses that say the same to every question, by what they say."""
    groups: dict[str, list[str]] = {}
    for one in responses:
        said = _said(one)
        if said:
            groups.setdefault(said, []).append(one.id)
    return {said: together for said, together in groups.items() if len(together) > 1}


def _of_alike(response: Response, groups: Mapping[str, Sequence[str]]) -> Iterator[Reason]:
    others = [one for one in groups.get(_said(response), ()) if one != response.id]
    if others:
        more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
        yield Reason(Sign.ALIKE, f"Every answer is the same as in {others[0]}{more}.")


def _said(response: Response) -> str:
    """All that was answered as one text; empty where it is too little to tell people apart by."""
    said = {name: answer for name, answer in response.answers.items() if answer and not name.startswith("_")}
    return json.dumps(said, sort_keys=True) if len(said) > LEAST_ALIKE else ""
