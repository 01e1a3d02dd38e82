"""The answers behind a number: who is counted in it, by ids that say nothing of them, and what they wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quaestor.instruments.answers import in_words
from quaestor.instruments.records import Kind, Question, Response
from quaestor.instruments.versions import id_of
from quaestor.study.surveys.answering import questionnaire_of
from quaestor.study.surveys.column_records import Flags
from quaestor.study.surveys.counting import Counted, Which
from quaestor.study.surveys.fielding import Surveys

PAGE = 50
_OPEN = (Kind.TEXT, Kind.LONG_TEXT)


@dataclass(frozen=True)
class Said:
    """One response: its answer to the question that was asked about, and what it says in words of its own."""

    id: str
    answer: str
    texts: tuple[tuple[str, str], ...] = ()
    """Open questions and what was written to them."""


@dataclass(frozen=True)
class Behind:
    """The responses behind a number, a page of them."""

    question: Question
    total: int
    page: int
    pages: int
    said: tuple[Said, ...]


def answers_behind(surveys: Surveys, counted: Counted, which: Which, page: int = 1) -> Behind:
    """Exactly those that the number counts, in the order of their ids, which is none."""
    question = counted.column(which.question).question
    places = np.flatnonzero(which.mask(counted))
    wanted = places[(page - 1) * PAGE : page * PAGE]
    said = [_said(surveys, one, question) for one in _responses(surveys, counted, wanted.tolist())]
    return Behind(question, len(places), page, max(1, -(-len(places) // PAGE)), tuple(said))


def words_of(surveys: Surveys, counted: Counted, question: str, part: str = "", most: int = 5) -> list[str]:
    """The first few texts to an open question, or those beside an option or a row."""
    column = counted.column(question)
    asked = column.question
    codes = [one.code for one in asked.rows] if asked.kind is Kind.MATRIX else [one.code for one in asked.options]
    mask: Flags = column.worded[:, codes.index(part)] if part else column.answered
    places = np.flatnonzero(mask & counted.used)[:most].tolist()
    name = _name(column.question)
    answers = [one.answers.get(name, {}) for one in _responses(surveys, counted, places)]
    return [str(one.get("texts", {}).get(part, "") if part else one.get("text", "")) for one in answers]


def _responses(surveys: Surveys, counted: Counted, places: Sequence[int]) -> list[Response]:
    """What was withdrawn meanwhile is not there any more."""
    found = [surveys.answers.response(counted.columns.ids[place]) for place in places]
    return [one for one in found if one is not None]


def _said(surveys: Surveys, response: Response, question: Question) -> Said:
    asked = questionnaire_of(surveys, response)
    name = _name(question)
    here = asked.question(name)
    answer = in_words(here, response.answers.get(name, {})) if here is not None else ""
    texts = [
        (one.text, str(response.answers.get(one.id, {}).get("text", "")))
        for one in asked.questions()
        if one.kind in _OPEN and one.id != name and response.answers.get(one.id)
    ]
    return Said(response.id, answer, tuple(texts))


def _name(question: Question) -> str:
    """The name under which its answers are kept; one that was of another kind once is told apart behind it."""
    return id_of(question.id)
