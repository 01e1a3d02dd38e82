"""Preview of a questionnaire file: every page as a respondent would see it; nothing is stored.

The state of a preview is a form: everything typed on all pages, and which pages were submitted. Each step replays it
from the first page, so a page depends on the form alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError
from quaestor.study.folder import Study
from quaestor.surveys.model.flow import is_shown, next_page, order_pages, page_before, validate_page
from quaestor.surveys.model.in_words import condition_in_words
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.base import Form
from quaestor.surveys.model.records import Answer, Page, Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.pages.overview import questionnaire_now
from quaestor.surveys.respond import SurveyPage, build_page

NEXT, BACK = "next", "back"
_SEED = 1


@dataclass(frozen=True)
class HiddenQuestion:
    """A question of a page that is not shown with these answers."""

    question: Question
    shown_if: str


@dataclass(frozen=True)
class PreviewPage:
    """The page that a preview has reached."""

    questionnaire: Questionnaire
    page: SurveyPage | None
    """None at the end."""
    standing: ResponseStatus
    sent: tuple[str, ...]
    """Submitted pages in order; a page that was shown again with another question is listed twice."""
    kept: tuple[tuple[str, str], ...] = ()
    """Fields of other pages, as hidden inputs."""
    hidden: tuple[HiddenQuestion, ...] = ()
    variants: tuple[tuple[Question, str], ...] = ()
    """Questions whose answer is a variant, and the variant of this preview."""


def walk(study: Study, name: str, form: Form, language: str = "", step: str = "", at: str = "") -> PreviewPage:
    """Returns the page of a preview: from page `at` to the next or back; without a step, the first."""
    questionnaire = order_pages(questionnaire_now(study, name, language), _SEED)
    sent = [page for page in form.get("sent", ()) if any(known_page.id == page for known_page in questionnaire.pages)]
    if step == NEXT and at:
        sent.append(at)
    hidden = {
        question.id: _typed(question, form) or next(iter(kind_of(question).examples(question, ())))
        for question in questionnaire.questions()
        if kind_of(question).is_hidden
    }
    begun = Response("preview", name, 0, ResponseStatus.OPEN, hidden, questionnaire.language, _SEED)
    if step == BACK:
        sent = _sent_before(questionnaire, begun, sent, at, form)
    variants = tuple(
        (question, hidden[question.id]["choices"][0])
        for question in questionnaire.questions()
        if question.id in hidden and question.options
    )
    return replace(_reached(questionnaire, begun, sent, form), variants=variants)


def _sent_before(questionnaire: Questionnaire, begun: Response, sent: Sequence[str], at: str, form: Form) -> list[str]:
    """Returns the pages that stay submitted after going back; from the end, the last one opens again."""
    response = _replayed(questionnaire, begun, [page for page in sent if page != at], form)[0]
    if not at:
        return list(response.sent[:-1])
    before = page_before(questionnaire, response, at)
    return [page for page in response.sent if before is not None and page not in (before.id, at)]


def _reached(questionnaire: Questionnaire, begun: Response, sent: Sequence[str], form: Form) -> PreviewPage:
    response, page, problems = _replayed(questionnaire, begun, sent, form)
    if page is None:
        return PreviewPage(questionnaire, None, response.standing, response.sent, _kept(form, ()))
    whole = next(candidate for candidate in questionnaire.pages if candidate.id == page.id)
    typed = {question.id: _typed(question, form) for question in whole.questions}
    if problems:  # a problem may concern a question that only this page's input makes visible
        page = replace(
            page, questions=tuple(question for question in whole.questions if _is_asked(question, response, typed))
        )
    here = [question.id for question in page.questions]
    return PreviewPage(
        questionnaire,
        replace(build_page(questionnaire, response, page, form=form), problems=problems, typed=typed),
        response.standing,
        response.sent,
        _kept(form, here),
        tuple(
            HiddenQuestion(question, condition_in_words(question.show_if, questionnaire))
            for question in whole.questions
            if question.show_if and question.id not in here
        ),
    )


def _is_asked(question: Question, response: Response, typed: Mapping[str, Answer]) -> bool:
    return not kind_of(question).is_hidden and is_shown(question, {**response.answers, **typed})


def _replayed(
    questionnaire: Questionnaire, response: Response, sent: Sequence[str], form: Form
) -> tuple[Response, Page | None, Mapping[str, str]]:
    """Submits the pages again, in order, up to the first that was not submitted or has problems."""
    left = Counter(sent)
    while True:
        page = next_page(questionnaire, response)
        if page is None or not left[page.id]:
            return response, page, {}
        read = validate_page(questionnaire, response, page, form)
        if read.problems:
            return response, page, read.problems
        left[page.id] -= 1
        answers = {**response.answers, **read.answers}
        response = replace(response, answers=answers, sent=(*response.sent, page.id), standing=read.standing)
        if read.standing is not ResponseStatus.OPEN:
            return response, None, {}


def _typed(question: Question, form: Form) -> Answer:
    try:
        return kind_of(question).read_form(question, form)
    except InputError:
        return {}


def _kept(form: Form, here: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Returns the fields that belong to other pages."""
    return tuple(
        (field, value)
        for field, values in form.items()
        if field.startswith("q.") and field.split(".")[1] not in here
        for value in values
    )
