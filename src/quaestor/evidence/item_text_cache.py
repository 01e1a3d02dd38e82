"""A cache of the texts of a round's items by id: looking up a few rows in Parquet costs a whole scan.

The cache is filled in the background. It contains nothing that evidence does not and can be deleted at any time.
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
from quaestor.evidence.live_items import has_live_source, live_stamp
from quaestor.study.background import BackgroundProcess, SendMessage
from quaestor.study.contributions import NoNames, TextMask
from quaestor.study.folder import Study, open_study

_FILE = "texts.db"
_LAYOUT = 2
_BATCH = 5_000
"""Items that one scan of the evidence adds to the cache."""
_QUERY_ITEMS = 500
_FEW = 5_000
"""Up to this many items are read in a thread: that takes less time than starting a process."""


class ItemTextCache:
    """The cached texts; thread-safe."""

    def __init__(self, study: Study, prepare: Prepare | None = None) -> None:
        self._study = study
        self._prepare = prepare
        self._lock = threading.Lock()
        self._path = self._choose_path()
        self._closing = threading.Event()
        self._threads: dict[str, threading.Thread] = {}
        self._processes: list[BackgroundProcess] = []

    def _choose_path(self) -> Path | None:
        """Returns a file named after the evidence it is filled from, so that texts of older evidence are never used."""
        if not self._study.settings.sources:  # a survey alone has no texts
            return None
        strands = _list_copied_strands(self._study)
        sources = [study.evidence_of(source) for study in strands for source in study.funnel_sources()]
        manifests = [manifest for manifest in map(read_manifest, sources) if manifest is not None]
        if not manifests:
            return None
        inputs = [(manifest.made, [asdict(file) for file in manifest.inputs]) for manifest in manifests]
        key = json.dumps([__version__, _LAYOUT, bool(self._prepare), inputs])
        return cache_folder(self._study) / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}-{_FILE}"

    def find(self, items: Sequence[str]) -> dict[str, ItemText]:
        """Returns the cached texts of these items."""
        if self._path is None or not self._path.exists():
            return {}
        texts = {}
        try:
            with closing(_connect(self._path)) as connection:
                for start in range(0, len(items), _QUERY_ITEMS):
                    batch = list(items[start : start + _QUERY_ITEMS])
                    placeholders = ", ".join("?" * len(batch))
                    for item, text in connection.execute(
                        f"SELECT item, text FROM texts WHERE item IN ({placeholders})",  # noqa: S608 - only "?"
                        batch,
                    ):
                        raw = json.loads(text)
                        texts[item] = ItemText(**{**raw, "tags": tuple(raw["tags"])})
        except (sqlite3.Error, ValueError, TypeError):  # a damaged cache counts as empty
            return {}
        return texts

    def fill(self, name: str, items: Sequence[str]) -> None:
        """Starts to cache a round's items in the background, once per round; items of live sources are never copied."""
        copied = {strand.strand for strand in _list_copied_strands(self._study)}
        items = [item for item in items if self._study.in_strand_of(item).strand in copied]
        with self._lock:
            if name in self._threads or self._path is None or self._closing.is_set():
                return
            thread = threading.Thread(target=self._fill, args=(self._path, items), name="texts", daemon=True)
            self._threads[name] = thread
            thread.start()

    def _fill(self, path: Path, items: Sequence[str]) -> None:
        if len(items) <= _FEW:
            with suppress(sqlite3.Error, OSError):  # pages work without the cache, a little slower
                fill_cache(self._study, path, items, self._may_continue, self._prepare)
            return
        with suppress(OSError):
            process = BackgroundProcess(_fill_in_background, self._study.root, path, tuple(items), self._prepare)
            self._processes.append(process)
            if self._closing.is_set():
                process.stop()
            for _ in process.messages():
                pass

    def _may_continue(self) -> bool:
        return not self._closing.is_set()

    def wait(self) -> None:
        """Waits until all work that was started has ended."""
        with self._lock:  # fill() starts its thread under the lock, so that join() never sees an unstarted one
            threads = list(self._threads.values())
        for thread in threads:
            thread.join()

    def close(self) -> None:
        self._closing.set()
        for process in self._processes:
            process.stop()
        self.wait()


def _list_copied_strands(study: Study) -> list[Study]:
    """Returns the strands whose items may be copied to the cache: all but those of live sources."""
    return [strand for strand in study.in_each_strand() if not has_live_source(strand)]


def cache_folder(study: Study) -> Path:
    """Returns the folder of the cache files."""
    return study.funnel_folder / "texts"


def fill_cache(
    study: Study, path: Path, items: Sequence[str], may_continue: Callable[[], bool], prepare: Prepare | None = None
) -> None:
    """Adds the missing items in batches; what was added is kept when the work is stopped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for other in path.parent.glob(f"*-{_FILE}*"):  # caches of earlier evidence
        if not other.name.startswith(path.name):
            other.unlink(missing_ok=True)
    with closing(_connect(path)) as connection:
        match_privacy(study.funnel_folder, path.parent)
        connection.execute("CREATE TABLE IF NOT EXISTS texts (item TEXT PRIMARY KEY, text TEXT)")
        connection.commit()
        known = {item for (item,) in connection.execute("SELECT item FROM texts")}
        missing = [item for item in items if item not in known]
        for start in range(0, len(missing), _BATCH):
            for item_text in read_item_texts(study, missing[start : start + _BATCH]).values():
                if not may_continue():
                    return
                prepared = prepare(item_text) if prepare else item_text
                text = json.dumps(asdict(prepared), ensure_ascii=False)
                connection.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (prepared.item, text))
            connection.commit()


def _fill_in_background(
    root: Path, path: Path, items: Sequence[str], prepare: Prepare | None, send_message: SendMessage
) -> None:
    fill_cache(open_study(root), path, items, lambda: True, prepare)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # losing a cache costs only time
    return connection


BATCH, KEPT = 60, 6_000
"""Items fetched together (from evidence one costs as much as sixty), and items kept in memory."""


class ItemTexts:
    """The texts of items as pages show them, without known names; thread-safe."""

    def __init__(self, study: Study, prepare: Prepare | None = None, mask: Callable[[], TextMask] = NoNames) -> None:
        self._study = study
        self._prepare = prepare
        self._mask = mask
        self._texts: OrderedDict[str, ItemText] = OrderedDict()
        self._lock = threading.Lock()
        self._cache = ItemTextCache(study, prepare)
        self._stamp = _evidence_stamp(study)

    def reload(self, study: Study) -> None:
        """Continues with a changed study file, and perhaps changed evidence."""
        self._stamp = _evidence_stamp(study)
        old_cache, self._cache = self._cache, ItemTextCache(study, self._prepare)
        threading.Thread(target=old_cache.close, daemon=True).start()  # closing waits for its threads
        with self._lock:
            self._study = study
            self._texts.clear()

    def prepare(self, name: str, items: Sequence[str]) -> None:
        """Starts to cache the texts of a round that is being rated."""
        self._cache.fill(name, items)

    def get(self, items: Sequence[str], ahead: Sequence[str] = ()) -> dict[str, ItemText]:
        """Returns masked texts and prefetches those in `ahead`; an item that is not in evidence has its id as title."""
        texts, mask = self._get(items, ahead), self._mask()
        return {item: mask_item_text(mask, text) for item, text in texts.items()}

    def _get(self, items: Sequence[str], ahead: Sequence[str]) -> dict[str, ItemText]:
        if self._stamp != _evidence_stamp(self._study):  # rebuilt, perhaps after a withdrawal
            self.reload(self._study)
        missing = self._list_missing(items)
        if missing:
            to_fetch = list(dict.fromkeys([*missing, *self._list_missing(ahead[:BATCH])]))
            texts = self._cache.find(to_fetch)
            if any(item not in texts for item in missing):
                texts |= read_item_texts(self._study, [item for item in to_fetch if item not in texts])
            with self._lock:
                self._texts.update(texts)
                while len(self._texts) > KEPT:
                    self._texts.popitem(last=False)
                return {item: texts.get(item) or self._texts.get(item) or ItemText(item, item) for item in items}
        with self._lock:
            return {item: self._texts.get(item) or ItemText(item, item) for item in items}

    def _list_missing(self, items: Sequence[str]) -> list[str]:
        with self._lock:
            return [item for item in items if item not in self._texts]

    def close(self) -> None:
        self._cache.close()


def _evidence_stamp(study: Study) -> tuple[object, ...]:
    strands = study.in_each_strand() if study.settings.sources else []
    sources = [source for strand in strands for source in strand.funnel_sources()]
    return tuple((evidence_stamp(study, source), live_stamp(study, source)) for source in sources)
