"""Work beside those who use the desk: in a process of its own and at low priority, so that nobody waits for it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from quaestor.base.errors import QuaestorError

Tell = Callable[[Any], None]
_LOW = 10
CUT_SHORT = "it ended before its work was done: free some memory and try again"


@dataclass(frozen=True)
class JobFailed:
    """Why the work could not be done, in a sentence."""

    why: str


@dataclass(frozen=True)
class Done:
    """The work is done."""


class Beside:
    """A function at work in a process of its own; `tell` is its last argument, and what it tells can be read here."""

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(work, arguments, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def told(self) -> Iterator[Any]:
        """Everything that is told; the last of it is Done or Failed."""
        last: Any = None
        with contextlib.suppress(EOFError, OSError):
            while not isinstance(last, (Done, JobFailed)):
                last = self._ours.recv()
                yield last
        self._process.join()
        self._ours.close()
        if not isinstance(last, (Done, JobFailed)):
            yield JobFailed(CUT_SHORT)

    def stop(self) -> None:
        """End it wherever it is."""
        self._process.terminate()


def _run(work: Callable[..., None], arguments: tuple[Any, ...], pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends this one
    threading.Thread(target=_follow_parent, daemon=True).start()
    os.nice(_LOW)
    try:
        work(*arguments, pipe.send)
        pipe.send(Done())
    except BrokenPipeError:
        return
    except (QuaestorError, OSError, sqlite3.Error) as error:
        with contextlib.suppress(BrokenPipeError):
            pipe.send(JobFailed(str(error)))


def _follow_parent() -> None:
    """Nobody is left to work for once the process that asked is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
