"""A respondent's path through a questionnaire: the next page, what it shows, and why an answer is missing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.base import Form
from quaestor.surveys.model.reachability import can_be_shown
from quaestor.surveys.model.records import (
    DECLINE,
    Answer,
    Missing,
    Page,
    Question,
    Questionnaire,
    Response,
    ResponseStatus,
)
from quaestor.surveys.model.wording.refusals import refusal_in_words

_LONGEST_PIPED = 200
_PIPE = re.compile(r"\{([a-z0-9][a-z0-9_-]*)\}")
Answers = Mapping[str, Answer]


@dataclass(frozen=True)
class ValidatedPage:
    """The answers of a page that was sent, what is wrong with them, and what becomes of the response."""

    answers: dict[str, Answer]
    """Of every question that was shown, including empty ones."""
    problems: dict[str, str]
    """By question, a sentence each; a page with problems is not stored."""
    standing: ResponseStatus = ResponseStatus.OPEN
    left: tuple[str, ...] = ()
    """Questions answered before to which these answers do not lead: their answers are dropped, and asked for again if
    the questions are shown."""


def shown_pages(questionnaire: Questionnaire, answers: Answers) -> list[Page]:
    """Returns the pages that these answers lead to, each with the questions that are shown on it.

    An answer to a question that is not shown decides nothing: it was given before somebody went back and took another
    path.
    """
    pages = []
    known: dict[str, Answer] = {}
    for page in questionnaire.pages:
        if page.show_if is not None and not page.show_if.holds(known):
            continue
        shown = []
        for question in page.questions:
            if is_shown(question, known):
                shown.append(question)
                known[question.id] = answers.get(question.id, {})
        if shown or not page.questions:
            pages.append(replace(page, questions=tuple(shown)))
    return pages


def is_shown(question: Question, answers: Answers) -> bool:
    return question.show_if is None or question.show_if.holds(answers)


def next_page(questionnaire: Questionnaire, response: Response) -> Page | None:
    """Returns the first page that was not sent or shows a question that it did not before; None at the end."""
    for page in shown_pages(questionnaire, response.answers):
        if page.id not in response.sent or any(question.id not in response.answers for question in page.questions):
            return page
    return None


def page_at(questionnaire: Questionnaire, response: Response, page: str) -> Page | None:
    """Returns a page that can be shown: one that was sent, or the next."""
    following = next_page(questionnaire, response)
    if following is not None and following.id == page:
        return following
    shown = shown_pages(questionnaire, response.answers)
    return next((shown_page for shown_page in shown if shown_page.id == page and page in response.sent), None)


def page_before(questionnaire: Questionnaire, response: Response, page: str) -> Page | None:
    """Returns the page before another one, among those that are shown."""
    shown = shown_pages(questionnaire, response.answers)
    place = next((number for number, shown_page in enumerate(shown) if shown_page.id == page), len(shown))
    return shown[place - 1] if place > 0 else None


def progress(questionnaire: Questionnaire, response: Response, page: str) -> tuple[int, int]:
    """Returns how many pages are before one, and how many there are as far as is known."""
    shown = shown_pages(questionnaire, response.answers)
    place = next((number for number, shown_page in enumerate(shown) if shown_page.id == page), len(shown))
    if next_page(questionnaire, response) is None:
        return place, len(shown)
    return place, len(shown) + len(_may_come(questionnaire, response, page))


def _may_come(questionnaire: Questionnaire, response: Response, page: str) -> list[Page]:
    """Returns pages that are not shown so far, and are if open questions are answered so."""
    shown = [shown_page.id for shown_page in shown_pages(questionnaire, response.answers)]
    unanswered = {
        question.id
        for other in questionnaire.pages
        for question in other.questions
        if other.id == page or other.id not in response.sent
    }
    return [other for other in questionnaire.pages if other.id not in shown and unanswered & _asks_about(other)]


def _asks_about(page: Page) -> set[str]:
    """Returns the questions that decide whether a page is shown, or anything on it."""
    conditions = [page.show_if, *(question.show_if for question in page.questions)]
    return {test.question for condition in conditions if condition is not None for test in condition.tests()}


def validate_page(
    questionnaire: Questionnaire, response: Response, page: Page, form: Form, *, going_back: bool = False
) -> ValidatedPage:
    """Reads a page that was sent; conditions on questions of the same page look at the answers that were sent.

    A page that somebody goes back from needs no answer, and none decides anything until they go on.
    """
    listed = _listed(page, form)
    whole = next(other for other in questionnaire.pages if other.id == page.id)
    answers: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    known = _shown_answers(questionnaire, response.answers)
    for question in whole.questions:
        if not is_shown(question, known) or not (question.id in listed or _is_sent(question, form)):
            continue  # a question that depends on an answer on this page is asked when the page comes again
        kind = kind_of(question)
        try:
            answer = kind.read_form(question, form)
        except InputError as error:
            problems[question.id] = refusal_in_words(error, questionnaire.words)
            continue
        is_needed = question.required and not going_back
        if is_needed and (lacking := kind.lacking(question, answer, questionnaire.words)):
            problems[question.id] = lacking
        answers[question.id] = known[question.id] = answer
    if going_back:
        return _draft(questionnaire, response, answers, problems)
    standing = _standing(questionnaire, response, whole, answers, announced=list(form.get("last", ())) != ["no"])
    if standing is ResponseStatus.DECLINED:  # no other answer is stored
        answers = {name: answer if answer.get("choices") == [DECLINE] else {} for name, answer in answers.items()}
        return ValidatedPage(answers, problems, standing)
    return ValidatedPage(answers, problems, standing, _left_behind(questionnaire, {**response.answers, **answers}))


def _draft(
    questionnaire: Questionnaire, response: Response, typed: Mapping[str, Answer], problems: dict[str, str]
) -> ValidatedPage:
    """Returns what is stored of a page that somebody goes back from: answers, and which ones were removed.

    An empty answer is not skipped yet, so it is not stored.
    """
    required = {question.id for question in questionnaire.questions() if question.required}
    emptied = [name for name, answer in typed.items() if not answer and response.answers.get(name)]
    answers = {name: answer for name, answer in typed.items() if answer or (name in emptied and name not in required)}
    dropped = [name for name in emptied if name in required]
    known = {name: answer for name, answer in {**response.answers, **answers}.items() if name not in dropped}
    return ValidatedPage(answers, problems, ResponseStatus.OPEN, (*dropped, *_left_behind(questionnaire, known)))


def _listed(page: Page, form: Form) -> list[str]:
    """Returns the questions that were on a page when it was sent; where the form does not say, those shown now.

    The answer to any other stays as it is: the page may have been opened before that question was shown.
    """
    if "shown" in form:
        return " ".join(form["shown"]).split()
    return [question.id for question in page.questions]


def _shown_answers(questionnaire: Questionnaire, answers: Answers) -> dict[str, Answer]:
    """Returns the answers to questions that are shown."""
    shown = [question.id for page in shown_pages(questionnaire, answers) for question in page.questions]
    return {name: answers[name] for name in shown if name in answers}


def _left_behind(questionnaire: Questionnaire, answers: Answers) -> tuple[str, ...]:
    """Returns questions that were answered on a path that somebody left; the answers stay in the journal alone."""
    shown = _shown_answers(questionnaire, answers)
    names = (question.id for question in questionnaire.questions())
    return tuple(name for name in names if name in answers and name not in shown)


def _is_sent(question: Question, form: Form) -> bool:
    name = f"q.{question.id}"
    return any(field == name or field.startswith(f"{name}.") for field in form)


def _standing(
    questionnaire: Questionnaire, response: Response, page: Page, answers: Answers, *, announced: bool
) -> ResponseStatus:
    """Returns what becomes of a response; it ends with the last page of its path, if that was announced as the last."""
    for question in page.questions:
        end = kind_of(question).end(question, answers.get(question.id, {}))
        if end is not None:
            return end
    after = replace(response, answers={**response.answers, **answers}, sent=(*response.sent, page.id))
    if next_page(questionnaire, after) is not None or not announced:
        return ResponseStatus.OPEN
    return (
        ResponseStatus.FINISHED if shown_pages(questionnaire, after.answers)[-1].id == page.id else ResponseStatus.OPEN
    )


def in_order(question: Question, seed: int) -> Question:
    """Returns a question as it is shown to the respondent with this seed."""
    if not question.shuffle:
        return question
    return kind_of(question).shuffle(question, random.Random(f"{seed} {question.id}"))


def piped(text: str, questionnaire: Questionnaire, answers: Answers) -> str:
    """Returns a text with each `{question}` replaced by its answer, or by three dots where it has none."""

    def fill(match: re.Match[str]) -> str:
        question = questionnaire.question(match[1])
        if question is None:
            return match[0]
        words = kind_of(question).in_words(question, answers.get(question.id, {})) or "…"
        return words if len(words) <= _LONGEST_PIPED else f"{words[: _LONGEST_PIPED - 1]}…"

    return _PIPE.sub(fill, text)


def pipes(text: str) -> Iterator[str]:
    """Returns the questions whose answers a text shows."""
    return (match[1] for match in _PIPE.finditer(text))


def missing(questionnaire: Questionnaire, response: Response, question: Question) -> Missing | None:
    """Returns why a response has no answer to a question; None where it has one.

    A question is not shown if no further answer can make it appear; one that depends on a question that was not reached
    was not reached either.
    """
    if response.answers.get(question.id):
        return None
    if not can_be_shown(questionnaire, response, question):
        return Missing.NOT_SHOWN
    if question.id in response.answers:
        return Missing.SKIPPED
    page = questionnaire.page_of(question.id)
    if response.standing is ResponseStatus.OPEN or page is None or page.id not in response.sent:
        return Missing.NOT_REACHED
    return Missing.SKIPPED
