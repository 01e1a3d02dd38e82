"""All tables of interviews under unique names, and the quotations behind their cells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.interviews.themes.co_occurrence import (
    SATURATION,
    TOGETHER,
    build_co_occurrence_table,
    build_saturation_table,
)
from quaestor.interviews.themes.participant_groups import TABLES, build_attribute_tables, explain_missing_tables
from quaestor.interviews.themes.records import InterviewThemes, Quotation, select_quotations
from quaestor.interviews.themes.tables import (
    MATRIX,
    QUOTATIONS,
    THEMES,
    field_tables,
    matrix_table,
    quotations_table,
    reference_tables,
    themes_table,
)
from quaestor.render.table_model import Group, Row, Selection, Table

_SHOWN = 6
_EVERYWHERE = (THEMES, MATRIX, SATURATION, TOGETHER, QUOTATIONS)
"""Tables that every study has; a question or a code may have the same name."""


def build_interview_tables(themes: InterviewThemes, used_ids: Collection[str] = ()) -> list[Table]:
    """Returns every table in reading order; a name that is already used gets a prefix."""
    names = set(used_ids)

    def free(name: str) -> str:
        while name in names:
            name = f"interview-{name}"
        names.add(name)
        return name

    called = {name: free(name) for name in _EVERYWHERE}
    overall = themes_table(themes)
    first = [
        replace(overall, notes=(*overall.notes, *explain_missing_tables(themes))),
        matrix_table(themes),
        build_saturation_table(themes),
        build_co_occurrence_table(themes),
    ]
    own = [replace(table, id=free(table.id)) for table in (*reference_tables(themes), *field_tables(themes))]
    by_group = [replace(table, id=free(table.id)) for table in build_attribute_tables(themes)]
    known = [replace(table, id=called[table.id]) for table in (*first, quotations_table(themes))]
    return [known[0], *by_group, *known[1:-1], *own, known[-1]]


@dataclass(frozen=True)
class CellQuotations:
    """The quotations behind a cell, the selection that finds them, and the cell's location."""

    quotations: tuple[Quotation, ...]
    selection: Selection
    table: str
    place: str
    """The titles of its row and column."""


def find_quotations_behind(themes: InterviewThemes, cell: str, used_ids: Collection[str] = ()) -> CellQuotations:
    """Finds the quotations behind `TABLE:ROW:COLUMN`."""
    if cell.startswith(TABLES):  # the desk compares by attributes that study.toml does not name
        themes = replace(themes, compared=tuple(attribute.name for attribute in themes.attributes))
    tables = {table.id: table for table in build_interview_tables(themes, used_ids)}
    name, _, rest = cell.partition(":")
    if name not in tables:
        raise InputError(f"interviews have no table {name!r}; choose from: {_format_options(name, tables)}")
    table = tables[name]
    columns = [column.key for column in table.columns]
    if any(column == "characters" for column in columns) and rest.endswith(":words"):
        rest = rest.removesuffix("words") + "characters"  # the column's name in older reports
    fitting = sorted((key for key in columns if rest.endswith(f":{key}")), key=len)
    if not fitting:
        column_name = rest.rpartition(":")[2]
        raise InputError(
            f"table {name} has no column {column_name!r}; choose from: {_format_options(column_name, columns)}"
        )
    row = rest.removesuffix(f":{fitting[-1]}")
    rows = {row.key: _row_title(group, row) for group in table.groups for row in group.rows}
    if row not in rows:
        raise InputError(f"table {name} has no row {row!r}; choose from: {_format_options(row, rows)}")
    cell_found = table.cell(row, fitting[-1])
    if cell_found is None or cell_found.selection is None:
        raise StateError(f"the cell {cell} does not count quotations, so there is no list behind it")
    title = next(column.title for column in table.columns if column.key == fitting[-1])
    place = f"{rows[row]}, {title}"
    return CellQuotations(
        tuple(select_quotations(themes, cell_found.selection)), cell_found.selection, table.title, place
    )


def _row_title(group: Group, row: Row) -> str:
    """Returns a row's title that can be understood outside of its table."""
    return f"{group.title}, any code" if row.total and group.title else row.title


def _format_options(name: str, names: Collection[str]) -> str:
    sort = sort_by_similarity(name, names)
    return join_with_or(sort[:_SHOWN]) + (" …" if len(sort) > _SHOWN else "")
