"""Access control: identifies the visitor of every request and checks permissions before a page handles it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypedDict
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quaestor.base.clock import Clock
from quaestor.base.errors import QuaestorError
from quaestor.people.credentials import derive_form_token, equal_secrets, new_token
from quaestor.people.directory import DEVICE_LIFETIME, SESSION_LIFETIME, Directory, SignInSession, needs_renewal
from quaestor.people.roles import Permission, Role, can
from quaestor.web.security.forms import (
    LONGEST,
    LONGEST_WITH_A_FILE,
    TooLong,
    is_form,
    is_multipart,
    is_same_origin,
    parse_fields,
    read_upload,
    read_whole,
    replay_body,
)
from quaestor.web.security.permissions import BY_LINK, FILES, PERMISSIONS_BY_ROUTE, PUBLIC, WITH_A_FILE

_HARMLESS = ("GET", "HEAD")
_ROUTE = "quaestor.route"
_NOT_OURS = "This was not sent from a page of this desk, or the page is too old: reload the page and send it again."
_TOO_LONG = "This is too long for any form of this desk: shorten it."


@dataclass(frozen=True)
class Visitor:
    """A signed-in person; pages find them in `request.state.visitor`."""

    name: str
    role: Role
    until: datetime

    def can(self, permission: Permission) -> bool:
        return can(self.role, permission)

    @property
    def shown(self) -> str:
        """The name shown on their own pages; reviewers stay anonymous."""
        return self.role if self.role is Role.REVIEWER else self.name


class Refusing(Protocol):
    """Builds error pages."""

    def refuse(self, request: Request, status: int, words: str) -> Response: ...

    async def failed(self, request: Request, error: Exception) -> Response: ...


class _Flags(TypedDict):
    path: str
    httponly: bool
    samesite: Literal["lax"]
    secure: bool


@dataclass(frozen=True)
class Cookie:
    """The cookies of a desk: one holds the session, one marks a browser that has signed in before.

    Their names contain a hash of the study, because browsers share cookies between ports.
    """

    name: str

    @property
    def device_name(self) -> str:
        return f"{self.name}-device"

    def device(self, request: Request) -> str:
        """Returns the token that identifies this browser, or an empty text."""
        return request.cookies.get(self.device_name, "")

    def give_device(self, request: Request, response: Response, token: str) -> None:
        response.set_cookie(self.device_name, token, int(DEVICE_LIFETIME.total_seconds()), **self._flags(request))

    def give(self, request: Request, response: Response, token: str) -> None:
        response.set_cookie(self.name, token, int(SESSION_LIFETIME.total_seconds()), **self._flags(request))

    def take(self, request: Request, response: Response) -> None:
        response.delete_cookie(self.name, **self._flags(request))

    def _flags(self, request: Request) -> _Flags:
        path = request.scope.get("app_root_path", request.scope.get("root_path", "")) or "/"
        return {"path": path, "httponly": True, "samesite": "lax", "secure": request.url.scheme == "https"}


class Access:
    """Middleware that passes a request on only if the visitor has the permission of its route."""

    def __init__(self, app: ASGIApp, directory: Directory, cookie: Cookie, clock: Clock, refusals: Refusing) -> None:
        self.app = app
        self._directory = directory
        self._cookie = cookie
        self._clock = clock
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request, name = Request(scope), route_name(scope)
        sent, session = request.cookies.get(self._cookie.name, ""), None
        self._set_visitor(request, sent or new_token(), None)
        if sent and name not in FILES:
            try:
                session = self._directory.find_session(sent, self._clock())
            except QuaestorError as error:
                await (await self._refusals.failed(request, error))(scope, receive, send)
                return
            self._set_visitor(request, sent, session)
        refused = self._refusal(request, name)
        if refused is None and request.method not in _HARMLESS:
            try:
                receive, refused = await self._own_form(request, name, receive)
            except ClientDisconnect:
                return  # nobody is left to answer
        if refused is not None:
            await refused(scope, receive, send)
            return
        if session is not None and needs_renewal(session, self._clock()) and await self._renew(sent):
            send = self._renew_cookie(request, sent, send)
        await self.app(scope, receive, send)

    async def _renew(self, token: str) -> bool:
        """Extends a session; if that cannot be saved, the page is shown anyway."""
        try:
            await run_in_threadpool(self._directory.renew_session, token, self._clock())
        except QuaestorError:
            return False  # retried with the next page; until then the old expiry applies
        return True

    def _set_visitor(self, request: Request, token: str, session: SignInSession | None) -> None:
        request.state.token = token
        request.state.csrf = derive_form_token(token)
        request.state.session = session
        request.state.visitor = None if session is None else Visitor(session.name, session.role, session.expires)

    def _refusal(self, request: Request, name: str | None) -> Response | None:
        row = PERMISSIONS_BY_ROUTE.get(name or "")
        visitor: Visitor | None = request.state.visitor
        if row == PUBLIC:
            return None
        if visitor is None:
            return self._to_sign_in(request)
        if name is None or (row is not None and visitor.can(row)):
            return None  # the application answers 404 for unknown pages
        words = f"Your role is {visitor.role}, which has no access to this page: ask the lead if you need it."
        return self._refusals.refuse(request, 403, words)

    def _to_sign_in(self, request: Request) -> Response:
        if "x-csrf-token" in request.headers:  # a script cannot use a sign-in form
            return self._refusals.refuse(request, 401, "You are signed out: sign in and send it again.")
        target = str(request.url_for("sign-in").path)
        if request.method in _HARMLESS:
            query = f"?{request.url.query}" if request.url.query else ""
            target += f"?next={quote(request.scope['path'] + query, safe='')}"
        return RedirectResponse(target, 303)

    async def _own_form(self, request: Request, name: str | None, receive: Receive) -> tuple[Receive, Response | None]:
        """Reads the body up to a limit and refuses requests not sent from a page of this desk (CSRF)."""
        if not is_same_origin(request.headers):
            return receive, self._refusals.refuse(request, 403, _NOT_OURS)
        with_a_file = name in WITH_A_FILE and is_multipart(request.headers)
        try:
            body = await read_whole(receive, LONGEST_WITH_A_FILE if with_a_file else LONGEST)
        except TooLong:
            return receive, self._refusals.refuse(request, 413, _TOO_LONG)
        receive = replay_body(body, receive)
        if name in BY_LINK:
            return receive, None
        header = request.headers.get("x-csrf-token", "")
        if not header and is_form(request.headers):
            header = parse_fields(body).get("csrf", [""])[0]
        elif not header and with_a_file:
            header = (await read_upload(body, request.headers)).fields.get("csrf", "")
        if not equal_secrets(header, request.state.csrf):
            return receive, self._refusals.refuse(request, 403, _NOT_OURS)
        return receive, None

    def _renew_cookie(self, request: Request, token: str, send: Send) -> Send:
        """Renews the session cookie with the session, unless the page sets cookies itself."""

        async def renewing(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if "set-cookie" not in headers:
                    answer = Response()
                    self._cookie.give(request, answer, token)
                    headers.append("set-cookie", answer.headers["set-cookie"])
            await send(message)

        return renewing


def visitor_of(request: Request) -> Visitor | None:
    """Returns the visitor, or none, also for a request that failed before access control."""
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    return visitor


def route_name(scope: Scope) -> str | None:
    """Returns the name of the route of a request, or none if there is no such page. Looked up once per request."""
    if _ROUTE not in scope:
        scope[_ROUTE] = _matching_route(scope)
    name: str | None = scope[_ROUTE]
    return name


def _matching_route(scope: Scope) -> str | None:
    near: BaseRoute | None = None
    for route in scope["app"].routes:
        match, _ = route.matches(scope)
        if match is Match.FULL:
            return str(getattr(route, "name", ""))
        if match is Match.PARTIAL and near is None:
            near = route
    return None if near is None else str(getattr(near, "name", ""))
