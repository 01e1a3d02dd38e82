"""Headers that keep a page from doing more than it should."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_WITH_SCRIPTS = f"{_POLICY}; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
PUBLISHED = ("/report/", "/handbook/")
SCRIPTED = (*PUBLISHED, "/rounds/")
"""Published pages list items and search, and raters go on by keyboard, with scripts from here and nowhere else."""
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With no-referrer a browser sends a form of ours with `Origin: null`, and we could not know it for ours.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SafeHeaders:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        added = _headers(scope)  # before the routes take their part of the path for themselves

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in added.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _headers(scope: Scope) -> dict[str, str]:
    path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
    found = {**HEADERS, "Content-Security-Policy": _WITH_SCRIPTS} if path.startswith(SCRIPTED) else HEADERS
    if path.startswith("/static/"):
        return found
    # What is published may be kept, as long as it is asked for each time: a page of a new report never meets the
    # items of an old one.
    return {**found, "Cache-Control": "private, no-cache" if path.startswith(PUBLISHED) else "no-store"}
