"""Runs work in a low-priority process, so that the desk stays responsive."""

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

SendMessage = Callable[[Any], None]
_LOW = 10
CUT_SHORT = "the process ended early: free some memory and try again"


@dataclass(frozen=True)
class JobFailed:
    """The work failed, with the reason as a sentence."""

    why: str


@dataclass(frozen=True)
class JobDone:
    """The work is done."""


class BackgroundProcess:
    """Runs a function in a separate process; its last argument `send_message` sends messages that can be read here."""

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(work, arguments, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def messages(self) -> Iterator[Any]:
        """Yields all messages; the last one is JobDone or JobFailed."""
        last: Any = None
        with contextlib.suppress(EOFError, OSError):
            while not isinstance(last, (JobDone, JobFailed)):
                last = self._ours.recv()
                yield last
        self._process.join()
        self._ours.close()
        if not isinstance(last, (JobDone, JobFailed)):
            yield JobFailed(CUT_SHORT)

    def stop(self) -> None:
        """Ends the process at once."""
        self._process.terminate()


def _run(work: Callable[..., None], arguments: tuple[Any, ...], pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is handled by the parent, which ends this process
    threading.Thread(target=follow_parent, daemon=True).start()
    os.nice(_LOW)
    try:
        work(*arguments, pipe.send)
        pipe.send(JobDone())
    except BrokenPipeError:
        return
    except (QuaestorError, OSError, sqlite3.Error) as error:
        with contextlib.suppress(BrokenPipeError):
            pipe.send(JobFailed(str(error)))


def follow_parent() -> None:
    """Ends this process when its parent is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
