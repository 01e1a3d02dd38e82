"""Processes the parts of a table in several worker processes.

Part number i goes to worker i modulo the number of workers. So what a worker writes, and in which order, depends only
on the input and not on which process is faster.
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
    """What a worker reports at the end: counts, and the ids that select the rows of later tables."""

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
    """Processes parts inside a worker process."""

    def process(self, part: Part_contra) -> int:
        """Processes a part and returns its size in bytes."""
        ...

    def finish(self) -> WorkerResult: ...


class Job(Protocol[Part_contra]):
    """A picklable job that creates the worker inside each process."""

    def start(self, number: int) -> Worker[Part_contra]: ...


class WorkerFailed(QuaestorError):
    """A worker process ended without a reply, for example because the machine ran out of memory."""


def default_worker_count() -> int:
    """Returns the number of cores that this process may use, at most 16."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, 16))


def run_workers(
    job: Job[PartType], parts: Iterable[PartType], worker_count: int, progress: Progress, what: str, total: int
) -> WorkerResult:
    """Distributes all parts and returns the sum of the workers' results."""
    pool = _WorkerPool(job, worker_count)
    try:
        with _report_progress(pool, progress, what, total):
            for number, part in enumerate(parts):
                pool.send(number % worker_count, part)
            return pool.finish()
    finally:
        pool.stop()


class _WorkerPool(Generic[PartType]):
    """The processes of one run and the pipes to them."""

    def __init__(self, job: Job[PartType], worker_count: int) -> None:
        # A fork starts in milliseconds; outside Linux it is unsafe, so new interpreters are started.
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self.done = [context.RawValue("q", 0) for _ in range(worker_count)]
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        for number in range(worker_count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_work, args=(job, number, theirs, self.done[number], list(self._pipes)), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def send(self, number: int, part: PartType) -> None:
        try:
            self._pipes[number].send(part)
        except (BrokenPipeError, ConnectionResetError):
            self._receive(number)
            raise WorkerFailed(
                "a worker process ended before its work was done: free some memory and try again"
            ) from None

    def finish(self) -> WorkerResult:
        for number in range(len(self._pipes)):
            self.send(number, None)  # type: ignore[arg-type]
        result = WorkerResult()
        for number in range(len(self._pipes)):
            result += self._receive(number)
        return result

    def _receive(self, number: int) -> WorkerResult:
        try:
            reply = self._pipes[number].recv()
        except (EOFError, ConnectionResetError):
            raise WorkerFailed(
                "a worker process ended before its work was done: free some memory and try again"
            ) from None
        if isinstance(reply, BaseException):
            raise reply
        return cast(WorkerResult, reply)

    def stop(self) -> None:
        for process in self._processes:
            if process.is_alive():
                process.terminate()
            process.join()
        for pipe in self._pipes:
            pipe.close()


def _keep_memory() -> None:
    """Makes malloc reuse freed memory instead of returning it to the system.

    Every chunk allocates the same few megabytes; getting them from the system each time costs as much as the work
    itself. With a C library that has no such setting, nothing happens.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, 64 << 20)
        mallopt(_TRIM_THRESHOLD, 64 << 20)


def _work(job: Job[Any], number: int, pipe: Connection, done: Any, inherited: list[Connection]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles interrupts
    for other in inherited:
        other.close()
    _keep_memory()
    gc.disable()  # the work creates no reference cycles, and looking for them takes time
    try:
        worker = job.start(number)
        while (part := pipe.recv()) is not None:
            done.value += worker.process(part)
        reply: WorkerResult | BaseException = worker.finish()
    except EOFError:
        return
    except BaseException as error:  # noqa: BLE001 - carried to the parent, which raises it
        reply = error
    with contextlib.suppress(BrokenPipeError):
        pipe.send(reply)


@contextlib.contextmanager
def _report_progress(pool: _WorkerPool[Any], progress: Progress, what: str, total: int):  # type: ignore[no-untyped-def]
    """Reports the progress ten times a second while the workers run."""
    stop = threading.Event()

    def report() -> None:
        # An exception from the callback is ignored in this thread; the last call below raises it again.
        with contextlib.suppress(Exception):
            while not stop.wait(0.1):
                progress(what, sum(value.value for value in pool.done), total)

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        progress(what, sum(value.value for value in pool.done), total)
