"""Reads rows of a file of answers: CSV, TSV or XLSX, every cell as text."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.files import hash_file
from quaestor.base.table_files import unescape_formula
from quaestor.evidence.sources.tables.cells import ErrorCell, Record, as_text
from quaestor.evidence.sources.tables.delimited import DELIMITERS, detect_delimiter, read_delimited
from quaestor.evidence.sources.tables.settings import TableSettings
from quaestor.evidence.sources.tables.workbook import read_workbook
from quaestor.surveys.exchange.table_files import GUARDED
from quaestor.surveys.model.column_mapping import ColumnMapping, is_own_tidy, is_own_wide, own_mapping
from quaestor.surveys.model.question_versions import Merges
from quaestor.surveys.model.records import Questionnaire
from quaestor.surveys.model.service_exports import Export, PlainRow, UnreadableCell, split_header
from quaestor.surveys.model.tidy_layout import TIDY, Layout, build_layout, wide_from_tidy

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_HEAD = 64 * 1024


def hash_answers_file(path: Path) -> str:
    """Returns the SHA-256 of a file of answers; raises InputError if it is missing or empty."""
    if not path.is_file():
        raise InputError(f"{path} does not exist: name a CSV, TSV or XLSX file of answers")
    if not path.stat().st_size:
        raise InputError(f"{path} is empty: name a file of answers with a header")
    return hash_file(path)


def plain_rows(path: Path, encoding: str = "") -> Generator[PlainRow, None, None]:
    """Yields the rows of a CSV, TSV or XLSX file as texts; raises InputError if the file is damaged.

    Text files are read as UTF-8, or as UTF-16 if they have a byte order mark, unless an encoding is given.
    """
    if path.suffix.lower() not in (*DELIMITERS, ".xlsx"):
        raise InputError(f"{path} is not a .csv, .tsv, .txt or .xlsx file: export the answers in one of these formats")
    if path.suffix.lower() == ".xlsx":
        records = read_workbook(path, TableSettings(path=str(path), item="{item}"))
    else:
        records = read_delimited(path, _how_written(path, encoding))
    for record in records:
        yield _plain(record, path)


def _plain(record: Record, path: Path) -> PlainRow:
    if record.fault:
        raise InputError(f"{path}, row {record.number} cannot be read: {record.fault}; nothing was imported")
    cells = [UnreadableCell(cell.text) if isinstance(cell, ErrorCell) else as_text(cell) for cell in record.cells]
    return PlainRow(record.number, cells)


def _how_written(path: Path, encoding: str) -> TableSettings:
    """Detects the encoding by the byte order mark, the delimiter by its frequency in the first line."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    encoding = encoding or next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    delimiter = detect_delimiter(head, encoding, path.suffix)
    return TableSettings(path=str(path), item="{item}", encoding=encoding, delimiter=delimiter)


@dataclass(frozen=True)
class OwnExport:
    """An export of Quaestor with a row for each response, and the meaning of its columns in each version."""

    export: Export
    mappings: Mapping[int, ColumnMapping]
    unknown: set[str]
    """Questions in a tidy table that no version has; filled while its rows are read."""


def own_export(
    rows: Iterable[PlainRow], versions: Mapping[int, Questionnaire], path: Path, merges: Merges | None = None
) -> OwnExport:
    """Reads an export of Quaestor, using the study's versions of the questionnaire."""
    whole = split_header(rows, str(path), header_rows=1)
    export, layout = _as_written(whole), build_layout(versions, merges)
    if GUARDED in whole.columns and not layout.is_as_stored:
        raise InputError(f"{path} has merged options or converted numbers: import an export made with --raw instead")
    layout = build_layout(versions, raw=True)
    unknown: set[str] = set()
    if is_own_tidy(export.columns):
        export = _put_together(export, layout, unknown)
    elif not is_own_wide(export.columns):
        raise InputError(f"{path} is not an export of Quaestor: add a mapping of columns to questions")
    return OwnExport(export, {version: own_mapping(layout, version, export.columns) for version in versions}, unknown)


def _as_written(export: Export) -> Export:
    """Removes the apostrophes that protect against formulas, if the table says it has them."""
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
    """Joins the consecutive lines of a response; its row number is that of the first line."""
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
