"""Tables of popularity and difficulty: medians alone, or with quartiles, intervals and base."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quaestor.measures.descriptive import share, summary
from quaestor.measures.item_columns import ANY_VALUE, Floats
from quaestor.measures.records import Summary
from quaestor.publication.results.count_tables import Part, base_note, group_title, grouped_rows, part_of, stub_of
from quaestor.publication.results.item_columns import Results
from quaestor.render.number_format import ABSENT, decimal, interval, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.study.settings.publication import PublishedTableSettings

ALL, _ANSWER = "All", "response_days"
TITLES = {
    "viewcount": "Viewcount",
    "score": "Score",
    "response_days": "Days to the accepted answer",
    "first_answer_days": "Days to the first answer",
}
Conditions = tuple[tuple[str, tuple[str, ...]], ...]
Cells = Callable[[str, Summary, Selection], list[Cell]]


def title_of(measure: str) -> str:
    return TITLES.get(measure, measure.replace("_", " ").capitalize())


def medians_table(results: Results, asked: PublishedTableSettings, seed: int) -> Table:
    """The median of each measure, by row."""
    columns = tuple(Column(name, title_of(name)) for name in asked.measures)

    def cells(measure: str, summary: Summary, selection: Selection) -> list[Cell]:
        return [Cell((decimal(summary.median),), (summary.median,), selection)]

    return _table(results, asked, columns, cells, seed)


def summaries_table(results: Results, asked: PublishedTableSettings, seed: int) -> Table:
    """Base, median, 95 % interval and quartiles of each measure, by row."""
    columns = tuple(
        Column(f"{name}_{part}", title, spanner=title_of(name))
        for name in asked.measures
        for part, title in (("n", "n"), ("median", "Median"), ("ci", "95% CI"), ("quartiles", "Quartiles"))
    )
    if _ANSWER in asked.measures:
        columns += (Column("never_accepted", "Never accepted", ("", "95% CI")),)

    def cells(measure: str, summary: Summary, selection: Selection) -> list[Cell]:
        return [
            Cell((whole(summary.n),), (summary.n,), selection),
            Cell((decimal(summary.median),), (summary.median,), selection),
            Cell((interval(summary.low, summary.high),), (), selection),
            Cell((interval(summary.q1, summary.q3),), (), selection),
        ]

    return _table(results, asked, columns, cells, seed)


def _never_accepted(days: Floats, selection: Selection) -> Cell:
    """The share of items without an accepted answer, with Wilson's interval."""
    unanswered = share(int(np.isnan(days).sum()), len(days))
    bounds = [None if bound is None else 100 * bound for bound in (unanswered.low, unanswered.high)]
    return Cell((percent(unanswered.value), interval(bounds[0], bounds[1], 1)), (unanswered.value,), selection)


def _table(
    results: Results, asked: PublishedTableSettings, columns: tuple[Column, ...], cells: Cells, seed: int
) -> Table:
    part = part_of(results, asked)
    ways: set[str] = set()
    groups = []
    for group, keys in grouped_rows(results, part, asked):
        attribute = part.decided.get_attribute(asked.rows[-1])
        above: Conditions = ((asked.rows[0], (group,)),) if group else ()
        rows = [
            _row(part, asked, key, attribute.get_title(key), (*above, (attribute.name, (key,))), cells, seed, ways)
            for key in keys
        ]
        title = ""
        if group:
            title = part.decided.get_attribute(asked.rows[0]).get_title(group)
            title = group_title(group, title)
            rows.append(_row(part, asked, group, "Overall", above, cells, seed, ways, total=True))
        groups.append(Group(title, tuple(rows)))
    if asked.total:
        groups.append(Group("", (_row(part, asked, ALL, ALL, (), cells, seed, ways, total=True),)))
    how = f"95% CI of the median by {' and '.join(sorted(ways))}." if ways and asked.kind == "summaries" else ""
    notes = (base_note(part, results), how, f"{ABSENT}: no item has a value.", asked.note)
    return Table(
        asked.table, asked.title, stub_of(asked), columns, tuple(groups), notes=tuple(note for note in notes if note)
    )


def _row(
    part: Part, asked: PublishedTableSettings, key: str, title: str, conditions: Conditions, cells: Cells, seed: int,
    ways: set[str], *, total: bool = False,
) -> Row:  # fmt: skip
    chosen = part.decided.build_mask(conditions)
    selection = Selection((*part.selection.conditions, *conditions))
    row_cells: list[Cell] = []
    for measure in asked.measures:
        numbers = summary(part.decided.get_numbers(measure)[np.flatnonzero(chosen)], seed)
        if numbers.how:
            ways.add(numbers.how)
        row_cells += cells(measure, numbers, selection.narrowed(measure, ANY_VALUE))
    if asked.kind == "summaries" and _ANSWER in asked.measures:
        row_cells.append(_never_accepted(part.decided.get_numbers(_ANSWER)[np.flatnonzero(chosen)], selection))
    return Row(key, title, tuple(row_cells), total=total)
