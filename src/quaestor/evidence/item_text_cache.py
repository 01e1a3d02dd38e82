"""The texts of a round's items on a shelf, each at hand by its id: from evidence a few cost as much as very many.

A shelf is filled beside those who read, and holds nothing that evidence does not: it can be thrown away at any time.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path

from quaestor import __version__
from quaestor.base.private import as_private_as
from quaestor.corpus.evidence import read_manifest
from quaestor.study.beside import Beside, Tell
from quaestor.study.folder import Study, open_study
from quaestor.study.reading import Prepare, Reading, readings_of

_FILE = "texts.db"
_LAYOUT = 2
_BATCH = 5_000
"""Items of one pass over evidence, put on the shelf together."""
_MOST_ASKED = 500
_FEW = 5_000
"""Items that are read sooner than a process starts."""


class Shelf:
    """The texts that are at hand; safe for many threads."""

    def __init__(self, study: Study, prepare: Prepare | None = None) -> None:
        self._study = study
        self._prepare = prepare
        self._lock = threading.Lock()
        self._path = self._place()
        self._ending = threading.Event()
        self._filling: dict[str, threading.Thread] = {}
        self._beside: list[Beside] = []

    def _place(self) -> Path | None:
        """A file named after the evidence it was filled from; texts of other evidence are not looked at."""
        if not self._study.settings.sources:  # a study that only asks has no texts
            return None
        manifest = read_manifest(self._study.evidence_of(self._study.funnel_source()))
        if manifest is None:
            return None
        made = json.dumps(
            [__version__, _LAYOUT, bool(self._prepare), manifest.made, [asdict(one) for one in manifest.inputs]]
        )
        return shelf_folder(self._study) / f"{hashlib.sha256(made.encode()).hexdigest()[:16]}-{_FILE}"

    def find(self, items: Sequence[str]) -> dict[str, Reading]:
        """Those that are at hand."""
        if self._path is None or not self._path.exists():
            return {}
        found = {}
        try:
            with closing(_opened(self._path)) as connection:
                for start in range(0, len(items), _MOST_ASKED):
                    asked = list(items[start : start + _MOST_ASKED])
                    marks = ", ".join("?" * len(asked))
                    for item, text in connection.execute(
                        f"SELECT item, text FROM texts WHERE item IN ({marks})",  # noqa: S608 - marks alone
                        asked,
                    ):
                        found[item] = _taken(text)
        except (sqlite3.Error, ValueError, TypeError):  # a shelf that is no good is as good as none
            return {}
        return found

    def fill(self, name: str, items: Sequence[str]) -> None:
        """Put a round's items on the shelf, beside those who work; begun once."""
        with self._lock:
            if name in self._filling or self._path is None or self._ending.is_set():
                return
            thread = threading.Thread(target=self._fill, args=(self._path, items), name="texts", daemon=True)
            self._filling[name] = thread
            thread.start()

    def _fill(self, path: Path, items: Sequence[str]) -> None:
        if len(items) <= _FEW:
            with suppress(sqlite3.Error, OSError):  # raters go on without it, a little slower
                fill_shelf(self._study, path, items, self._go_on, self._prepare)
            return
        with suppress(OSError):
            beside = Beside(_fill_beside, self._study.root, path, tuple(items), self._prepare)
            self._beside.append(beside)
            if self._ending.is_set():
                beside.stop()
            for _ in beside.told():
                pass

    def _go_on(self) -> bool:
        return not self._ending.is_set()

    def wait(self) -> None:
        """Until everything that was begun is done."""
        with self._lock:  # who is being begun has started when the lock is free
            begun = list(self._filling.values())
        for thread in begun:
            thread.join()

    def close(self) -> None:
        self._ending.set()
        for beside in self._beside:
            beside.stop()
        self.wait()


def shelf_folder(study: Study) -> Path:
    """Where shelves stand."""
    return study.funnel_folder / "texts"


def fill_shelf(
    study: Study, path: Path, items: Sequence[str], go_on: Callable[[], bool], prepare: Prepare | None = None
) -> None:
    """What is not on the shelf yet, part by part; what was put there stays whenever it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for other in path.parent.glob(f"*-{_FILE}*"):  # of evidence that is no longer there
        if not other.name.startswith(path.name):
            other.unlink(missing_ok=True)
    with closing(_opened(path)) as connection:
        as_private_as(study.funnel_folder, path.parent)
        connection.execute("CREATE TABLE IF NOT EXISTS texts (item TEXT PRIMARY KEY, text TEXT)")
        connection.commit()
        known = {item for (item,) in connection.execute("SELECT item FROM texts")}
        missing = [item for item in items if item not in known]
        for start in range(0, len(missing), _BATCH):
            for reading in readings_of(study, missing[start : start + _BATCH]).values():
                if not go_on():
                    return
                ready = prepare(reading) if prepare else reading
                text = json.dumps(asdict(ready), ensure_ascii=False)
                connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (ready.item, text))
            connection.commit()


def _fill_beside(root: Path, path: Path, items: Sequence[str], prepare: Prepare | None, tell: Tell) -> None:
    fill_shelf(open_study(root), path, items, lambda: True, prepare)


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # nothing here is worth waiting for the disk
    return connection


def _taken(text: str) -> Reading:
    raw = json.loads(text)
    return Reading(**{**raw, "tags": tuple(raw["tags"])})
