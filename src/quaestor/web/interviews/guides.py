"""Interview guides to be read, thought about and printed: the time of each section, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError
from quaestor.base.names import parse_whole_number
from quaestor.interviews.guide_versions import guide_lines, guide_sheet
from quaestor.web.navigation import link_to
from quaestor.web.page import Pages


class GuidePages(Pages):
    """Guides as they are and as interviews used them; files are written in an editor, not here."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/interviews/guides", self.guides, methods=["GET"], name="guides"),
            Route("/interviews/guides/{name}", self.guide, methods=["GET"], name="guide"),
        ]

    async def guides(self, request: Request) -> Response:
        found = await self.work(lambda: guide_lines(self.opened.latest, self.opened.interviews_if_any))
        return self.page(request, "guides.html", {"guides": found, **_shared(request)})

    async def guide(self, request: Request) -> Response:
        name, version = request.path_params["name"], _version(request.query_params.get("version", ""))
        found = await self.work(lambda: guide_sheet(self.opened.latest, self.opened.interviews_if_any, name, version))
        return self.page(request, "guide.html", {"sheet": found, **_shared(request)})


def _version(text: str) -> int | None:
    if not text:
        return None
    found = parse_whole_number(text)
    if found is None:
        raise InputError(f"{text[:40]!r} is no version of a guide: versions are 1, 2 and so on")
    return found


def _shared(request: Request) -> dict[str, Any]:
    return {"link_to": lambda route, query=None, **path: link_to(request, route, query, **path)}
