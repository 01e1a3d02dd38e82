"""Responses for the lead's review: a list by status, and each response with its answers and pages."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.surveys.flags import flag_responses
from quaestor.surveys.invitations import join_strata
from quaestor.surveys.lifecycle import ResponseDecision, Surveys
from quaestor.surveys.model.flow import fill_in_answers, in_order, missing_reason
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Answer, Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.respond import read_questionnaire_for
from quaestor.surveys.store.answers import ResponseSummary

FLAGGED, UNDECIDED, LEFT_OUT = "flagged", "undecided", "left out"
SHOWN = (FLAGGED, UNDECIDED, LEFT_OUT)
"""Filters of a list, in addition to the status."""
_PAGE = 50
_SOON = 10_000
"""Maximum number of responses checked for flags during a request."""
Reasons = Mapping[str, tuple[str, ...]]
"""Reasons for flags, by response."""


@dataclass(frozen=True)
class ResponseLine:
    """One response in a list."""

    response: ResponseSummary
    reasons: tuple[str, ...]
    decision: ResponseDecision | None


@dataclass(frozen=True)
class ResponseList:
    """One page of a list, and its total length."""

    lines: tuple[ResponseLine, ...]
    total: int
    page: int
    pages: int


@dataclass(frozen=True)
class QuestionWithAnswer:
    """A question as shown to a respondent, with the answer or the reason for its absence."""

    question: Question
    text: str
    lines: tuple[str, ...]
    why_none: str
    order: tuple[str, ...] = ()
    """For shuffled options or rows: their order for this respondent."""


@dataclass(frozen=True)
class SentPage:
    """A submitted page; a page submitted twice is listed twice."""

    page: str
    title: str
    answers: tuple[tuple[str, str], ...]
    """Question ids and answers on one line each."""


@dataclass(frozen=True)
class ResponseSheet:
    """One response with all details."""

    response: Response
    pages: tuple[tuple[str, tuple[QuestionWithAnswer, ...]], ...]
    """Titles of pages with their questions."""
    journal: tuple[SentPage, ...]
    reasons: tuple[str, ...]
    decision: ResponseDecision | None
    stratum: str = ""
    """As results show it."""


class FlagCache:
    """A cache of flags, valid until an answer changes; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[object, Reasons]] = {}

    def reasons(self, surveys: Surveys, name: str) -> Reasons:
        """Returns the reasons for flags by response, as sentences."""
        mark = surveys.answers.mark(name)
        known = self._if_known(surveys, name)
        if known is not None:
            return known
        reasons = {
            flag.response: tuple(reason.words for reason in flag.reasons) for flag in flag_responses(surveys, name)
        }
        with self._lock:
            self._known[name] = (mark, reasons)
        return reasons

    def undecided(self, surveys: Surveys, name: str) -> int | None:
        """Returns the number of flagged responses without a decision; None if counting would take long."""
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
    """Returns responses by status, or those that are flagged, undecided or left out."""
    if standing and standing not in list(ResponseStatus):
        raise InputError(f"unknown status {standing[:60]!r}; choose from: {', '.join(ResponseStatus)}")
    if shown and shown not in SHOWN:
        raise InputError(f"unknown filter {shown[:60]!r}; choose from: {', '.join(SHOWN)}")
    decisions = surveys.fielding(name).decisions
    left_out = {response for response, decision in decisions.items() if not decision.keep}
    among = {FLAGGED: set(reasons), UNDECIDED: set(reasons) - set(decisions), LEFT_OUT: left_out}.get(shown)
    matches = [
        response
        for response in surveys.answers.listed(name)
        if (not standing or response.standing == standing) and (among is None or response.id in among)
    ]
    here = matches[(page - 1) * _PAGE : page * _PAGE]
    lines = [ResponseLine(match, reasons.get(match.id, ()), decisions.get(match.id)) for match in here]
    return ResponseList(tuple(lines), len(matches), page, max(1, -(-len(matches) // _PAGE)))


def response_sheet(surveys: Surveys, name: str, response: str, reasons: Reasons) -> ResponseSheet:
    """Returns one response in its respondent's language."""
    stored = surveys.answers.response(response)
    if stored is None or stored.survey != name:
        raise InputError(f"{name!r} has no response {response[:60]!r}: it may have been withdrawn")
    questionnaire = read_questionnaire_for(surveys, stored)
    return ResponseSheet(
        response=stored,
        pages=tuple(
            (page.title or page.id, tuple(_answered(questionnaire, stored, question) for question in page.questions))
            for page in questionnaire.pages
            if page.questions
        ),
        journal=tuple(_sent(questionnaire, page, answers) for _, page, answers in surveys.answers.journal(stored.id)),
        reasons=reasons.get(stored.id, ()),
        decision=surveys.fielding(name).decisions.get(stored.id),
        stratum=join_strata(surveys, name).get(stored.stratum, stored.stratum),
    )


def _answered(questionnaire: Questionnaire, response: Response, question: Question) -> QuestionWithAnswer:
    why = missing_reason(questionnaire, response, question)
    lines = kind_of(question).lines(question, response.answers.get(question.id, {}))
    text = fill_in_answers(question.text, questionnaire, response.answers)
    return QuestionWithAnswer(question, text, tuple(lines), why.value if why else "", _order(question, response))


def _order(question: Question, response: Response) -> tuple[str, ...]:
    """Returns the order of options or rows, if the response has a seed and the question was shown."""
    if not question.shuffle or not response.seed or question.id not in response.answers:
        return ()
    return tuple(part.label for part in kind_of(question).counted_parts(in_order(question, response.seed)))


def _sent(questionnaire: Questionnaire, page: str, answers: Mapping[str, Answer]) -> SentPage:
    title = next(
        (questionnaire_page.title for questionnaire_page in questionnaire.pages if questionnaire_page.id == page), ""
    )
    lines = [
        (question.id, "; ".join(kind_of(question).lines(question, answers[question.id])))
        for question in questionnaire.questions()
        if question.id in answers
    ]
    return SentPage(page, title or page, tuple(lines))
