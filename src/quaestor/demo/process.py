"""The demo in a process of its own, so that the desk answers at once however busy the makers are."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from quaestor.base.errors import Interrupted, QuaestorError, StateError
from quaestor.demo.progress import Event, DemoFailed, DemoFinished, StepAdvanced, SendEvent

BuildDemo = Callable[[Path, int, SendEvent], None]
_EVENT_INTERVAL = 0.1
_STOP_TIMEOUT = 10


def build_in_this_process(folder: Path, seed: int, tell: SendEvent) -> None:
    """The demo; what it needs is loaded in its own process alone, so that the page is not kept waiting."""
    from quaestor.demo.run import build_demo

    build_demo(folder, seed, tell)


class DemoProcess:
    """Makes the demo beside whoever asks for it; what it tells can be read as it goes."""

    def __init__(self, folder: Path, seed: int, make: BuildDemo = build_in_this_process) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(make, folder, seed, theirs))
        self._is_stopped = False
        with _uninterrupted():
            self._process.start()
        theirs.close()

    def events(self) -> Iterator[Event]:
        """Everything that is told, to a failure or to the end; nothing more once it is stopped."""
        last: Event | None = None
        with contextlib.suppress(EOFError, OSError):
            while not isinstance(last, (DemoFinished, DemoFailed)):
                last = self._ours.recv()
                yield last
        if not isinstance(last, (DemoFinished, DemoFailed)) and not self._is_stopped:
            words = "the process that makes the demo ended before its work was done: free some memory and try again"
            yield DemoFailed(StateError(words))

    def stop(self) -> None:
        """End it wherever it is, giving it time to put away what it had half done."""
        self._is_stopped = True
        self._process.terminate()
        self._process.join(_STOP_TIMEOUT)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """A process that begins in here never hears of an interrupt, which is its parent's to handle."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(make: BuildDemo, folder: Path, seed: int, pipe: Connection) -> None:
    signal.signal(signal.SIGTERM, _stopped)
    # Who reads the dump in parallel is ended by the same signal, and has nothing to put away.
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    threading.Thread(target=_follow_parent, daemon=True).start()
    tell = _told_through(pipe)
    try:
        make(folder, seed, tell)
    except (Interrupted, BrokenPipeError):
        sys.exit(Interrupted.exit_code)
    except (QuaestorError, OSError) as error:
        tell(DemoFailed(error))


def _stopped(number: int, frame: object) -> None:
    """The first signal ends the work; another must not disturb what is being put away."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Interrupted("interrupted")


def _follow_parent() -> None:
    """Nobody is left to make the demo for once the process that asked for it is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _told_through(pipe: Connection) -> SendEvent:
    """Sends what is told; how far a step has come is told ten times a second at most."""
    moved = 0.0
    sending = threading.Lock()

    def tell(event: Event) -> None:
        nonlocal moved
        with sending:
            if not isinstance(event, StepAdvanced):
                moved = 0.0
            elif time.monotonic() < moved + _EVENT_INTERVAL:
                return
            else:
                moved = time.monotonic()
            pipe.send(event)

    return tell
