"""A waiting funnel page does not block other pages."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send
from tests.support.desk import HERE, QUICK, closing_app, signed_in
from tests.support.settled_study import differing

from quaestor.coding.session import CodingSession
from quaestor.people.credentials import Passwords
from quaestor.web.app import make_app

_LONGEST = 5.0
"""Seconds until somebody who is kept waiting gives up, so that a test that fails also ends."""


def coding_of(app: Starlette) -> CodingSession:
    """The rounds that the pages of the funnel look at."""
    route = next(route for route in app.routes if route.name == "funnel")  # type: ignore[attr-defined]
    found: CodingSession = route.endpoint.__self__.session.coding  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("path", ["/funnel", "/funnel.svg", "/steps/1/kept"])
def test_other_pages_respond_while_one_page_waits_for_the_rounds(tmp_path: Path, path: str) -> None:
    study = differing(tmp_path / "study")
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        cookies = dict(signed_in(app, study.root).cookies)
        coding, held, answered, in_time = coding_of(app), threading.Event(), threading.Event(), []

        def hold() -> None:
            with coding.locked_state():
                held.set()
                in_time.append(answered.wait(_LONGEST))

        async def asked() -> int:
            begun = asyncio.Event()

            async def telling(scope: Scope, receive: Receive, send: Send) -> None:
                begun.set()
                await app(scope, receive, send)

            async with AsyncClient(transport=ASGITransport(app=telling), base_url=HERE, cookies=cookies) as client:
                page = asyncio.create_task(client.get(path))
                await begun.wait()
                assert (await client.get("/health")).status_code == 200
                answered.set()
                return (await page).status_code

        holder = threading.Thread(target=hold)
        holder.start()
        assert held.wait(_LONGEST)
        status = asyncio.run(asked())
        holder.join()
        assert (status, in_time) == (200, [True])
