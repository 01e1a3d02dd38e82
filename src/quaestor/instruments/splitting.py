"""Several answers in one cell: told apart by the options there are, since options hold separators themselves."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST_CELL = 20_000
"""Characters of a cell with choices; a longer one holds none."""


def plain(text: str) -> str:
    """A label or cell with single blanks: files and people differ in these."""
    return " ".join(text.split())


def split_known(cell: str, known: Iterable[str], separator: str = ",") -> tuple[list[str], list[str]]:
    """The known texts that make up a cell, and the pieces that nobody knows, both as they follow each other.

    Of all ways to cut the cell at separators, the one that leaves the fewest characters unknown; where two are equal,
    the one with longer texts.
    """
    text, labels = plain(cell), {one: plain(one) for one in known}
    if len(text) > LONGEST_CELL:
        return [], [text]
    starts = _starts(text, separator)
    following = dict(zip(starts, [*starts[1:], len(text) + 1], strict=True))
    best: dict[int, tuple[int, int]] = {len(text) + 1: (0, 0)}
    chosen: dict[int, tuple[str | None, int]] = {}
    for start in reversed(starts):
        unknown, pieces = best[following[start]]
        best[start], chosen[start] = (unknown, pieces), (None, following[start])
        for one, label in labels.items():
            end = start + len(label)
            if not label or not text.startswith(label, start) or not _ends(text, end, separator):
                continue
            after = _after(text, end, separator)
            covered = (best[after][0] + len(label), best[after][1] - 1)
            if covered > best[start]:
                best[start], chosen[start] = covered, (one, after)
    return _walk(text, chosen, separator)


def _starts(text: str, separator: str) -> list[int]:
    """Where a piece can begin: at the beginning, and behind each separator."""
    starts, place = [0], text.find(separator)
    while place >= 0:
        starts.append(_after(text, place, separator))
        place = text.find(separator, place + len(separator))
    return sorted({start for start in starts if start <= len(text)})


def _ends(text: str, end: int, separator: str) -> bool:
    return end == len(text) or text[end : end + 1 + len(separator)].lstrip(" ").startswith(separator)


def _after(text: str, end: int, separator: str) -> int:
    """Where the piece behind a separator begins; beyond the text where none follows."""
    place = text.find(separator, end)
    if place < 0:
        return len(text) + 1
    place += len(separator)
    while place < len(text) and text[place] == " ":
        place += 1
    return place


def _walk(text: str, chosen: dict[int, tuple[str | None, int]], separator: str) -> tuple[list[str], list[str]]:
    found: list[str] = []
    unknown: list[str] = []
    place, begun = 0, -1
    while place in chosen:
        one, after = chosen[place]
        if one is None and begun < 0:
            begun = place
        if one is not None:
            found.append(one)
            if begun >= 0:
                unknown.append(text[begun:place])
                begun = -1
        place = after
    if begun >= 0:
        unknown.append(text[begun:])
    pieces = (one.strip(f"{separator} ") for one in unknown)
    return found, [one for one in pieces if one]
