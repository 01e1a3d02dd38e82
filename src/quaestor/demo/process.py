"""Builds the demo in a separate process, so that the desk stays responsive."""

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
from quaestor.demo.progress import DemoFailed, DemoFinished, Event, SendEvent, StepAdvanced
from quaestor.study.background import follow_parent

BuildDemo = Callable[[Path, int, SendEvent], None]
_EVENT_INTERVAL = 0.1
_STOP_TIMEOUT = 10


def build_in_this_process(folder: Path, seed: int, send: SendEvent) -> None:
    """Builds the demo; its imports are local, so that the serving process does not load them and starts at once."""
    from quaestor.demo.run import build_demo

    build_demo(folder, seed, send)


class DemoProcess:
    """A separate process that builds the demo and sends its events."""

    def __init__(self, folder: Path, seed: int, build: BuildDemo = build_in_this_process) -> None:
        context: Any = multiprocessing.get_context("spawn")
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(build, folder, seed, sender))
        self._is_stopped = False
        with _ignore_interrupts():
            self._process.start()
        sender.close()

    def events(self) -> Iterator[Event]:
        """Yields every event up to a failure or the end; ends without an event when the process is stopped."""
        last: Event | None = None
        with contextlib.suppress(EOFError, OSError):
            while not isinstance(last, (DemoFinished, DemoFailed)):
                last = self._receiver.recv()
                yield last
        if not isinstance(last, (DemoFinished, DemoFailed)) and not self._is_stopped:
            message = "the process that builds the demo ended unexpectedly: free some memory and try again"
            yield DemoFailed(StateError(message))

    def stop(self) -> None:
        """Ends the process, giving it time to clean up."""
        self._is_stopped = True
        self._process.terminate()
        self._process.join(_STOP_TIMEOUT)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()


@contextlib.contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """A process started inside ignores Ctrl+C, which its parent handles."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(build: BuildDemo, folder: Path, seed: int, pipe: Connection) -> None:
    signal.signal(signal.SIGTERM, _stop)
    # The processes that read the dump in parallel get the same signal and have nothing to clean up.
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    threading.Thread(target=follow_parent, daemon=True).start()
    send = _build_sender(pipe)
    try:
        build(folder, seed, send)
    except (Interrupted, BrokenPipeError):
        sys.exit(Interrupted.exit_code)
    except (QuaestorError, OSError) as error:
        send(DemoFailed(error))


def _stop(number: int, frame: object) -> None:
    """Ends the work at the first signal; a second signal must not disturb the cleanup."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Interrupted("interrupted")


def _build_sender(pipe: Connection) -> SendEvent:
    """Returns a function that sends events, with at most ten `StepAdvanced` a second."""
    last_advance = 0.0
    lock = threading.Lock()

    def send(event: Event) -> None:
        nonlocal last_advance
        with lock:
            if not isinstance(event, StepAdvanced):
                last_advance = 0.0
            elif time.monotonic() < last_advance + _EVENT_INTERVAL:
                return
            else:
                last_advance = time.monotonic()
            pipe.send(event)

    return send
