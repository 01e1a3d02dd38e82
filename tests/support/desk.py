"""Browsers without a window for tests of the desk: they keep cookies, and send forms as a page's own would be sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from httpx2 import Client, Response
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from quaestor.base.clock import Clock, now
from quaestor.people.directory import Directory
from quaestor.people.membership import PEOPLE_FILE
from quaestor.people.roles import Role

HERE = "http://127.0.0.1"
CHOSEN = "a few plain words"
QUICK = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
"""Argon2id all the same, for tests that ask for it a hundred times."""
NAMES = {
    Role.LEAD: "lead",
    Role.RATER: "rater-1",
    Role.TIE_BREAKER: "tie-breaker",
    Role.VIEWER: "reader",
    Role.REVIEWER: "journal",
    Role.PAYER: "payer",
    Role.INTERVIEWER: "interviewer",
}


class SetClock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **duration: float) -> None:
        self.now += timedelta(**duration)


def browser(app: ASGIApp, address: str = HERE, client: str = "127.0.0.1") -> TestClient:
    return TestClient(app, base_url=address, client=(client, 50000), follow_redirects=False)


@contextmanager
def in_one_loop(visitor: TestClient) -> Iterator[None]:
    """Answers all requests of a visitor in one event loop: else each request begins a loop and a thread of its own."""
    with start_blocking_portal() as portal:
        visitor.portal = portal
        try:
            yield
        finally:
            visitor.portal = None


@contextmanager
def closing_app(app: Starlette) -> Iterator[Starlette]:
    """An application that several browsers visit, and that lets its people go at the end."""
    try:
        yield app
    finally:
        app.state.let_go()


def csrf_in(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found, page
    return found[1]


def post(opened: Client, path: str, fields: Mapping[str, str], page: str | None = None) -> Response:
    """Open a page, fill in its form and send it, as a browser does."""
    shown = opened.get(page or path)
    data = {"csrf": csrf_in(shown.text), **fields}
    return opened.post(path, data=data, headers={"origin": str(opened.base_url).rstrip("/")})


def invited(study: Path, role: Role, name: str | None = None, clock: Clock = now, days: int = 7) -> str:
    """The token of a new link."""
    with Directory(study / PEOPLE_FILE) as directory:
        return directory.invite(name or NAMES[role], role, clock(), timedelta(days=days))[0]


def join(opened: TestClient, token: str, password: str = CHOSEN) -> None:
    answer = post(opened, f"/join/{token}", {"password": password, "again": password})
    assert answer.status_code == 303, answer.text


def signed_in(app: Starlette, study: Path, role: Role = Role.LEAD, clock: Clock = now) -> TestClient:
    """A browser of somebody with a role, who came by a link."""
    opened = browser(app)
    join(opened, invited(study, role, clock=clock))
    return opened
