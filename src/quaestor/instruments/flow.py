"""A respondent's way through a questionnaire: the next page, what stands on it, and why an answer is missing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError
from quaestor.instruments.answers import Sent, in_words, sent_answer, unanswered
from quaestor.instruments.records import (
    DECLINE,
    Answer,
    Kind,
    Missing,
    Option,
    Page,
    Question,
    Questionnaire,
    Response,
    Row,
    Standing,
)

_PIPE = re.compile(r"\{([a-z0-9][a-z0-9_-]*)\}")
Answers = Mapping[str, Answer]


@dataclass(frozen=True)
class Taken:
    """What a page that was sent says: its answers, what is wrong with them, and what becomes of the response."""

    answers: dict[str, Answer]
    """Of every question that was shown, those that were left empty too."""
    problems: dict[str, str]
    """By question, a sentence each; a page with problems is not taken."""
    standing: Standing = Standing.OPEN


def shown_pages(questionnaire: Questionnaire, answers: Answers) -> list[Page]:
    """The pages that these answers lead to, each with the questions that are shown on it.

    An answer to what is not shown decides nothing: somebody gave it, went back, and took another way.
    """
    pages = []
    known: dict[str, Answer] = {}
    for page in questionnaire.pages:
        if page.show_if is not None and not page.show_if.holds(known):
            continue
        asked = []
        for one in page.questions:
            if is_shown(one, known):
                asked.append(one)
                known[one.id] = answers.get(one.id, {})
        if asked or not page.questions:
            pages.append(replace(page, questions=tuple(asked)))
    return pages


def is_shown(question: Question, answers: Answers) -> bool:
    return question.show_if is None or question.show_if.holds(answers)


def next_page(questionnaire: Questionnaire, response: Response) -> Page | None:
    """The first page that has not been sent, or on which something is shown now that was not; None at the end."""
    for page in shown_pages(questionnaire, response.answers):
        if page.id not in response.sent or any(one.id not in response.answers for one in page.questions):
            return page
    return None


def page_at(questionnaire: Questionnaire, response: Response, page: str) -> Page | None:
    """A page somebody goes back to: one that was sent, or the next."""
    following = next_page(questionnaire, response)
    if following is not None and following.id == page:
        return following
    shown = shown_pages(questionnaire, response.answers)
    return next((one for one in shown if one.id == page and page in response.sent), None)


def page_before(questionnaire: Questionnaire, response: Response, page: str) -> Page | None:
    """The page before one, among those that are shown."""
    shown = shown_pages(questionnaire, response.answers)
    place = next((number for number, one in enumerate(shown) if one.id == page), len(shown))
    return shown[place - 1] if place > 0 else None


def progress(questionnaire: Questionnaire, response: Response, page: str) -> tuple[int, int]:
    """How many pages lie before one, and how many there are as far as one can tell."""
    shown = shown_pages(questionnaire, response.answers)
    place = next((number for number, one in enumerate(shown) if one.id == page), len(shown))
    return place, len(shown)


def taken(questionnaire: Questionnaire, response: Response, page: Page, form: Sent) -> Taken:
    """Read a page that was sent. Conditions on answers of the same page are looked at as they were sent."""
    whole = next(one for one in questionnaire.pages if one.id == page.id)
    answers: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    known = _led_by(questionnaire, response.answers)
    for question in whole.questions:
        if not is_shown(question, known) or not (question in page.questions or _is_sent(question, form)):
            continue  # what follows from an answer on this very page is asked when the page comes again
        try:
            answer = sent_answer(question, form)
        except InputError as error:
            problems[question.id] = f"{str(error)[:1].upper()}{str(error)[1:]}."
            continue
        lacking = unanswered(question, answer)
        if lacking:
            problems[question.id] = lacking
        answers[question.id] = known[question.id] = answer
    standing = _standing(questionnaire, response, whole, answers)
    if standing is not Standing.OPEN:
        answers |= _left_behind(questionnaire, {**response.answers, **answers})
    return Taken(answers, problems, standing)


def _led_by(questionnaire: Questionnaire, answers: Answers) -> dict[str, Answer]:
    """The answers to what is shown."""
    shown = [one.id for page in shown_pages(questionnaire, answers) for one in page.questions]
    return {name: answers[name] for name in shown if name in answers}


def _left_behind(questionnaire: Questionnaire, answers: Answers) -> dict[str, Answer]:
    """What was answered on a way that somebody left: it is taken back at the end, and stays in the journal."""
    led_by = _led_by(questionnaire, answers)
    return {one.id: {} for one in questionnaire.questions() if answers.get(one.id) and one.id not in led_by}


def _is_sent(question: Question, form: Sent) -> bool:
    name = f"q.{question.id}"
    return any(field == name or field.startswith(f"{name}.") for field in form)


def _standing(questionnaire: Questionnaire, response: Response, page: Page, answers: Answers) -> Standing:
    for question in page.questions:
        chosen = answers.get(question.id, {}).get("choices", ())
        if question.kind is Kind.CONSENT and DECLINE in chosen:
            return Standing.DECLINED
        if any(one.ends and one.code in chosen for one in question.options):
            return Standing.SCREENED_OUT
    after = replace(response, answers={**response.answers, **answers}, sent=(*response.sent, page.id))
    return Standing.FINISHED if next_page(questionnaire, after) is None else Standing.OPEN


def in_order(question: Question, seed: int) -> Question:
    """A question as one respondent meets it: shuffled by their seed, with "other" and what goes alone at the end."""
    if not question.shuffle:
        return question
    chance = random.Random(f"{seed} {question.id}")
    if question.kind is Kind.MATRIX:
        return replace(question, rows=_shuffled_rows(question.rows, chance))
    free: list[Option] = [one for one in question.options if not (one.text or one.alone)]
    kept = [one for one in question.options if one.text or one.alone]
    chance.shuffle(free)
    return replace(question, options=(*free, *kept))


def _shuffled_rows(rows: Sequence[Row], chance: random.Random) -> tuple[Row, ...]:
    free = [one for one in rows if not one.text]
    chance.shuffle(free)
    return (*free, *(one for one in rows if one.text))


def piped(text: str, questionnaire: Questionnaire, answers: Answers) -> str:
    """A text with `{question}` replaced by what was answered to it; what was not answered is three dots."""

    def filled(match: re.Match[str]) -> str:
        question = questionnaire.question(match[1])
        if question is None:
            return match[0]
        return in_words(question, answers.get(question.id, {})) or "…"

    return _PIPE.sub(filled, text)


def pipes(text: str) -> Iterator[str]:
    """The questions that a text asks to be filled from."""
    return (match[1] for match in _PIPE.finditer(text))


def missing(questionnaire: Questionnaire, response: Response, question: Question) -> Missing | None:
    """Why a response has no answer to a question; None where it has one."""
    if response.answers.get(question.id):
        return None
    page = questionnaire.page_of(question.id)
    answers = response.answers
    if response.standing is Standing.OPEN:  # it may hold answers of a way that was left; at the end they are gone
        answers = _led_by(questionnaire, answers)
    if not (is_shown(question, answers) and (page is None or page.show_if is None or page.show_if.holds(answers))):
        return Missing.NOT_SHOWN
    if question.id in answers:
        return Missing.SKIPPED
    if response.standing is Standing.OPEN or page is None or page.id not in response.sent:
        return Missing.NOT_REACHED
    return Missing.SKIPPED
