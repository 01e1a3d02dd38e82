"""Every table of a study, by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.publish.records import Cell, Column, Group, Row, Selection, Table
from quaestor.publish.settings import PublishedTableSettings
from quaestor.publish.shown import whole
from quaestor.study.folder import Study
from quaestor.study.results.counts import base_note, counts_table, ordered, part_of, stub_of
from quaestor.study.results.decided import Results
from quaestor.study.results.medians import medians_table, summaries_table
from quaestor.study.results.population import filter_table
from quaestor.study.results.relations import (
    association_table,
    comparison_table,
    correlations_table,
    measures_table,
    trends_table,
)

_MAKERS: Mapping[str, Callable[[Study, Results, PublishedTableSettings], Table]] = {
    "counts": lambda study, results, asked: counts_table(results, asked),
    "codes": lambda study, results, asked: codes_table(results, asked),
    "medians": lambda study, results, asked: medians_table(results, asked, _seed(study)),
    "summaries": lambda study, results, asked: summaries_table(results, asked, _seed(study)),
    "correlations": lambda study, results, asked: correlations_table(results, asked, _printed(study)),
    "measures": lambda study, results, asked: measures_table(results, asked),
    "comparison": lambda study, results, asked: comparison_table(results, asked),
    "association": lambda study, results, asked: association_table(results, asked, _seed(study)),
    "trends": lambda study, results, asked: trends_table(results, asked),
    "filter": lambda study, results, asked: filter_table(study, asked, _seed(study)),
}  # fmt: skip


def _seed(study: Study) -> int:
    return study.settings.study.seed


def _printed(study: Study) -> str:
    return study.settings.measures.correlation


def make_table(study: Study, results: Results, asked: PublishedTableSettings) -> Table:
    """One table; raises StateError where the study has not what it needs."""
    try:
        return _MAKERS[asked.kind](study, results, asked)
    except InputError as error:
        raise InputError(f"{study.file}: table {asked.table}: {error}") from None


def codes_table(results: Results, asked: PublishedTableSettings) -> Table:
    """The codes of a level with their definitions."""
    part = part_of(results, asked)
    attribute = part.decided.attribute(asked.rows[-1])
    book = results.coded.book
    codes = {cited: book.codes[code] for code, cited in results.keys.items()}
    codes = {**book.codes, **codes}  # codes of other facets are cited by their ids
    if not all(key in codes for key in attribute.keys):
        levels = listed(level for facet in book.facets.values() for level in facet.levels)
        raise InputError(f"{attribute.name} is no level of the codebook, so it has no definitions, allowed: {levels}")
    rows = []
    for key in ordered(part, asked, attribute):
        selection = part.selection.narrowed(attribute.name, key)
        count = int(part.decided.mask(((attribute.name, (key,)),)).sum())
        cells = (Cell((codes[key].definition,)), Cell((whole(count),), (count,), selection))
        rows.append(Row(key, codes[key].name, cells))
    columns = (Column("definition", "Definition", numeric=False), Column("posts", "Posts"))
    notes = tuple(one for one in (base_note(part, results), asked.note) if one)
    return Table(asked.table, asked.title, stub_of(asked), columns, (Group("", tuple(rows)),), notes=notes)


def _row_and_column(study: Study, results: Results, table_id: str, rest: str) -> tuple[str, str]:
    """A row and a column, either of which may hold colons."""
    asked = next((one for one in study.settings.tables if one.table == table_id), None)
    columns = [one.key for one in make_table(study, results, asked).columns] if asked is not None else []
    fitting = next((key for key in columns if rest.endswith(f":{key}")), None)
    if fitting is not None:
        return rest.removesuffix(f":{fitting}"), fitting
    row, _, column = rest.rpartition(":")
    return row, column


def items_of_cell(study: Study, results: Results, cell: str) -> tuple[list[str], Selection]:
    """The items behind `TABLE:ROW:COLUMN`, and the selection that finds them."""
    table_id, _, rest = cell.partition(":")
    row, column = _row_and_column(study, results, table_id, rest)
    asked = {one.table: one for one in study.settings.tables}
    if not row or not column:
        raise InputError(f"{cell!r} names no cell: write TABLE:ROW:COLUMN, for example 3:D1:tensorflow")
    if table_id not in asked:
        raise InputError(f"there is no table {table_id!r}, allowed: {listed(nearest_first(table_id, asked))}")
    table = make_table(study, results, asked[table_id])
    rows = [one.key for one in table.rows()]
    columns = [one.key for one in table.columns]
    for what, given, allowed in (("row", row, rows), ("column", column, columns)):
        if given not in allowed:
            options = nearest_first(given, allowed)
            shown = listed(options[:6]) + (" …" if len(options) > 6 else "")
            raise InputError(f"table {table_id} has no {what} {given!r}, allowed: {shown}")
    found = table.cell(row, column)
    if found is None or found.selection is None:
        raise StateError(f"the cell {cell} is not counted from decided items: there is no list behind it")
    return results.decided.chosen(found.selection.conditions), found.selection
