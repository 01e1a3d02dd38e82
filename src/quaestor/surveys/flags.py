"""Flags suspicious responses for review, with reasons; a flag excludes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from quaestor.surveys.lifecycle import ResponseDecision, Surveys
from quaestor.surveys.model.answer_columns import Flags
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_versions import collect_questions
from quaestor.surveys.model.records import Answer, ResponseStatus
from quaestor.surveys.respond import TRAP
from quaestor.surveys.results.columns import Columns
from quaestor.surveys.results.counting import CountingCache

_MIXING = np.uint64(0x9E3779B97F4A7C15)
LEAST_ALIKE = 5
"""The minimum number of answers, besides consent, for comparing responses."""


class FlagKind(StrEnum):
    """Kinds of suspicious responses."""

    FAST = "fast"
    TRAP = "trap"
    ATTENTION = "attention"
    ALIKE = "alike"
    STRAIGHT = "straight"


@dataclass(frozen=True)
class FlagReason:
    """One reason for a flag, as a kind and a sentence."""

    sign: FlagKind
    words: str


_TRAPPED = FlagReason(FlagKind.TRAP, "A hidden field was filled in, which people cannot see.")


@dataclass(frozen=True)
class FlaggedResponse:
    """A flagged response with its reasons and the lead's decision."""

    response: str
    reasons: tuple[FlagReason, ...]
    decision: ResponseDecision | None = None


def flag_responses(surveys: Surveys, name: str, room: CountingCache | None = None) -> list[FlaggedResponse]:
    """Returns flagged finished responses, in the order of their ids."""
    columns = (room or CountingCache()).columns(surveys, name)
    finished = columns.standings == ResponseStatus.FINISHED.value
    reasons: dict[str, tuple[FlagReason, ...]] = {}
    for response, reason in chain(
        _fast(surveys, name),
        ((trapped, _TRAPPED) for trapped in surveys.answers.finished_with(name, TRAP)),
        _careless(surveys, name, columns, finished),
        _alike(surveys, name, columns, finished),
    ):
        reasons[response] = (*reasons.get(response, ()), reason)
    decisions = surveys.fielding(name).decisions
    return [FlaggedResponse(response, reasons[response], decisions.get(response)) for response in sorted(reasons)]


def _fast(surveys: Surveys, name: str) -> Iterator[tuple[str, FlagReason]]:
    for version, questionnaire in surveys.versions(name).items():
        least = questionnaire.least_seconds
        for response, seconds in surveys.answers.faster(name, version, least).items():
            words = f"Answered in {seconds:.0f} seconds, less than {least:.0f}."
            yield response, FlagReason(FlagKind.FAST, words)


def _careless(surveys: Surveys, name: str, columns: Columns, finished: Flags) -> Iterator[tuple[str, FlagReason]]:
    """Yields responses to a question that fail its attention check or give every part the same answer."""
    questions = collect_questions(surveys.versions(name), surveys.fielding(name).merges)
    for column_name, versions in questions.items():
        column = columns.questions[column_name]
        kind = kind_of(column.question)
        for version, question in versions.merged.items():
            here = np.flatnonzero(finished & (columns.versions == version) & column.answered)
            if question.attention and column.question.option(question.attention):
                words = f"The attention check {question.id!r} was failed."
                for place in here[~kind.is_attentive(column, question.attention)[here]]:
                    yield columns.ids[place], FlagReason(FlagKind.ATTENTION, words)
            for place, words in kind.straight_lines(column, here):
                yield columns.ids[place], FlagReason(FlagKind.STRAIGHT, words)


def _alike(surveys: Surveys, name: str, columns: Columns, finished: Flags) -> Iterator[tuple[str, FlagReason]]:
    """Yields responses with exactly the same answer to every question."""
    together: dict[str, list[str]] = {}
    candidates = _look_alike(columns, np.flatnonzero(finished))
    known: dict[str, str] = {}
    for part in surveys.answers.held(name) if candidates else ():
        for row in part:
            if row[0] in candidates:
                stored = row[5]
                if stored not in known:
                    known[stored] = _answers_as_text(json.loads(stored))
                together.setdefault(known[stored], []).append(row[0])
    for answers, responses in together.items():
        if not answers or len(responses) < 2:
            continue
        more = f" and {len(responses) - 2:,} more" if len(responses) > 2 else ""
        to_first, to_second = (
            FlagReason(FlagKind.ALIKE, f"Every answer is the same as in {other}{more}.") for other in responses[:2]
        )
        yield responses[0], to_second
        yield from ((response, to_first) for response in responses[1:])


def _look_alike(columns: Columns, here: NDArray[np.int64]) -> set[str]:
    """Returns responses with the same choices as another one; texts are not compared."""
    sign = np.zeros(len(here), np.uint64)
    for column in columns.questions.values():
        for part in column.signs(here):
            values = part if part.dtype == np.float64 else part.astype(np.int64)
            sign = sign * _MIXING + values.view(np.uint64)
    _, number, many = np.unique(sign, return_inverse=True, return_counts=True)
    return {columns.ids[place] for place in here[many[number] > 1]}


def _answers_as_text(answers: Mapping[str, Answer]) -> str:
    """Returns all answers as one text; empty if there are too few to compare."""
    counted = {name: answer for name, answer in answers.items() if answer and not name.startswith("_")}
    return json.dumps(counted, sort_keys=True) if len(counted) > LEAST_ALIKE else ""
