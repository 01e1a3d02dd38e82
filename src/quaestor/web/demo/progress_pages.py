"""Demo pages: the progress of the demo, then its desk at the same address."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import Message, Receive, Scope, Send

from quaestor import __version__
from quaestor.demo.progress import DemoProgress, Event
from quaestor.render.design_tokens import ICON, TOKENS
from quaestor.web.security.headers import HEADERS, SecurityHeaders

if TYPE_CHECKING:
    from quaestor.demo.folder import JoinLinks
    from quaestor.demo.survey import SurveyCounts
from dataclasses import dataclass

from quaestor.base.names import count_of

if TYPE_CHECKING:
    from quaestor.demo.folder import JoinLinks
    from quaestor.demo.progress import DemoProgress


PAGE = "/demo"
HOSTS = ("127.0.0.1", "localhost")
"""Host names that the demo answers to; any other is refused, against DNS rebinding."""
_HERE = Path(str(resources.files("quaestor.web")))
_SCRIPTED = {
    **HEADERS,
    "Content-Security-Policy": f"{HEADERS['Content-Security-Policy']}; script-src 'self'; connect-src 'self'",
    "Cache-Control": "no-store",
}
_WATCHED = 5.0
"""Seconds without a poll after which the page counts as closed."""


class DemoPages:
    """Shows the progress of a demo; once its desk is ready, passes all other requests to it.

    Its page shows the links into the desk, which is why it is for a demo on this machine and for nothing else.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._way = DemoProgress()
        self._desk: Starlette | None = None
        self._doors: JoinLinks | None = None
        self._templates = _templates()
        self._looked = float("-inf")
        self._failure_shown = threading.Event()
        self._lasting = AsyncExitStack()
        self._entering = asyncio.Lock()
        self._is_desk_started = False
        safe = [Middleware(SecurityHeaders)]
        self._pages = Starlette(
            routes=[
                Route(PAGE, self._page, name="under-way"),
                Route("/static/tokens.css", _tokens, middleware=safe),
                Route("/static/mark.svg", _icon, middleware=safe),
                Mount("/static", StaticFiles(directory=_HERE / "static"), name="static", middleware=safe),
                Route("/{path:path}", _to_page, middleware=safe),
            ],
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False)],
            lifespan=self._run_lifespan,
        )

    def record_event(self, event: Event) -> None:
        """Records an event of the demo; thread-safe."""
        self._way = self._way.apply(event)

    def hand_over(self, desk: Starlette, doors: JoinLinks) -> None:
        """Makes the desk available; thread-safe."""
        desk.state.demo_step = self._find_next_step
        self._desk, self._doors = desk, doors

    def wait_until_failure_is_shown(self, seconds: float = 3.0) -> None:
        """Waits until an open page has polled once more."""
        if time.monotonic() - self._looked < _WATCHED:
            self._failure_shown.wait(seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        desk = await self._start_desk() if scope["type"] == "http" else None
        if desk is None or path == PAGE:
            await self._pages(scope, receive, send)
        else:
            await desk(scope, receive, _redirect_sign_in(send) if path == "/" else send)

    async def _start_desk(self) -> Starlette | None:
        """Starts the lifespan of the desk, as a server would."""
        desk = self._desk
        if desk is None or self._is_desk_started:
            return desk
        async with self._entering:
            if not self._is_desk_started:
                await self._lasting.enter_async_context(desk.router.lifespan_context(desk))
                self._is_desk_started = True
        return desk

    @asynccontextmanager
    async def _run_lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self._lasting:
            yield
            await self._start_desk()  # also closes a desk that was never requested

    async def _page(self, request: Request) -> Response:
        way, doors = self._way, self._doors
        self._looked = time.monotonic()
        left = None if doors is None else await run_in_threadpool(self._find_unused_links, doors)
        so_far = await run_in_threadpool(self._survey_so_far) if way.survey and doors is not None else None
        following = await run_in_threadpool(self._find_next_step)
        context = {"next_step": following, "way": way, "doors": left, "survey": so_far, "version": __version__}
        shown = self._templates.TemplateResponse(request, "under_way.html", context, headers=_SCRIPTED)
        if way.failure:
            self._failure_shown.set()
        return shown

    def _find_next_step(self) -> VisitorStep | None:
        """Finds what the visitor does next; reads only what is needed to know it."""
        desk, doors = self._desk, self._doors
        if desk is None or doors is None:
            return None
        from quaestor.demo.folder import VISITOR

        links = self._find_unused_links(doors)
        visitor = VisitorProgress(links, () if links.visitor else desk.state.list_left(VISITOR))
        if not links.visitor and not visitor.left:
            survey = self._survey_so_far() if self._way.survey else None
            visitor = VisitorProgress(links, (), survey is None or survey.people > 0)
        return choose_next_step(self._way, visitor)

    def _find_unused_links(self, doors: JoinLinks) -> JoinLinks:
        from quaestor.demo.folder import drop_used_links
        from quaestor.study.folder import open_study

        return drop_used_links(open_study(self._folder), doors)

    def _survey_so_far(self) -> SurveyCounts | None:
        from quaestor.demo.survey import count_survey_responses
        from quaestor.study.folder import open_study

        return count_survey_responses(open_study(self._folder))


def _templates() -> Jinja2Templates:
    loader = FileSystemLoader(_HERE / "templates")
    environment = Environment(
        loader=loader,
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return Jinja2Templates(env=environment)


def _redirect_sign_in(send: Send) -> Send:
    """Redirects from the sign-in page to the demo page with its links."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("location", "").startswith("/sign-in"):
                headers["location"] = PAGE
        await send(message)

    return sending


async def _to_page(request: Request) -> Response:
    return RedirectResponse(PAGE, 303)


async def _tokens(request: Request) -> Response:
    return FileResponse(TOKENS, media_type="text/css")


async def _icon(request: Request) -> Response:
    return FileResponse(ICON, media_type="image/svg+xml")


@dataclass(frozen=True)
class VisitorStep:
    """What a visitor does next, and where."""

    words: str
    path: str


@dataclass(frozen=True)
class VisitorProgress:
    """What a visitor has done so far; links are None once they are used."""

    links: JoinLinks | None = None
    left: tuple[tuple[str, int], ...] = ()
    """The visitor's round with the number of posts that are not rated; empty once all are."""
    survey_answered: bool = False


def choose_next_step(demo: DemoProgress, visitor: VisitorProgress) -> VisitorStep | None:
    """Returns the first thing that the visitor has not done; none if the demo stopped or has no desk yet."""
    links = visitor.links
    if demo.failure or links is None:
        return None
    if links.visitor:
        return VisitorStep("Join as a visitor", f"/join/{links.visitor}")
    for name, left in visitor.left:
        return VisitorStep(f"Rate {count_of(left, 'post')}", f"/rounds/{name}/rate")
    if demo.survey and not visitor.survey_answered:
        return VisitorStep("Answer the survey", f"/s/{demo.survey}")
    if links.lead:
        return VisitorStep("Sign in as the lead and see the whole study", f"/join/{links.lead}")
    if demo.is_running:
        return VisitorStep("Follow the remaining steps until the report is built", "/demo#steps-heading")
    return VisitorStep("Read the report", "/report/")
