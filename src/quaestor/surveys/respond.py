"""Answering a survey: begin, go on, send a page, withdraw; what a respondent's page does, it does through this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from quaestor.base.errors import InputError, StateError
from quaestor.instruments.answers import Sent, form_of
from quaestor.instruments.flow import (
    Taken,
    in_order,
    next_page,
    page_at,
    page_before,
    piped,
    progress,
    shown_pages,
    taken,
)
from quaestor.instruments.records import Answer, Page, Question, Questionnaire, Response, Standing
from quaestor.instruments.response_rows import new_code
from quaestor.instruments.sending import Sending
from quaestor.instruments.words.refusals import TooLate
from quaestor.study.surveys.entrance import door
from quaestor.study.surveys.erasing import erase_everywhere
from quaestor.study.surveys.fielding import Surveys

TRAP = "_trap"
"""Stands among the answers of whoever filled in the field that people do not see."""
TRAP_FIELD = "website"
_LONGEST_TRAP = 200


@dataclass(frozen=True)
class SurveyPage:
    """One page as one respondent meets it: in their order, with earlier answers put into its texts."""

    questionnaire: Questionnaire
    response: Response
    page: Page
    questions: tuple[Question, ...]
    title: str
    text: str
    done: int
    total: int
    before: str
    """The page before it; empty on the first."""
    complete: bool = False
    """Every page was sent, and this is the last one: it is sent again to finish."""
    problems: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, Answer] = field(default_factory=dict)
    """What was sent and not taken, to be shown again."""

    form: Sent = field(default_factory=dict)
    """What stands in its fields: what was typed and not taken, else what was answered before."""

    def answer(self, question: str) -> Answer:
        return self.typed.get(question) or self.response.answers.get(question) or {}


Outcome = Sending | SurveyPage
"""What comes of a page that was sent: it waits to be recorded, or is shown again with what is wrong."""


def begin(
    surveys: Surveys, name: str, language: str = "", stratum: str = "", code: str = "", synthetic: bool = False
) -> tuple[str, Response]:
    """Begin to answer; the code is for the respondent alone, and is kept nowhere."""
    if not surveys.is_open(name):
        raise StateError(f"the survey {name!r} is not open")
    version = surveys.fielding(name).version
    asked = surveys.questionnaire(name, version)
    if language and language not in asked.languages:
        raise InputError(f"the survey {name!r} is not in the language {language!r}")
    code = code or new_code()
    more = {"language": language or asked.language, "stratum": stratum, "synthetic": synthetic}
    return code, surveys.answers.begin(name, version or 1, code, surveys.today(), **more)


def questionnaire_of(surveys: Surveys, response: Response) -> Questionnaire:
    """The questionnaire as the respondent got it."""
    return surveys.questionnaire(response.survey, response.version, response.language)


def shown(surveys: Surveys, code: str, page: str = "", response: Response | None = None) -> SurveyPage | Response:
    """The page asked for, else the next one; the response itself where nothing is left to answer.

    `response` is the one behind the code, for who has read it already.
    """
    response = response or found_response(surveys, code)
    asked = questionnaire_of(surveys, response)
    if response.standing is not Standing.OPEN:
        return response
    found = page_at(asked, response, page) if page else None
    # Where every page was sent and none as the last one, the last one is sent again to finish.
    found = found or next_page(asked, response) or shown_pages(asked, response.answers)[-1]
    return _remembered(surveys, page_met(asked, response, found))


def sent(
    surveys: Surveys,
    code: str,
    page: str,
    form: Sent,
    key: str,
    seconds: float = 0.0,
    *,
    going_back: bool = False,
    response: Response | None = None,
) -> Outcome:
    """Read a page that was sent: the page again with what is wrong, or what is to be recorded, put in the line.

    Whoever goes back keeps what they typed, and is asked for nothing; what cannot be kept, they see again.
    """
    response = response or found_response(surveys, code)
    asked = questionnaire_of(surveys, response)
    found = page_at(asked, response, page)
    if found is None and response.standing is Standing.OPEN:
        raise TooLate("not-this-page")
    if found is None:  # sent again after the end: the journal knows whether it is the same
        return _lined(surveys, Sending(code, page, {}, key, response.standing))
    if not door(surveys, surveys.study, response.survey).goes_on:
        raise StateError("the survey has been closed: what you sent before is kept")
    read = taken(asked, response, found, form, going_back=going_back)
    if read.problems:
        return page_met(asked, response, found, read, form)
    answers = {**read.answers, **_trapped(form)}
    sending = Sending(code, page, answers, key, read.standing, seconds, read.left, response)
    sending.quotas, sending.today, sending.draft = asked.quotas, surveys.today(), going_back
    return _lined(surveys, sending)


def again(surveys: Surveys, code: str, page: str, form: Sent) -> SurveyPage | None:
    """A page with what was typed on it, where it could not be kept; None where it is not there to be answered."""
    found = shown(surveys, code, page)
    return replace(found, form=form) if isinstance(found, SurveyPage) and found.page.id == page else None


def page_after(surveys: Surveys, response: Response, page: str) -> str:
    """The page that comes after one that was sent, where it was sent before too; empty where the next one comes."""
    asked = questionnaire_of(surveys, response)
    pages = [one.id for one in shown_pages(asked, response.answers)]
    if page not in pages:
        return ""
    following = next_page(asked, response)
    place = pages.index(page) + 1
    end = len(pages) if following is None else pages.index(following.id)
    return pages[place] if place < end else ""


def page_back(surveys: Surveys, response: Response, page: str) -> str:
    """The page before one; empty where there is none."""
    before = page_before(questionnaire_of(surveys, response), response, page)
    return before.id if before else ""


def withdraw(surveys: Surveys, code: str) -> bool:
    """Erase one's own answers for good, also where they became items; whether there were any."""
    response = surveys.answers.find(code)
    return response is not None and erase_everywhere(surveys, response, "respondent")


def _trapped(form: Sent) -> dict[str, Answer]:
    words = (form.get(TRAP_FIELD) or ("",))[0].strip()
    return {TRAP: {"text": words[:_LONGEST_TRAP]}} if words else {}


def _lined(surveys: Surveys, sending: Sending) -> Sending:
    surveys.answers.ask_for(sending)
    return sending


def found_response(surveys: Surveys, code: str) -> Response:
    """The response of whoever holds a code."""
    response = surveys.answers.find(code)
    if response is None:
        raise InputError("there is no response behind this link: it was withdrawn, or the link is not whole")
    return response


def page_met(
    asked: Questionnaire, response: Response, page: Page, read: Taken | None = None, form: Sent | None = None
) -> SurveyPage:
    """A page as it is met with what was answered so far; `read` and `form` where it was sent and comes again."""
    done, total = progress(asked, response, page.id)
    before = page_before(asked, response, page.id)
    return SurveyPage(
        questionnaire=asked,
        response=response,
        page=page,
        questions=tuple(_question(asked, response, one) for one in page.questions),
        title=piped(page.title, asked, response.answers),
        text=piped(page.text, asked, response.answers),
        done=done,
        total=total,
        before=before.id if before else "",
        complete=done + 1 == total and next_page(asked, response) is None,
        problems=read.problems if read else {},
        typed=read.answers if read else {},
        form=_fields(page, response) if form is None else form,
    )


def _remembered(surveys: Surveys, met: SurveyPage) -> SurveyPage:
    """A page with what was once sent for a question that comes again: whoever left a way and returns types nothing
    twice. It stands in the fields alone, and is an answer when it is sent."""
    again = [one for one in met.page.questions if one.id not in met.response.answers]
    if not again or met.page.id not in met.response.sent:
        return met
    once: dict[str, Answer] = {}
    for _, page, said in surveys.answers.journal(met.response.id):
        once.update(said if page == met.page.id else {})
    fields = dict(met.form)
    for question in again:
        fields.update(form_of(question, once.get(question.id, {})))
    return replace(met, form=fields)


def _question(asked: Questionnaire, response: Response, question: Question) -> Question:
    text, hint = (piped(words, asked, response.answers) for words in (question.text, question.hint))
    return replace(in_order(question, response.seed), text=text, hint=hint)


def _fields(page: Page, response: Response) -> Sent:
    fields: dict[str, list[str]] = {}
    for question in page.questions:
        fields.update(form_of(question, response.answers.get(question.id, {})))
    return fields
