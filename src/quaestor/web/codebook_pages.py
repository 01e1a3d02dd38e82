"""The codebook to look at: its tree, one code, its changes, two versions side by side, and its file."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.numbers import whole_number
from quaestor.people.roles import Permission
from quaestor.study.codes.room import CodebookRoom
from quaestor.study.kept_open import KeptOpen
from quaestor.study.sight import Viewer
from quaestor.web.matrix import MATRIX, PUBLIC
from quaestor.web.page import Pages, visitor


class CodebookPages(Pages):
    """What everybody signed in may read of the codebook."""

    def __init__(self, opened: KeptOpen, templates: Jinja2Templates, room: CodebookRoom) -> None:
        super().__init__(opened, templates)
        self._room = room
        environment: Environment = templates.env
        environment.globals["items_of_code"] = _items_of_code

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/codebook", self.codebook, methods=["GET"], name="codebook"),
            Route("/codebook/code", self.code, methods=["GET"], name="code"),
            Route("/codebook/history", self.history, methods=["GET"], name="codebook-history"),
            Route("/codebook/diff", self.diff, methods=["GET"], name="codebook-diff"),
            Route("/codebook.toml", self.file, methods=["GET"], name="codebook-file"),
        ]

    async def codebook(self, request: Request) -> Response:
        """The tree, or as much of it as answers a search."""
        who, asked = viewer(request), request.query_params
        version, query, facet = number_in(request, "version"), asked.get("q", "").strip(), asked.get("facet", "")
        looked = await self.work(lambda: self._room.look(who, version, query, facet))
        context = {"looked": looked, "shown": looked.shown, "query": query, "facet": facet}
        return self.page(request, "codebook.html", context)

    async def code(self, request: Request) -> Response:
        """One code with all that is known about it."""
        who, name = viewer(request), request.query_params.get("code", "")
        if not name:
            return self.go(request, "codebook")
        version = number_in(request, "version")
        shown, page = await self.work(lambda: self._room.code(who, name, version))
        reads = visitor(request).can(Permission.READ_EVIDENCE)
        titles = await self.work(lambda: self._room.titles(page.examples)) if reads and page.examples else {}
        return self.page(request, "code.html", {"shown": shown, "one": page, "code": page.code, "titles": titles})

    async def history(self, request: Request) -> Response:
        who = viewer(request)
        changes = await self.work(lambda: self._room.changes(who))
        return self.page(request, "codebook_history.html", {"changes": changes})

    async def diff(self, request: Request) -> Response:
        """Two versions; what differs is marked word by word."""
        who, before, after = viewer(request), number_in(request, "before"), number_in(request, "after")
        old, new, found = await self.work(lambda: self._room.compare(who, before, after))
        last = (await self.work(lambda: self._room.book(who))).version
        return self.page(request, "codebook_diff.html", {"before": old, "after": new, "last": last, "found": found})

    async def file(self, request: Request) -> Response:
        who, version = viewer(request), number_in(request, "version")
        text = await self.work(lambda: self._room.file(who, version))
        headers = {"content-disposition": 'attachment; filename="codebook.toml"'}
        return Response(text, media_type="application/toml", headers=headers)


def viewer(request: Request) -> Viewer:
    who = visitor(request)
    return Viewer(who.name, who.role)


def number_in(request: Request, name: str) -> int | None:
    """A version that an address asks for."""
    text = request.query_params.get(name, "")
    if not text:
        return None
    number = whole_number(text)
    if number is None:
        raise HTTPException(404)
    return number


def _items_of_code(request: Request, code: str) -> str:
    """Where the items with a code are found; empty for those who read no evidence."""
    needed = MATRIX.get("evidence")
    if needed is None or needed == PUBLIC or not visitor(request).can(needed):
        return ""
    return f"{request.url_for('evidence').path}?{urlencode({'code': code})}"
