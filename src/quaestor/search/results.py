"""What a search finds: a page of items, how many there are in all, and how they spread over years and tags."""

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
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import ASKER, Viewer
from quaestor.evidence.funnel import current_result
from quaestor.evidence.items import item_link
from quaestor.evidence.sources.protocol import no_progress
from quaestor.evidence.text_index import TOKENS, build_index
from quaestor.people.roles import Role
from quaestor.search.coded_items import CodedAnswer
from quaestor.search.index_query import RecentResults, Search, SearchCondition
from quaestor.search.query import Query, Terms
from quaestor.study.folder import Study, has_journal

MAX_RANKED = 20_000
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
class MarkedText:
    """A stretch of text, marked where it is a word that was searched for."""

    text: str
    marked: bool = False


@dataclass(frozen=True)
class ResultRow:
    """One item as a list shows it."""

    item: str
    title: tuple[MarkedText, ...]
    snippet: tuple[MarkedText, ...]
    created: str
    tags: tuple[str, ...]
    score: int | None
    views: int | None
    dropped_at: str
    """The step it was dropped at; empty where it is still in."""
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
    """A page of what was found."""

    rows: tuple[ResultRow, ...]
    total: int
    page: int
    size: int
    years: tuple[tuple[int | None, int], ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    """The most frequent ones; none where there are too many items to count them at once."""
    ranked: bool = False
    """Whether those that fit best come first."""
    hidden_rounds: tuple[str, ...] = ()
    """Why rounds are left out."""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        return (self.page - 1) * self.size + 1


_COUNTS = RecentResults(100)


def find_items(search: Search, query: Query, size: int = 25) -> ResultPage:
    """A page of the items a query asks for, with what the viewer may see of what was decided about them."""
    steps, key = search.steps, search.index.key
    with search.index.reading() as connection:
        asked = search.build_condition(connection, query)
        years, total = _COUNTS.get((key, "years", asked), lambda: _by_year(connection, asked))
        ranked = bool(asked.terms.required) and query.order in ("", "best") and total <= MAX_RANKED
        order = _RANK if ranked else _ORDERS.get(query.order, _ORDERS["viewed"] if query.words else "items.number")
        page = min(query.page, max(1, -(-total // size)))
        # Only numbers are put in order; what is shown is fetched for one page alone.
        numbers = [number for (number,) in connection.execute(
            f"SELECT items.number {asked.where} ORDER BY {order} LIMIT ? OFFSET ?",
            (*asked.values, size, (page - 1) * size),
        )]  # fmt: skip
        rows = _rows(connection, numbers, asked.terms, steps)
        tags = _COUNTS.get((key, "tags", asked), lambda: _by_tag(connection, asked, total))
    with search.open_decisions() as outcomes:
        shown = tuple(replace(row, decided=outcomes.list_answers(row.item)) for row in rows)
    return ResultPage(shown, total, page, size, years, tags, ranked, asked.hidden_rounds)


def _by_year(connection: sqlite3.Connection, asked: SearchCondition) -> tuple[tuple[tuple[int | None, int], ...], int]:
    rows = connection.execute(
        f"SELECT items.year, count(*) {asked.where} GROUP BY items.year ORDER BY items.year",
        asked.values,
    ).fetchall()
    return tuple(rows), sum(count for _, count in rows)


def _by_tag(connection: sqlite3.Connection, asked: SearchCondition, total: int) -> tuple[tuple[str, int], ...]:
    if not asked.conditions:
        counted = connection.execute("SELECT tag, items FROM tag_counts ORDER BY items DESC, tag LIMIT ?", (_TAGS,))
    elif total <= MAX_RANKED:
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
) -> list[ResultRow]:
    marks = ",".join("?" * len(numbers))
    by_number = {row[0]: row for row in connection.execute(
        f"SELECT {_COLUMNS} FROM items WHERE number IN ({marks})", tuple(numbers)  # noqa: S608
    )}  # fmt: skip
    texts = _marked(connection, numbers, terms) if terms.required else {}
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
            (_BEGIN, _END, _BEGIN, _END, " OR ".join(terms.required)),
        )
        return {number: (title, snippet) for number, title, snippet in rows}


def _row(row: tuple[Any, ...], title: str, snippet: str, steps: Sequence[str]) -> ResultRow:
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


_FIXED = ("item", "title", "created", "tags", "score", "views", "author", "link", "fell out at")
_AT_ONCE = 1_000
Row = Sequence[Cell]


def export_csv(search: Search, query: Query) -> Iterator[str]:
    """The whole result as CSV, some lines at a time; what cannot be asked is refused at once."""
    return map(format_csv, export_rows(search, query))


def export_rows(search: Search, query: Query) -> Iterator[Sequence[Row]]:
    """The names of the columns, then the rows, some at a time, in the order of the evidence."""
    steps = search.steps
    with search.index.reading() as connection:
        asked = search.build_condition(connection, query)
    with search.open_decisions() as outcomes:
        facets = list(outcomes.facets)
    return _batches(search, asked, steps, facets)


def _batches(
    search: Search, asked: SearchCondition, steps: Sequence[str], facets: Sequence[str]
) -> Iterator[Sequence[Row]]:
    yield [[*_FIXED, *(f"decided: {facet}" for facet in facets)]]
    after = -1
    while True:
        # Asked anew for every thousand: nothing is held while a reader is slow.
        with search.index.reading() as connection:
            conditions = " AND ".join(part for part in (asked.conditions, "items.number > ?") if part)
            rows = connection.execute(
                "SELECT items.number, items.item, items.title, items.created, items.tags, items.score, items.views, "  # noqa: S608
                f"items.author, items.fell_at FROM {asked.tables} WHERE {conditions} ORDER BY items.number LIMIT ?",
                (*asked.values, after, _AT_ONCE),
            ).fetchall()
        if not rows:
            return
        with search.open_decisions() as outcomes:
            decided = [{answer.facet: answer.label for answer in outcomes.list_answers(row[1])} for row in rows]
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
def open_search(study: Study) -> Iterator[Search]:
    """A search by the lead at the command line: the index is made first where it has to be.

    A study in which nobody has acted gets no journal by being searched.
    """
    with open_coding(study) if has_journal(study) else nullcontext() as coding:
        current_result(study, coding)
        yield Search(study, coding, build_index(study, no_progress), Viewer(study.settings.study.lead, Role.LEAD))


def write_results(search: Search, query: Query, path: Path) -> None:
    """Write all that a query asks for as a CSV or XLSX file, as private as the evidence."""
    batches = export_rows(search, query)
    columns = [str(name) for name in next(batches)[0]]
    table = ExportTable("items", columns, chain.from_iterable(batches))
    write_table(table, path, private=is_private(search.study.funnel_folder))
