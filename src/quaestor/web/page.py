"""Base class of the pages of a study: the open session, rendering, and redirects after a submission."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.templating import Jinja2Templates
from starlette.types import Receive, Scope, Send

from quaestor.base.names import parse_whole_number
from quaestor.coding.rating_files import RoundFile
from quaestor.evidence.ingest import list_notes
from quaestor.store.erasure import describe_pending_erasures
from quaestor.web.security.access import Visitor
from quaestor.web.study_session import StudySession
from quaestor.web.thread_pools import Pool, run_in_pool

_Found = TypeVar("_Found")
_Piece = TypeVar("_Piece", str, bytes)
_LAST_PAGE = 1_000_000


class Pages:
    """Pages of one study; the actor is always the signed-in visitor, never a form field."""

    def __init__(self, session: StudySession, templates: Jinja2Templates) -> None:
        self.session = session
        self._templates = templates

    def routes(self) -> Sequence[BaseRoute]:
        """Lists the routes; each has a name and an entry in the permission table."""
        raise NotImplementedError

    def begin(self) -> None:
        """Runs before the first request."""

    def close(self) -> None:
        """Releases resources when the desk closes."""

    async def work(self, call: Callable[[], _Found]) -> _Found:
        """Runs a blocking call in a thread, so that the event loop stays free."""
        return await run_in_pool(call)

    async def save(self, call: Callable[[], _Found]) -> _Found:
        """Runs a save in the saving pool, where it never waits for a page."""
        return await run_in_pool(call, Pool.SAVING)

    async def pending_erasures(self) -> str:
        """Describes erased data that is still in files of the study; empty if there is none."""
        return await self.work(lambda: describe_pending_erasures(self.session.latest.root))

    async def stream(self, pieces: Iterator[_Piece]) -> AsyncIterator[_Piece]:
        """Yields pieces of a large file; each is produced in a thread after the previous one was sent."""
        while (piece := await self.work(lambda: next(pieces, None))) is not None:
            yield piece

    def page(self, request: Request, template: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """Renders a page with the study name and, where it applies, the notice on synthetic evidence."""

        def rendered() -> str:
            study = self.session.latest
            shared = {"study": study.settings.study, "synthetic": "; ".join(list_notes(study)), "refused": ""}
            return self._templates.get_template(template).render({"request": request, **shared, **context})

        return _LatePage(rendered, status)

    def render(self, request: Request, template: str, context: Mapping[str, Any]) -> str:
        """Renders a fragment that a script inserts into a page."""
        return self._templates.get_template(template).render(request=request, refused="", **context)

    def go(self, request: Request, route: str, query: str = "", **path: Any) -> Response:
        """Redirects to a page after a submission, so that reloading does not submit again."""
        target = str(request.url_for(route, **path).path)
        return RedirectResponse(f"{target}?{query}" if query else target, status_code=303)


class _LatePage(HTMLResponse):
    """A page that is rendered in a thread when it is sent, so that a slow template delays no other request."""

    def __init__(self, render_page: Callable[[], str], status: int) -> None:
        super().__init__(status_code=status)
        self._render_page = render_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = self.render(await run_in_pool(self._render_page))
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def send_file(file: RoundFile) -> Response:
    """Sends a file of a round to be saved under its name."""
    saved = f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"
    return Response(file.content, media_type=file.kind, headers={"Content-Disposition": saved})


def require_visitor(request: Request) -> Visitor:
    """Returns the signed-in visitor; only public routes are reached without one."""
    account: Visitor = request.state.visitor
    return account


def parse_page_number(request: Request) -> int:
    """Returns the page number in the query; raises 404 if it is not a valid number."""
    page = parse_whole_number(request.query_params.get("page", "1"))
    if page is None or not 1 <= page <= _LAST_PAGE:
        raise HTTPException(404)
    return page
