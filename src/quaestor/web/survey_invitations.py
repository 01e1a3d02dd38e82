"""Invitations to a survey for its lead: batches with how many came, and new links, which are told once as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.numbers import whole_number
from quaestor.study.surveys.invitations import invite, links_csv, sent_by
from quaestor.study.surveys.overview import survey_overview
from quaestor.web.forms import fields_of
from quaestor.web.links import outside
from quaestor.web.page import Pages, visitor
from quaestor.web.refusals import refusal_status
from quaestor.web.survey_desk import shared


class SurveyInvitationPages(Pages):
    """Whom the lead invites: counts by batch and stratum, never who came."""

    def routes(self) -> Sequence[BaseRoute]:
        both = ["GET", "POST"]
        return [Route("/surveys/{name}/invitations", self.invitations, methods=both, name="survey-invitations")]

    async def invitations(self, request: Request) -> Response:
        """The batches; a new one is answered with its links as a file, which nobody can fetch again."""
        if request.method == "GET":
            return await self._page(request)
        fields = await fields_of(request)
        name, who = request.path_params["name"], visitor(request).name
        home = outside(request, str(request.url_for("home").path))
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
        surveys = self.opened.surveys_if_any
        one = survey_overview(self.opened.study, surveys, name)
        return {"one": one, "sent": sent_by(surveys, name) if surveys else []}

    def _made(self, name: str, who: str, fields: Mapping[str, str], home: str) -> str:
        labels = [line.strip() for line in fields.get("labels", "").splitlines() if line.strip()]
        asked = fields.get("count", "").strip()
        count = whole_number(asked) if asked else None
        if asked and count is None:
            raise InputError(f"{asked[:60]!r} is no number of invitations: write digits, such as 50")
        made = invite(self.opened.surveys, name, fields.get("batch", ""), fields.get("stratum", ""), count, labels, who)
        return links_csv(made, home)
