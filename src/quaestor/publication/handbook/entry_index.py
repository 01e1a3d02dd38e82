"""Index of a handbook's entries by id, with their neighbours; rejects entries that cannot become pages."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from quaestor.base.errors import InputError
from quaestor.base.names import build_page_names
from quaestor.publication.handbook.records import Entry, Handbook

_WEB = re.compile(
    r"https?://[^\x00-\x20\x7f\\/?#@\[\]:]+(:\d{1,5})?([/?#][^\x00-\x20\x7f\\]*)?", re.ASCII | re.IGNORECASE
)


def web_link(link: str) -> str:
    """Returns the link if it is a plain web address, else an empty string."""
    return link if _WEB.fullmatch(link) else ""


_NEAR = 6


@dataclass(frozen=True)
class Neighbours:
    """The codes around one: previous, next, and a few siblings."""

    before: Entry | None
    after: Entry | None
    around: tuple[Entry, ...]
    others: int
    """Number of other codes with the same parent."""


class EntryIndex:
    """Finds an entry's address, children, ancestors and neighbours."""

    def __init__(self, book: Handbook) -> None:
        self.book = book
        self.entries = {entry.id: entry for entry in book.entries}
        _check(book, self.entries)
        self._names = build_page_names(self.entries)
        self._children: dict[str | None, list[Entry]] = defaultdict(list)
        for entry in book.entries:
            self._children[entry.parent].append(entry)
        self._places = {entry.id: number for codes in self._children.values() for number, entry in enumerate(codes)}

    def address(self, entry: Entry) -> str:
        """Returns the page's address relative to the root of the site."""
        return f"codes/{self._names[entry.id]}.html"

    def children(self, entry: Entry | None) -> list[Entry]:
        """Returns the children of a code, or the top-level codes."""
        return self._children.get(entry.id if entry else None, [])

    def list_ancestors(self, entry: Entry) -> list[Entry]:
        """Returns the ancestors of a code, from the root."""
        return [self.entries[id] for id in entry.path[:-1]]

    def neighbours(self, entry: Entry) -> Neighbours:
        codes, place = self._children[entry.parent], self._places[entry.id]
        first = max(0, min(place - _NEAR, len(codes) - 2 * _NEAR - 1))
        around = tuple(code for code in codes[first : first + 2 * _NEAR + 1] if code.id != entry.id)
        before = codes[place - 1] if place else None
        after = codes[place + 1] if place + 1 < len(codes) else None
        return Neighbours(before, after, around, len(codes) - 1)


def _check(book: Handbook, entries: dict[str, Entry]) -> None:
    if len(entries) < len(book.entries):
        seen: set[str] = set()
        twice = next(entry.id for entry in book.entries if entry.id in seen or seen.add(entry.id))  # type: ignore[func-returns-value]
        raise InputError(f"the handbook has the code {twice!r} twice: give each code its own id")
    for entry in book.entries:
        if entry.level not in book.levels:
            raise InputError(
                f"the code {entry.id!r} is at the level {entry.level!r}, which the handbook does not have: "
                f"name one of {', '.join(book.levels)}"
            )
        if not entry.path or entry.path[-1] != entry.id:
            raise InputError(f"the path of the code {entry.id!r} does not end with it: list the ids from the root")
        if entry.parent is not None and getattr(entries.get(entry.parent), "path", None) != entry.path[:-1]:
            raise InputError(
                f"the code {entry.id!r} has the parent {entry.parent!r}, which is missing or has another path: "
                "add every ancestor"
            )
    if list(book.steps) != sorted(set(book.steps)) or len(book.steps) != 4:
        raise InputError(f"the handbook needs four increasing numbers of days as steps, not {book.steps}")
