"""Group commit: whatever arrives while the disk is busy is recorded in one transaction, each with its own outcome."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

_Result = TypeVar("_Result")


@dataclass(eq=False)
class PendingWrite(Generic[_Result]):
    """Something to be recorded, and its outcome once it is."""

    outcome: _Result | BaseException | None = field(default=None, init=False)

    def result(self) -> _Result:
        """What was recorded; raises why it was not."""
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        if self.outcome is None:
            raise RuntimeError("nobody has recorded this yet")
        return self.outcome


_Write = TypeVar("_Write", bound=PendingWrite[Any])


class GroupCommit(Generic[_Write]):
    """A queue of writes to one file, shared by threads and by the coroutines of an event loop.

    `record_batch` records a batch in one transaction and returns an outcome for each write of it; `lock` is held
    meanwhile. Where it raises, nothing of the batch is recorded, and each write of it is tried alone.
    """

    def __init__(
        self,
        record_batch: Callable[[Sequence[_Write]], Sequence[object]],
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._record_batch = record_batch
        self._lock = threading.Lock() if lock is None else lock
        self._queue: deque[_Write] = deque()
        self._recording: asyncio.Future[None] | None = None

    def add(self, write: _Write) -> None:
        """Queue a write; the next call of `record`, by anybody, records it."""
        self._queue.append(write)

    def record(self) -> None:
        """Record everything queued; on return each write has its outcome, and the disk has it."""
        with self._lock:
            batch = []
            while self._queue:
                batch.append(self._queue.popleft())
            if batch:
                self._record(batch)

    async def wait(self, write: _Write, run: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        """Return when a queued write has its outcome, without holding a thread; `run` runs a call in a thread."""
        while write.outcome is None:
            if self._recording is None or self._recording.done():
                self._recording = asyncio.ensure_future(run(self.record))
            # Shielded: a client that leaves must not cancel the commit that others wait for.
            await asyncio.shield(self._recording)

    def _record(self, batch: Sequence[_Write]) -> None:
        try:
            outcomes = self._record_batch(batch)
        except BaseException as error:  # noqa: BLE001 - raised by `PendingWrite.result`, where the write was asked for
            if len(batch) > 1 and isinstance(error, Exception):
                for write in batch:
                    self._record([write])
                return
            outcomes = [error for _ in batch]
        for write, outcome in zip(batch, outcomes, strict=True):
            write.outcome = outcome
