"""Tables of counts and shares: any codebook level by any attribute of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quaestor.base.errors import InputError
from quaestor.measures.item_columns import NO_VALUE, NONE, Attribute, DecidedItems, Flags
from quaestor.publication.results.item_columns import StudyResults
from quaestor.render.number_format import percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.study.settings.publication import PublishedTableSettings

TOTAL = "total"
_SHARES = {"table": "share", "row": "row share", "column": "column share"}
"""By what a share is of: its name."""


@dataclass(frozen=True)
class TablePart:
    """The items a table is about, and the selection that finds them."""

    decided: DecidedItems
    selection: Selection


def select_part(results: StudyResults, settings: PublishedTableSettings) -> TablePart:
    conditions = tuple((name, tuple(keys)) for name, keys in settings.where.items())
    return TablePart(results.decided.select(results.decided.build_mask(conditions)), Selection(conditions))


def base_note(part: TablePart, results: StudyResults) -> str:
    shown, every = len(part.decided), len(results.decided)
    rest = f"; {results.undecided} undecided ones are left out." if results.undecided else "."
    if shown == every:
        return f"Base: all {every} decided items{rest}"
    return f"Base: {shown} of {every} decided items ({percent(shown / every)}){rest}"


def without_value(part: TablePart, settings: PublishedTableSettings) -> list[str]:
    """Notes how many items fit no row or column and are counted in the totals only."""
    names = [*settings.rows, *([settings.columns] if settings.columns is not None else [])]
    notes = []
    for name in names:
        missing = int((part.decided.get_attribute(name).codes == NONE).sum())
        if missing and not (settings.unplaced and name in settings.rows):
            notes.append(f"Without {name}, counted in the totals only: {missing}.")
    return notes


def group_title(key: str, title: str) -> str:
    """Returns a group's heading, with the letter that identifies it."""
    return f"({key}) {title}" if len(key) <= 3 and key[:1].isupper() and key != title else title


def grouped_rows(
    results: StudyResults, part: TablePart, settings: PublishedTableSettings
) -> list[tuple[str, list[str]]]:
    """Returns (group, its rows) by key; a table with one attribute has one group without a name."""
    if len(settings.rows) == 1:
        return [("", order_values(part, settings, part.decided.get_attribute(settings.rows[0])))]
    first, second = (part.decided.get_attribute(name) for name in settings.rows)
    groups = _present(part.decided, settings, first)
    groups_with_rows = [(group, _list_second_keys(results, part, settings, first, group, second)) for group in groups]
    if second.keys and not any(rows for _, rows in groups_with_rows):
        raise InputError(
            f"{second.name} is neither below nor across {first.name} in the codebook: use one of the two as columns"
        )
    return groups_with_rows


def order_values(part: TablePart, settings: PublishedTableSettings, attribute: Attribute) -> list[str]:
    keys = _present(part.decided, settings, attribute)
    if settings.order == "count":
        counts = np.bincount(attribute.codes[attribute.codes != NONE], minlength=len(attribute.keys))
        keys.sort(key=lambda key: -int(counts[attribute.keys.index(key)]))
    return keys


def _present(decided: DecidedItems, settings: PublishedTableSettings, attribute: Attribute) -> list[str]:
    """Returns the values a table shows, including those without items: its filter, or values below its filter."""
    if attribute.name in settings.where:
        return list(settings.where[attribute.name])
    for name, keys in settings.where.items():
        if set(keys) & set(attribute.parents) and name in decided.attributes:
            return [key for key, above in zip(attribute.keys, attribute.parents, strict=True) if above in keys]
    return list(attribute.keys)


def _list_second_keys(
    results: StudyResults,
    part: TablePart,
    settings: PublishedTableSettings,
    first: Attribute,
    group: str,
    second: Attribute,
) -> list[str]:
    if group in second.parents:
        return second.list_children(group)
    return [key for key in _present(part.decided, settings, second) if _is_assigned_across(results, first, group, key)]


def _is_assigned_across(results: StudyResults, first: Attribute, group: str, key: str) -> bool:
    """Tells whether the codebook assigns a code of the tree to a code of another facet."""
    book = results.coded.book
    facet = next(
        (codebook_facet.id for codebook_facet in book.facets.values() if first.name in codebook_facet.levels), ""
    )
    code = next((code for code, cited in results.keys.items() if cited == key), None)
    value = book.codes[code].across.get(facet) if code is not None else None
    return value is not None and book.at_level(value, first.name) == group


def counts_table(results: StudyResults, settings: PublishedTableSettings) -> Table:
    """Counts items by row and column, each with its share of the table's base."""
    part = select_part(results, settings)
    columns = part.decided.get_attribute(settings.columns) if settings.columns is not None else None
    keys = list(columns.keys) if columns is not None else []
    maker = _Cells(part, settings, columns, len(part.decided))
    groups = []
    for group, rows in grouped_rows(results, part, settings):
        attribute = part.decided.get_attribute(settings.rows[-1])
        table_rows = [
            Row(key, attribute.get_title(key), maker.cells(_conditions(settings, group, key)))
            for key in rows
        ]  # fmt: skip
        title = ""
        if group:
            title = part.decided.get_attribute(settings.rows[0]).get_title(group)
            title = group_title(group, title)
            table_rows.append(Row(group, "Total", maker.cells(((settings.rows[0], (group,)),)), total=True))
        groups.append(Group(title, tuple(table_rows)))
    end = []
    if settings.unplaced:
        unplaced = maker.cells((*can_be_placed(part.decided, settings), (settings.rows[-1], (NO_VALUE,))))
        if unplaced[-1].values[0]:
            end.append(Row("unplaced", "Not placed", unplaced))
    if settings.total:
        end.append(Row(TOTAL, "Total", maker.cells(()), total=True))
    if end:
        groups.append(Group("", tuple(end)))
    named = [(key, columns.get_title(key)) for key in keys] if columns is not None else []
    names = [_SHARES[kind] for kind in maker.kinds]
    parts = ("", *names[:1])
    shown = [*named, (TOTAL, "Total")] if named else [("posts", "Posts")]
    of = [f"Shares are of the {settings.shares}."] if isinstance(settings.shares, str) else []
    notes = (base_note(part, results), *of, *without_value(part, settings), *filter(None, [settings.note]))
    heads = tuple(Column(key, title, parts, more=tuple(names[1:])) for key, title in shown)
    return Table(settings.table, settings.title, stub_title(settings), heads, tuple(groups), notes=notes)


def can_be_placed(decided: DecidedItems, settings: PublishedTableSettings) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns the filter for items that fit a row of the table; groups without rows take none."""
    if len(settings.rows) == 1:
        return ()
    first, second = (decided.get_attribute(name) for name in settings.rows)
    with_lines = tuple(key for key in _present(decided, settings, first) if key in second.parents)
    return ((first.name, (*with_lines, NO_VALUE)),) if with_lines and second.parents[0] in first.keys else ()


def stub_title(settings: PublishedTableSettings) -> str:
    return settings.stub or " / ".join(settings.rows)


def _conditions(settings: PublishedTableSettings, group: str, key: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    own = ((settings.rows[-1], (key,)),)
    return ((settings.rows[0], (group,)), *own) if group else own


@dataclass(frozen=True)
class _Cells:
    part: TablePart
    settings: PublishedTableSettings
    columns: Attribute | None
    base: int

    @cached_property
    def kinds(self) -> list[str]:
        """Returns what shares are of, the printed one first; a cross table has all three."""
        if not self.settings.shares:
            return []
        first = self.settings.shares if isinstance(self.settings.shares, str) else "table"
        return [first, *(kind for kind in _SHARES if kind != first)] if self.columns is not None else [first]

    @cached_property
    def column_totals(self) -> list[int]:
        return self._count_columns(np.ones(len(self.part.decided), np.bool_))

    def cells(self, conditions: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[Cell, ...]:
        """Returns a row's cells: one per column, and the total."""
        chosen = self.part.decided.build_mask(conditions)
        selection = Selection((*self.part.selection.conditions, *conditions))
        row_total = int(chosen.sum())
        total = self._cell(row_total, selection, row_total, self.base)
        if self.columns is None:
            return (total,)
        counts = zip(self.columns.keys, self._count_columns(chosen), self.column_totals, strict=True)
        cells = [
            self._cell(count, selection.narrow(self.columns.name, key), row_total, column_total)
            for key, count, column_total in counts
        ]
        return (*cells, total)

    def _count_columns(self, chosen: Flags) -> list[int]:
        if self.columns is None:
            return []
        codes = self.columns.codes[chosen]
        counts: list[int] = np.bincount(codes[codes != NONE], minlength=len(self.columns.keys)).tolist()
        return counts

    def _cell(self, count: int, selection: Selection, row_total: int, column_total: int) -> Cell:
        bases = {"table": self.base, "row": row_total, "column": column_total}
        shares = [count / bases[kind] if bases[kind] else None for kind in self.kinds]
        texts = tuple(map(percent, shares))
        return Cell((whole(count), *texts[:1]), (count, *shares), selection, more=texts[1:])
