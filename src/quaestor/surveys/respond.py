"""Answering a survey: begin, go on, send a page, withdraw."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from quaestor.base.errors import InputError, StateError
from quaestor.study.folder import Study
from quaestor.surveys.lifecycle import CLOSED, DRAFT, Surveys, survey_files
from quaestor.surveys.model.flow import (
    ValidatedPage,
    in_order,
    next_page,
    page_at,
    page_before,
    piped,
    progress,
    shown_pages,
    validate_page,
)
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.base import Form
from quaestor.surveys.model.records import Answer, Page, Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.model.wording.refusals import TooLate
from quaestor.surveys.open_answers import erase_everywhere
from quaestor.surveys.store.page_submission import PageSubmission
from quaestor.surveys.store.responses import new_code


class AccessStatus(StrEnum):
    """Whether a survey can be answered at its address, and why not."""

    OPEN = "open"
    INVITED = "by invitation"
    NOT_YET = "not yet open"
    CLOSED = "closed"
    OVER = "over"
    """Its last day has passed."""
    ENOUGH = "enough"
    """The most responses are finished; respondents who have begun can finish."""


@dataclass(frozen=True)
class SurveyAccess:
    """A survey at its public address; without its questionnaire where it is not open yet."""

    survey: str
    status: AccessStatus
    questionnaire: Questionnaire | None

    @property
    def goes_on(self) -> bool:
        """Whether somebody who has begun can send pages."""
        return self.status in (AccessStatus.OPEN, AccessStatus.INVITED, AccessStatus.ENOUGH)


def access_status(surveys: Surveys | None, study: Study, name: str, language: str = "") -> SurveyAccess:
    """Returns a survey as it is at its public address, in a language that it has, else in its first."""
    if surveys is None or surveys.answers.version(name) is None:
        if name not in survey_files(study):
            raise InputError(f"there is no survey {name!r}")
        return SurveyAccess(name, AccessStatus.NOT_YET, None)
    fielding = surveys.fielding(name)
    if fielding.status == DRAFT:
        return SurveyAccess(name, AccessStatus.NOT_YET, None)
    questionnaire = surveys.questionnaire(name, fielding.version)
    if language in questionnaire.languages:
        questionnaire = surveys.questionnaire(name, fielding.version, language)
    return SurveyAccess(name, _status(surveys, questionnaire, fielding.status), questionnaire)


def _status(surveys: Surveys, questionnaire: Questionnaire, status: str) -> AccessStatus:
    if status == CLOSED:
        return AccessStatus.CLOSED
    if questionnaire.closes and surveys.today() > questionnaire.closes:
        return AccessStatus.OVER
    if (
        questionnaire.most is not None
        and surveys.answers.counts(questionnaire.id)[ResponseStatus.FINISHED] >= questionnaire.most
    ):
        return AccessStatus.ENOUGH
    return AccessStatus.INVITED if questionnaire.by_invitation else AccessStatus.OPEN


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

    form: Form = field(default_factory=dict)
    """What stands in its fields: what was typed and not taken, else what was answered before."""

    def answer(self, question: str) -> Answer:
        return self.typed.get(question) or self.response.answers.get(question) or {}


Outcome = PageSubmission | SurveyPage
"""What comes of a page that was sent: it waits to be recorded, or is shown again with what is wrong."""


def begin(
    surveys: Surveys, name: str, language: str = "", stratum: str = "", code: str = "", synthetic: bool = False
) -> tuple[str, Response]:
    """Begin to answer; the code is for the respondent alone, and is kept nowhere."""
    if not surveys.is_open(name):
        raise StateError(f"the survey {name!r} is not open")
    version = surveys.fielding(name).version
    questionnaire = surveys.questionnaire(name, version)
    if language and language not in questionnaire.languages:
        raise InputError(f"the survey {name!r} is not in the language {language!r}")
    code = code or new_code()
    more = {"language": language or questionnaire.language, "stratum": stratum, "synthetic": synthetic}
    return code, surveys.answers.begin(name, version or 1, code, surveys.today(), **more)


def questionnaire_of(surveys: Surveys, response: Response) -> Questionnaire:
    """The questionnaire as the respondent got it."""
    return surveys.questionnaire(response.survey, response.version, response.language)


def shown(surveys: Surveys, code: str, page: str = "", response: Response | None = None) -> SurveyPage | Response:
    """The page asked for, else the next one; the response itself where nothing is left to answer.

    `response` is the one behind the code, for who has read it already.
    """
    response = response or found_response(surveys, code)
    questionnaire = questionnaire_of(surveys, response)
    if response.standing is not ResponseStatus.OPEN:
        return response
    current_page = page_at(questionnaire, response, page) if page else None
    # Where every page was sent and none as the last one, the last one is sent again to finish.
    current_page = (
        current_page or next_page(questionnaire, response) or shown_pages(questionnaire, response.answers)[-1]
    )
    return _remembered(surveys, page_met(questionnaire, response, current_page))


def sent(
    surveys: Surveys,
    code: str,
    page: str,
    form: Form,
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
    questionnaire = questionnaire_of(surveys, response)
    current_page = page_at(questionnaire, response, page)
    if current_page is None and response.standing is ResponseStatus.OPEN:
        raise TooLate("not-this-page")
    if current_page is None:  # sent again after the end: the journal knows whether it is the same
        return _lined(surveys, PageSubmission(code, page, {}, key, response.standing))
    if not access_status(surveys, surveys.study, response.survey).goes_on:
        raise StateError("the survey has been closed: what you sent before is kept")
    read = validate_page(questionnaire, response, current_page, form, going_back=going_back)
    if read.problems:
        return page_met(questionnaire, response, current_page, read, form)
    answers = {**read.answers, **_trapped(form)}
    sending = PageSubmission(code, page, answers, key, read.standing, seconds, read.left, response)
    sending.quotas, sending.today, sending.draft = questionnaire.quotas, surveys.today(), going_back
    return _lined(surveys, sending)


def again(surveys: Surveys, code: str, page: str, form: Form) -> SurveyPage | None:
    """A page with what was typed on it, where it could not be kept; None where it is not there to be answered."""
    survey_page = shown(surveys, code, page)
    return (
        replace(survey_page, form=form) if isinstance(survey_page, SurveyPage) and survey_page.page.id == page else None
    )


def page_after(surveys: Surveys, response: Response, page: str) -> str:
    """The page that comes after one that was sent, where it was sent before too; empty where the next one comes."""
    questionnaire = questionnaire_of(surveys, response)
    pages = [page.id for page in shown_pages(questionnaire, response.answers)]
    if page not in pages:
        return ""
    following = next_page(questionnaire, response)
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


def _trapped(form: Form) -> dict[str, Answer]:
    words = (form.get(TRAP_FIELD) or ("",))[0].strip()
    return {TRAP: {"text": words[:_LONGEST_TRAP]}} if words else {}


def _lined(surveys: Surveys, sending: PageSubmission) -> PageSubmission:
    surveys.answers.submissions.add(sending)
    return sending


def found_response(surveys: Surveys, code: str) -> Response:
    """The response of whoever holds a code."""
    response = surveys.answers.find(code)
    if response is None:
        raise InputError("there is no response behind this link: it was withdrawn, or the link is not whole")
    return response


def page_met(
    questionnaire: Questionnaire,
    response: Response,
    page: Page,
    read: ValidatedPage | None = None,
    form: Form | None = None,
) -> SurveyPage:
    """A page as it is met with what was answered so far; `read` and `form` where it was sent and comes again."""
    done, total = progress(questionnaire, response, page.id)
    before = page_before(questionnaire, response, page.id)
    return SurveyPage(
        questionnaire=questionnaire,
        response=response,
        page=page,
        questions=tuple(_question(questionnaire, response, question) for question in page.questions),
        title=piped(page.title, questionnaire, response.answers),
        text=piped(page.text, questionnaire, response.answers),
        done=done,
        total=total,
        before=before.id if before else "",
        complete=done + 1 == total and next_page(questionnaire, response) is None,
        problems=read.problems if read else {},
        typed=read.answers if read else {},
        form=_fields(page, response) if form is None else form,
    )


def _remembered(surveys: Surveys, met: SurveyPage) -> SurveyPage:
    """A page with what was once sent for a question that comes again: whoever left a way and returns types nothing
    twice. It stands in the fields alone, and is an answer when it is sent."""
    again = [question for question in met.page.questions if question.id not in met.response.answers]
    if not again or met.page.id not in met.response.sent:
        return met
    once: dict[str, Answer] = {}
    for _, page, answers in surveys.answers.journal(met.response.id):
        once.update(answers if page == met.page.id else {})
    fields = dict(met.form)
    for question in again:
        fields.update(kind_of(question).write_form(question, once.get(question.id, {})))
    return replace(met, form=fields)


def _question(questionnaire: Questionnaire, response: Response, question: Question) -> Question:
    text, hint = (piped(words, questionnaire, response.answers) for words in (question.text, question.hint))
    return replace(in_order(question, response.seed), text=text, hint=hint)


def _fields(page: Page, response: Response) -> Form:
    fields: dict[str, list[str]] = {}
    for question in page.questions:
        fields.update(kind_of(question).write_form(question, response.answers.get(question.id, {})))
    return fields


_SHORTEST_KEY = 32
"""Characters of a key that nobody guesses, as the pages make them; a shorter one stands for nothing."""


def code_of_link(token: str) -> str:
    """The code of whoever holds an invitation of a survey that is not anonymous."""
    return _made(token, "quaestor respondent")


def code_of_page(token: str, key: str) -> str:
    """The code of whoever begins an anonymous survey from a page that was made for them; empty without its key.

    Whoever holds the token alone cannot find it: the key is known to the page and nobody else.
    """
    return _made(token, f"quaestor page {key}") if len(key) >= _SHORTEST_KEY else ""


def code_at_entrance(surveys: Surveys, name: str, key: str) -> str:
    """The same for a survey that everybody can answer; empty where the page was used and somebody else sits there now.

    A page from which answers were sent begins anew: behind it may be the next person at the same computer.
    """
    code = _made(key, f"quaestor entrance {name}") if len(key) >= _SHORTEST_KEY else ""
    begun = surveys.answers.find(code) if code else None
    return "" if begun is not None and begun.sent else code


def _made(secret: str, words: str) -> str:
    digest = hmac.digest(secret.encode("utf-8", "surrogatepass"), words.encode("utf-8", "surrogatepass"), "sha256")
    return base64.urlsafe_b64encode(digest[:18]).decode()


LONGEST_STAY = 3600.0
"""Seconds a page counts for at most: who comes back the next day has not thought all night."""
_LONGEST_MARK = 120


def shown_mark(response: Response, page: str, moment: float) -> str:
    """What a page carries: when it was shown, and what had been spent by then, signed with what nobody is told.

    The id of a response is random, and no respondent ever sees it.
    """
    stamp = f"{moment:.0f}.{response.seconds * 1000:.0f}"
    return f"{stamp}.{_signed(response, page, stamp)}"


def is_mark(response: Response, page: str, mark: str) -> bool:
    """Whether a mark was made here, for this response and this page."""
    stamp, _, signature = mark.rpartition(".")
    if len(mark) > _LONGEST_MARK or not mark.isascii():
        return False
    return hmac.compare_digest(signature, _signed(response, page, stamp))


def time_spent(response: Response, page: str, mark: str, moment: float) -> float:
    """Seconds to be added when a page is sent; none where the mark is not ours.

    What two windows counted at the same time, or a page that is sent twice, counts once.
    """
    if not is_mark(response, page, mark):
        return 0.0
    shown, spent, _ = mark.split(".")
    stayed = min(max(moment - int(shown), 0.0), LONGEST_STAY)
    return max(int(spent) / 1000 + stayed - response.seconds, 0.0)


def _signed(response: Response, page: str, stamp: str) -> str:
    return hmac.digest(response.id.encode(), f"shown {page} {stamp}".encode("utf-8", "surrogatepass"), "sha256").hex()[
        :32
    ]
