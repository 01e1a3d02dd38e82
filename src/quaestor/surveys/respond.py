"""Answering a survey: start, continue, submit a page, withdraw."""

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
    fill_in_answers,
    find_page,
    in_order,
    next_page,
    order_pages,
    page_before,
    progress,
    shown_pages,
    validate_page,
)
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.base import Form
from quaestor.surveys.model.question_kinds.link_value import LinkValue
from quaestor.surveys.model.question_kinds.variant import Variant
from quaestor.surveys.model.records import Answer, Page, Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.model.wording.catalogue import TooLate
from quaestor.surveys.open_answers import erase_everywhere
from quaestor.surveys.store.page_submission import PageSubmission
from quaestor.surveys.store.responses import new_code


class AccessStatus(StrEnum):
    """Whether a survey can be answered at its public address, and why not."""

    OPEN = "open"
    INVITED = "by invitation"
    NOT_YET = "not yet open"
    CLOSED = "closed"
    OVER = "over"
    """Its last day has passed."""
    ENOUGH = "enough"
    """The maximum number of responses is reached; respondents who have started can finish."""


@dataclass(frozen=True)
class SurveyAccess:
    """A survey at its public address; without its questionnaire if it is not open yet."""

    survey: str
    status: AccessStatus
    questionnaire: Questionnaire | None

    @property
    def accepts_pages(self) -> bool:
        """Tells whether respondents who have started can submit pages."""
        return self.status in (AccessStatus.OPEN, AccessStatus.INVITED, AccessStatus.ENOUGH)


def access_status(surveys: Surveys | None, study: Study, name: str, language: str = "") -> SurveyAccess:
    """Returns the access status of a survey, in one of its languages, else in its first."""
    if surveys is None or surveys.answers.version(name) is None:
        if name not in survey_files(study):
            raise InputError(f"the survey {name!r} does not exist")
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
"""A key among the answers that marks a response which filled in the hidden field (honeypot)."""
TRAP_FIELD = "website"
_LONGEST_TRAP = 200


@dataclass(frozen=True)
class SurveyPage:
    """One page for one respondent: in their order of options, with earlier answers filled into its texts."""

    questionnaire: Questionnaire
    response: Response
    page: Page
    questions: tuple[Question, ...]
    title: str
    text: str
    done: int
    total: int
    before: str
    """The previous page; empty on the first."""
    complete: bool = False
    """Whether every page was submitted and this last one must be submitted again to finish."""
    problems: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, Answer] = field(default_factory=dict)
    """Rejected input, to be shown again."""

    form: Form = field(default_factory=dict)
    """Contents of its fields: rejected input, else earlier answers."""
    link_values: tuple[tuple[str, str], ...] = ()
    """On the page that asks for consent: text and value of what came with the link."""

    def answer(self, question: str) -> Answer:
        return self.typed.get(question) or self.response.answers.get(question) or {}


Outcome = PageSubmission | SurveyPage
"""Result of submitting a page: pending until recorded, or the page again with its problems."""


def begin_response(
    surveys: Surveys,
    name: str,
    language: str = "",
    stratum: str = "",
    code: str = "",
    synthetic: bool = False,
    hidden_answers: Mapping[str, Answer] | None = None,
) -> tuple[str, Response]:
    """Starts a response; the code is for the respondent only and is not stored.

    `hidden_answers` answers hidden questions; variants that it does not contain are assigned at random.
    """
    if not surveys.is_open(name):
        raise StateError(f"the survey {name!r} is not open")
    version = surveys.fielding(name).version
    questionnaire = surveys.questionnaire(name, version)
    if language and language not in questionnaire.languages:
        raise InputError(f"the survey {name!r} is not available in the language {language!r}")
    code = code or new_code()
    hidden = [question.id for question in questionnaire.questions() if kind_of(question).is_hidden]
    hidden_answers = {question: answer for question, answer in (hidden_answers or {}).items() if question in hidden}
    more = {"language": language or questionnaire.language, "stratum": stratum, "synthetic": synthetic}
    variants = {
        question.id: [option.code for option in question.options]
        for question in questionnaire.questions()
        if question.kind == Variant.name and question.id not in hidden_answers
    }
    return code, surveys.answers.begin(
        name, version or 1, code, surveys.today(), variants, answers=hidden_answers, **more
    )


def read_link_values(questionnaire: Questionnaire, parameters: Mapping[str, str]) -> dict[str, Answer]:
    """Returns the values in a link that the questionnaire declares; one that it does not allow is ignored."""
    values = {}
    for question in questionnaire.questions():
        if question.kind == LinkValue.name and parameters.get(question.id):
            try:
                values[question.id] = kind_of(question).check(question, {"text": parameters[question.id]})
            except InputError:  # anybody can change a link: the respondent takes part without the value
                continue
    return {name: value for name, value in values.items() if value}


def describe_link_values(questionnaire: Questionnaire, answers: Mapping[str, Answer]) -> tuple[tuple[str, str], ...]:
    """Returns the text of each declared value, and the value, if there is one."""
    questions = (question for question in questionnaire.questions() if question.kind == LinkValue.name)
    return tuple((question.text, answers[question.id]["text"]) for question in questions if answers.get(question.id))


def read_questionnaire_for(surveys: Surveys, response: Response) -> Questionnaire:
    """Returns the questionnaire in the respondent's version, language and order of pages."""
    return order_pages(surveys.questionnaire(response.survey, response.version, response.language), response.seed)


def show_page(surveys: Surveys, code: str, page: str = "", response: Response | None = None) -> SurveyPage | Response:
    """Returns the requested page, else the next one; the response itself if nothing is left to answer.

    Pass `response` if the one behind the code has been read already.
    """
    response = response or require_response(surveys, code)
    questionnaire = read_questionnaire_for(surveys, response)
    if response.standing is not ResponseStatus.OPEN:
        return response
    current_page = find_page(questionnaire, response, page) if page else None
    # If every page was submitted but none as the last one, the last one is submitted again to finish.
    current_page = (
        current_page or next_page(questionnaire, response) or shown_pages(questionnaire, response.answers)[-1]
    )
    return _fill_in_earlier_input(surveys, build_page(questionnaire, response, current_page))


def submit_page(
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
    """Reads a submitted page: returns the page again with its problems, or the submission, queued for recording.

    Going back keeps the input and requires nothing; input that cannot be stored is shown again.
    """
    response = response or require_response(surveys, code)
    questionnaire = read_questionnaire_for(surveys, response)
    current_page = find_page(questionnaire, response, page)
    if current_page is None and response.standing is ResponseStatus.OPEN:
        raise TooLate("not-this-page")
    if current_page is None:  # submitted again after the end: the journal tells whether it is the same
        return _queue_submission(surveys, PageSubmission(code, page, {}, key, response.standing))
    if not access_status(surveys, surveys.study, response.survey).accepts_pages:
        raise StateError("the survey has been closed: your earlier pages are saved")
    read = validate_page(questionnaire, response, current_page, form, going_back=going_back)
    if read.problems:
        return build_page(questionnaire, response, current_page, read, form)
    answers = {**read.answers, **_trapped(form)}
    sending = PageSubmission(code, page, answers, key, read.standing, seconds, read.left, response)
    sending.quotas, sending.today, sending.draft = questionnaire.quotas, surveys.today(), going_back
    return _queue_submission(surveys, sending)


def show_again(surveys: Surveys, code: str, page: str, form: Form) -> SurveyPage | None:
    """Returns a page with its input if it could not be stored; None if the page cannot be answered."""
    survey_page = show_page(surveys, code, page)
    return (
        replace(survey_page, form=form) if isinstance(survey_page, SurveyPage) and survey_page.page.id == page else None
    )


def page_after(surveys: Surveys, response: Response, page: str) -> str:
    """Returns the page after a submitted one, if it was submitted before too; else empty, for the next one."""
    questionnaire = read_questionnaire_for(surveys, response)
    pages = [page.id for page in shown_pages(questionnaire, response.answers)]
    if page not in pages:
        return ""
    following = next_page(questionnaire, response)
    place = pages.index(page) + 1
    end = len(pages) if following is None else pages.index(following.id)
    return pages[place] if place < end else ""


def find_previous_page(surveys: Surveys, response: Response, page: str) -> str:
    """Returns the previous page; empty if there is none."""
    before = page_before(read_questionnaire_for(surveys, response), response, page)
    return before.id if before else ""


def withdraw(surveys: Surveys, code: str) -> bool:
    """Erases a respondent's own answers permanently, also from items; returns whether there were any."""
    response = surveys.answers.find(code)
    return response is not None and erase_everywhere(surveys, response, "respondent")


def _trapped(form: Form) -> dict[str, Answer]:
    words = (form.get(TRAP_FIELD) or ("",))[0].strip()
    return {TRAP: {"text": words[:_LONGEST_TRAP]}} if words else {}


def _queue_submission(surveys: Surveys, sending: PageSubmission) -> PageSubmission:
    surveys.answers.submissions.add(sending)
    return sending


def require_response(surveys: Surveys, code: str) -> Response:
    """Returns the response of a code."""
    response = surveys.answers.find(code)
    if response is None:
        raise InputError("this link has no response: it was withdrawn, or the link is incomplete")
    return response


def build_page(
    questionnaire: Questionnaire,
    response: Response,
    page: Page,
    read: ValidatedPage | None = None,
    form: Form | None = None,
) -> SurveyPage:
    """Builds a page from the answers so far; `read` and `form` are set if it was submitted and is shown again."""
    done, total = progress(questionnaire, response, page.id)
    before = page_before(questionnaire, response, page.id)
    asks_consent = any(kind_of(question).asks_consent for question in page.questions)
    return SurveyPage(
        questionnaire=questionnaire,
        response=response,
        page=page,
        questions=tuple(_question(questionnaire, response, question) for question in page.questions),
        title=fill_in_answers(page.title, questionnaire, response.answers),
        text=fill_in_answers(page.text, questionnaire, response.answers),
        done=done,
        total=total,
        before=before.id if before else "",
        complete=done + 1 == total and next_page(questionnaire, response) is None,
        problems=read.problems if read else {},
        typed=read.answers if read else {},
        form=_fields(page, response) if form is None else form,
        link_values=describe_link_values(questionnaire, response.answers) if asks_consent else (),
    )


def _fill_in_earlier_input(surveys: Surveys, survey_page: SurveyPage) -> SurveyPage:
    """Fills in earlier input of questions that are shown again, so that returning to a path needs no retyping.
    The input is only in the fields and becomes an answer when it is submitted."""
    again = [question for question in survey_page.page.questions if question.id not in survey_page.response.answers]
    if not again or survey_page.page.id not in survey_page.response.sent:
        return survey_page
    once: dict[str, Answer] = {}
    for _, page, answers in surveys.answers.journal(survey_page.response.id):
        once.update(answers if page == survey_page.page.id else {})
    fields = dict(survey_page.form)
    for question in again:
        fields.update(kind_of(question).write_form(question, once.get(question.id, {})))
    return replace(survey_page, form=fields)


def _question(questionnaire: Questionnaire, response: Response, question: Question) -> Question:
    text, hint = (fill_in_answers(words, questionnaire, response.answers) for words in (question.text, question.hint))
    return replace(in_order(question, response.seed), text=text, hint=hint)


def _fields(page: Page, response: Response) -> Form:
    fields: dict[str, list[str]] = {}
    for question in page.questions:
        fields.update(kind_of(question).write_form(question, response.answers.get(question.id, {})))
    return fields


_SHORTEST_KEY = 32
"""Minimum characters of a key that cannot be guessed, as made by the pages; shorter ones are ignored."""


def code_of_link(token: str) -> str:
    """Derives the respondent's code from an invitation to a survey that is not anonymous."""
    return _derive_code(token, "quaestor respondent")


def code_of_page(token: str, key: str) -> str:
    """Derives the code for starting an anonymous survey from a page; empty without the page's key.

    The token alone is not enough: only the page knows the key.
    """
    return _derive_code(token, f"quaestor page {key}") if len(key) >= _SHORTEST_KEY else ""


def code_at_entrance(surveys: Surveys, name: str, key: str) -> str:
    """Derives the code for starting a public survey from a page; empty if the page was used already.

    A page from which answers were sent starts a new response: the next person may use the same computer.
    """
    code = _derive_code(key, f"quaestor entrance {name}") if len(key) >= _SHORTEST_KEY else ""
    begun = surveys.answers.find(code) if code else None
    return "" if begun is not None and begun.sent else code


def _derive_code(secret: str, words: str) -> str:
    digest = hmac.digest(secret.encode("utf-8", "surrogatepass"), words.encode("utf-8", "surrogatepass"), "sha256")
    return base64.urlsafe_b64encode(digest[:18]).decode()


LONGEST_STAY = 3600.0
"""Maximum seconds counted per page: a respondent who returns the next day was not working all night."""
_LONGEST_MARK = 120


def sign_time_stamp(response: Response, page: str, moment: float) -> str:
    """Returns a page's time stamp: when it was shown, and the time spent by then, signed with the response's id.

    The id of a response is random, and respondents never see it.
    """
    stamp = f"{moment:.0f}.{response.seconds * 1000:.0f}"
    return f"{stamp}.{_signed(response, page, stamp)}"


def is_mark(response: Response, page: str, mark: str) -> bool:
    """Tells whether a time stamp was made here, for this response and this page."""
    stamp, _, signature = mark.rpartition(".")
    if len(mark) > _LONGEST_MARK or not mark.isascii():
        return False
    return hmac.compare_digest(signature, _signed(response, page, stamp))


def time_spent(response: Response, page: str, mark: str, moment: float) -> float:
    """Returns the seconds to add when a page is submitted; 0 for a forged time stamp.

    Time in two windows, or of a page submitted twice, counts once.
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
