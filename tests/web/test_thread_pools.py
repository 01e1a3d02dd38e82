from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates
from tests.support.paths import ROOT

from quaestor.web.app import make_app
from quaestor.web.page import Pages
from quaestor.web.security.permissions import PERMISSIONS_BY_ROUTE
from quaestor.web.study_session import StudySession
from quaestor.web.thread_pools import AT_WORK, WITHOUT_ACCOUNT, Pool, ThreadPools, choose_pool

MANY = 50
"""More requests than all pools have threads."""
PATIENCE = 10.0
"""Seconds after which something that waits for the readers is known to wait; nothing that is right takes that long."""


class BusyPages(Pages):
    """A page for readers that takes until it is let go, and what raters and respondents send meanwhile."""

    def __init__(self, opened: StudySession) -> None:
        templates = Environment(loader=DictLoader({"page.html": "{{ thread() }}"}), autoescape=True)
        super().__init__(opened, Jinja2Templates(env=templates))
        self.let_go = threading.Event()
        self.begun: list[str] = []

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/themes", self.slow, name="interview-themes"),
            Route("/ratings", self.quick, methods=["POST"], name="give"),
            Route("/ahead", self.quick, name="ahead"),
            Route("/s/survey", self.quick, methods=["GET", "POST"], name="answer"),
            Route("/rendered", self.rendered, name="home"),
            Route("/file.csv", self.file, name="evidence-csv"),
            Route("/health", self.unpooled, name="health"),
        ]

    async def slow(self, request: Request) -> Response:
        def compute() -> None:
            self.begun.append(request.url.query)
            self.let_go.wait()

        await self.work(compute)
        return PlainTextResponse("computed")

    async def quick(self, request: Request) -> Response:
        return PlainTextResponse(await self.work("saved".lower))

    async def file(self, request: Request) -> Response:
        def pieces() -> Iterator[str]:
            yield "head\n"
            self.begun.append(request.url.query)
            self.let_go.wait()
            yield "rest\n"

        return StreamingResponse(self.stream(pieces()))

    async def unpooled(self, request: Request) -> Response:
        return PlainTextResponse(await run_in_threadpool("saved".lower))  # as static files and sign-in are served

    async def rendered(self, request: Request) -> Response:
        return self.page(request, "page.html", {"thread": threading.get_ident})


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[BusyPages]:
    (tmp_path / "study.toml").write_text('[study]\nname = "s"\n', "utf-8")
    pages = BusyPages(StudySession(tmp_path))
    yield pages
    pages.let_go.set()
    pages.session.close()


@pytest.fixture
def app(busy: BusyPages) -> Starlette:
    return Starlette(routes=busy.routes(), middleware=[Middleware(ThreadPools)])


async def ask(app: Starlette, method: str, path: str, query: str = "", left: anyio.Event | None = None) -> bytes:
    """One request as a server would make it; its client leaves when `left` is set. What it was answered."""
    received: list[dict[str, Any]] = [{"type": "http.request", "body": b"", "more_body": False}]
    body = b""

    async def receive() -> dict[str, Any]:
        if received:
            return received.pop()
        await (left or anyio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal body
        body += message.get("body", b"")

    scope = {
        "type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": [],
        "root_path": "", "scheme": "http", "server": ("127.0.0.1", 80), "http_version": "1.1",
    }  # fmt: skip
    await app(scope, receive, send)
    return body


@pytest.mark.parametrize("slow", ["/themes", "/file.csv"])
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/ratings"), ("GET", "/ahead"), ("POST", "/s/survey"), ("GET", "/health")]
)
def test_many_slow_readers_leave_threads_for_other_requests(
    app: Starlette, busy: BusyPages, method: str, path: str, slow: str
) -> None:
    answers: list[bytes] = []

    async def attack() -> None:
        async with anyio.create_task_group() as readers:
            for _ in range(MANY):
                readers.start_soon(ask, app, "GET", slow)
            await anyio.wait_all_tasks_blocked()
            with anyio.move_on_after(PATIENCE):
                answers.append(await ask(app, method, path))
            busy.let_go.set()

    anyio.run(attack)
    assert answers == [b"saved"]
    assert len(busy.begun) == MANY


def test_a_page_whose_client_disconnected_while_waiting_is_not_computed(app: Starlette, busy: BusyPages) -> None:
    async def leave() -> bool:
        left = anyio.Event()
        async with anyio.create_task_group() as readers:
            for number in range(Pool.READING.threads):
                readers.start_soon(ask, app, "GET", "/themes", f"stays {number}")
            await anyio.wait_all_tasks_blocked()
            with anyio.move_on_after(PATIENCE) as patience:
                async with anyio.create_task_group() as leaving:
                    for number in range(MANY):
                        leaving.start_soon(ask, app, "GET", "/themes", f"leaves {number}", left)
                    await anyio.wait_all_tasks_blocked()
                    left.set()
            busy.let_go.set()
        return not patience.cancelled_caught

    assert anyio.run(leave), "a request went on waiting though its client had left"
    assert len(busy.begun) == Pool.READING.threads
    assert all(one.startswith("stays") for one in busy.begun)


def test_a_submission_is_recorded_even_if_its_client_disconnected(app: Starlette) -> None:
    async def leave() -> bytes:
        left = anyio.Event()
        left.set()
        return await ask(app, "POST", "/ratings", left=left)

    assert anyio.run(leave) == b"saved"


def test_a_page_is_rendered_in_a_worker_thread(app: Starlette) -> None:
    async def load() -> tuple[bytes, int]:
        return await ask(app, "GET", "/rendered"), threading.get_ident()

    body, loop_thread = anyio.run(load)
    assert int(body) != loop_thread


def test_every_route_has_a_pool_and_reading_has_the_smallest(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[study]\nname = "s"\n', "utf-8")
    app = make_app(tmp_path)
    app.state.let_go()
    named = {str(getattr(route, "name", "")) for route in app.routes}
    assert named >= AT_WORK | WITHOUT_ACCOUNT
    assert choose_pool("interview-themes", "GET") is Pool.READING
    assert choose_pool("give", "POST") is Pool.ACTS
    assert choose_pool(None, "GET") is Pool.READING
    assert min(Pool, key=lambda one: one.threads) is Pool.READING
    assert {PERMISSIONS_BY_ROUTE[name] for name in WITHOUT_ACCOUNT} == {"public"}


@pytest.mark.slow
def test_the_reference_lists_every_pool_with_its_threads() -> None:
    page = (ROOT / "docs/reference/serving.md").read_text("utf-8")
    for pool in Pool:
        assert f"| {pool.label} | {pool.threads} |" in page
