"""People pages: the lead invites and removes people; people join by a link, sign in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.clock import Clock
from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.names import parse_whole_number
from quaestor.coding.model.ratings import count_work
from quaestor.coding.renaming import rename_rater
from quaestor.people.credentials import MIN_LENGTH, Passwords
from quaestor.people.directory import AccountInvitation, Directory
from quaestor.people.membership import change_role, describe_missing_round, invite, remove_person, revoke_invitation
from quaestor.people.pages import PeopleOverview, build_people_overview
from quaestor.people.roles import Role, parse_role
from quaestor.people.sign_in import SignInRefused, sign_in
from quaestor.study.folder import open_study
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.access import Cookie
from quaestor.web.security.forms import local_path, read_fields
from quaestor.web.study_session import StudySession

_PARTS = {
    Role.LEAD: "You lead this study.",
    Role.RATER: "You rate items in this study. While a round is open you do not see other answers.",
    Role.TIE_BREAKER: "You break ties where the raters of this study disagree, without knowing who gave which answer.",
    Role.VIEWER: "You read the evidence and the results of this study.",
    Role.REVIEWER: "You read the evidence and the results of this study. Names of people are hidden.",
    Role.PAYER: "You pay respondents of a survey of this study. You do not see their answers.",
    Role.INTERVIEWER: "You interview the participants of this study and know them by their pseudonyms.",
}
_ENDED = "This link has been used, has expired or was revoked: ask the lead of the study for a new one."
_WRONG = "The name or the password is wrong."
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
                missing = describe_missing_round(self.session.study, invitation.name, invitation.role)
                link = _link(request, token)
                return await self._people(request, link=link, invitation=invitation, missing_round=missing)
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
            case "rename":
                rename_rater(self.session.coding, name, fields.get("to", ""), who)
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


class SignInPages:
    """Pages for signing in, joining and signing out."""

    def __init__(
        self,
        study: Path,
        directory: Directory,
        passwords: Passwords,
        cookie: Cookie,
        clock: Clock,
        templates: Jinja2Templates,
    ) -> None:
        self._study = study
        self._directory = directory
        self._cookie = cookie
        self._clock = clock
        self._templates = templates
        self._passwords = passwords

    async def sign_in(self, request: Request) -> Response:
        if request.method == "POST":
            return await self._signed_in(request)
        target = local_path(request.query_params.get("next", ""), _root(request))
        if request.state.visitor is not None:
            return RedirectResponse(target, 303)
        return self._sign_in_page(request, target)

    async def _signed_in(self, request: Request) -> Response:
        fields = await read_fields(request)
        name, target = fields.get("name", "").strip(), local_path(fields.get("next", ""), _root(request))
        address = request.client.host if request.client else ""
        device, password = self._cookie.device(request), fields.get("password", "")
        outcome = await run_in_threadpool(
            sign_in, self._directory, self._passwords, name, password, address, self._clock(), device
        )
        if not isinstance(outcome, SignInRefused):
            return await self._enter(request, outcome.token, target)
        if outcome.wait is None:
            return self._sign_in_page(request, target, name, _WRONG, 422)
        words = f"Too many failed attempts: wait {_minutes(outcome.wait)}, then try again."
        answer = self._sign_in_page(request, target, name, words, 429)
        answer.headers["Retry-After"] = str(int(outcome.wait.total_seconds()) + 1)
        return answer

    def _sign_in_page(
        self, request: Request, target: str, name: str = "", refused: str = "", status: int = 200
    ) -> Response:
        context = {"next": target, "name": name[:200], "refused": refused}
        return self._form(request, "sign_in.html", context, status)

    async def join(self, request: Request) -> Response:
        token = request.path_params["token"]
        invitation = self._directory.find_invitation(token, self._clock())
        if invitation is None:
            return self._show_ended(request)
        if request.method != "POST":
            return self._join_page(request, invitation)
        hashed = None
        if not invitation.is_reusable:
            fields = await read_fields(request)
            password = fields.get("password", "")
            if password != fields.get("again", ""):
                return self._join_page(request, invitation, "The passwords differ: type the same one twice.", 422)
            try:
                hashed = await run_in_threadpool(self._passwords.hash, password)
            except InputError as error:
                return self._join_page(request, invitation, str(error), 422)
        session = await run_in_threadpool(self._directory.accept_invitation, token, hashed, self._clock())
        return (
            self._show_ended(request) if session is None else await self._enter(request, session, f"{_root(request)}/")
        )

    def _join_page(
        self, request: Request, account_invitation: AccountInvitation, refused: str = "", status: int = 200
    ) -> Response:
        study = open_study(self._study).settings.study
        context = {
            "study": study,
            "invitation": account_invitation,
            "part": _PARTS[account_invitation.role],
            "shortest": MIN_LENGTH,
            "refused": refused,
        }
        return self._form(request, "join.html", context, status)

    def _show_ended(self, request: Request) -> Response:
        return self._templates.TemplateResponse(request, "ended.html", {"words": _ENDED}, status_code=404)

    async def sign_out(self, request: Request) -> Response:
        await run_in_threadpool(self._directory.end_session, request.state.token)
        return self._leave(request)

    async def sign_out_everywhere(self, request: Request) -> Response:
        await run_in_threadpool(self._directory.end_sessions, request.state.session, self._cookie.device(request))
        return self._leave(request)

    async def me(self, request: Request) -> Response:
        visitor = request.state.visitor
        context = {"study": open_study(self._study).settings.study, "part": _PARTS[visitor.role]}
        return self._templates.TemplateResponse(request, "me.html", context)

    def _form(self, request: Request, template: str, context: dict[str, Any], status: int) -> Response:
        """Renders a form for a person who is not signed in, and sets the cookie that its CSRF token is derived from."""
        answer = self._templates.TemplateResponse(request, template, context, status_code=status)
        if request.state.visitor is None:
            self._cookie.give(request, answer, request.state.token)
        return answer

    async def _enter(self, request: Request, token: str, target: str) -> Response:
        """Replaces the browser's previous session, so that no token outlives a sign-in."""
        await run_in_threadpool(self._directory.end_session, request.state.token)
        device = await run_in_threadpool(
            self._directory.remember_device, token, self._cookie.device(request), self._clock()
        )
        answer = RedirectResponse(target, 303)
        self._cookie.give(request, answer, token)
        if device is not None:
            self._cookie.give_device(request, answer, device)
        return answer

    def _leave(self, request: Request) -> Response:
        answer = RedirectResponse(str(request.url_for("sign-in").path), 303)
        self._cookie.take(request, answer)
        return answer


def _root(request: Request) -> str:
    return str(request.scope.get("app_root_path", request.scope.get("root_path", "")))


def _minutes(wait: timedelta) -> str:
    count = -(-int(wait.total_seconds()) // 60) or 1
    return "a minute" if count == 1 else f"{count} minutes"
