"""The results of a search: a page of items, their total number, counts by year and tag, and exports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from quaestor.base.files import is_private
from quaestor.base.table_files import Cell, ExportTable, format_csv, write_table
from quaestor.coding.coded_items import CodedAnswer
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import ASKER, Viewer
from quaestor.evidence.funnel import current_result
from quaestor.evidence.items import item_link
from quaestor.evidence.sources.protocol import no_progress
from quaestor.evidence.text_index import TOKENS, build_index
from quaestor.people.roles import Role
from quaestor.search.index_query import RecentResults, Search, SearchCondition, choose_strand
from quaestor.search.query import Query, Terms
from quaestor.study.folder import Study, has_journal

MAX_RANKED = 20_000
"""Up to this many items are ranked by relevance; with more, the most viewed come first."""
_MAX_TAGS = 12
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
class MarkedText:
    """A part of a text; `marked` if it matches a search term."""

    text: str
    marked: bool = False


@dataclass(frozen=True)
class ResultRow:
    """An item in the list of results."""

    item: str
    title: tuple[MarkedText, ...]
    snippet: tuple[MarkedText, ...]
    created: str
    tags: tuple[str, ...]
    score: int | None
    views: int | None
    dropped_at: str
    """The step that dropped the item; empty if none did."""
    decided: tuple[CodedAnswer, ...] = ()

    @property
    def plain_title(self) -> str:
        return "".join(piece.text for piece in self.title)

    def as_json(self) -> dict[str, Any]:
        decided = {answer.facet: answer.label for answer in self.decided}
        plain = {name: getattr(self, name) for name in ("item", "created", "tags", "score", "views")}
        return {**plain, "fell_at": self.dropped_at, "title": self.plain_title, "decided": decided}


@dataclass(frozen=True)
class ResultPage:
    """A page of results."""

    rows: tuple[ResultRow, ...]
    total: int
    page: int
    size: int
    years: tuple[tuple[int | None, int], ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    """The most frequent tags; empty if there are too many items to count."""
    ranked: bool = False
    """Whether the items are in order of relevance."""
    hidden_rounds: tuple[str, ...] = ()
    """The reasons why rounds are left out."""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size + 1


_COUNTS = RecentResults(100)


def find_items(search: Search, query: Query, size: int = 25) -> ResultPage:
    """Returns a page of the items that match a query, with the decisions that the viewer may see."""
    steps, key = search.steps, search.index.key
    with search.index.reading() as connection:
        condition = search.build_condition(connection, query)
        years, total = _COUNTS.get((key, "years", condition), lambda: _count_by_year(connection, condition))
        ranked = bool(condition.terms.required) and query.order in ("", "best") and total <= MAX_RANKED
        order = _RANK if ranked else _ORDERS.get(query.order, _ORDERS["viewed"] if query.words else "items.number")
        page = min(query.page, max(1, -(-total // size)))
        # Only item numbers are sorted; texts are fetched for one page only.
        numbers = [number for (number,) in connection.execute(
            f"SELECT items.number {condition.where} ORDER BY {order} LIMIT ? OFFSET ?",
            (*condition.values, size, (page - 1) * size),
        )]  # fmt: skip
        rows = _read_rows(connection, numbers, condition.terms, steps)
        tags = _COUNTS.get((key, "tags", condition), lambda: _count_by_tag(connection, condition, total))
    with search.open_decisions() as decisions:
        shown = tuple(replace(row, decided=search.list_answers(decisions, row.item)) for row in rows)
    return ResultPage(shown, total, page, size, years, tags, ranked, condition.hidden_rounds)


def _count_by_year(
    connection: sqlite3.Connection, condition: SearchCondition
) -> tuple[tuple[tuple[int | None, int], ...], int]:
    rows = connection.execute(
        f"SELECT items.year, count(*) {condition.where} GROUP BY items.year ORDER BY items.year",
        condition.values,
    ).fetchall()
    return tuple(rows), sum(count for _, count in rows)


def _count_by_tag(
    connection: sqlite3.Connection, condition: SearchCondition, total: int
) -> tuple[tuple[str, int], ...]:
    if not condition.conditions:
        counted = connection.execute("SELECT tag, items FROM tag_counts ORDER BY items DESC, tag LIMIT ?", (_MAX_TAGS,))
    elif total <= MAX_RANKED:
        counted = connection.execute(
            f"SELECT tag, count(*) AS items FROM tagged WHERE number IN (SELECT items.number {condition.where}) "  # noqa: S608
            "GROUP BY tag ORDER BY items DESC, tag LIMIT ?",
            (*condition.values, _MAX_TAGS),
        )
    else:
        return ()
    return tuple(counted.fetchall())


def _read_rows(
    connection: sqlite3.Connection, numbers: Sequence[int], terms: Terms, steps: Sequence[str]
) -> list[ResultRow]:
    placeholders = ",".join("?" * len(numbers))
    by_number = {row[0]: row for row in connection.execute(
        f"SELECT {_COLUMNS} FROM items WHERE number IN ({placeholders})", tuple(numbers)  # noqa: S608
    )}  # fmt: skip
    texts = _mark_terms(connection, numbers, terms) if terms.required else {}
    return [_build_row(by_number[number], *texts.get(number, ("", "")), steps) for number in numbers]


def _mark_terms(connection: sqlite3.Connection, numbers: Sequence[int], terms: Terms) -> dict[int, tuple[str, str]]:
    """Returns the title and a snippet of the body by item number, with search terms between two control characters.

    Uses a temporary index of these few texts: the main index would repeat the search for every row.
    """
    placeholders = ",".join("?" * len(numbers))
    texts = connection.execute(f"SELECT rowid, title, body FROM texts WHERE rowid IN ({placeholders})", tuple(numbers))  # noqa: S608
    with closing(sqlite3.connect(":memory:")) as few:
        few.execute(f"CREATE VIRTUAL TABLE few USING fts5(title, body, {TOKENS})")
        few.executemany("INSERT INTO few (rowid, title, body) VALUES (?, ?, ?)", texts)
        rows = few.execute(
            "SELECT rowid, highlight(few, 0, ?, ?), snippet(few, 1, ?, ?, '…', 32) FROM few WHERE few MATCH ?",
            (_BEGIN, _END, _BEGIN, _END, " OR ".join(terms.required)),
        )
        return {number: (title, snippet) for number, title, snippet in rows}


def _build_row(row: tuple[Any, ...], title: str, snippet: str, steps: Sequence[str]) -> ResultRow:
    _, item, plain, created, tags, score, views, dropped_at = row
    return ResultRow(
        item=item,
        title=tuple(_split_marked(title or plain)),
        snippet=tuple(_split_marked(snippet)),
        created=created,
        tags=tuple(tags.split("\n")) if tags else (),
        score=score,
        views=views,
        dropped_at=steps[dropped_at] if dropped_at < len(steps) else "",
    )


def _split_marked(text: str) -> Iterator[MarkedText]:
    before, *parts = text.split(_BEGIN)
    if before:
        yield MarkedText(before)
    for part in parts:
        marked, _, rest = part.partition(_END)
        yield MarkedText(marked, True)
        if rest:
            yield MarkedText(rest)


_FIXED = ("item", "title", "created", "tags", "score", "views", "author", "link", "not kept at")
_BATCH_SIZE = 1_000
Row = Sequence[Cell]


def export_csv(search: Search, query: Query) -> Iterator[str]:
    """Yields all results as CSV, some lines at a time; raises an error for an invalid query before the first line."""
    return map(format_csv, export_rows(search, query))


def export_rows(search: Search, query: Query) -> Iterator[Sequence[Row]]:
    """Yields the column names, then batches of rows in the order of the evidence."""
    steps = search.steps
    with search.index.reading() as connection:
        condition = search.build_condition(connection, query)
    with search.open_decisions() as decisions:
        facets = list(decisions.facets)
    return _read_batches(search, condition, steps, facets)


def _read_batches(
    search: Search, condition: SearchCondition, steps: Sequence[str], facets: Sequence[str]
) -> Iterator[Sequence[Row]]:
    yield [[*_FIXED, *(f"decided: {facet}" for facet in facets)]]
    after = -1
    while True:
        # A new query for every batch: no lock or cursor stays open while a client reads slowly.
        with search.index.reading() as connection:
            conditions = " AND ".join(part for part in (condition.conditions, "items.number > ?") if part)
            rows = connection.execute(
                "SELECT items.number, items.item, items.title, items.created, items.tags, items.score, items.views, "  # noqa: S608
                f"items.author, items.fell_at FROM {condition.tables} WHERE {conditions} ORDER BY items.number LIMIT ?",
                (*condition.values, after, _BATCH_SIZE),
            ).fetchall()
        if not rows:
            return
        with search.open_decisions() as decisions:
            decided = [
                {answer.facet: answer.label for answer in search.list_answers(decisions, row[1])} for row in rows
            ]
        yield [
            [
                item, title, created, " ".join(tags.split("\n")), score, views,
                author if search.viewer.sees_names or not author else ASKER, item_link(search.study, item),
                steps[dropped_at] if dropped_at < len(steps) else "",
                *(answers.get(facet, "") for facet in facets),
            ]
            for (_, item, title, created, tags, score, views, author, dropped_at), answers in zip(
                rows, decided, strict=True
            )
        ]  # fmt: skip
        after = rows[-1][0]


@contextmanager
def open_search(study: Study, query: Query) -> Iterator[Search]:
    """Opens a search with the lead's permissions for the command line, after building the index if needed.

    It searches the strand from which the study is seen, or else the one that the query is about. A study without a
    journal stays without one.
    """
    with open_coding(study) if has_journal(study) else nullcontext() as coding:
        if study.chosen_strand is None:
            study = study.in_strand(choose_strand(study, coding, query).strand or study.strand)
        current_result(study, coding)
        yield Search(study, coding, build_index(study, no_progress), Viewer(study.settings.study.lead, Role.LEAD))


def write_results(search: Search, query: Query, path: Path) -> None:
    """Writes all results of a query as a CSV or XLSX file, which is private if the evidence is."""
    batches = export_rows(search, query)
    columns = [str(name) for name in next(batches)[0]]
    table = ExportTable("items", columns, chain.from_iterable(batches))
    write_table(table, path, private=is_private(search.study.funnel_folder))
