"""Tables of answers that Quaestor wrote, read again: wide ones as they are, tidy ones put together by response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.instruments.mapping import ColumnMapping, is_own_tidy, is_own_wide, own_mapping
from quaestor.instruments.records import Questionnaire
from quaestor.instruments.tidy import TIDY, columns_of, wide_from_tidy
from quaestor.sources.survey_exports import Export, PlainRow, shaped
from quaestor.study.surveys.sheets import GUARDED, unguarded_text


def own_export(rows: Iterable[PlainRow], questionnaire: Questionnaire, path: Path) -> tuple[Export, ColumnMapping]:
    """A table of Quaestor's own as one with a row for each response, and what its columns mean."""
    export = _as_written(shaped(rows, str(path), header_rows=1))
    if is_own_tidy(export.columns):
        export = _put_together(export, questionnaire)
    elif not is_own_wide(export.columns):
        raise InputError(f"{path} is no export of Quaestor: say with a mapping which column answers which question")
    return export, own_mapping(questionnaire, export.columns)


def _as_written(export: Export) -> Export:
    """The table with texts as people wrote them, where it says that they were guarded."""
    if GUARDED not in export.columns:
        return export
    place = export.columns.index(GUARDED)

    def without(row: PlainRow) -> PlainRow:
        return PlainRow(row.number, [*row.cells[:place], *row.cells[place + 1 :]])

    def unguarded(row: PlainRow) -> PlainRow:
        return PlainRow(row.number, [unguarded_text(cell) for cell in without(row).cells])

    columns = (*export.columns[:place], *export.columns[place + 1 :])
    return Export(columns, tuple(map(without, export.header)), map(unguarded, export.rows))


def _put_together(export: Export, questionnaire: Questionnaire) -> Export:
    about = export.columns[: -len(TIDY)]
    asked = tuple(column.name for one in questionnaire.questions() for column in columns_of(one))
    columns = (*about, *asked)
    header = PlainRow(export.header[0].number, columns)
    return Export(columns, (header,), _wide_rows(export, questionnaire, columns, len(about)))


def _wide_rows(
    export: Export, questionnaire: Questionnaire, columns: tuple[str, ...], about: int
) -> Iterator[PlainRow]:
    """Lines of a response follow each other; the number of its row is that of the first."""
    questions = {one.id: one for one in questionnaire.questions()}
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
        yield PlainRow(lines[0].number, [cells.get(column, "") for column in columns])
