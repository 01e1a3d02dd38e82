"""Security headers of every response, and the path prefix behind a proxy."""

from __future__ import annotations

import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quaestor.base.errors import InputError

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_WITH_SCRIPTS = f"{_POLICY}; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
_WITH_AUDIO = f"{_POLICY}; script-src 'self'; media-src 'self'"
PUBLISHED = ("/report/", "/handbook/")
SCRIPTED = (*PUBLISHED, "/rounds/")
"""Pages with scripts, from this desk only: published pages (lists, search) and rounds (keyboard rating)."""
_SCRIPTED_TOO = re.compile(r"/interviews/(?:[^/]+/conduct(?:/.*)?|names(?:/acts)?)")
"""The interview pages with scripts; all others work without."""
_TRANSCRIPT = re.compile(r"/interviews/[^/]+/transcript(?:/file)?")
"""The pages that play the recording of an interview."""
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With no-referrer a browser sends our own forms with `Origin: null`, and the origin check would refuse them.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
STRANGERS = ("/s/", "/i/", "/claim/", "/c/")
"""Pages whose address is a secret of a respondent or participant.

Their address must not be sent as a referrer: a proxy's log would link an invitation to its answers.
"""
_TO_STRANGERS = {**HEADERS, "Referrer-Policy": "strict-origin"}
_REDIRECTED = (302, 303, 307, 308)


class SecurityHeaders:
    """Middleware that adds the security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        added = _headers(path)  # computed before mounts strip their part of the path

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in added.items():
                    headers[name] = value
                if message["status"] in _REDIRECTED and path.startswith(STRANGERS):  # no form is sent from there
                    headers["Referrer-Policy"] = "no-referrer"
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _headers(path: str) -> dict[str, str]:
    headers = _TO_STRANGERS if path.startswith(STRANGERS) else HEADERS
    scripted = path.startswith(SCRIPTED) or _SCRIPTED_TOO.fullmatch(path)
    headers = {**headers, "Content-Security-Policy": _WITH_SCRIPTS} if scripted else headers
    if _TRANSCRIPT.fullmatch(path):
        headers = {**headers, "Content-Security-Policy": _WITH_AUDIO}
    if path.startswith("/static/"):
        return headers
    # Published files may be cached but are revalidated each time, so that a new report never loads items of an old
    # one.
    return {**headers, "Cache-Control": "private, no-cache" if path.startswith(PUBLISHED) else "no-store"}


_FORM = re.compile(r"(/[A-Za-z0-9._~-]+)+")


class PathPrefix:
    """Middleware that sets the root path of every request, so that links, redirects and cookies contain it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            whole = path if path == self.path or path.startswith(f"{self.path}/") else f"{self.path}{path}"
            scope = {**scope, "root_path": self.path, "path": f"{self.path}/" if whole == self.path else whole}
        await self.app(scope, receive, send)


def require_prefix(path: str, reserved: set[str]) -> str:
    """Validates a prefix such as /desk and strips its trailing slash; refuses the path of an existing page."""
    path = path.rstrip("/")
    if path and not _FORM.fullmatch(path):
        raise InputError(f"--root-path is {path!r}: write a path such as /desk")
    if path and path.split("/")[1] in reserved:
        raise InputError(f"--root-path is {path!r}, but a page of the desk has that path: choose another")
    return path
