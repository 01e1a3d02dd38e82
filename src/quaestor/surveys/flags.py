"""Responses that the lead should look at, each with the reasons; a flag drops nothing, the lead decides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from quaestor.surveys.lifecycle import Decision, Surveys
from quaestor.surveys.model.records import Answer, Kind, Questionnaire, Standing
from quaestor.surveys.respond import TRAP
from quaestor.surveys.results.column_records import Column, Columns, Flags
from quaestor.surveys.results.columns import asked_in
from quaestor.surveys.results.counting import CountingRoom

_MIXING = np.uint64(0x9E3779B97F4A7C15)
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


_TRAPPED = Reason(Sign.TRAP, "Something was written into a field that people do not see.")


@dataclass(frozen=True)
class Flagged:
    """A response to look at, by its id, why, and what the lead has decided about it."""

    response: str
    reasons: tuple[Reason, ...]
    decision: Decision | None = None


def flags(surveys: Surveys, name: str, room: CountingRoom | None = None) -> list[Flagged]:
    """Finished responses with something odd, in the order of their ids."""
    columns = (room or CountingRoom()).columns(surveys, name)
    finished = columns.standings == Standing.FINISHED.value
    found: dict[str, tuple[Reason, ...]] = {}
    for response, reason in chain(
        _fast(surveys, name),
        ((one, _TRAPPED) for one in surveys.answers.finished_with(name, TRAP)),
        _careless(surveys, name, columns, finished),
        _alike(surveys, name, columns, finished),
    ):
        found[response] = (*found.get(response, ()), reason)
    decisions = surveys.fielding(name).decisions
    return [Flagged(one, found[one], decisions.get(one)) for one in sorted(found)]


def _fast(surveys: Surveys, name: str) -> Iterator[tuple[str, Reason]]:
    """Who sends every page within the second has taken no time at all."""
    for version, asked in _versions(surveys, name).items():
        for response, seconds in surveys.answers.faster(name, version, asked.least_seconds).items():
            words = f"Answered in {seconds:.0f} seconds, less than {asked.least_seconds:.0f}."
            yield response, Reason(Sign.FAST, words)


def _careless(surveys: Surveys, name: str, columns: Columns, finished: Flags) -> Iterator[tuple[str, Reason]]:
    """What the answers to one question show: a check that was not read, a matrix with one step in every row."""
    for column_name, asked in asked_in(_versions(surveys, name)).items():
        column = columns.questions[column_name]
        for version, (_, question) in asked.pages.items():
            here = np.flatnonzero(finished & (columns.versions == version) & column.answered)
            if question.attention and column.question.option(question.attention):
                words = f"The attention check {question.id!r} was answered otherwise than it asks."
                for place in here[~_attentive(column, question.attention)[here]]:
                    yield columns.ids[place], Reason(Sign.ATTENTION, words)
            if question.kind is Kind.MATRIX:
                yield from _straight(column, here, columns.ids)


def _attentive(column: Column, wanted: str) -> Flags:
    right = [one.code for one in column.question.options].index(wanted)
    if column.question.kind is Kind.MATRIX:
        found: Flags = (column.places == right).any(axis=1) & np.isin(column.places, (right, -1)).all(axis=1)
        return found
    only: Flags = column.chosen[:, right] & (column.chosen.sum(axis=1) == 1)
    return only


def _straight(column: Column, here: NDArray[np.int64], ids: Sequence[str]) -> Iterator[tuple[str, Reason]]:
    """Those who gave every row of a matrix the same step, where they answered more than a few."""
    places = column.places[here]
    said = (places >= 0).sum(axis=1)
    step = places.max(axis=1)
    same = (said >= LEAST_ROWS) & ((places == step[:, None]) | (places < 0)).all(axis=1)
    for place in np.flatnonzero(same):
        words = f"All {said[place]} rows of {column.question.id!r} have the step"
        yield ids[here[place]], Reason(Sign.STRAIGHT, f"{words} {column.question.options[step[place]].label!r}.")


def _alike(surveys: Surveys, name: str, columns: Columns, finished: Flags) -> Iterator[tuple[str, Reason]]:
    """Responses that say the same to every question, to the letter."""
    together: dict[str, list[str]] = {}
    candidates = _look_alike(columns, np.flatnonzero(finished))
    known: dict[str, str] = {}
    for part in surveys.answers.held(name) if candidates else ():
        for row in part:
            if row[0] in candidates:
                text = row[5]
                said = known[text] if text in known else known.setdefault(text, _said(json.loads(text)))
                together.setdefault(said, []).append(row[0])
    for said, responses in together.items():
        if not said or len(responses) < 2:
            continue
        more = f" and {len(responses) - 2:,} more" if len(responses) > 2 else ""
        to_first, to_second = (
            Reason(Sign.ALIKE, f"Every answer is the same as in {other}{more}.") for other in responses[:2]
        )
        yield responses[0], to_second
        yield from ((one, to_first) for one in responses[1:])


def _look_alike(columns: Columns, here: NDArray[np.int64]) -> set[str]:
    """Those who chose the same as somebody else; what they wrote is not looked at."""
    sign = np.zeros(len(here), np.uint64)
    for column in columns.questions.values():
        for part in column.signs(here):
            values = part if part.dtype == np.float64 else part.astype(np.int64)
            sign = sign * _MIXING + values.view(np.uint64)
    _, number, many = np.unique(sign, return_inverse=True, return_counts=True)
    return {columns.ids[place] for place in here[many[number] > 1]}


def _versions(surveys: Surveys, name: str) -> dict[int, Questionnaire]:
    newest = surveys.answers.version(name)
    return {one: surveys.questionnaire(name, one) for one in range(1, (newest.number if newest else 0) + 1)}


def _said(answers: Mapping[str, Answer]) -> str:
    """All that was answered as one text; empty where it is too little to tell people apart by."""
    said = {name: answer for name, answer in answers.items() if answer and not name.startswith("_")}
    return json.dumps(said, sort_keys=True) if len(said) > LEAST_ALIKE else ""
