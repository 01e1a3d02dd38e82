"""Surveys for their lead: the questionnaire, its preview, opened and closed, and the responses as they come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import parse_whole_number
from quaestor.people.roles import Permission
from quaestor.surveys.invitations import count_invitations, invite, links_csv
from quaestor.surveys.lifecycle import Surveys, close_survey, decide, open_survey, survey_files
from quaestor.surveys.open_answers import erase_response
from quaestor.surveys.pages.overview import SurveyOverview, survey_lines, survey_overview, was_opened_once
from quaestor.surveys.pages.preview import Walk, walk
from quaestor.surveys.pages.responses import (
    FLAGGED,
    SHOWN,
    UNDECIDED,
    FlagRoom,
    ResponseList,
    ResponseSheet,
    response_list,
    response_sheet,
)
from quaestor.surveys.status import STANDING_WORDS
from quaestor.web.error_pages import refusal_status
from quaestor.web.navigation import build_external_url, link_to
from quaestor.web.page import Pages, parse_page_number, require_visitor
from quaestor.web.security.forms import parse_fields, read_fields
from quaestor.web.study_session import StudySession

_Found = TypeVar("_Found")
_DECIDED = {"keep": True, "leave out": False}


class SurveyDeskPages(Pages):
    """What the lead does with surveys; readers find the way to the results."""

    def __init__(self, session: StudySession, templates: Jinja2Templates) -> None:
        super().__init__(session, templates)
        self._flags = FlagRoom()

    def routes(self) -> Sequence[BaseRoute]:
        address = "/surveys/{name}"
        return [
            Route("/surveys", self.surveys, methods=["GET"], name="surveys"),
            Route(address, self.survey, methods=["GET"], name="survey"),
            Route(f"{address}/acts", self.act, methods=["POST"], name="survey-act"),
            Route(f"{address}/preview", self.preview, methods=["GET", "POST"], name="survey-preview"),
            Route(f"{address}/responses", self.responses, methods=["GET"], name="survey-responses"),
            Route(f"{address}/flags", self.flags, methods=["GET"], name="survey-flags"),
            Route(f"{address}/responses/{{response}}", self.response, methods=["GET"], name="survey-response"),
            Route(f"{address}/responses/{{response}}/decision", self.decide, methods=["POST"], name="survey-decide"),
            Route(f"{address}/responses/{{response}}/erasure", self.erase, methods=["POST"], name="survey-erase"),
        ]

    async def surveys(self, request: Request) -> Response:
        """Every survey; readers who do not lead are shown what there is and its results."""
        lines = await self.work(lambda: survey_lines(self.session.study, self.session.surveys_if_any))
        context = {"surveys": lines, "leads": require_visitor(request).can(Permission.LEAD), **shared(request)}
        return self.page(request, "surveys.html", context)

    async def survey(self, request: Request) -> Response:
        return await self._survey(request)

    async def _survey(self, request: Request, status: int = 200, **more: Any) -> Response:
        name = request.path_params["name"]
        overview, waiting = await self.work(lambda: self._one(name))
        context = {"one": overview, "waiting": waiting, "public": _public_link(request, name)}
        context |= shared(request, name, was_opened=overview.line.version is not None)
        return self.page(request, "survey.html", {**context, **more}, status)

    def _one(self, name: str) -> tuple[SurveyOverview, int | None]:
        surveys = self.session.surveys_if_any
        overview = survey_overview(self.session.study, surveys, name)
        return overview, self._flags.undecided(surveys, name) if surveys and overview.line.version else 0

    async def act(self, request: Request) -> Response:
        """Open or close; where it is refused, the page says why."""
        name, who = request.path_params["name"], require_visitor(request).name
        fields = await read_fields(request)
        try:
            await self.work(lambda: self._act(name, who, fields.get("act", "")))
        except QuaestorError as error:
            return await self._survey(request, refusal_status(error), refused=str(error))
        return self.go(request, "survey", name=name)

    def _act(self, name: str, who: str, act: str) -> None:
        match act:
            case "open":
                open_survey(self.session.surveys, name, who)
            case "close":
                close_survey(self.session.surveys, name, who)
            case unknown:
                raise InputError(f"there is no action {unknown[:60]!r} here: reload the page")

    async def preview(self, request: Request) -> Response:
        """One page of the walk; what is typed goes from page to page with the form and is kept nowhere."""
        name = request.path_params["name"]
        form = parse_fields(await request.body()) if request.method == "POST" else {}
        fields = {**{key: [value] for key, value in request.query_params.items()}, **form}
        try:
            preview = await self.work(lambda: self._walk(name, fields))
        except InputError as error:
            if name not in survey_files(self.session.study):
                raise
            context = {"walk": None, "refused": str(error), **shared(request, name, was_opened=False)}
            return self.page(request, "survey_preview.html", context, 422)
        was_opened = await self.work(lambda: was_opened_once(self.session.surveys_if_any, name))
        return self.page(request, "survey_preview.html", {"walk": preview, **shared(request, name, was_opened)})

    def _walk(self, name: str, form: Mapping[str, Sequence[str]]) -> Walk:
        def one(field: str) -> str:
            return form.get(field, [""])[0]

        return walk(self.session.study, name, form, one("language"), one("step"), one("at"))

    async def responses(self, request: Request) -> Response:
        """The list of responses; what it can be narrowed down to stands in the address."""
        query, page = request.query_params, parse_page_number(request)
        standing, shown = query.get("standing", ""), query.get("shown", "")
        responses = await self._of(request, lambda surveys, name: self._list(surveys, name, standing, shown, page))
        if page > responses.pages:
            raise HTTPException(404)
        chosen = {"standing": standing, "shown": shown, "standings": STANDING_WORDS, "ways_shown": SHOWN}
        erasing = {"erasing": await self.pending_erasures()}
        context = {"found": responses, **erasing, **chosen, **shared(request, request.path_params["name"])}
        return self.page(request, "survey_responses.html", context)

    def _list(self, surveys: Surveys, name: str, standing: str, shown: str, page: int) -> ResponseList:
        return response_list(surveys, name, self._flags.reasons(surveys, name), standing, shown, page)

    def _sheet(self, surveys: Surveys, name: str, response: str) -> ResponseSheet:
        return response_sheet(surveys, name, response, self._flags.reasons(surveys, name))

    async def flags(self, request: Request) -> Response:
        """What looks odd, with why; a decision is the lead's alone."""
        every, page = request.query_params.get("every", "") == "yes", parse_page_number(request)
        shown = FLAGGED if every else UNDECIDED
        responses = await self._of(request, lambda surveys, name: self._list(surveys, name, "", shown, page))
        flagged = await self._of(request, lambda surveys, name: len(self._flags.reasons(surveys, name)))
        if page > responses.pages:
            raise HTTPException(404)
        context = {"found": responses, "every": every, "flagged": flagged}
        return self.page(request, "survey_flags.html", {**context, **shared(request, request.path_params["name"])})

    async def response(self, request: Request) -> Response:
        return await self._response(request)

    async def _response(self, request: Request, status: int = 200, **more: Any) -> Response:
        name, response = request.path_params["name"], request.path_params["response"]
        sheet = await self._of(request, lambda surveys, name: self._sheet(surveys, name, response))
        context = {"sheet": sheet, "typed": {}, "erasing": None, **shared(request, name), **more}
        return self.page(request, "survey_response.html", context, status)

    async def decide(self, request: Request) -> Response:
        """Keep a response or leave it out, and why; the last decision counts, all are on record."""
        response, who = request.path_params["response"], require_visitor(request).name
        fields = await read_fields(request)
        keep, why = _DECIDED.get(fields.get("decision", "")), fields.get("why", "")
        try:
            if keep is None:
                raise InputError("choose whether to keep or exclude the response")
            await self._of(request, lambda surveys, name: decide(surveys, name, response, keep, why, who))
        except QuaestorError as error:
            return await self._response(request, refusal_status(error), refused=str(error), typed=fields)
        name = request.path_params["name"]
        if fields.get("from") == "flags":
            return self.go(request, "survey-flags", name=name)
        return self.go(request, "survey-response", name=name, response=response)

    async def erase(self, request: Request) -> Response:
        """Erase a response for good, once the lead has said why and that they are sure."""
        response, who = request.path_params["response"], require_visitor(request).name
        fields = await read_fields(request)
        why = fields.get("why", "")
        try:
            if fields.get("sure") != "yes":
                raise InputError("nothing was erased: confirm that you are sure, because this cannot be undone")
            await self._of(request, lambda surveys, name: erase_response(surveys, name, response, why, who))
        except QuaestorError as error:
            return await self._response(request, refusal_status(error), refused=str(error), erasing=fields)
        return self.go(request, "survey-responses", name=request.path_params["name"])

    async def _of(self, request: Request, call: Callable[[Surveys, str], _Found]) -> _Found:
        """What is asked of a survey that was opened once; of any other there are no responses."""
        name = request.path_params["name"]

        def found() -> _Found:
            surveys = self.session.surveys_if_any
            if surveys is None or not was_opened_once(surveys, name):
                raise StateError(f"the survey {name!r} has not been opened: it has no responses yet")
            return call(surveys, name)

        return await self.work(found)


def shared(request: Request, name: str = "", was_opened: bool = True) -> dict[str, Any]:
    """What the pages of one survey have in common: its name, and links that are offered where there is a page."""
    return {
        "name": name,
        "was_opened": was_opened,
        "link_to": lambda route, query=None, **path: link_to(request, route, query, **path),
    }


def _public_link(request: Request, name: str) -> str:
    """The address that respondents are given, as the lead's own browser reaches the desk."""
    path = link_to(request, "answer-begin", name=name)
    return build_external_url(request, path) if path else ""


class SurveyInvitationPages(Pages):
    """Whom the lead invites: counts by batch and stratum, never who came."""

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [Route("/surveys/{name}/invitations", self.invitations, methods=both, name="survey-invitations")]

    async def invitations(self, request: Request) -> Response:
        """The batches; a new one is answered with its links as a file, which nobody can fetch again."""
        if request.method == "GET":
            return await self._page(request)
        fields = await read_fields(request)
        name, who = request.path_params["name"], require_visitor(request).name
        home = build_external_url(request, str(request.url_for("home").path))
        try:
            text = await self.work(lambda: self._made(name, who, fields, home))
        except QuaestorError as error:
            status = refusal_status(error)
            return await self._page(request, status, refused=str(error), typed=fields)
        file = quote(f"{name}-{fields.get('batch', '').strip()}.csv", safe="")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file}"}
        return Response(text, media_type="text/csv", headers=headers)

    async def _page(self, request: Request, status: int = 200, **more: Any) -> Response:
        name = request.path_params["name"]
        context = await self.work(lambda: self._found(name))
        context |= shared(request, name, was_opened=context["one"].line.version is not None)
        return self.page(request, "survey_invitations.html", {**context, "typed": {}, **more}, status)

    def _found(self, name: str) -> dict[str, Any]:
        surveys = self.session.surveys_if_any
        overview = survey_overview(self.session.study, surveys, name)
        return {"one": overview, "sent": count_invitations(surveys, name) if surveys else []}

    def _made(self, name: str, who: str, fields: Mapping[str, str], home: str) -> str:
        labels = [line.strip() for line in fields.get("labels", "").splitlines() if line.strip()]
        count_text = fields.get("count", "").strip()
        count = parse_whole_number(count_text) if count_text else None
        if count_text and count is None:
            raise InputError(f"{count_text[:60]!r} is not a number of invitations: enter digits, such as 50")
        invited = invite(
            self.session.surveys, name, fields.get("batch", ""), fields.get("stratum", ""), count, labels, who
        )
        return links_csv(invited, home)
