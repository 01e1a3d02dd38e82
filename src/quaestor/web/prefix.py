"""A desk under a path of another site, whether the proxy before it takes the path off or leaves it on."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from quaestor.base.errors import InputError

_FORM = re.compile(r"(/[A-Za-z0-9._~-]+)+")


class Prefixed:
    """Puts the path before every request, so that links, redirects and the cookie carry it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            whole = path if path == self.path or path.startswith(f"{self.path}/") else f"{self.path}{path}"
            scope = {**scope, "root_path": self.path, "path": f"{self.path}/" if whole == self.path else whole}
        await self.app(scope, receive, send)


def checked_prefix(path: str, taken: set[str]) -> str:
    """A path such as /desk without its last stroke; a page's own path would leave it open which is meant."""
    path = path.rstrip("/")
    if path and not _FORM.fullmatch(path):
        raise InputError(f"--root-path is {path!r}: write a path such as /desk")
    if path and path.split("/")[1] in taken:
        raise InputError(f"--root-path is {path!r}, and a page of the desk has that path: take another")
    return path
