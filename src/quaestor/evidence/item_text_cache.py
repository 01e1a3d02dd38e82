"""The texts of a round's items on a shelf, each at hand by its id: from evidence a few cost as much as very many.

A shelf is filled beside those who read, and holds nothing that evidence does not: it can be thrown away at any time.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path

from quaestor import __version__
from quaestor.base.files import match_privacy
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.ingest import evidence_stamp
from quaestor.evidence.item_texts import ItemText, Prepare, mask_item_text, read_item_texts
from quaestor.study.background import Beside, Tell
from quaestor.study.contributions import NoNames, TextMask
from quaestor.study.folder import Study, open_study

_FILE = "texts.db"
_LAYOUT = 2
_BATCH = 5_000
"""Items of one pass over evidence, put on the shelf together."""
_MOST_ASKED = 500
_FEW = 5_000
"""Items that are read sooner than a process starts."""


class ItemTextCache:
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
        return cache_folder(self._study) / f"{hashlib.sha256(made.encode()).hexdigest()[:16]}-{_FILE}"

    def find(self, items: Sequence[str]) -> dict[str, ItemText]:
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
                fill_cache(self._study, path, items, self._go_on, self._prepare)
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


def cache_folder(study: Study) -> Path:
    """Where shelves stand."""
    return study.funnel_folder / "texts"


def fill_cache(
    study: Study, path: Path, items: Sequence[str], go_on: Callable[[], bool], prepare: Prepare | None = None
) -> None:
    """What is not on the shelf yet, part by part; what was put there stays whenever it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for other in path.parent.glob(f"*-{_FILE}*"):  # of evidence that is no longer there
        if not other.name.startswith(path.name):
            other.unlink(missing_ok=True)
    with closing(_opened(path)) as connection:
        match_privacy(study.funnel_folder, path.parent)
        connection.execute("CREATE TABLE IF NOT EXISTS texts (item TEXT PRIMARY KEY, text TEXT)")
        connection.commit()
        known = {item for (item,) in connection.execute("SELECT item FROM texts")}
        missing = [item for item in items if item not in known]
        for start in range(0, len(missing), _BATCH):
            for reading in read_item_texts(study, missing[start : start + _BATCH]).values():
                if not go_on():
                    return
                ready = prepare(reading) if prepare else reading
                text = json.dumps(asdict(ready), ensure_ascii=False)
                connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (ready.item, text))
            connection.commit()


def _fill_beside(root: Path, path: Path, items: Sequence[str], prepare: Prepare | None, tell: Tell) -> None:
    fill_cache(open_study(root), path, items, lambda: True, prepare)


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # nothing here is worth waiting for the disk
    return connection


def _taken(text: str) -> ItemText:
    raw = json.loads(text)
    return ItemText(**{**raw, "tags": tuple(raw["tags"])})


BATCH, KEPT = 60, 6_000
"""Items fetched together, since from evidence one costs as much as sixty; and items kept."""


class ItemTexts:
    """The texts of items as pages show them, without known names; safe for threads."""

    def __init__(self, study: Study, prepare: Prepare | None = None, mask: Callable[[], TextMask] = NoNames) -> None:
        self._study = study
        self._prepare = prepare
        self._mask = mask
        self._known: OrderedDict[str, ItemText] = OrderedDict()
        self._lock = threading.Lock()
        self._shelf = ItemTextCache(study, prepare)
        self._made = _evidence_stamp(study)

    def reload(self, study: Study) -> None:
        """Go on with a study file that has changed, and with it perhaps the evidence."""
        self._made = _evidence_stamp(study)
        shelf, self._shelf = self._shelf, ItemTextCache(study, self._prepare)
        threading.Thread(target=shelf.close, daemon=True).start()  # nobody waits for what it was about to do
        with self._lock:
            self._study = study
            self._known.clear()

    def prepare(self, name: str, items: Sequence[str]) -> None:
        """A round is being rated: its texts are put on the shelf meanwhile."""
        self._shelf.fill(name, items)

    def get(self, items: Sequence[str], ahead: Sequence[str] = ()) -> dict[str, ItemText]:
        """Returns masked texts, and fetches those that come next; what evidence does not hold has its id as title."""
        texts, mask = self._get(items, ahead), self._mask()
        return {item: mask_item_text(mask, text) for item, text in texts.items()}

    def _get(self, items: Sequence[str], ahead: Sequence[str]) -> dict[str, ItemText]:
        if self._made != _evidence_stamp(self._study):  # made anew, perhaps without somebody who withdrew
            self.reload(self._study)
        missing = self._missing(items)
        if missing:
            wanted = list(dict.fromkeys([*missing, *self._missing(ahead[:BATCH])]))
            found = self._shelf.find(wanted)
            if any(item not in found for item in missing):
                found |= read_item_texts(self._study, [item for item in wanted if item not in found])
            with self._lock:
                self._known.update(found)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
                return {item: found.get(item) or self._known.get(item) or ItemText(item, item) for item in items}
        with self._lock:
            return {item: self._known.get(item) or ItemText(item, item) for item in items}

    def _missing(self, items: Sequence[str]) -> list[str]:
        with self._lock:
            return [item for item in items if item not in self._known]

    def close(self) -> None:
        self._shelf.close()


def _evidence_stamp(study: Study) -> tuple[int, ...]:
    return evidence_stamp(study, study.funnel_source()) if study.settings.sources else ()
