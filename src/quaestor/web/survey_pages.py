"""Answering a survey: pages for strangers with a link, each page of questions kept before the next one comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.clock import Clock
from quaestor.base.errors import InputError, NotNow, StateError
from quaestor.instruments.records import Response as Answers
from quaestor.instruments.records import Standing
from quaestor.study.kept_open import KeptOpen
from quaestor.study.surveys.answering import (
    TRAP_FIELD,
    Outcome,
    SurveyPage,
    again,
    begin,
    found_response,
    page_after,
    questionnaire_of,
    sent,
    shown,
    withdraw,
)
from quaestor.study.surveys.claims import claim_token
from quaestor.study.surveys.codes import code_at_entrance
from quaestor.study.surveys.entrance import Door, Entrance, door
from quaestor.study.surveys.fielding import Surveys
from quaestor.web.forms import checked_key, fields_in, fields_of
from quaestor.web.pace import Pace
from quaestor.web.recording import Together
from quaestor.web.strangers import StrangerPages

MOST_BEGUN = 30
"""Responses begun in a minute from one address; a class in one room is let in within a few."""
_LONGEST_STAY = 3600.0
"""Seconds a page counts for at most: who comes back the next day has not thought all night."""
_TRIES = 3
_LONGEST_MOMENT = 12
"""Digits of a second since 1970."""
_LATER = "Your answers could not be saved at this moment. They still stand below: please send them again in a minute."
_NO_SUCH = "There is no survey at this address. Please check that the link is whole, or ask whoever sent it to you."
_NO_RESPONSE = (
    "There are no answers behind this link: they were withdrawn, or the link is not whole. "
    "Please check that you have copied all of it."
)


class RespondentPages(StrangerPages):
    """What a respondent does; the code in the address is all that makes them one."""

    def __init__(self, opened: KeptOpen, templates: Jinja2Templates, clock: Clock) -> None:
        super().__init__(opened, templates)
        self._clock = clock
        self._pace = Pace(MOST_BEGUN, timedelta(minutes=1), clock)
        self._together = Together(self.work)

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [
            Route("/s/{name}", self.entrance, methods=both, name="answer-begin"),
            Route("/s/{name}/{code}", self.answer, methods=both, name="answer"),
            Route("/s/{name}/{code}/end", self.end, methods=["GET"], name="answer-end"),
            Route("/s/{name}/{code}/withdraw", self.withdraw, methods=both, name="answer-withdraw"),
        ]

    @property
    def _surveys(self) -> Surveys:
        return self.opened.surveys

    # The entrance

    async def entrance(self, request: Request) -> Response:
        """What the survey is about, and a button to begin; or why nobody can."""
        fields = await fields_of(request) if request.method == "POST" else request.query_params
        name, language = request.path_params["name"], fields.get("language", "")
        try:
            found = await self.work(lambda: door(self.opened.surveys_if_any, self.opened.latest, name, language))
        except InputError:
            return self.refused(request, 404, "No such survey", _NO_SUCH)
        if found.entrance is not Entrance.OPEN:
            return self._shut(request, found)
        if request.method == "POST":
            return await self._begun(request, found)
        return self.plain(request, "survey_begin.html", {"survey": found.questionnaire})

    async def _begun(self, request: Request, found: Door) -> Response:
        wait = self._pace.wait(request.client.host if request.client else "")
        if wait is not None:
            words = "Many people have begun from where you are just now. Please wait a minute, then begin again."
            answer = self.refused(request, 429, "One moment", words)
            answer.headers["Retry-After"] = str(int(wait.total_seconds()) + 1)
            return answer
        language = found.questionnaire.language if found.questionnaire else ""
        key = checked_key((await fields_of(request)).get("key", ""))

        def first() -> str:
            code = code_at_entrance(self._surveys, found.survey, key)
            return begin(self._surveys, found.survey, language, code=code)[0]

        try:
            code = await self.work(first)
        except NotNow:
            words = "Your answers could not be saved at this moment. Please go back and begin again in a minute."
            return self.refused(request, 503, "One moment", words)
        return self.go(request, "answer", name=found.survey, code=code)

    # A page of questions

    async def answer(self, request: Request) -> Response:
        """The next page, or the one asked for; sent, it is kept, and the following one comes."""
        try:
            if request.method == "POST":
                return await self._sent(request)
            name, code = _place(request)
            met = await self.work(lambda: self._met(name, code, request.query_params.get("page", "")))
        except InputError:
            return self.refused(request, 404, "Nothing here", _NO_RESPONSE)
        if isinstance(met, Door):
            return self._shut(request, met, code)
        if not isinstance(met, SurveyPage):
            return self.go(request, "answer-end", name=name, code=code)
        return self._page(request, met)

    def _met(self, name: str, code: str, page: str) -> SurveyPage | Answers | Door:
        self._own(name, code)
        found = shown(self._surveys, code, page)
        if isinstance(found, SurveyPage):
            at = door(self._surveys, self.opened.latest, name, found.response.language)
            if not at.goes_on:
                return at
        return found

    async def _sent(self, request: Request) -> Response:
        name, code = _place(request)
        form = fields_in(await request.body())
        page, key = _one(form, "page"), checked_key(_one(form, "key"))
        if not key:
            raise HTTPException(400)
        seconds = self._stayed(form)

        def read() -> Outcome:
            self._own(name, code)
            try:
                return sent(self._surveys, code, page, form, key, seconds)
            except InputError as error:  # the link is right, the page is not the one to be answered
                raise StateError(str(error)) from None

        try:
            response = await self._recorded(read)
            if isinstance(response, SurveyPage):
                return self._page(request, response, status=422)
        except NotNow:
            return await self._kept_typed(request, page, form)
        except StateError as error:
            return await self._too_late(request, error)
        if response.standing is not Standing.OPEN:
            return self.go(request, "answer-end", name=name, code=code)
        following = await self.work(lambda: page_after(self._surveys, response, page))
        return self.go(request, "answer", f"page={following}" if following else "", name=name, code=code)

    async def _recorded(self, read: Callable[[], Outcome], tries: int = _TRIES) -> SurveyPage | Answers:
        """Record a page; where another one of the same response came in between, it is read against that one."""
        outcome = await self.work(read)
        if isinstance(outcome, SurveyPage):
            return outcome
        await self._together.record(outcome, self._surveys.answers.record)
        if outcome.overtaken and tries > 1:
            return await self._recorded(read, tries - 1)
        return outcome.response()

    def _stayed(self, form: Mapping[str, Sequence[str]]) -> float:
        """Seconds since the page was shown, as the page itself carries it; nothing of it is kept but the difference."""
        since = _one(form, "since")
        told = since.isascii() and since.isdecimal() and len(since) <= _LONGEST_MOMENT
        stayed = self._clock().timestamp() - int(since) if told else 0.0
        return min(max(stayed, 0.0), _LONGEST_STAY)

    async def _kept_typed(self, request: Request, page: str, form: Mapping[str, Sequence[str]]) -> Response:
        _, code = _place(request)
        met = await self.work(lambda: again(self._surveys, code, page, form))
        if met is None:
            return self.refused(request, 503, "One moment", "Nothing can be saved at this moment. Please try again.")
        return self._page(request, met, status=503, refused=_LATER)

    async def _too_late(self, request: Request, error: StateError) -> Response:
        """The survey was closed meanwhile, or somebody went on in another window."""
        name, code = _place(request)
        at = await self.work(lambda: door(self._surveys, self.opened.latest, name))
        if not at.goes_on:
            return self._shut(request, at, code)
        context = {"title": "Not taken", "words": f"{str(error)[:1].upper()}{str(error)[1:]}.", "back": code}
        return self.plain(request, "survey_refused.html", context, 409)

    def _page(self, request: Request, met: SurveyPage, status: int = 200, refused: str = "") -> Response:
        _, code = _place(request)
        # A page with something wrong goes on counting from when it was shown first.
        since = _one(met.form, "since") or str(int(self._clock().timestamp()))
        came_again = status == 200 and met.page.id in met.response.sent and request.query_params.get("page") is None
        context = {
            "survey": met.questionnaire,
            "met": met,
            "code": code,
            "since": since,
            "trap": TRAP_FIELD,
            "refused": refused,
            "added": [one for one in met.questions if came_again and one.id not in met.response.answers],
        }
        return self.plain(request, "survey_page.html", context, status)

    # The end

    async def end(self, request: Request) -> Response:
        """Thanks, or a kind word to whoever is asked no more; and how to come back."""
        name, code = _place(request)
        try:
            response = await self.work(lambda: self._own(name, code))
        except InputError:
            return self.refused(request, 404, "Nothing here", _NO_RESPONSE)
        if response.standing is Standing.OPEN:
            return self.go(request, "answer", name=name, code=code)
        asked = await self.work(lambda: questionnaire_of(self._surveys, response))
        claim = ""
        if asked.pay is not None and response.standing is Standing.FINISHED:
            token = await self.work(lambda: claim_token(self._surveys, code))
            claim = str(request.url_for("claim", name=name, token=token).path)
            claim += f"?language={asked.language}" if asked.language != asked.languages[0] else ""
        context = {"survey": asked, "standing": response.standing, "code": code, "claim": claim}
        return self.plain(request, "survey_end.html", context)

    async def withdraw(self, request: Request) -> Response:
        """Asks first; then the answers are gone for good."""
        name, code = _place(request)
        try:
            response = await self.work(lambda: self._own(name, code))
            if request.method == "POST":
                await self.work(lambda: withdraw(self._surveys, code))
                return self.plain(request, "survey_withdrawn.html", {"survey": None})
            asked = await self.work(lambda: questionnaire_of(self._surveys, response))
        except InputError:
            return self.refused(request, 404, "Nothing here", _NO_RESPONSE)
        except NotNow:
            words = "Your answers could not be erased at this moment, they are still there. Please try again later."
            return self.refused(request, 503, "One moment", words)
        return self.plain(request, "survey_withdraw.html", {"survey": asked, "code": code})

    # What they share

    def _own(self, name: str, code: str) -> Answers:
        """The response behind a link; a code leads nowhere under the name of another survey."""
        if self.opened.surveys_if_any is None:
            raise InputError("no survey was ever opened")
        found = found_response(self._surveys, code)
        if found.survey != name:
            raise InputError("this response belongs to another survey")
        return found

    def _shut(self, request: Request, found: Door, code: str = "") -> Response:
        status = 409 if found.entrance in (Entrance.NOT_YET, Entrance.INVITED) else 410
        context = {"survey": found.questionnaire, "entrance": found.entrance, "code": code, "name": found.survey}
        return self.plain(request, "survey_shut.html", context, status)


def _place(request: Request) -> tuple[str, str]:
    return request.path_params["name"], request.path_params["code"]


def _one(form: Mapping[str, Sequence[str]], name: str) -> str:
    return (form.get(name) or ("",))[0]
