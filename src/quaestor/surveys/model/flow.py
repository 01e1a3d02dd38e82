"""A respondent's path through a questionnaire: the next page, what it shows, and why an answer is missing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

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
from quaestor.surveys.model.wording.catalogue import refusal_in_words

_LONGEST_PIPED = 200
_PIPE = re.compile(r"\{([a-z0-9][a-z0-9_-]*)\}")
Answers = Mapping[str, Answer]


@dataclass(frozen=True)
class ValidatedPage:
    """The answers of a submitted page, their problems, and the resulting status of the response."""

    answers: dict[str, Answer]
    """Answers to every question shown, including empty ones."""
    problems: dict[str, str]
    """By question, one sentence each; a page with problems is not stored."""
    standing: ResponseStatus = ResponseStatus.OPEN
    left: tuple[str, ...] = ()
    """Questions answered before that these answers no longer lead to: their answers are dropped, and asked for again
    if the questions are shown."""


def shown_pages(questionnaire: Questionnaire, answers: Answers) -> list[Page]:
    """Returns the pages that these answers lead to, each with the questions shown on it.

    An answer to a question that is not shown is ignored: it was given before the respondent went back and took another
    path.
    """
    pages = []
    known = _hidden_answers(questionnaire, answers)
    for page in questionnaire.pages:
        if page.show_if is not None and not page.show_if.holds(known):
            continue
        shown = []
        visible_questions = [question for question in page.questions if not kind_of(question).is_hidden]
        for question in visible_questions:
            if is_shown(question, known):
                shown.append(question)
                known[question.id] = answers.get(question.id, {})
        if shown or not page.questions or (page.text and not visible_questions):
            pages.append(replace(page, questions=tuple(shown)))
    return pages


def _hidden_answers(questionnaire: Questionnaire, answers: Answers) -> dict[str, Answer]:
    """Returns the answers that were set when the response began."""
    hidden = (question.id for question in questionnaire.questions() if kind_of(question).is_hidden)
    return {name: answers[name] for name in hidden if name in answers}


def is_shown(question: Question, answers: Answers) -> bool:
    return question.show_if is None or question.show_if.holds(answers)


def next_page(questionnaire: Questionnaire, response: Response) -> Page | None:
    """Returns the first page that was not submitted or shows a new question; None at the end."""
    for page in shown_pages(questionnaire, response.answers):
        if page.id not in response.sent or any(question.id not in response.answers for question in page.questions):
            return page
    return None


def find_page(questionnaire: Questionnaire, response: Response, page: str) -> Page | None:
    """Returns a page that can be shown: a submitted one, or the next."""
    following = next_page(questionnaire, response)
    if following is not None and following.id == page:
        return following
    shown = shown_pages(questionnaire, response.answers)
    return next((shown_page for shown_page in shown if shown_page.id == page and page in response.sent), None)


def page_before(questionnaire: Questionnaire, response: Response, page: str) -> Page | None:
    """Returns the previous page among those shown."""
    shown = shown_pages(questionnaire, response.answers)
    place = next((number for number, shown_page in enumerate(shown) if shown_page.id == page), len(shown))
    return shown[place - 1] if place > 0 else None


def progress(questionnaire: Questionnaire, response: Response, page: str) -> tuple[int, int]:
    """Returns the number of pages before one, and the total as far as known."""
    shown = shown_pages(questionnaire, response.answers)
    place = next((number for number, shown_page in enumerate(shown) if shown_page.id == page), len(shown))
    if next_page(questionnaire, response) is None:
        return place, len(shown)
    return place, len(shown) + len(_may_come(questionnaire, response, page))


def _may_come(questionnaire: Questionnaire, response: Response, page: str) -> list[Page]:
    """Returns pages that are not shown yet, but may be, depending on open questions."""
    shown = [shown_page.id for shown_page in shown_pages(questionnaire, response.answers)]
    unanswered = {
        question.id
        for other in questionnaire.pages
        for question in other.questions
        if (other.id == page or other.id not in response.sent) and not kind_of(question).is_hidden
    }
    return [other for other in questionnaire.pages if other.id not in shown and unanswered & _asks_about(other)]


def _asks_about(page: Page) -> set[str]:
    """Returns the questions that determine whether a page or anything on it is shown."""
    conditions = [page.show_if, *(question.show_if for question in page.questions)]
    return {test.question for condition in conditions if condition is not None for test in condition.tests()}


def validate_page(
    questionnaire: Questionnaire, response: Response, page: Page, form: Form, *, going_back: bool = False
) -> ValidatedPage:
    """Reads a submitted page; conditions on questions of the same page use the submitted answers.

    Going back requires no answers, and answers take effect only when the respondent goes on.
    """
    listed = _listed(page, form)
    whole = next(other for other in questionnaire.pages if other.id == page.id)
    answers: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    known = _shown_answers(questionnaire, response.answers)
    for question in whole.questions:
        kind = kind_of(question)
        if kind.is_hidden or not is_shown(question, known):
            continue
        if question.id not in listed and not _is_sent(question, form):
            continue  # a question that depends on this page is asked when the page is shown again
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
    """Returns what to store when a respondent goes back: answers, and which ones were removed.

    An empty answer does not count as skipped yet, so it is not stored.
    """
    required = {question.id for question in questionnaire.questions() if question.required}
    emptied = [name for name, answer in typed.items() if not answer and response.answers.get(name)]
    answers = {name: answer for name, answer in typed.items() if answer or (name in emptied and name not in required)}
    dropped = [name for name in emptied if name in required]
    known = {name: answer for name, answer in {**response.answers, **answers}.items() if name not in dropped}
    return ValidatedPage(answers, problems, ResponseStatus.OPEN, (*dropped, *_left_behind(questionnaire, known)))


def _listed(page: Page, form: Form) -> list[str]:
    """Returns the questions on a page when it was submitted; if the form does not list them, those shown now.

    Answers to other questions are kept: the page may have been opened before such a question was shown.
    """
    if "shown" in form:
        return " ".join(form["shown"]).split()
    return [question.id for question in page.questions]


def _shown_answers(questionnaire: Questionnaire, answers: Answers) -> dict[str, Answer]:
    """Returns the answers to questions that are shown, and those that were set when the response began."""
    shown = [question.id for page in shown_pages(questionnaire, answers) for question in page.questions]
    known = {name: answers[name] for name in shown if name in answers}
    return {**_hidden_answers(questionnaire, answers), **known}


def _left_behind(questionnaire: Questionnaire, answers: Answers) -> tuple[str, ...]:
    """Returns questions answered on an abandoned path; their answers remain in the journal only."""
    shown = _shown_answers(questionnaire, answers)
    names = (question.id for question in questionnaire.questions())
    return tuple(name for name in names if name in answers and name not in shown)


def _is_sent(question: Question, form: Form) -> bool:
    name = f"q.{question.id}"
    return any(field == name or field.startswith(f"{name}.") for field in form)


def _standing(
    questionnaire: Questionnaire, response: Response, page: Page, answers: Answers, *, announced: bool
) -> ResponseStatus:
    """Returns the new status; the last page finishes a response only if it was announced as the last."""
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
    """Returns a question with its options or rows in the order for this seed."""
    if not question.shuffle:
        return question
    return kind_of(question).shuffle(question, random.Random(f"{seed} {question.id}"))


def order_pages(questionnaire: Questionnaire, seed: int) -> Questionnaire:
    """Returns a questionnaire with its pages in the order for this seed; as in the file for an imported response.

    Each run of consecutive pages with `shuffle` has an order of its own; all other pages keep their places.
    """
    if not seed or not any(page.shuffle for page in questionnaire.pages):
        return questionnaire
    pages: list[Page] = []
    for run in group_shuffled_pages(questionnaire):
        ordered = list(run)
        random.Random(f"{seed} pages {run[0].id}").shuffle(ordered)
        pages += ordered
    return replace(questionnaire, pages=tuple(pages))


def group_shuffled_pages(questionnaire: Questionnaire) -> Iterator[tuple[Page, ...]]:
    """Yields each run of pages that are shown in a random order, and every other page by itself."""
    for is_shuffled, pages in groupby(questionnaire.pages, key=lambda page: page.shuffle):
        run = tuple(pages)
        yield from (run,) if is_shuffled else ((page,) for page in run)


def fill_in_answers(text: str, questionnaire: Questionnaire, answers: Answers) -> str:
    """Replaces each `{question}` in a text by its answer, or by three dots if unanswered."""

    def fill(match: re.Match[str]) -> str:
        question = questionnaire.question(match[1])
        if question is None:
            return match[0]
        words = kind_of(question).in_words(question, answers.get(question.id, {})) or "…"
        return words if len(words) <= _LONGEST_PIPED else f"{words[: _LONGEST_PIPED - 1]}…"

    return _PIPE.sub(fill, text)


def find_placeholders(text: str) -> Iterator[str]:
    """Yields the questions whose answers a text shows."""
    return (match[1] for match in _PIPE.finditer(text))


def missing_reason(questionnaire: Questionnaire, response: Response, question: Question) -> Missing | None:
    """Returns why a response has no answer to a question; None if it has one.

    A question is "not shown" if no further answer can make it appear; one that depends on a question that was not
    reached is "not reached" too.
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
