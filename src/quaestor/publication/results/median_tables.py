"""Tables of popularity and difficulty: medians, also with quartiles, intervals and base."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quaestor.measures.descriptive import share, summary
from quaestor.measures.item_columns import ANY_VALUE, Floats
from quaestor.measures.records import Summary
from quaestor.publication.results.count_tables import (
    TablePart,
    base_note,
    group_title,
    grouped_rows,
    select_part,
    stub_title,
)
from quaestor.publication.results.item_columns import StudyResults
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


def measure_title(measure: str) -> str:
    return TITLES.get(measure, measure.replace("_", " ").capitalize())


def medians_table(results: StudyResults, settings: PublishedTableSettings, seed: int) -> Table:
    """Returns the median of each measure by row."""
    columns = tuple(Column(name, measure_title(name)) for name in settings.measures)

    def cells(measure: str, summary: Summary, selection: Selection) -> list[Cell]:
        return [Cell((decimal(summary.median),), (summary.median,), selection)]

    return _table(results, settings, columns, cells, seed)


def summaries_table(results: StudyResults, settings: PublishedTableSettings, seed: int) -> Table:
    """Returns base, median, 95 % interval and quartiles of each measure by row."""
    columns = tuple(
        Column(f"{name}_{part}", title, spanner=measure_title(name))
        for name in settings.measures
        for part, title in (("n", "n"), ("median", "Median"), ("ci", "95% CI"), ("quartiles", "Quartiles"))
    )
    if _ANSWER in settings.measures:
        columns += (Column("never_accepted", "Never accepted", ("", "95% CI")),)

    def cells(measure: str, summary: Summary, selection: Selection) -> list[Cell]:
        return [
            Cell((whole(summary.n),), (summary.n,), selection),
            Cell((decimal(summary.median),), (summary.median,), selection),
            Cell((interval(summary.low, summary.high),), (), selection),
            Cell((interval(summary.q1, summary.q3),), (), selection),
        ]

    return _table(results, settings, columns, cells, seed)


def _never_accepted(days: Floats, selection: Selection) -> Cell:
    """Returns the share of items without an accepted answer, with Wilson's interval."""
    unanswered = share(int(np.isnan(days).sum()), len(days))
    bounds = [None if bound is None else 100 * bound for bound in (unanswered.low, unanswered.high)]
    return Cell((percent(unanswered.value), interval(bounds[0], bounds[1], 1)), (unanswered.value,), selection)


def _table(
    results: StudyResults, settings: PublishedTableSettings, columns: tuple[Column, ...], cells: Cells, seed: int
) -> Table:
    part = select_part(results, settings)
    ways: set[str] = set()
    groups = []
    for group, keys in grouped_rows(results, part, settings):
        attribute = part.decided.get_attribute(settings.rows[-1])
        above: Conditions = ((settings.rows[0], (group,)),) if group else ()
        rows = [
            _row(part, settings, key, attribute.get_title(key), (*above, (attribute.name, (key,))), cells, seed, ways)
            for key in keys
        ]
        title = ""
        if group:
            title = part.decided.get_attribute(settings.rows[0]).get_title(group)
            title = group_title(group, title)
            rows.append(_row(part, settings, group, "Overall", above, cells, seed, ways, total=True))
        groups.append(Group(title, tuple(rows)))
    if settings.total:
        groups.append(Group("", (_row(part, settings, ALL, ALL, (), cells, seed, ways, total=True),)))
    how = f"95% CI of the median by {' and '.join(sorted(ways))}." if ways and settings.kind == "summaries" else ""
    notes = (base_note(part, results), how, f"{ABSENT}: no item has a value.", settings.note)
    return Table(
        settings.table,
        settings.title,
        stub_title(settings),
        columns,
        tuple(groups),
        notes=tuple(note for note in notes if note),
    )


def _row(
    part: TablePart, settings: PublishedTableSettings, key: str, title: str, conditions: Conditions, cells: Cells,
    seed: int, ways: set[str], *, total: bool = False,
) -> Row:  # fmt: skip
    chosen = part.decided.build_mask(conditions)
    selection = Selection((*part.selection.conditions, *conditions))
    row_cells: list[Cell] = []
    for measure in settings.measures:
        numbers = summary(part.decided.get_numbers(measure)[np.flatnonzero(chosen)], seed)
        if numbers.how:
            ways.add(numbers.how)
        row_cells += cells(measure, numbers, selection.narrow(measure, ANY_VALUE))
    if settings.kind == "summaries" and _ANSWER in settings.measures:
        row_cells.append(_never_accepted(part.decided.get_numbers(_ANSWER)[np.flatnonzero(chosen)], selection))
    return Row(key, title, tuple(row_cells), total=total)
