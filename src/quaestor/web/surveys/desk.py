"""Survey pages of the lead: questionnaire, preview, opening and closing, responses, flags and invitations."""

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
from quaestor.surveys.lifecycle import Surveys, close_survey, open_survey, review_response, survey_files
from quaestor.surveys.merges import merge_parts, undo_merge
from quaestor.surveys.model.version_edits import UNIT, EditAnswers, PartKey
from quaestor.surveys.open_answers import erase_response
from quaestor.surveys.pages.overview import SurveyOverview, survey_lines, survey_overview, was_opened_once
from quaestor.surveys.pages.preview import PreviewPage, walk
from quaestor.surveys.pages.responses import (
    FLAGGED,
    SHOWN,
    UNDECIDED,
    FlagCache,
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
DIFFERENT = "-"
"""The value of a field that says that nothing new is the same."""
_DECIDED = {"keep": True, "leave out": False}


class SurveyDeskPages(Pages):
    """Survey pages of the lead; readers see links to the results."""

    def __init__(self, session: StudySession, templates: Jinja2Templates) -> None:
        super().__init__(session, templates)
        self._flags = FlagCache()

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
        """Lists all surveys; readers see only names and results."""
        lines = await self.work(lambda: survey_lines(self.session.study, self.session.surveys_if_any))
        context = {"surveys": lines, "leads": require_visitor(request).can(Permission.LEAD), **shared(request)}
        return self.page(request, "surveys.html", context)

    async def survey(self, request: Request) -> Response:
        return await self._survey(request)

    async def _survey(self, request: Request, status: int = 200, **more: Any) -> Response:
        name = request.path_params["name"]
        overview, waiting = await self.work(lambda: self._read_survey(name))
        public = _public_link(request, name)
        context: dict[str, Any] = {"one": overview, "waiting": waiting, "public": public, "typed": {}}
        context |= shared(request, name, was_opened=overview.line.version is not None)
        return self.page(request, "survey.html", {**context, **more}, status)

    def _read_survey(self, name: str) -> tuple[SurveyOverview, int | None]:
        surveys = self.session.surveys_if_any
        overview = survey_overview(self.session.study, surveys, name)
        return overview, self._flags.undecided(surveys, name) if surveys and overview.line.version else 0

    async def act(self, request: Request) -> Response:
        """Opens or closes a survey, or merges options; if it is refused, the page shows the reason."""
        name, who = request.path_params["name"], require_visitor(request).name
        fields = await read_fields(request)
        try:
            await self.work(lambda: self._act(name, who, fields))
        except QuaestorError as error:
            return await self._survey(request, refusal_status(error), refused=str(error), typed=fields)
        return self.go(request, "survey", name=name)

    def _act(self, name: str, who: str, fields: Mapping[str, str]) -> None:
        surveys = self.session.surveys
        question, part, code, into = (fields.get(field, "") for field in ("question", "part", "code", "into"))
        match fields.get("act", ""):
            case "open":
                open_survey(surveys, name, who, _edit_answers(fields))
            case "close":
                close_survey(surveys, name, who)
            case "merge":
                merge_parts(surveys, name, question, code, into, part, who)
            case "undo merge":
                undo_merge(surveys, name, question, code, part, who)
            case unknown:
                raise InputError(f"there is no action {unknown[:60]!r} here: reload the page")

    async def preview(self, request: Request) -> Response:
        """Shows one page of the preview; answers travel in the form and are not stored."""
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

    def _walk(self, name: str, form: Mapping[str, Sequence[str]]) -> PreviewPage:
        def one(field: str) -> str:
            return form.get(field, [""])[0]

        return walk(self.session.study, name, form, one("language"), one("step"), one("at"))

    async def responses(self, request: Request) -> Response:
        """Lists responses; the filter is in the address."""
        query, page = request.query_params, parse_page_number(request)
        standing, shown = query.get("standing", ""), query.get("shown", "")
        responses = await self._call_opened(
            request, lambda surveys, name: self._list(surveys, name, standing, shown, page)
        )
        if page > responses.pages:
            raise HTTPException(404)
        chosen = {"standing": standing, "shown": shown, "status_counts": STANDING_WORDS, "ways_shown": SHOWN}
        erasing = {"erasing": await self.pending_erasures()}
        context = {"found": responses, **erasing, **chosen, **shared(request, request.path_params["name"])}
        return self.page(request, "survey_responses.html", context)

    def _list(self, surveys: Surveys, name: str, standing: str, shown: str, page: int) -> ResponseList:
        return response_list(surveys, name, self._flags.reasons(surveys, name), standing, shown, page)

    def _sheet(self, surveys: Surveys, name: str, response: str) -> ResponseSheet:
        return response_sheet(surveys, name, response, self._flags.reasons(surveys, name))

    async def flags(self, request: Request) -> Response:
        """Lists flagged responses with reasons; only the lead decides."""
        every, page = request.query_params.get("every", "") == "yes", parse_page_number(request)
        shown = FLAGGED if every else UNDECIDED
        responses = await self._call_opened(request, lambda surveys, name: self._list(surveys, name, "", shown, page))
        flagged = await self._call_opened(request, lambda surveys, name: len(self._flags.reasons(surveys, name)))
        if page > responses.pages:
            raise HTTPException(404)
        context = {"found": responses, "every": every, "flagged": flagged}
        return self.page(request, "survey_flags.html", {**context, **shared(request, request.path_params["name"])})

    async def response(self, request: Request) -> Response:
        return await self._response(request)

    async def _response(self, request: Request, status: int = 200, **more: Any) -> Response:
        name, response = request.path_params["name"], request.path_params["response"]
        sheet = await self._call_opened(request, lambda surveys, name: self._sheet(surveys, name, response))
        context = {"sheet": sheet, "typed": {}, "erasing": None, **shared(request, name), **more}
        return self.page(request, "survey_response.html", context, status)

    async def decide(self, request: Request) -> Response:
        """Keeps or excludes a response, with a reason; the last decision counts, all are recorded."""
        response, who = request.path_params["response"], require_visitor(request).name
        fields = await read_fields(request)
        keep, why = _DECIDED.get(fields.get("decision", "")), fields.get("why", "")
        try:
            if keep is None:
                raise InputError("choose whether to keep or exclude the response")
            await self._call_opened(
                request, lambda surveys, name: review_response(surveys, name, response, keep, why, who)
            )
        except QuaestorError as error:
            return await self._response(request, refusal_status(error), refused=str(error), typed=fields)
        name = request.path_params["name"]
        if fields.get("from") == "flags":
            return self.go(request, "survey-flags", name=name)
        return self.go(request, "survey-response", name=name, response=response)

    async def erase(self, request: Request) -> Response:
        """Erases a response after the lead has given a reason and confirmed."""
        response, who = request.path_params["response"], require_visitor(request).name
        fields = await read_fields(request)
        why = fields.get("why", "")
        try:
            if fields.get("sure") != "yes":
                raise InputError("nothing was erased: confirm that you are sure, because this cannot be undone")
            await self._call_opened(request, lambda surveys, name: erase_response(surveys, name, response, why, who))
        except QuaestorError as error:
            return await self._response(request, refusal_status(error), refused=str(error), erasing=fields)
        return self.go(request, "survey-responses", name=request.path_params["name"])

    async def _call_opened(self, request: Request, call: Callable[[Surveys, str], _Found]) -> _Found:
        """Calls a function with a survey; raises StateError if it was never opened."""
        name = request.path_params["name"]

        def found() -> _Found:
            surveys = self.session.surveys_if_any
            if surveys is None or not was_opened_once(surveys, name):
                raise StateError(f"the survey {name!r} has not been opened: it has no responses yet")
            return call(surveys, name)

        return await self.work(found)


def _edit_answers(fields: Mapping[str, str]) -> EditAnswers:
    """Returns the answers about replaced options, from fields named `edit:QUESTION:PART:CODE`."""
    same: dict[PartKey, str] = {}
    different: list[PartKey] = []
    for field, value in fields.items():
        parts = field.split(":", 3)
        if parts[0] == "edit" and len(parts) == 4:
            key = parts[1], parts[2], parts[3]
            if value.strip() == DIFFERENT:
                different.append(key)
            elif value.strip():
                same[key] = value.strip()
            elif key[1] == UNIT:
                different.append(key)
    return EditAnswers(same, different)


def shared(request: Request, name: str = "", was_opened: bool = True) -> dict[str, Any]:
    """Context shared by the pages of one survey."""
    return {
        "name": name,
        "was_opened": was_opened,
        "link_to": lambda route, query=None, **path: link_to(request, route, query, **path),
    }


def _public_link(request: Request, name: str) -> str:
    """Returns the public link of a survey, as the lead's browser reaches the desk."""
    path = link_to(request, "answer-begin", name=name)
    return build_external_url(request, path) if path else ""


class SurveyInvitationPages(Pages):
    """Invitation pages: counts by batch and stratum, never who responded."""

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [Route("/surveys/{name}/invitations", self.invitations, methods=both, name="survey-invitations")]

    async def invitations(self, request: Request) -> Response:
        """Lists batches; a new batch is returned once, as a file of links."""
        if request.method == "GET":
            return await self._page(request)
        fields = await read_fields(request)
        name, who = request.path_params["name"], require_visitor(request).name
        home = build_external_url(request, str(request.url_for("home").path))
        try:
            text = await self.work(lambda: self._invite(name, who, fields, home))
        except QuaestorError as error:
            status = refusal_status(error)
            return await self._page(request, status, refused=str(error), typed=fields)
        file = quote(f"{name}-{fields.get('batch', '').strip()}.csv", safe="")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file}"}
        return Response(text, media_type="text/csv", headers=headers)

    async def _page(self, request: Request, status: int = 200, **more: Any) -> Response:
        name = request.path_params["name"]
        context = await self.work(lambda: self._read_invitations(name))
        context |= shared(request, name, was_opened=context["one"].line.version is not None)
        return self.page(request, "survey_invitations.html", {**context, "typed": {}, **more}, status)

    def _read_invitations(self, name: str) -> dict[str, Any]:
        surveys = self.session.surveys_if_any
        overview = survey_overview(self.session.study, surveys, name)
        return {"one": overview, "sent": count_invitations(surveys, name) if surveys else []}

    def _invite(self, name: str, who: str, fields: Mapping[str, str], home: str) -> str:
        labels = [line.strip() for line in fields.get("labels", "").splitlines() if line.strip()]
        count_text = fields.get("count", "").strip()
        count = parse_whole_number(count_text) if count_text else None
        if count_text and count is None:
            raise InputError(f"{count_text[:60]!r} is not a number of invitations: enter digits, such as 50")
        invited = invite(
            self.session.surveys, name, fields.get("batch", ""), fields.get("stratum", ""), count, labels, who
        )
        return links_csv(invited, home)
