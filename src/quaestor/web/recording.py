"""Waiting for the disk together: whoever comes while it is busy shares the next commit, and holds no thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol


class InLine(Protocol):
    """Something that waits to be recorded; it has an outcome when it is."""

    @property
    def outcome(self) -> object: ...


class Together:
    """Records what stands in one line; `work` runs a call beside the loop."""

    def __init__(self, work: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        self._work = work
        self._recording: asyncio.Future[None] | None = None

    async def record(self, waiting: InLine, record: Callable[[], None]) -> None:
        """Come back when something that was put in the line has its outcome; `record` records all that stand in it."""
        while waiting.outcome is None:
            if self._recording is None or self._recording.done():
                self._recording = asyncio.ensure_future(self._work(record))
            await asyncio.shield(self._recording)
