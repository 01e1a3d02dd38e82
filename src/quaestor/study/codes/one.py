"""One code with all that is known about it: what it means, where it stands, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.base.names import listed, nearest_first
from quaestor.coding.records import Code, Codebook
from quaestor.study.codes.changes import Change
from quaestor.study.codes.counts import Counts

_MOST_ITEMS = 8


@dataclass(frozen=True)
class CodePage:
    """A code under one version of the codebook."""

    code: Code
    level: str
    way: tuple[Code, ...]
    """From the top down to its parent."""
    below: tuple[Code, ...]
    across: tuple[tuple[str, Code], ...]
    """What it points at in other facets, by their titles."""
    pointing: tuple[Code, ...]
    """Codes of other facets that point at it."""
    became: tuple[Code, ...]
    """Of a code that is no longer offered: what took its place."""
    origin: Code | None
    changes: tuple[Change, ...]
    own: int
    items: int
    """Decided items at it, and at it or below it."""
    examples: tuple[str, ...]


def code_page(book: Codebook, name: str, changes: Sequence[Change], counts: Counts | None) -> CodePage:
    """Everything about a code; a name that is none is answered with the nearest."""
    code = book.codes.get(name)
    if code is None:
        options = listed(nearest_first(name, book.codes)[:3]) or "none"
        raise StateError(f"version {book.version} of the codebook has no code {name!r}, nearest: {options}")
    items = counts.items(name) if counts else frozenset()
    return CodePage(
        code=code,
        level=book.level(name),
        way=tuple(book.codes[one] for one in book.way(name)[:-1]),
        below=tuple(book.children(name)),
        across=tuple((book.facets[facet].title or facet, book.codes[other]) for facet, other in code.across.items()),
        pointing=tuple(one for one in book.codes.values() if one.active and name in one.across.values()),
        became=_became(book, code),
        origin=book.codes.get(code.origin),
        changes=tuple(change for change in changes if name in change.codes),
        own=len(counts.own.get(name, ())) if counts else 0,
        items=len(items),
        examples=tuple(sorted(items)[:_MOST_ITEMS]),
    )


def _became(book: Codebook, code: Code) -> tuple[Code, ...]:
    if code.into:
        return (book.codes[code.into],)
    if code.split:
        return tuple(one for one in book.codes.values() if one.origin == code.id and one.active)
    return ()
