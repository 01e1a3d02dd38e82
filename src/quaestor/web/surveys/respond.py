"""Pages for answering a survey; each page of answers is saved before the next is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.clock import Clock
from quaestor.base.errors import InputError, StateError, TemporarilyUnavailable
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.records import Response as Answers
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.model.wording.catalogue import refusal_in_words
from quaestor.surveys.payment import claim_token
from quaestor.surveys.respond import (
    TRAP_FIELD,
    AccessStatus,
    Outcome,
    SurveyAccess,
    SurveyPage,
    access_status,
    begin_response,
    code_at_entrance,
    find_previous_page,
    is_mark,
    page_after,
    read_link_values,
    read_questionnaire_for,
    require_response,
    show_again,
    show_page,
    sign_time_stamp,
    submit_page,
    time_spent,
    withdraw,
)
from quaestor.web.security.forms import parse_fields, read_fields, require_key
from quaestor.web.security.rate_limit import RateLimit
from quaestor.web.study_session import StudySession
from quaestor.web.surveys.public_page import PublicPages, passed_on

MOST_BEGUN = 30
"""Responses that one address may start per minute; a class in one room gets in within a few minutes."""
_TRIES = 3


class RespondentPages(PublicPages):
    """Pages of respondents, who are identified only by the code in the address."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, clock: Clock) -> None:
        super().__init__(session, templates)
        self._clock = clock
        self._pace = RateLimit(MOST_BEGUN, timedelta(minutes=1), clock)

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [
            Route("/s/{name}", self.or_later(self.entrance), methods=both, name="answer-begin"),
            Route("/s/{name}/{code}", self.or_later(self.answer), methods=both, name="answer"),
            Route("/s/{name}/{code}/end", self.or_later(self.end), methods=["GET"], name="answer-end"),
            Route("/s/{name}/{code}/withdraw", self.or_later(self.withdraw), methods=both, name="answer-withdraw"),
        ]

    @property
    def _surveys(self) -> Surveys:
        return self.session.surveys

    # Start page

    async def entrance(self, request: Request) -> Response:
        """Shows the introduction and a button to start, or why the survey cannot be answered."""
        fields = await read_fields(request) if request.method == "POST" else request.query_params
        name, language = request.path_params["name"], fields.get("language", "")
        try:
            access = await self.work(
                lambda: access_status(self.session.surveys_if_any, self.session.latest, name, language)
            )
        except InputError:
            return self.refused(request, 404, "no-survey-title", "no-survey")
        if access.status is not AccessStatus.OPEN:
            return self._show_closed(request, access)
        if request.method == "POST":
            return await self._begin_response(request, access)
        values = self.link_values(access.questionnaire, request.query_params)
        return self.plain(request, "survey_begin.html", {"survey": access.questionnaire, **values})

    async def _begin_response(self, request: Request, access: SurveyAccess) -> Response:
        wait = self._pace.wait(request.client.host if request.client else "")
        if wait is not None:
            answer = self.refused(request, 429, "moment", "many-begun", access.questionnaire)
            answer.headers["Retry-After"] = str(int(wait.total_seconds()) + 1)
            return answer
        language = access.questionnaire.language if access.questionnaire else ""
        fields = await read_fields(request)
        key = require_key(fields.get("key", ""))
        link_values = read_link_values(access.questionnaire, passed_on(fields)) if access.questionnaire else {}

        def first() -> str:
            code = code_at_entrance(self._surveys, access.survey, key)
            return begin_response(self._surveys, access.survey, language, code=code, hidden_answers=link_values)[0]

        try:
            code = await self.work(first)
        except TemporarilyUnavailable:
            return self.refused(request, 503, "moment", "begin-later", access.questionnaire)
        return self.go(request, "answer", name=access.survey, code=code)

    # A page of questions

    async def answer(self, request: Request) -> Response:
        """Shows the next or the requested page; a POST saves it and shows the following one."""
        try:
            if request.method == "POST":
                return await self._receive_page(request)
            name, code = _place(request)
            met = await self.work(lambda: self._read_page(name, code, request.query_params.get("page", "")))
        except InputError:
            return self.refused(request, 404, "no-response-title", "no-response")
        if isinstance(met, SurveyAccess):
            return self._show_closed(request, met, code)
        if not isinstance(met, SurveyPage):
            return self.go(request, "answer-end", name=name, code=code)
        return self._page(request, met)

    def _read_page(self, name: str, code: str, page: str) -> SurveyPage | Answers | SurveyAccess:
        survey_page = show_page(self._surveys, code, page, self._find_response(name, code))
        if isinstance(survey_page, SurveyPage):
            at = access_status(self._surveys, self.session.latest, name, survey_page.response.language)
            if not at.accepts_pages:
                return at
        return survey_page

    async def _receive_page(self, request: Request) -> Response:
        name, code = _place(request)
        form = parse_fields(await request.body())
        page, key = _first_value(form, "page"), require_key(_first_value(form, "key"))
        if not key:
            raise HTTPException(400)
        moment, back = self._clock().timestamp(), _first_value(form, "go") == "back"

        def read() -> Outcome:
            response = self._find_response(name, code)
            seconds = time_spent(response, page, _first_value(form, "since"), moment)
            return submit_page(self._surveys, code, page, form, key, seconds, going_back=back, response=response)

        try:
            response = await self._record_page(read)
            if isinstance(response, SurveyPage):
                return self._page(request, response, status=422)
        except TemporarilyUnavailable:
            return await self._kept_typed(request, page, form)
        except StateError as error:
            return await self._too_late(request, error)
        if response.standing is not ResponseStatus.OPEN:
            return self.go(request, "answer-end", name=name, code=code)
        leads_to = find_previous_page if back else page_after
        following = await self.work(lambda: leads_to(self._surveys, response, page))
        return self.go(request, "answer", f"page={following}" if following else "", name=name, code=code)

    async def _record_page(self, read: Callable[[], Outcome], tries: int = _TRIES) -> SurveyPage | Answers:
        """Records a page; if another page of the response was saved meanwhile, validates it against that one."""
        outcome = await self.work(read)
        if isinstance(outcome, SurveyPage):
            return outcome
        await self._surveys.answers.submissions.wait(outcome, self.save)
        if outcome.overtaken and tries > 1:
            return await self._record_page(read, tries - 1)
        return outcome.result()

    async def _kept_typed(self, request: Request, page: str, form: Mapping[str, Sequence[str]]) -> Response:
        _, code = _place(request)
        met = await self.work(lambda: show_again(self._surveys, code, page, form))
        if met is None:
            return self.refused(request, 503, "moment", "try-later")
        return self._page(request, met, status=503, refused="send-later")

    async def _too_late(self, request: Request, error: StateError) -> Response:
        """Answers a page that came too late: the survey was closed or continued in another window."""
        name, code = _place(request)
        questionnaire = await self.work(lambda: read_questionnaire_for(self._surveys, self._find_response(name, code)))
        at = await self.work(lambda: access_status(self._surveys, self.session.latest, name, questionnaire.language))
        if not at.accepts_pages:
            return self._show_closed(request, at, code)
        why = refusal_in_words(error, questionnaire.words, "not-this-page")
        context = {"title": "not-taken", "key": "", "why": why, "back": code, "survey": questionnaire}
        return self.plain(request, "survey_refused.html", context, 409)

    def _page(self, request: Request, met: SurveyPage, status: int = 200, refused: str = "") -> Response:
        _, code = _place(request)
        # The time of a page with errors counts from when it was first shown.
        since = _first_value(met.form, "since")
        if not is_mark(met.response, met.page.id, since):
            since = sign_time_stamp(met.response, met.page.id, self._clock().timestamp())
        came_again = status == 200 and met.page.id in met.response.sent and request.query_params.get("page") is None
        context = {
            "survey": met.questionnaire,
            "met": met,
            "code": code,
            "since": since,
            "trap": TRAP_FIELD,
            "refused": refused,
            "added": [question for question in met.questions if came_again and question.id not in met.response.answers],
        }
        return self.plain(request, "survey_page.html", context, status)

    # End page

    async def end(self, request: Request) -> Response:
        """Shows thanks, or why the survey ended early, and how to come back."""
        name, code = _place(request)
        try:
            response = await self.work(lambda: self._find_response(name, code))
        except InputError:
            return self.refused(request, 404, "no-response-title", "no-response")
        if response.standing is ResponseStatus.OPEN:
            return self.go(request, "answer", name=name, code=code)
        questionnaire = await self.work(lambda: read_questionnaire_for(self._surveys, response))
        claim = ""
        if questionnaire.pay is not None and response.standing is ResponseStatus.FINISHED:
            token = await self.work(lambda: claim_token(self._surveys, code))
            claim = str(request.url_for("claim", name=name, token=token).path)
            claim += (
                f"?language={questionnaire.language}" if questionnaire.language != questionnaire.languages[0] else ""
            )
        context = {"survey": questionnaire, "standing": response.standing, "code": code, "claim": claim}
        return self.plain(request, "survey_end.html", context)

    async def withdraw(self, request: Request) -> Response:
        """Asks for confirmation, then erases the answers."""
        name, code = _place(request)
        try:
            questionnaire = await self.work(
                lambda: read_questionnaire_for(self._surveys, self._find_response(name, code))
            )
            if request.method == "POST":
                await self.work(lambda: withdraw(self._surveys, code))
                pending = await self.work(lambda: self._surveys.answers.erasure_pending)
                return self.plain(request, "survey_withdrawn.html", {"survey": questionnaire, "pending": pending})
        except InputError:
            return self.refused(request, 404, "no-response-title", "no-response")
        except TemporarilyUnavailable:
            return self.refused(request, 503, "moment", "not-erased")
        return self.plain(request, "survey_withdraw.html", {"survey": questionnaire, "code": code})

    # Shared

    def _find_response(self, name: str, code: str) -> Answers:
        """Finds the response of a link; the code is only valid with the name of its survey."""
        if self.session.surveys_if_any is None:
            raise InputError("no survey was ever opened")
        response = require_response(self._surveys, code)
        if response.survey != name:
            raise InputError("this response belongs to another survey")
        return response

    def _show_closed(self, request: Request, survey_access: SurveyAccess, code: str = "") -> Response:
        status = 409 if survey_access.status in (AccessStatus.NOT_YET, AccessStatus.INVITED) else 410
        context = {
            "survey": survey_access.questionnaire,
            "entrance": survey_access.status,
            "code": code,
            "name": survey_access.survey,
        }
        return self.plain(request, "survey_shut.html", context, status)


def _place(request: Request) -> tuple[str, str]:
    return request.path_params["name"], request.path_params["code"]


def _first_value(form: Mapping[str, Sequence[str]], name: str) -> str:
    return (form.get(name) or ("",))[0]
