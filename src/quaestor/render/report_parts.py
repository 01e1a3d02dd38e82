"""The parts of a report: sections, leading numbers, and the items behind its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quaestor.render.figures.records import Figure, FigurePlan
from quaestor.render.table_model import Table

MOST_LISTED = 50_000
"""Items that one page can still list; beyond, the command line and the desk do."""


@dataclass(frozen=True)
class Section:
    """A part of the report under one heading: a few words, figures, tables, and tables folded away."""

    title: str
    words: str = ""
    figures: tuple[Figure | FigurePlan, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()
    quoted: bool = False
    """Whether its numbers count quotations of interviews, and open these."""


@dataclass(frozen=True)
class Fact:
    """One number a reader wants first."""

    number: str
    words: str


@dataclass(frozen=True)
class ListedItem:
    """An item as the page of items shows it; all of it comes from strangers."""

    item: str
    title: str
    link: str
    author: str
    licence: str
    created: str
    views: int | None
    score: int | None
    days: float | None
    note: str = ""
    """What a reader must know to understand it, such as the question that it answers."""


@dataclass(frozen=True)
class ItemColumns:
    """The items of a report and what tells them apart: by attribute its keys, titles, and a place for each item."""

    items: tuple[ListedItem, ...]
    attributes: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]]
