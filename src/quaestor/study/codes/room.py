"""The codebook room of a study kept open: what its pages show, counted once for as long as nothing changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.coding.codebook.file import write_codebook
from quaestor.coding.codebook.history import History
from quaestor.coding.records import Code, Codebook
from quaestor.study.codebook import CODEBOOK_FILE
from quaestor.study.codes.changes import Change, ChangeLog
from quaestor.study.codes.compared import Compared, compared
from quaestor.study.codes.counts import Counts, count_items
from quaestor.study.codes.one import CodePage, code_page
from quaestor.study.codes.preview import Preview, preview_change
from quaestor.study.codes.readings import Material, taken_out
from quaestor.study.codes.seen import book_seen, counted, last_version, why_no_counts
from quaestor.study.codes.titles import titles_of
from quaestor.study.codes.tree import Tree, trees_of
from quaestor.study.kept_open import KeptOpen
from quaestor.study.sight import Sight, Viewer

_KEPT = 8


@dataclass(frozen=True)
class Shown:
    """A version of the codebook as one viewer sees it."""

    book: Codebook
    last: int
    """The last version the viewer may see."""
    counts: Counts | None
    why_no_counts: str


@dataclass(frozen=True)
class Looked:
    """The tree of codes, or of those that answer a search."""

    shown: Shown
    trees: tuple[Tree, ...]
    found: int
    gone: tuple[Code, ...]
    """Codes that are no longer offered."""
    has_file: bool
    """Whether the study folder holds a codebook to begin with."""


class CodebookRoom:
    """What people see of a codebook; safe for many threads."""

    def __init__(self, opened: KeptOpen) -> None:
        self._opened = opened
        self._log = ChangeLog()
        self._lock = threading.Lock()
        self._counted: OrderedDict[object, Counts] = OrderedDict()

    def shown(self, viewer: Viewer, version: int | None = None) -> Shown:
        with self._opened.looking() as state:
            sight = Sight(state, self._opened.study.settings.study.lead, viewer)
            book = book_seen(sight, version)
            last = last_version(sight)
            why = why_no_counts(sight)
            material = None if why else taken_out(state, decided=counted(sight))
        return Shown(book, last, self._counts(material, book) if material else None, why)

    def book(self, viewer: Viewer) -> Codebook:
        """The last version the viewer may see, with nothing counted."""
        with self._opened.looking() as state:
            return book_seen(Sight(state, self._opened.study.settings.study.lead, viewer))

    def look(self, viewer: Viewer, version: int | None = None, query: str = "", facet: str = "") -> Looked:
        shown = self.shown(viewer, version)
        trees = trees_of(shown.book, query, facet)
        gone = tuple(code for code in shown.book.codes.values() if not code.active)
        file = self._opened.study.root / CODEBOOK_FILE
        return Looked(shown, trees, sum(tree.found for tree in trees), gone, file.is_file())

    def code(self, viewer: Viewer, name: str, version: int | None = None) -> tuple[Shown, CodePage]:
        shown = self.shown(viewer, version)
        return shown, code_page(shown.book, name, self.changes(viewer), shown.counts)

    def changes(self, viewer: Viewer) -> list[Change]:
        """Every change that the viewer may know of, the newest first."""
        coding = self._opened.coding_if_any
        if coding is None:
            return []
        return self._log.changes(coding, self._history(viewer))[::-1]

    def compare(self, viewer: Viewer, before: int | None, after: int | None) -> tuple[int, int, list[Compared]]:
        """Two versions; by default the last one the viewer may see, and the one before it."""
        with self._opened.looking() as state:
            sight = Sight(state, self._opened.study.settings.study.lead, viewer)
            new = book_seen(sight, after)
            old = book_seen(sight, max(0, new.version - 1) if before is None else before)
        return old.version, new.version, compared(old, new)

    def file(self, viewer: Viewer, version: int | None = None) -> str:
        """A version as the file that `quaestor codebook import` reads."""
        with self._opened.looking() as state:
            book = book_seen(Sight(state, self._opened.study.settings.study.lead, viewer), version)
        return write_codebook(book)

    def preview(self, viewer: Viewer, kind: str, payload: Mapping[str, Any]) -> Preview:
        return preview_change(self._opened.coding, kind, payload, viewer)

    def titles(self, items: Sequence[str]) -> dict[str, str]:
        """Items by what their authors called them; an item is its own title where evidence does not hold it."""
        return titles_of(self._opened.study, items)

    def _history(self, viewer: Viewer) -> History:
        with self._opened.looking() as state:
            last = last_version(Sight(state, self._opened.study.settings.study.lead, viewer))
            return History(state.history.changes[:last], state.history.versions[: last + 1])

    def _counts(self, material: Material, book: Codebook) -> Counts:
        """Counted outside the lock; kept by all that it depends on."""
        newest = (
            (name, len(made), max((one.number for one in made), default=0)) for name, made in material.decisions.items()
        )
        key = (book.version, material.history.latest.version, *newest)
        with self._lock:
            known = self._counted.get(key)
        if known is None:
            known = count_items(material, book)
            with self._lock:
                self._counted[key] = known
                while len(self._counted) > _KEPT:
                    self._counted.popitem(last=False)
        return known
