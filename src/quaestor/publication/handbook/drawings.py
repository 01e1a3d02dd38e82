"""Geometry of the small drawings on handbook pages: coordinates only, colours are in the style sheet."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quaestor.publication.handbook.entry_index import EntryIndex
from quaestor.publication.handbook.numbers_in_words import (
    brief_duration,
    count,
    counted,
    duration,
    duration_range,
    headline,
)
from quaestor.publication.handbook.records import Entry, Measures
from quaestor.render.figures.treemap import Rectangle, squarify

SPARK_WIDTH, SPARK_HEIGHT, _MARGIN = 240.0, 56.0, 5.0


@dataclass(frozen=True)
class Spark:
    """A line over the years; each point is a pair of coordinates."""

    points: tuple[tuple[float, float], ...]
    first: int
    last: int
    by_share: bool

    @property
    def line(self) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y in self.points)


def draw_spark(measures: Measures) -> Spark | None:
    """Returns the line of shares by year if every year has one, else of counts; None without years."""
    years = sorted(measures.years)
    if not years:
        return None
    shares = [share for _, _, share in years if share is not None]
    by_share = len(shares) == len(years)
    values = shares if by_share else [float(posts) for _, posts, _ in years]
    first, last = years[0][0], years[-1][0]
    highest = max(values) or 1.0
    points = tuple(
        (
            _x_position(year - first, last - first),
            round(SPARK_HEIGHT - _MARGIN - (SPARK_HEIGHT - 2 * _MARGIN) * value / highest, 1),
        )
        for (year, _, _), value in zip(years, values, strict=True)
    )
    return Spark(points, first, last, by_share)


def _x_position(years: int, whole: int) -> float:
    return round(_MARGIN + (SPARK_WIDTH - 2 * _MARGIN) * years / whole, 1) if whole else SPARK_WIDTH / 2


def draw_bars(counts: Sequence[tuple[str, int]]) -> list[tuple[str, int, float]]:
    """Returns each count with the length of its bar; the longest is 100."""
    most = max([1, *(number for _, number in counts)])
    return [(name, number, round(100 * number / most, 1)) for name, number in counts]


_HEAD, _GAP, _LINE, _PAD = 24.0, 3.0, 16.0, 6.0
_LETTER = 7.0  # a letter's width on average, rounded up: a truncated label looks worse than none
_HEAD_LETTER = 9.0


@dataclass(frozen=True)
class Tile:
    """One code on the map, with as much of its label as fits."""

    entry: Entry
    place: Rectangle
    shade: str
    words: str
    """The text for screen readers."""
    lines: tuple[str, ...]
    number: str


@dataclass(frozen=True)
class District:
    """A code of the first level and the tiles in it."""

    entry: Entry
    place: Rectangle
    label: str
    words: str
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class TaxonomyMap:
    """The map for one page width."""

    width: int
    height: int
    name: str
    districts: tuple[District, ...]


def draw_maps(shelf: EntryIndex) -> list[TaxonomyMap]:
    """Returns a map for wide pages and one for narrow ones; none if no posts are counted."""
    districts = [(entry, _parts(shelf, entry)) for entry in shelf.children(None)]
    districts = [(entry, parts) for entry, parts in districts if parts]
    if not districts:
        return []
    return [
        _map(shelf, districts, "wide", 1040, 620),
        _map(shelf, districts, "narrow", 400, 960),
    ]


def build_legend(steps: tuple[float, ...]) -> list[tuple[str, str]]:
    """Returns each shade with its meaning."""
    names = [f"under {duration(steps[0])}"]
    names += [duration_range(low, high) for low, high in pairwise(steps)]
    return [
        *((f"shade-{number}", name) for number, name in enumerate(names, 1)),
        ("shade-5", f"over {duration(steps[-1])}"),
    ]


def shade(days: float | None, steps: tuple[float, ...]) -> str:
    return "shade-none" if days is None else f"shade-{bisect_right(steps, days) + 1}"


def tile_words(entry: Entry) -> str:
    parts = [headline(entry.name)]
    if entry.measures.posts is not None:
        parts.append(counted(entry.measures.posts, "post"))
    if entry.measures.days is not None:
        parts.append(f"half of the accepted answers within {duration(entry.measures.days)}")
    return ", ".join(parts)


def _parts(shelf: EntryIndex, entry: Entry) -> list[Entry]:
    """Returns the codes that divide a district: its children, or itself if none of them has posts."""
    counted = [child for child in shelf.children(entry) if child.measures.posts]
    return counted or [entry] if entry.measures.posts or counted else []


def _map(
    shelf: EntryIndex, districts: list[tuple[Entry, list[Entry]]], name: str, width: int, height: int
) -> TaxonomyMap:
    places = squarify([_posts(parts) for _, parts in districts], 0, 0, width, height)
    drawn = [_district(shelf, entry, parts, place) for (entry, parts), place in zip(districts, places, strict=True)]
    return TaxonomyMap(width, height, name, tuple(drawn))


def _district(shelf: EntryIndex, entry: Entry, parts: list[Entry], place: Rectangle) -> District:
    inner = place.inset(_GAP, _GAP, _GAP, _GAP)
    label = _shorten_name(headline(entry.name), inner.width - 2)
    head = _HEAD if label and inner.height > 3 * _HEAD else 0.0
    room = inner.inset(0, head, 0, 0)
    places = squarify([_posts([part]) for part in parts], room.x, room.y, room.width, room.height)
    tiles = tuple(_tile(shelf, part, where) for part, where in zip(parts, places, strict=True))
    return District(entry, _round_rectangle(inner), label if head else "", tile_words(entry), tiles)


def _tile(shelf: EntryIndex, entry: Entry, place: Rectangle) -> Tile:
    inner = place.inset(1, 1, 1, 1)
    measures = entry.measures
    number = count(measures.posts or 0) + (f" · {brief_duration(measures.days)}" if measures.days is not None else "")
    room = int((inner.height - _PAD) // _LINE)
    lines = _wrap_name(headline(entry.name), inner.width - 2 * _PAD)
    fits = bool(lines) and len(lines) <= room
    numbered = fits and len(lines) < room and len(number) * _LETTER <= inner.width - 2 * _PAD
    return Tile(
        entry,
        _round_rectangle(inner),
        shade(measures.days, shelf.book.steps),
        tile_words(entry),
        tuple(lines) if fits else (),
        number if numbered else "",
    )


def _posts(parts: Iterable[Entry]) -> float:
    return float(sum(part.measures.posts or 0 for part in parts))


def _wrap_name(name: str, width: float) -> list[str]:
    """Wraps a name to the width; returns no lines if a single word is wider."""
    lines: list[str] = []
    for word in name.split():
        if len(word) * _LETTER > width:
            return []
        if lines and (len(lines[-1]) + 1 + len(word)) * _LETTER <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _shorten_name(name: str, width: float) -> str:
    room = int(width // _HEAD_LETTER)
    if len(name) <= room:
        return name
    return f"{name[: room - 1].rstrip()}…" if room >= 6 else ""


def _round_rectangle(place: Rectangle) -> Rectangle:
    return Rectangle(round(place.x, 1), round(place.y, 1), round(place.width, 1), round(place.height, 1))
