"""What a search finds: a page of items, how many there are in all, and how they spread over years and tags."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from quaestor.study.coding import Coding
from quaestor.study.folder import Study
from quaestor.study.search.index import TOKENS, Index
from quaestor.study.search.outcomes import Answer, Outcomes
from quaestor.study.search.question import Question, Recent, looking, question
from quaestor.study.search.standing import standing_result
from quaestor.study.search.wanted import Wanted
from quaestor.study.search.words import Terms
from quaestor.study.sight import Sight, Viewer

MOST_RANKED = 20_000
"""Items that are put in the order of how well they fit; of more than that, none fits better than the next."""
_TAGS = 12
_BEGIN, _END = "\x02", "\x03"
_RANK = "bm25(texts, 8.0, 1.0, 4.0)"
_ORDERS = {
    "newest": "items.created DESC, items.number DESC",
    "oldest": "items.created, items.number",
    "viewed": "items.views DESC, items.number",
    "scored": "items.score DESC, items.number",
}
_COLUMNS = "number, item, title, created, tags, score, views, fell_at"


@dataclass(frozen=True)
class Piece:
    """A stretch of text, marked where it is a word that was searched for."""

    text: str
    marked: bool = False


@dataclass(frozen=True)
class FoundItem:
    """One item as a list shows it."""

    item: str
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]
    created: str
    tags: tuple[str, ...]
    score: int | None
    views: int | None
    fell_at: str
    """The step it fell out at; empty where it is still in."""
    decided: tuple[Answer, ...] = ()

    @property
    def plain_title(self) -> str:
        return "".join(piece.text for piece in self.title)

    def as_json(self) -> dict[str, Any]:
        decided = {answer.facet: answer.words for answer in self.decided}
        named = ("item", "created", "tags", "score", "views", "fell_at")
        plain = {name: getattr(self, name) for name in named}
        return {**plain, "title": self.plain_title, "decided": decided}


@dataclass(frozen=True)
class Found:
    """A page of what was found."""

    rows: tuple[FoundItem, ...]
    total: int
    page: int
    size: int
    years: tuple[tuple[int | None, int], ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    """The most frequent ones; none where there are too many items to count them at once."""
    ranked: bool = False
    """Whether those that fit best come first."""
    unseen: tuple[str, ...] = ()
    """Why rounds are left out."""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size + 1


_COUNTS = Recent(100)


def found(study: Study, coding: Coding | None, index: Index, wanted: Wanted, viewer: Viewer, size: int = 25) -> Found:
    """A page of the items somebody wants, with what the viewer may see of what was decided about them."""
    steps = tuple(step.step for step in standing_result(study, coding).steps)
    with index.reading() as connection:
        asked = question(study, coding, index, connection, wanted, viewer)
        years, total = _COUNTS.get((index.key, "years", asked), lambda: _by_year(connection, asked))
        ranked = bool(asked.terms.having) and wanted.order in ("", "best") and total <= MOST_RANKED
        order = _RANK if ranked else _ORDERS.get(wanted.order, _ORDERS["viewed"] if wanted.words else "items.number")
        page = min(wanted.page, max(1, -(-total // size)))
        # Only numbers are put in order; what is shown is fetched for one page alone.
        numbers = [number for (number,) in connection.execute(
            f"SELECT items.number {asked.where} ORDER BY {order} LIMIT ? OFFSET ?",
            (*asked.values, size, (page - 1) * size),
        )]  # fmt: skip
        rows = _rows(connection, numbers, asked.terms, steps)
        tags = _COUNTS.get((index.key, "tags", asked), lambda: _by_tag(connection, asked, total))
    with looking(coding) as state:
        outcomes = Outcomes(Sight(state, study.settings.study.lead, viewer))
        shown = tuple(_with(row, outcomes.about(row.item)) for row in rows)
    return Found(shown, total, page, size, years, tags, ranked, asked.unseen)


def _by_year(connection: sqlite3.Connection, asked: Question) -> tuple[tuple[tuple[int | None, int], ...], int]:
    rows = connection.execute(
        f"SELECT items.year, count(*) {asked.where} GROUP BY items.year ORDER BY items.year",
        asked.values,
    ).fetchall()
    return tuple(rows), sum(count for _, count in rows)


def _by_tag(connection: sqlite3.Connection, asked: Question, total: int) -> tuple[tuple[str, int], ...]:
    if not asked.conditions:
        counted = connection.execute("SELECT tag, items FROM tag_counts ORDER BY items DESC, tag LIMIT ?", (_TAGS,))
    elif total <= MOST_RANKED:
        counted = connection.execute(
            f"SELECT tag, count(*) AS items FROM tagged WHERE number IN (SELECT items.number {asked.where}) "  # noqa: S608
            "GROUP BY tag ORDER BY items DESC, tag LIMIT ?",
            (*asked.values, _TAGS),
        )
    else:
        return ()
    return tuple(counted.fetchall())


def _rows(
    connection: sqlite3.Connection, numbers: Sequence[int], terms: Terms, steps: Sequence[str]
) -> list[FoundItem]:
    marks = ",".join("?" * len(numbers))
    by_number = {row[0]: row for row in connection.execute(
        f"SELECT {_COLUMNS} FROM items WHERE number IN ({marks})", tuple(numbers)  # noqa: S608
    )}  # fmt: skip
    texts = _marked(connection, numbers, terms) if terms.having else {}
    return [_row(by_number[number], *texts.get(number, ("", "")), steps) for number in numbers]


def _marked(connection: sqlite3.Connection, numbers: Sequence[int], terms: Terms) -> dict[int, tuple[str, str]]:
    """Title and a stretch of the body with the words that were searched for between two marks.

    Marked in an index of these few alone: the large one would look for the words anew with every row.
    """
    marks = ",".join("?" * len(numbers))
    texts = connection.execute(f"SELECT rowid, title, body FROM texts WHERE rowid IN ({marks})", tuple(numbers))  # noqa: S608
    with closing(sqlite3.connect(":memory:")) as few:
        few.execute(f"CREATE VIRTUAL TABLE few USING fts5(title, body, {TOKENS})")
        few.executemany("INSERT INTO few (rowid, title, body) VALUES (?, ?, ?)", texts)
        rows = few.execute(
            "SELECT rowid, highlight(few, 0, ?, ?), snippet(few, 1, ?, ?, '…', 32) FROM few WHERE few MATCH ?",
            (_BEGIN, _END, _BEGIN, _END, " OR ".join(terms.having)),
        )
        return {number: (title, snippet) for number, title, snippet in rows}


def _row(row: tuple[Any, ...], title: str, snippet: str, steps: Sequence[str]) -> FoundItem:
    _, item, plain, created, tags, score, views, fell_at = row
    return FoundItem(
        item=item,
        title=tuple(_pieces(title or plain)),
        snippet=tuple(_pieces(snippet)),
        created=created,
        tags=tuple(tags.split("\n")) if tags else (),
        score=score,
        views=views,
        fell_at=steps[fell_at] if fell_at < len(steps) else "",
    )


def _pieces(text: str) -> Iterator[Piece]:
    before, *parts = text.split(_BEGIN)
    if before:
        yield Piece(before)
    for part in parts:
        marked, _, rest = part.partition(_END)
        yield Piece(marked, True)
        if rest:
            yield Piece(rest)


def _with(row: FoundItem, decided: tuple[Answer, ...]) -> FoundItem:
    return FoundItem(**{**vars(row), "decided": decided})
