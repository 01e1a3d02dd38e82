"""Tables of answers that Quaestor wrote, read again: wide ones as they are, tidy ones put together by response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.tables import unguard
from quaestor.instruments.mapping import ColumnMapping, is_own_tidy, is_own_wide, own_mapping
from quaestor.instruments.records import Questionnaire
from quaestor.instruments.tidy import TIDY, Layout, layout_of, wide_from_tidy
from quaestor.sources.survey_exports import Export, PlainRow, shaped
from quaestor.study.surveys.sheets import GUARDED


@dataclass(frozen=True)
class OwnExport:
    """A table of Quaestor's own as one with a row for each response, and what its columns mean in each version."""

    export: Export
    mappings: Mapping[int, ColumnMapping]
    unknown: set[str]
    """What a tidy table answers and no version asks; filled while its rows are read."""


def own_export(rows: Iterable[PlainRow], versions: Mapping[int, Questionnaire], path: Path) -> OwnExport:
    """Read a table that Quaestor wrote, by the versions that this study has of the questionnaire."""
    export = _as_written(shaped(rows, str(path), header_rows=1))
    layout = layout_of(versions)
    unknown: set[str] = set()
    if is_own_tidy(export.columns):
        export = _put_together(export, layout, unknown)
    elif not is_own_wide(export.columns):
        raise InputError(f"{path} is no export of Quaestor: say with a mapping which column answers which question")
    return OwnExport(export, {one: own_mapping(layout, one, export.columns) for one in versions}, unknown)


def _as_written(export: Export) -> Export:
    """The table with texts as people wrote them, where it says that they were guarded."""
    if GUARDED not in export.columns:
        return export
    place = export.columns.index(GUARDED)

    def without(row: PlainRow) -> PlainRow:
        return PlainRow(row.number, [*row.cells[:place], *row.cells[place + 1 :]])

    def unguarded(row: PlainRow) -> PlainRow:
        return PlainRow(row.number, [unguard(cell) for cell in without(row).cells])

    columns = (*export.columns[:place], *export.columns[place + 1 :])
    return Export(columns, tuple(map(without, export.header)), map(unguarded, export.rows))


def _put_together(export: Export, layout: Layout, unknown: set[str]) -> Export:
    about = export.columns[: -len(TIDY)]
    columns = (*about, *(column.name for column in layout.columns()))
    header = PlainRow(export.header[0].number, columns)
    return Export(columns, (header,), _wide_rows(export, layout, columns, len(about), unknown))


def _wide_rows(
    export: Export, layout: Layout, columns: tuple[str, ...], about: int, unknown: set[str]
) -> Iterator[PlainRow]:
    """Lines of a response follow each other; the number of its row is that of the first."""
    questions = {one.id: one for one in layout.questions}
    for _, group in groupby(export.rows, key=lambda row: row.cells[0]):
        lines = list(group)
        cells: dict[str, str] = dict(zip(columns, lines[0].cells[:about], strict=False))
        told: dict[str, list[Mapping[str, str]]] = {}
        for line in lines:
            said = dict(zip(TIDY, line.cells[about:], strict=True))
            told.setdefault(said["question"], []).append(said)
        for name, parts in told.items():
            if name in questions:
                cells |= wide_from_tidy(questions[name], parts)
            elif name:
                unknown.add(name)
        unknown.update(name for name, cell in cells.items() if name not in columns and cell not in ("", "0"))
        yield PlainRow(lines[0].number, [cells.get(column, "") for column in columns])
