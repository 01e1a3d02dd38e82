"""Rows of a file of answers, whoever wrote it: CSV, TSV or XLSX, every cell a text."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.hashing import hash_file
from quaestor.base.table_files import unescape_formula
from quaestor.evidence.sources.tables.cells import ErrorCell, Record, as_text
from quaestor.evidence.sources.tables.delimited import DELIMITERS, read_delimited
from quaestor.evidence.sources.tables.settings import TableSettings
from quaestor.evidence.sources.tables.workbook import read_workbook
from quaestor.surveys.exchange.table_files import GUARDED
from quaestor.surveys.model.column_mapping import ColumnMapping, is_own_tidy, is_own_wide, own_mapping
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.model.service_exports import Export, Failed, PlainRow, shaped
from quaestor.surveys.model.tidy_layout import TIDY, Layout, layout_of, wide_from_tidy

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_HEAD = 64 * 1024


def digest_of(path: Path) -> str:
    """The SHA-256 of a file of answers; one that is not there or empty is refused."""
    if not path.is_file():
        raise InputError(f"there is no file {path}: give a CSV, TSV or XLSX file of answers")
    if not path.stat().st_size:
        raise InputError(f"{path} is empty: give a file of answers with its header")
    return hash_file(path)


def plain_rows(path: Path, encoding: str = "") -> Generator[PlainRow, None, None]:
    """The rows of a CSV, TSV or XLSX file as texts; a file that is not sound is refused in one sentence.

    A text is UTF-8, or UTF-16 where it begins with the mark of it, unless its encoding is given.
    """
    if path.suffix.lower() not in (*DELIMITERS, ".xlsx"):
        raise InputError(f"{path} is none of .csv, .tsv, .txt and .xlsx: export the answers as one of these")
    if path.suffix.lower() == ".xlsx":
        records = read_workbook(path, TableSettings(path=str(path), item="{item}"))
    else:
        records = read_delimited(path, _how_written(path, encoding))
    for record in records:
        yield _plain(record, path)


def _plain(record: Record, path: Path) -> PlainRow:
    if record.fault:
        raise InputError(f"{path} cannot be read in row {record.number}: {record.fault}; nothing was taken in")
    cells = [Failed(cell.text) if isinstance(cell, ErrorCell) else as_text(cell) for cell in record.cells]
    return PlainRow(record.number, cells)


def _how_written(path: Path, encoding: str) -> TableSettings:
    """Encoding by the mark at its beginning, delimiter by what the first line has most of."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    encoding = encoding or next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    first = head.decode(encoding, "replace").partition("\n")[0]
    usual = DELIMITERS.get(path.suffix.lower(), ",")
    delimiter = max((usual, ",", "\t", ";"), key=first.count)
    return TableSettings(path=str(path), item="{item}", encoding=encoding, delimiter=delimiter)


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
    return OwnExport(export, {version: own_mapping(layout, version, export.columns) for version in versions}, unknown)


def _as_written(export: Export) -> Export:
    """The table with texts as people wrote them, where it says that they were guarded."""
    if GUARDED not in export.columns:
        return export
    place = export.columns.index(GUARDED)

    def without(row: PlainRow) -> PlainRow:
        return PlainRow(row.number, [*row.cells[:place], *row.cells[place + 1 :]])

    def unguarded(row: PlainRow) -> PlainRow:
        return PlainRow(row.number, [unescape_formula(cell) for cell in without(row).cells])

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
    questions = {question.id: question for question in layout.questions}
    for _, group in groupby(export.rows, key=lambda row: row.cells[0]):
        lines = list(group)
        cells: dict[str, str] = dict(zip(columns, lines[0].cells[:about], strict=False))
        by_question: dict[str, list[Mapping[str, str]]] = {}
        for line in lines:
            part = dict(zip(TIDY, line.cells[about:], strict=True))
            by_question.setdefault(part["question"], []).append(part)
        for name, parts in by_question.items():
            if name in questions:
                cells |= wide_from_tidy(questions[name], parts)
            elif name:
                unknown.add(name)
        unknown.update(name for name, cell in cells.items() if name not in columns and cell not in ("", "0"))
        yield PlainRow(lines[0].number, [cells.get(column, "") for column in columns])
