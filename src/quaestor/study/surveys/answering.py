"""Answering a survey: begin, go on, send a page, withdraw; what a respondent's page does, it does through this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quaestor.base.errors import InputError, StateError
from quaestor.instruments.answer_file import Sending, new_code
from quaestor.instruments.answers import Sent
from quaestor.instruments.flow import Taken, in_order, next_page, page_at, page_before, piped, progress, taken
from quaestor.instruments.records import Answer, Page, Question, Questionnaire, Response, Standing
from quaestor.study.surveys.fielding import Surveys


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
    problems: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, Answer] = field(default_factory=dict)
    """What was sent and not taken, to be shown again."""

    def answer(self, question: str) -> Answer:
        return self.typed.get(question) or self.response.answers.get(question) or {}


def begin(surveys: Surveys, name: str, language: str = "", stratum: str = "") -> tuple[str, Response]:
    """Begin to answer; the code is for the respondent alone, and is kept nowhere."""
    if not surveys.is_open(name):
        raise StateError(f"the survey {name!r} is not open")
    version = surveys.fielding(name).version
    asked = surveys.questionnaire(name, version)
    if language and language not in asked.languages:
        raise InputError(f"the survey {name!r} is not in the language {language!r}")
    code = new_code()
    more = {"language": language or asked.language, "stratum": stratum}
    return code, surveys.answers.begin(name, version or 1, code, surveys.today(), **more)


def questionnaire_of(surveys: Surveys, response: Response) -> Questionnaire:
    """The questionnaire as the respondent got it."""
    return surveys.questionnaire(response.survey, response.version, response.language)


def shown(surveys: Surveys, code: str, page: str = "") -> SurveyPage | Response:
    """The page asked for, else the next one; the response itself where nothing is left to answer."""
    response = _found(surveys, code)
    asked = questionnaire_of(surveys, response)
    if response.standing is not Standing.OPEN:
        return response
    found = page_at(asked, response, page) if page else None
    found = found or next_page(asked, response)
    return response if found is None else _page(asked, response, found)


def sent(surveys: Surveys, code: str, page: str, form: Sent, key: str, seconds: float = 0.0) -> Sending | SurveyPage:
    """Read a page that was sent: the page again with what is wrong, or what is to be recorded, put in the line."""
    response = _found(surveys, code)
    asked = questionnaire_of(surveys, response)
    found = page_at(asked, response, page)
    if found is None and response.standing is Standing.OPEN:
        raise InputError("this page is not the one to be answered now: load the link again")
    if found is None:  # sent again after the end: the journal knows whether it is the same
        return _lined(surveys, Sending(code, page, {}, key, response.standing))
    if surveys.fielding(response.survey).status != "open":
        raise StateError("the survey has been closed: what you sent before is kept")
    read = taken(asked, response, found, form)
    if read.problems:
        return _page(asked, response, found, read)
    return _lined(surveys, Sending(code, page, read.answers, key, read.standing, seconds))


def withdraw(surveys: Surveys, code: str) -> bool:
    """Erase one's own answers for good; whether there were any."""
    return surveys.answers.erase(code, surveys.today())


def _lined(surveys: Surveys, sending: Sending) -> Sending:
    surveys.answers.ask_for(sending)
    return sending


def _found(surveys: Surveys, code: str) -> Response:
    response = surveys.answers.find(code)
    if response is None:
        raise InputError("there is no response behind this link: it was withdrawn, or the link is not whole")
    return response


def _page(asked: Questionnaire, response: Response, page: Page, read: Taken | None = None) -> SurveyPage:
    done, total = progress(asked, response, page.id)
    before = page_before(asked, response, page.id)
    return SurveyPage(
        questionnaire=asked,
        response=response,
        page=page,
        questions=tuple(in_order(one, response.seed) for one in page.questions),
        title=piped(page.title, asked, response.answers),
        text=piped(page.text, asked, response.answers),
        done=done,
        total=total,
        before=before.id if before else "",
        problems=read.problems if read else {},
        typed=read.answers if read else {},
    )
