"""Group commit: writes that arrive while the disk is busy share one transaction; each has its own outcome."""

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
    """A write to be recorded, with its outcome afterwards."""

    outcome: _Result | BaseException | None = field(default=None, init=False)

    def result(self) -> _Result:
        """Returns the recorded result, or raises the error that prevented it."""
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        if self.outcome is None:
            raise RuntimeError("this write has not been recorded yet")
        return self.outcome


_Write = TypeVar("_Write", bound=PendingWrite[Any])


class GroupCommit(Generic[_Write]):
    """A queue of writes to one file, shared by threads and by the coroutines of an event loop.

    `record_batch` records a batch in one transaction and returns an outcome for each write, while `lock` is held. If it
    raises an error, nothing of the batch is recorded, and each write is tried alone.
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
        """Queues a write; the next call of `record` by any thread records it."""
        self._queue.append(write)

    def record(self) -> None:
        """Records all queued writes durably; afterwards each has its outcome."""
        with self._lock:
            batch = []
            while self._queue:
                batch.append(self._queue.popleft())
            if batch:
                self._record(batch)

    async def wait(self, write: _Write, run: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
        """Waits for the outcome of a queued write without blocking a thread; `run` runs a call in a thread."""
        while write.outcome is None:
            if self._recording is None or self._recording.done():
                self._recording = asyncio.ensure_future(run(self.record))
            # Shielded: a client that disconnects must not cancel the commit that others wait for.
            await asyncio.shield(self._recording)

    def _record(self, batch: Sequence[_Write]) -> None:
        try:
            outcomes = self._record_batch(batch)
        except BaseException as error:  # noqa: BLE001 - `PendingWrite.result` raises it for the caller
            if len(batch) > 1 and isinstance(error, Exception):
                for write in batch:
                    self._record([write])
                return
            outcomes = [error for _ in batch]
        for write, outcome in zip(batch, outcomes, strict=True):
            write.outcome = outcome
