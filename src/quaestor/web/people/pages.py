"""People page of the lead: invite, revoke, change roles, remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.clock import Clock
from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.names import parse_whole_number
from quaestor.coding.model.ratings import count_work
from quaestor.people.directory import AccountInvitation
from quaestor.people.membership import change_role, invite, remove_person, revoke_invitation
from quaestor.people.pages import PeopleOverview, build_people_overview
from quaestor.people.roles import Role, parse_role
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import read_fields
from quaestor.web.study_session import StudySession

_LONGEST = 365
_OFFERED = (Role.RATER, Role.TIE_BREAKER, Role.INTERVIEWER, Role.VIEWER, Role.REVIEWER, Role.PAYER)


class PeoplePages(Pages):
    """Page of accounts and invitations."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, clock: Clock) -> None:
        super().__init__(session, templates)
        self._clock = clock

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/people", self.people, methods=["GET"], name="people"),
            Route("/people/acts", self.act, methods=["POST"], name="people-act"),
        ]

    async def people(self, request: Request) -> Response:
        return await self._people(request)

    async def _people(self, request: Request, status: int = 200, **more: Any) -> Response:
        overview = await self.work(self._build_overview)
        context = {"people": overview, "roles": _OFFERED, "typed": {}, "link": "", "invitation": None, **more}
        return self.page(request, "people.html", context, status)

    def _build_overview(self) -> PeopleOverview:
        with self.session.locked_state() as state:
            return build_people_overview(self.session.study, lambda name: count_work(state, name), self._clock)

    async def act(self, request: Request) -> Response:
        """Handles one action; a new link is shown once, on the response page."""
        fields = await read_fields(request)
        try:
            if fields.get("act") == "invite":
                token, invitation = await self.work(lambda: self._invite(fields))
                return await self._people(request, link=_link(request, token), invitation=invitation)
            await self.work(lambda: self._act(fields, require_visitor(request).name))
        except QuaestorError as error:
            status = refusal_status(error)
            return await self._people(request, status, refused=str(error), typed=fields)
        return self.go(request, "people")

    def _invite(self, fields: Mapping[str, str]) -> tuple[str, AccountInvitation]:
        days = fields.get("days", "7")
        number = parse_whole_number(days)
        if number is None or not 1 <= number <= _LONGEST:
            raise InputError(f"the link is to be valid for {days[:60]!r} days: give a number from 1 to {_LONGEST}")
        role = parse_role(fields.get("role", ""))
        name = fields.get("name", "").strip()
        return invite(self.session.study, name, role, timedelta(days=number), self._clock)

    def _act(self, fields: Mapping[str, str], who: str) -> None:
        study, name = self.session.study, fields.get("name", "")
        match fields.get("act", ""):
            case "revoke":
                revoke_invitation(study, name, self._clock)
            case "remove":
                remove_person(study, name, actor=who)
            case "role":
                change_role(study, name, parse_role(fields.get("role", "")))
            case unknown:
                raise InputError(f"there is no action {unknown!r} here: reload the page")


def _link(request: Request, token: str) -> str:
    """Returns the join link, with the host name that the lead's browser uses."""
    path = str(request.url_for("join", token=token).path)
    scheme, _, host = request.headers.get("origin", "").partition("://")
    same = scheme in ("http", "https") and host.lower() == request.headers.get("host", "").lower()
    return f"{scheme if same else request.url.scheme}://{request.url.netloc}{path}"
