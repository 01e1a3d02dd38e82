"""Thread pools: each kind of request has its own threads, so that readers never delay a save.

A thread that computes holds Python's lock for most of its time, so a pool is also a share of the processor: ten
readers in one thread slow a save down as much as one reader does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from enum import Enum
from typing import TypeVar

import anyio
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quaestor.web.security.access import route_name

_Result = TypeVar("_Result")
_SAFE = ("GET", "HEAD")


class Pool(Enum):
    """A kind of request, and how many threads its requests share."""

    ACTS = "acts", 16
    """Submissions of signed-in people."""
    SAVING = "saving", 8
    """Waiting for the disk: at most one thread per file; others share its commit."""
    WORK = "work", 3
    """Pages of people at work: raters, and interviewers during an interview."""
    STRANGERS = "strangers", 3
    """Respondents and participants."""
    READING = "reading", 2
    """Every other page; some of them take seconds."""

    def __init__(self, label: str, threads: int) -> None:
        self.label = label
        self.threads = threads


AT_WORK = frozenset({"rate", "ahead", "mine", "coding", "coding-transcript", "interview-conduct", "interview-since"})
WITHOUT_ACCOUNT = frozenset(
    {
        "answer-begin", "answer", "answer-end", "answer-withdraw", "claim", "invitation", "invitation-stop", "consent",
        "consent-withdraw",
    }
)  # fmt: skip
"""Routes of respondents and participants, who have a link and no account."""

_pool: ContextVar[Pool] = ContextVar("pool", default=Pool.ACTS)
_limiters: RunVar[dict[Pool, anyio.CapacityLimiter]] = RunVar("thread pools")


def choose_pool(route: str | None, method: str) -> Pool:
    """Returns the pool for a request."""
    if route in WITHOUT_ACCOUNT:
        return Pool.STRANGERS
    if method not in _SAFE:
        return Pool.ACTS
    return Pool.WORK if route in AT_WORK else Pool.READING


async def run_in_pool(call: Callable[[], _Result], pool: Pool | None = None) -> _Result:
    """Runs a blocking call in a thread of the given pool; default: the pool of the current request."""
    limiters = _limiters.get(None)
    if limiters is None:
        limiters = {pool: anyio.CapacityLimiter(pool.threads) for pool in Pool}
        _limiters.set(limiters)
    return await run_sync(call, limiter=limiters[pool or _pool.get()])


class ThreadPools:
    """Middleware that assigns every request its pool and cancels a page whose client has disconnected.

    A call that already runs in a thread finishes; a call that waits for a thread never starts.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        before = _pool.set(choose_pool(route_name(scope), scope["method"]))
        try:
            if scope["method"] in _SAFE:
                await _answer_while_connected(self.app, scope, receive, send)
            else:
                await self.app(scope, receive, send)
        finally:
            _pool.reset(before)


async def _answer_while_connected(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    cancelling = anyio.CancelScope()
    has_body = True

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            continue  # a GET request has no body
        cancelling.cancel()

    async def receive_nothing() -> Message:
        nonlocal has_body
        if has_body:
            has_body = False
            return {"type": "http.request", "body": b"", "more_body": False}
        return await receive()

    async def send_and_stop_watching(message: Message) -> None:
        # A response that has started is not cancelled: streaming responses watch for the disconnect themselves.
        watching.cancel()
        await send(message)

    watching = asyncio.ensure_future(watch())
    try:
        with cancelling:
            await app(scope, receive_nothing, send_and_stop_watching)
    finally:
        watching.cancel()
