"""What raters read: fetched ahead, kept for a while, and from a shelf as soon as that is filled."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from quaestor.corpus.evidence import MANIFEST
from quaestor.study.folder import Study
from quaestor.study.reading import Prepare, Reading, readings_of
from quaestor.study.shelf import Shelf

BATCH, KEPT = 60, 6_000
"""Items fetched together, since from evidence one costs as much as sixty; and items kept."""


class ReadingRoom:
    """Safe for many threads; nobody waits for what somebody else fetches."""

    def __init__(self, study: Study, prepare: Prepare | None = None) -> None:
        self._study = study
        self._prepare = prepare
        self._known: OrderedDict[str, Reading] = OrderedDict()
        self._lock = threading.Lock()
        self._shelf = Shelf(study, prepare)
        self._made = _evidence_mark(study)

    def take_study(self, study: Study) -> None:
        """Go on with a study file that has changed, and with it perhaps the evidence."""
        self._made = _evidence_mark(study)
        shelf, self._shelf = self._shelf, Shelf(study, self._prepare)
        threading.Thread(target=shelf.close, daemon=True).start()  # nobody waits for what it was about to do
        with self._lock:
            self._study = study
            self._known.clear()

    def prepare(self, name: str, items: Sequence[str]) -> None:
        """A round is being rated: its texts are put on the shelf meanwhile."""
        self._shelf.fill(name, items)

    def get(self, items: Sequence[str], ahead: Sequence[str] = ()) -> dict[str, Reading]:
        """Some items, and those that come after them fetched along; what evidence does not hold has its id as title."""
        if self._made != _evidence_mark(self._study):  # made anew, perhaps without somebody who withdrew
            self.take_study(self._study)
        missing = self._missing(items)
        if missing:
            wanted = list(dict.fromkeys([*missing, *self._missing(ahead[:BATCH])]))
            found = self._shelf.find(wanted)
            if any(item not in found for item in missing):
                found |= readings_of(self._study, [item for item in wanted if item not in found])
            with self._lock:
                self._known.update(found)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
                return {item: found.get(item) or self._known.get(item) or Reading(item, item) for item in items}
        with self._lock:
            return {item: self._known.get(item) or Reading(item, item) for item in items}

    def _missing(self, items: Sequence[str]) -> list[str]:
        with self._lock:
            return [item for item in items if item not in self._known]

    def close(self) -> None:
        self._shelf.close()


def _evidence_mark(study: Study) -> int:
    """Changes when the evidence is made anew."""
    if not study.settings.sources:
        return 0
    try:
        return (study.evidence_of(study.funnel_source()) / MANIFEST).stat().st_mtime_ns
    except FileNotFoundError:
        return 0
