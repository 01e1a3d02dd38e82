"""Draws figures in a second process, while this one computes something else."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import IO, cast

from quaestor.base.errors import StateError
from quaestor.render.figures.records import DrawnFigure, Figure, FigurePlan

_START = "import sys; sys.path[:] = sys.argv[1:]; from quaestor.render.figures.drawing_process import serve; serve()"
_ENDED = "the process that draws figures ended early: free some memory and try again"


class DrawingProcess:
    """A process that draws figures one after the other, in the order in which they are submitted.

    It is started without `multiprocessing`, since a background job of the desk may not start processes that way.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-c", _START, *sys.path]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._figures = cast(IO[bytes], self._process.stdin)
        self._drawings = cast(IO[bytes], self._process.stdout)
        self._drawn: queue.SimpleQueue[DrawnFigure | Exception] = queue.SimpleQueue()
        # Reads all the time: a full pipe would block the process, and then this one, which writes to it.
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> DrawingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def submit(self, figure: Figure | FigurePlan) -> None:
        """Starts to draw a figure; `next` returns it."""
        try:
            pickle.dump(figure, self._figures)
            self._figures.flush()
        except BrokenPipeError:
            raise StateError(_ENDED) from None

    def next(self) -> DrawnFigure:
        """Returns the next figure in the order of submission; waits until it is drawn."""
        drawn = self._drawn.get()
        if isinstance(drawn, Exception):
            raise drawn
        return drawn

    def close(self) -> None:
        """Ends the process; figures that are not drawn yet are lost."""
        self._process.kill()
        self._process.wait()
        with suppress(BrokenPipeError):
            self._figures.close()

    def _read(self) -> None:
        try:
            while True:
                self._drawn.put(pickle.load(self._drawings))  # noqa: S301 - from our own process
        except (EOFError, OSError, pickle.UnpicklingError):
            self._drawn.put(StateError(_ENDED))
        finally:
            self._drawings.close()


def serve() -> None:
    """Draws the figures that arrive until there are no more; runs in the other process."""
    from quaestor.render.figures.export import load_drawing, render_figure

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is handled by the parent, which ends this process
    drawings = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not end up among the drawings
    load_drawing()
    while True:
        try:
            figure = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own process
        except EOFError:
            return
        drawn: DrawnFigure | Exception
        try:
            drawn = render_figure(figure.draw() if isinstance(figure, FigurePlan) else figure)
        except Exception as error:  # noqa: BLE001 - raised again by the process that submitted the figure
            drawn = error
        pickle.dump(drawn, drawings)
        drawings.flush()
