"""What the pages of a study share: the study kept open, how a page is made, and how one answers after an act."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.templating import Jinja2Templates
from starlette.types import Receive, Scope, Send

from quaestor.base.names import parse_whole_number
from quaestor.evidence.ingest import list_notes
from quaestor.store.erasure import describe_pending_erasures
from quaestor.web.security.access import Visitor
from quaestor.web.study_session import KeptOpen
from quaestor.web.thread_pools import Pool, run_in_pool

_Found = TypeVar("_Found")
_Piece = TypeVar("_Piece", str, bytes)
_LAST_PAGE = 1_000_000


class Pages:
    """Pages of one study; who asks is the signed-in visitor, never a field of a form."""

    def __init__(self, opened: KeptOpen, templates: Jinja2Templates) -> None:
        self.opened = opened
        self._templates = templates

    def routes(self) -> Sequence[BaseRoute]:
        """Where these pages are; each route has a name, and a row in the matrix."""
        raise NotImplementedError

    def begin(self) -> None:
        """What these pages have to do before anybody comes."""

    def close(self) -> None:
        """What they have to let go of when the desk closes."""

    async def work(self, call: Callable[[], _Found]) -> _Found:
        """What touches disk or takes time, beside the loop that answers others."""
        return await run_in_pool(call)

    async def save(self, call: Callable[[], _Found]) -> _Found:
        """The same for what waits for the disk, which never waits for a page."""
        return await run_in_pool(call, Pool.SAVING)

    async def pending_erasures(self) -> str:
        """What was erased and can still be found in files of the study, in words; empty where there is nothing."""
        return await self.work(lambda: describe_pending_erasures(self.opened.latest.root))

    async def stream(self, pieces: Iterator[_Piece]) -> AsyncIterator[_Piece]:
        """Pieces of a large file, each made in a thread of the request's pool when the one before it has been sent."""
        while (piece := await self.work(lambda: next(pieces, None))) is not None:
            yield piece

    def page(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """A page with what every page of a study shows: its name, and that its evidence is synthetic where it is."""

        def rendered() -> str:
            study = self.opened.latest
            shared = {"study": study.settings.study, "synthetic": "; ".join(list_notes(study)), "refused": ""}
            return self._templates.get_template(template).render({"request": request, **shared, **context})

        return _LatePage(rendered, status)

    def render(self, request: Request, template: str, context: Mapping[str, Any]) -> str:
        """A part of a page, for a script that puts it in its place."""
        return self._templates.get_template(template).render(request=request, refused="", **context)

    def go(self, request: Request, route: str, query: str = "", **path: Any) -> Response:
        """On to a page after something was done, so that loading it again does nothing twice."""
        target = str(request.url_for(route, **path).path)
        return RedirectResponse(f"{target}?{query}" if query else target, status_code=303)


class _LatePage(HTMLResponse):
    """A page that is rendered as it is sent, in a thread: what takes long to render holds nobody else up."""

    def __init__(self, render_page: Callable[[], str], status: int) -> None:
        super().__init__(status_code=status)
        self._render_page = render_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = self.render(await run_in_pool(self._render_page))
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def visitor(request: Request) -> Visitor:
    """Who asks; no page is reached by nobody unless the matrix says so."""
    account: Visitor = request.state.visitor
    return account


def page_asked(request: Request) -> int:
    """Which page of a long list an address asks for; there is no other than a numbered one."""
    page = parse_whole_number(request.query_params.get("page", "1"))
    if page is None or not 1 <= page <= _LAST_PAGE:
        raise HTTPException(404)
    return page
