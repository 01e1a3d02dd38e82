"""The index built beside the pages that need it: begun when it is asked for, watched, and ended with the desk."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import Interrupted, QuaestorError
from quaestor.evidence.text_index import Index, build_index, count_items_to_index, find_index
from quaestor.study.background import Beside, Failed, Tell
from quaestor.study.folder import Study, open_study

_FEW = 5_000
"""Items that are indexed sooner than a process starts."""


@dataclass(frozen=True)
class IndexProgress:
    """How far the index is; `failed` says why the last try ended."""

    done: int = 0
    total: int = 0
    failed: str = ""


class IndexJob:
    """One build at a time; safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._progress = IndexProgress()
        self._beside: Beside | None = None

    def get_or_start(self, study: Study) -> Index | IndexProgress:
        """The index where it is ready; else it is begun, and this is how far it is."""
        ready = find_index(study)
        if ready is not None:
            return ready
        before = self._progress
        self.start(study)
        return before

    def start(self, study: Study) -> None:
        """Build in the background, unless somebody is at it."""
        with self._lock:
            if self._ending.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._build, args=(study,), name="search index", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Until nobody builds any more."""
        with self._lock:  # who is being begun has started when the lock is free
            thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """End what is going on; nothing of it is left."""
        self._ending.set()
        beside = self._beside
        if beside is not None:
            beside.stop()
        self.wait()

    def _build(self, study: Study) -> None:
        self._progress = IndexProgress()
        try:
            if count_items_to_index(study) <= _FEW:
                build_index(study, self._tell)
                return
            beside = self._beside = Beside(_build, study.root)
        except Interrupted:
            return
        except (QuaestorError, OSError, sqlite3.Error) as error:
            self._progress = IndexProgress(failed=str(error))
            return
        if self._ending.is_set():
            beside.stop()
        for told in beside.told():
            if isinstance(told, IndexProgress):
                self._progress = told
            elif isinstance(told, Failed) and not self._ending.is_set():
                self._progress = IndexProgress(failed=told.why)
        self._beside = None

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._ending.is_set():
            raise Interrupted("the desk ends")
        self._progress = IndexProgress(done, total)


def _build(root: Path, tell: Tell) -> None:
    build_index(open_study(root), lambda what, done, total: tell(IndexProgress(done, total)))
