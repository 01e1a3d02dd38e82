"""A respondent's way through a questionnaire: the next page, what stands on it, and why an answer is missing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError
from quaestor.surveys.model.answer_forms import Sent, in_words, sent_answer, unanswered
from quaestor.surveys.model.reachability import can_be_shown
from quaestor.surveys.model.records import (
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
from quaestor.surveys.model.wording.refusals import told

_LONGEST_PIPED = 200
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
    left: tuple[str, ...] = ()
    """Questions answered before to which these answers do not lead: they are taken back, and asked should they show."""


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
    if next_page(questionnaire, response) is None:
        return place, len(shown)
    return place, len(shown) + len(_may_come(questionnaire, response, page))


def _may_come(questionnaire: Questionnaire, response: Response, page: str) -> list[Page]:
    """Pages that are not shown so far, and will be if what is still to be answered says so."""
    shown = [one.id for one in shown_pages(questionnaire, response.answers)]
    open_yet = {
        question.id
        for one in questionnaire.pages
        for question in one.questions
        if one.id == page or one.id not in response.sent
    }
    return [one for one in questionnaire.pages if one.id not in shown and open_yet & _asks_about(one)]


def _asks_about(page: Page) -> set[str]:
    """The questions that decide whether a page is shown, or anything on it."""
    conditions = [page.show_if, *(one.show_if for one in page.questions)]
    return {test.question for one in conditions if one is not None for test in one.tests()}


def taken(
    questionnaire: Questionnaire, response: Response, page: Page, form: Sent, *, going_back: bool = False
) -> Taken:
    """Read a page that was sent. Conditions on answers of the same page are looked at as they were sent.

    Of a page that somebody goes back from no answer is asked, and none decides anything: it is sent when they go on.
    """
    listed = _listed(page, form)
    whole = next(one for one in questionnaire.pages if one.id == page.id)
    answers: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    known = _led_by(questionnaire, response.answers)
    for question in whole.questions:
        if not is_shown(question, known) or not (question.id in listed or _is_sent(question, form)):
            continue  # what follows from an answer on this very page is asked when the page comes again
        try:
            answer = sent_answer(question, form)
        except InputError as error:
            problems[question.id] = told(error, questionnaire.words)
            continue
        lacking = "" if going_back else unanswered(question, answer, questionnaire.words)
        if lacking:
            problems[question.id] = lacking
        answers[question.id] = known[question.id] = answer
    if going_back:
        return _put_aside(questionnaire, response, answers, problems)
    standing = _standing(questionnaire, response, whole, answers, announced=list(form.get("last", ())) != ["no"])
    if standing is Standing.DECLINED:  # that they decline is all that they said
        answers = {name: said if said.get("choices") == [DECLINE] else {} for name, said in answers.items()}
        return Taken(answers, problems, standing)
    return Taken(answers, problems, standing, _left_behind(questionnaire, {**response.answers, **answers}))


def _put_aside(
    questionnaire: Questionnaire, response: Response, said: Mapping[str, Answer], problems: dict[str, str]
) -> Taken:
    """What is kept of a page that somebody goes back from: what they said, and that they took an answer back.

    What they left empty is not skipped yet, so nothing is said of it.
    """
    required = {one.id for one in questionnaire.questions() if one.required}
    emptied = [name for name, answer in said.items() if not answer and response.answers.get(name)]
    answers = {name: answer for name, answer in said.items() if answer or (name in emptied and name not in required)}
    asked_again = [name for name in emptied if name in required]
    known = {name: answer for name, answer in {**response.answers, **answers}.items() if name not in asked_again}
    return Taken(answers, problems, Standing.OPEN, (*asked_again, *_left_behind(questionnaire, known)))


def _listed(page: Page, form: Sent) -> list[str]:
    """The questions that stood on a page when it was sent; where the form does not tell, those that are shown now.

    Another one is left as it is, and not taken for empty: the page may be an old one, from before it was asked.
    """
    if "shown" in form:
        return " ".join(form["shown"]).split()
    return [one.id for one in page.questions]


def _led_by(questionnaire: Questionnaire, answers: Answers) -> dict[str, Answer]:
    """The answers to what is shown."""
    shown = [one.id for page in shown_pages(questionnaire, answers) for one in page.questions]
    return {name: answers[name] for name in shown if name in answers}


def _left_behind(questionnaire: Questionnaire, answers: Answers) -> tuple[str, ...]:
    """What was answered on a way that somebody left: it stays in the journal alone."""
    led_by = _led_by(questionnaire, answers)
    return tuple(one.id for one in questionnaire.questions() if one.id in answers and one.id not in led_by)


def _is_sent(question: Question, form: Sent) -> bool:
    name = f"q.{question.id}"
    return any(field == name or field.startswith(f"{name}.") for field in form)


def _standing(
    questionnaire: Questionnaire, response: Response, page: Page, answers: Answers, *, announced: bool
) -> Standing:
    """What becomes of a response; it ends with the last page of its way, and only where that page was said to be it."""
    for question in page.questions:
        chosen = answers.get(question.id, {}).get("choices", ())
        if question.kind is Kind.CONSENT and DECLINE in chosen:
            return Standing.DECLINED
        if any(one.ends and one.code in chosen for one in question.options):
            return Standing.SCREENED_OUT
    after = replace(response, answers={**response.answers, **answers}, sent=(*response.sent, page.id))
    if next_page(questionnaire, after) is not None or not announced:
        return Standing.OPEN
    return Standing.FINISHED if shown_pages(questionnaire, after.answers)[-1].id == page.id else Standing.OPEN


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
        words = in_words(question, answers.get(question.id, {})) or "…"
        return words if len(words) <= _LONGEST_PIPED else f"{words[: _LONGEST_PIPED - 1]}…"

    return _PIPE.sub(filled, text)


def pipes(text: str) -> Iterator[str]:
    """The questions that a text asks to be filled from."""
    return (match[1] for match in _PIPE.finditer(text))


def missing(questionnaire: Questionnaire, response: Response, question: Question) -> Missing | None:
    """Why a response has no answer to a question; None where it has one.

    Not shown is what no answer can bring any more; what hangs on a question that was not reached was not either.
    """
    if response.answers.get(question.id):
        return None
    if not can_be_shown(questionnaire, response, question):
        return Missing.NOT_SHOWN
    if question.id in response.answers:
        return Missing.SKIPPED
    page = questionnaire.page_of(question.id)
    if response.standing is Standing.OPEN or page is None or page.id not in response.sent:
        return Missing.NOT_REACHED
    return Missing.SKIPPED
