"""Work on the parts of a table in several processes at once.

Part number i goes to lane i modulo the number of lanes, so what a lane writes, and in which order,
depends on the input alone and not on which process was faster.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from quaestor.base.errors import QuaestorError
from quaestor.evidence.sources.protocol import Progress, TableCounts
from quaestor.evidence.sources.stackexchange.arrow_buffers import distinct

Part_contra = TypeVar("Part_contra", contravariant=True)
PartType = TypeVar("PartType")

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt in malloc.h


@dataclass
class WorkerResult:
    """What a lane reports when it has finished: counts, and ids that later tables are chosen by."""

    counts: TableCounts = field(default_factory=TableCounts)
    posts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    users: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __add__(self, other: WorkerResult) -> WorkerResult:
        return WorkerResult(
            self.counts + other.counts,
            distinct(np.concatenate([self.posts, other.posts])),
            distinct(np.concatenate([self.users, other.users])),
        )


class Worker(Protocol[Part_contra]):
    """Does the work of one lane."""

    def process(self, part: Part_contra) -> int:
        """Work on a part and tell how many bytes of text it was."""
        ...

    def finish(self) -> WorkerResult: ...


class Job(Protocol[Part_contra]):
    """Travels to each lane and makes its worker there."""

    def start(self, lane: int) -> Worker[Part_contra]: ...


class WorkerFailed(QuaestorError):
    """A lane's process ended without a word, as when the machine ran out of memory."""


def default_worker_count() -> int:
    """One lane for each core this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, 16))


def run_workers(
    job: Job[PartType], parts: Iterable[PartType], worker_count: int, progress: Progress, what: str, total: int
) -> WorkerResult:
    """Give out all parts and add up what the lanes report."""
    crew = _Crew(job, worker_count)
    try:
        with _watch(crew, progress, what, total):
            for number, part in enumerate(parts):
                crew.send(number % worker_count, part)
            return crew.finish()
    finally:
        crew.dismiss()


class _Crew(Generic[PartType]):
    """The processes of one run and the pipes to them."""

    def __init__(self, job: Job[PartType], lanes: int) -> None:
        # A fork starts in milliseconds; elsewhere it is unsafe, and processes start anew.
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self.done = [context.RawValue("q", 0) for _ in range(lanes)]
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        for lane in range(lanes):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_work, args=(job, lane, theirs, self.done[lane], list(self._pipes)), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def send(self, lane: int, part: PartType) -> None:
        try:
            self._pipes[lane].send(part)
        except (BrokenPipeError, ConnectionResetError):
            self._receive(lane)
            raise WorkerFailed(
                "a worker process ended before its work was done: free some memory and try again"
            ) from None

    def finish(self) -> WorkerResult:
        for lane in range(len(self._pipes)):
            self.send(lane, None)  # type: ignore[arg-type]
        outcome = WorkerResult()
        for lane in range(len(self._pipes)):
            outcome += self._receive(lane)
        return outcome

    def _receive(self, lane: int) -> WorkerResult:
        try:
            answer = self._pipes[lane].recv()
        except (EOFError, ConnectionResetError):
            raise WorkerFailed(
                "a worker process ended before its work was done: free some memory and try again"
            ) from None
        if isinstance(answer, BaseException):
            raise answer
        return cast(WorkerResult, answer)

    def dismiss(self) -> None:
        for process in self._processes:
            if process.is_alive():
                process.terminate()
            process.join()
        for pipe in self._pipes:
            pipe.close()


def _keep_memory() -> None:
    """Let freed memory be used again instead of going back to the system.

    A chunk asks for the same few megabytes again and again; fetching them from the system each time
    costs as much as the work itself. Where the C library knows no such setting, nothing happens.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 64 << 20)
        mallopt(_TRIM_THRESHOLD, 64 << 20)


def _work(job: Job[Any], lane: int, pipe: Connection, done: Any, inherited: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to handle
    for other in inherited:
        other.close()
    _keep_memory()
    gc.disable()  # nothing here forms cycles, and looking for them takes time
    try:
        worker = job.start(lane)
        while (part := pipe.recv()) is not None:
            done.value += worker.process(part)
        answer: WorkerResult | BaseException = worker.finish()
    except EOFError:
        return
    except BaseException as error:  # noqa: BLE001 - carried to the parent, which raises it
        answer = error
    with contextlib.suppress(BrokenPipeError):
        pipe.send(answer)


@contextlib.contextmanager
def _watch(crew: _Crew[Any], progress: Progress, what: str, total: int):  # type: ignore[no-untyped-def]
    """Tell the progress ten times a second while the lanes work."""
    stop = threading.Event()

    def tell() -> None:
        # Whoever cannot bear to be told here is told once more at the end, where it can be heard.
        with contextlib.suppress(Exception):
            while not stop.wait(0.1):
                progress(what, sum(value.value for value in crew.done), total)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        stop.set()
        teller.join()
        progress(what, sum(value.value for value in crew.done), total)
