"""Sign-in pages: signing in and out, joining by a link, and the account page."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.templating import Jinja2Templates

from quaestor.base.clock import Clock
from quaestor.base.errors import InputError
from quaestor.people.credentials import MIN_LENGTH, Passwords
from quaestor.people.directory import AccountInvitation, Directory
from quaestor.people.roles import Role
from quaestor.people.sign_in import SignInRefused, sign_in
from quaestor.study.folder import open_study
from quaestor.web.security.access import Cookie
from quaestor.web.security.forms import local_path, read_fields

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
