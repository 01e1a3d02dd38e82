"""Builds the search index in the background of the web server, reports its progress and stops with the server."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import Interrupted, QuaestorError
from quaestor.evidence.text_index import Index, build_index, count_items_to_index, find_index, is_in_memory
from quaestor.study.background import BackgroundProcess, JobFailed, SendMessage
from quaestor.study.folder import Study, open_study

_MAX_IN_PROCESS = 5_000
"""Up to this many items, indexing takes less time than starting a process."""


@dataclass(frozen=True)
class IndexProgress:
    """The progress of the index; `failed` is the error of the last attempt."""

    done: int = 0
    total: int = 0
    failed: str = ""


class IndexJob:
    """Runs at most one build at a time; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._progress = IndexProgress()
        self._process: BackgroundProcess | None = None

    def get_or_start(self, study: Study) -> Index | IndexProgress:
        """Returns the index if it is ready; otherwise starts a build and returns the progress."""
        ready = find_index(study)
        if ready is not None:
            return ready
        before = self._progress
        self.start(study)
        return before

    def start(self, study: Study) -> None:
        """Starts a build in the background, unless one is running."""
        with self._lock:
            if self._closing.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._build, args=(study,), name="search index", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Waits until no build is running."""
        with self._lock:  # a build that is being started has its thread once the lock is free
            thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """Stops a running build and removes its files."""
        self._closing.set()
        process = self._process
        if process is not None:
            process.stop()
        self.wait()

    def _build(self, study: Study) -> None:
        self._progress = IndexProgress()
        try:
            if is_in_memory(study) or count_items_to_index(study) <= _MAX_IN_PROCESS:
                build_index(study, self._report)
                return
            process = self._process = BackgroundProcess(_build, study.root, study.strand)
        except Interrupted:
            return
        except (QuaestorError, OSError, sqlite3.Error) as error:
            self._progress = IndexProgress(failed=str(error))
            return
        if self._closing.is_set():
            process.stop()
        for message in process.messages():
            if isinstance(message, IndexProgress):
                self._progress = message
            elif isinstance(message, JobFailed) and not self._closing.is_set():
                self._progress = IndexProgress(failed=message.why)
        self._process = None

    def _report(self, stage: str, done: int, total: int) -> None:
        if self._closing.is_set():
            raise Interrupted("the server is stopping")
        self._progress = IndexProgress(done, total)


def _build(root: Path, strand: str, send_message: SendMessage) -> None:
    build_index(open_study(root).in_strand(strand), lambda stage, done, total: send_message(IndexProgress(done, total)))
