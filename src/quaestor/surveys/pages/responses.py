"""Responses as their lead looks through them: a list by how they stand, and each with its answers and its pages."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.surveys.flags import flags
from quaestor.surveys.lifecycle import Decision, Surveys
from quaestor.surveys.model.flow import in_order, missing, piped
from quaestor.surveys.model.in_words import answer_lines
from quaestor.surveys.model.records import Answer, Kind, Question, Questionnaire, Response, Standing
from quaestor.surveys.respond import questionnaire_of
from quaestor.surveys.store.answers import Listed

FLAGGED, UNDECIDED, LEFT_OUT = "flagged", "undecided", "left out"
SHOWN = (FLAGGED, UNDECIDED, LEFT_OUT)
"""What a list can be narrowed down to, besides a standing."""
_PAGE = 50
_SOON = 10_000
"""So many responses are looked through for flags while somebody waits for another page."""
Reasons = Mapping[str, tuple[str, ...]]
"""Why responses are flagged, by response."""


@dataclass(frozen=True)
class ResponseLine:
    """One response in a list."""

    response: Listed
    reasons: tuple[str, ...]
    decision: Decision | None


@dataclass(frozen=True)
class ResponseList:
    """One page of a list, and how long the list is."""

    lines: tuple[ResponseLine, ...]
    total: int
    page: int
    pages: int


@dataclass(frozen=True)
class Answered:
    """A question as it was put to somebody, and what they said or why there is nothing."""

    question: Question
    text: str
    lines: tuple[str, ...]
    why_none: str
    order: tuple[str, ...] = ()
    """Of shuffled options or rows: how they stood on this respondent's page."""


@dataclass(frozen=True)
class SentPage:
    """A page as it was sent; one that was sent again stands twice."""

    page: str
    title: str
    answers: tuple[tuple[str, str], ...]
    """The question's id, and the answer on one line."""


@dataclass(frozen=True)
class ResponseSheet:
    """One response with all that is known of it."""

    response: Response
    pages: tuple[tuple[str, tuple[Answered, ...]], ...]
    """Titles of pages with their questions."""
    journal: tuple[SentPage, ...]
    reasons: tuple[str, ...]
    decision: Decision | None


class FlagRoom:
    """Why responses are flagged, worked out anew only where an answer has changed; safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[object, Reasons]] = {}

    def reasons(self, surveys: Surveys, name: str) -> Reasons:
        """Why, by response, in words."""
        mark = surveys.answers.mark(name)
        known = self._if_known(surveys, name)
        if known is not None:
            return known
        found = {one.response: tuple(reason.words for reason in one.reasons) for one in flags(surveys, name)}
        with self._lock:
            self._known[name] = (mark, found)
        return found

    def undecided(self, surveys: Surveys, name: str) -> int | None:
        """How many flagged responses wait for a decision; None where it would take long to find out."""
        if self._if_known(surveys, name) is None and sum(surveys.answers.counts(name).values()) > _SOON:
            return None
        decided = surveys.fielding(name).decisions
        return sum(response not in decided for response in self.reasons(surveys, name))

    def _if_known(self, surveys: Surveys, name: str) -> Reasons | None:
        with self._lock:
            known = self._known.get(name)
        return known[1] if known is not None and known[0] == surveys.answers.mark(name) else None


def response_list(
    surveys: Surveys, name: str, reasons: Reasons, standing: str = "", shown: str = "", page: int = 1
) -> ResponseList:
    """Responses by how they stand, or those that are flagged, wait for a decision or were left out; no order in it."""
    if standing and standing not in list(Standing):
        raise InputError(f"no response can be {standing[:60]!r}, allowed: {', '.join(Standing)}")
    if shown and shown not in SHOWN:
        raise InputError(f"nothing can be shown by {shown[:60]!r}, allowed: {', '.join(SHOWN)}")
    decisions = surveys.fielding(name).decisions
    left_out = {response for response, decision in decisions.items() if not decision.keep}
    among = {FLAGGED: set(reasons), UNDECIDED: set(reasons) - set(decisions), LEFT_OUT: left_out}.get(shown)
    wanted = [
        one
        for one in surveys.answers.listed(name)
        if (not standing or one.standing == standing) and (among is None or one.id in among)
    ]
    begin = (page - 1) * _PAGE
    lines = [ResponseLine(one, reasons.get(one.id, ()), decisions.get(one.id)) for one in wanted[begin : begin + _PAGE]]
    return ResponseList(tuple(lines), len(wanted), page, max(1, -(-len(wanted) // _PAGE)))


def response_sheet(surveys: Surveys, name: str, response: str, reasons: Reasons) -> ResponseSheet:
    """One response in the words of the questionnaire that its respondent got."""
    found = surveys.answers.response(response)
    if found is None or found.survey != name:
        raise InputError(f"there is no response {response[:60]!r} to {name!r}: it may have been withdrawn")
    asked = questionnaire_of(surveys, found)
    return ResponseSheet(
        response=found,
        pages=tuple(
            (page.title or page.id, tuple(_answered(asked, found, one) for one in page.questions))
            for page in asked.pages
            if page.questions
        ),
        journal=tuple(_sent(asked, page, answers) for _, page, answers in surveys.answers.journal(found.id)),
        reasons=reasons.get(found.id, ()),
        decision=surveys.fielding(name).decisions.get(found.id),
    )


def _answered(asked: Questionnaire, response: Response, question: Question) -> Answered:
    why = missing(asked, response, question)
    lines = answer_lines(question, response.answers.get(question.id, {}))
    text = piped(question.text, asked, response.answers)
    return Answered(question, text, tuple(lines), why.value if why else "", _order(question, response))


def _order(question: Question, response: Response) -> tuple[str, ...]:
    """Known where the response carries what the order follows from, and the question was met at all."""
    if not question.shuffle or not response.seed or question.id not in response.answers:
        return ()
    met = in_order(question, response.seed)
    return tuple(one.label for one in (met.rows if question.kind is Kind.MATRIX else met.options))


def _sent(asked: Questionnaire, page: str, answers: Mapping[str, Answer]) -> SentPage:
    title = next((one.title for one in asked.pages if one.id == page), "")
    said: Sequence[tuple[str, str]] = [
        (one.id, "; ".join(answer_lines(one, answers[one.id]))) for one in asked.questions() if one.id in answers
    ]
    return SentPage(page, title or page, tuple(said))
