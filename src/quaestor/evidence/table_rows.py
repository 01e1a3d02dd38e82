"""Reads the rows of an uploaded table (CSV, TSV or XLSX) with every cell as text.

The apostrophe that `base.table_files` puts before a text that begins like a formula is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.table_files import unescape_formula
from quaestor.evidence.sources.tables.cells import ErrorCell, Record, as_text
from quaestor.evidence.sources.tables.delimited import (
    DELIMITERS,
    detect_delimiter,
    detect_encoding,
    read_delimited,
    read_delimited_bytes,
)
from quaestor.evidence.sources.tables.settings import TableSettings
from quaestor.evidence.sources.tables.source import parse_header, read_column_names
from quaestor.evidence.sources.tables.workbook import UPLOAD_BYTES, read_sheets, read_workbook

_ZIP = b"PK\x03\x04"


def read_header(path: Path) -> tuple[str, ...]:
    """Returns the column names in the header."""
    if not path.is_file():
        raise InputError(f"there is no file {path}: give a CSV, TSV or XLSX file")
    return tuple(unescape_formula(name) for name in read_column_names(path, _settings(path)))


def _settings(path: Path) -> TableSettings:
    return TableSettings(path=str(path), item="{item}")


def read_rows(path: Path, exact: Collection[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields (row number, cells by column) of every row that is not empty, without white space around cells.

    Cells of the columns in `exact` keep theirs.
    """
    header, settings = read_header(path), _settings(path)
    read = read_workbook if path.suffix.lower() == ".xlsx" else read_delimited
    with closing(_skip_header(read(path, settings))) as records:
        for record in records:
            cells = _read_cells(path, record, len(header))
            if any(cell.strip() for cell in cells):
                pairs = zip(header, cells, strict=True)
                yield record.number, {name: cell if name in exact else cell.strip() for name, cell in pairs}


def _skip_header(records: Iterator[Record]) -> Generator[Record, None, None]:
    for position, record in enumerate(records):
        if position:
            yield record


def _read_cells(path: Path, record: Record, width: int) -> list[str]:
    if record.fault:
        raise InputError(f"{path}, row {record.number} cannot be read: {record.fault}")
    failed = next((cell for cell in record.cells if isinstance(cell, ErrorCell)), None)
    if failed is not None:
        raise InputError(
            f"{path} has a failed formula ({failed.text}) in row {record.number}: correct or empty the cell"
        )
    cells = [unescape_formula(as_text(cell)) for cell in record.cells]
    if len(cells) != width and any(cell.strip() for cell in cells):
        raise InputError(
            f"{path} has {len(cells)} cells in row {record.number} and {width} in its header: correct the row"
        )
    return cells


@dataclass(frozen=True)
class UploadedRow:
    """A row that is not empty: its cells by column, and what is wrong with some of them."""

    number: int
    cells: Mapping[str, str]
    faults: Mapping[str, str]
    """By column; the empty name is that of the whole row."""


@dataclass(frozen=True)
class UploadedTable:
    """A table as somebody filled it in, with the texts of other sheets of its workbook."""

    columns: tuple[str, ...]
    rows: tuple[UploadedRow, ...]
    other_sheets: Mapping[str, Sequence[Sequence[str]]]

    def locate(self, column: str, number: int) -> str:
        """Returns the name of a cell as a spreadsheet shows it, such as C14; that of the row if there is no column."""
        from xlsxwriter.utility import xl_rowcol_to_cell

        if column not in self.columns:
            return f"row {number}"
        return str(xl_rowcol_to_cell(number - 1, self.columns.index(column)))


def read_uploaded_table(
    path: Path, data: bytes | None = None, *, sheet: str = "", others: Sequence[str] = ()
) -> UploadedTable:
    """Reads a table with whatever separator and encoding it has; a workbook's sheet `sheet`, or else its first one.

    With `data`, the path is only the name of an upload, which is never written to disk.
    """
    if path.suffix.lower() not in (*DELIMITERS, ".xlsx"):
        raise InputError(f"{path} is not a .csv, .tsv, .txt or .xlsx file: save the table as one of these")
    if data is None:
        data = _read_file(path)
    if not data:
        raise InputError(f"{path} is empty: give a table with a header row")
    if path.suffix.lower() == ".xlsx" or data.startswith(_ZIP):
        sheets = list(read_sheets(path, data, sheet, others).items())
    else:
        encoding = detect_encoding(data)
        delimiter = detect_delimiter(data, encoding, path.suffix)
        settings = TableSettings(path=str(path), item="{item}", encoding=encoding, delimiter=delimiter)
        sheets = [("", list(read_delimited_bytes(path, data, settings)))]
    records = iter(sheets[0][1])
    header = tuple(unescape_formula(name) for name in parse_header(path, _settings(path), records))
    texts = {
        name: [[unescape_formula(as_text(cell)).strip() for cell in record.cells] for record in rows]
        for name, rows in sheets[1:]
    }
    return UploadedTable(header, tuple(_iterate_rows(records, header)), texts)


def _read_file(path: Path) -> bytes:
    if not path.is_file():
        raise InputError(f"there is no file {path}: give a CSV, TSV or XLSX file")
    if path.stat().st_size > UPLOAD_BYTES:
        raise InputError(f"{path} has {path.stat().st_size:,} bytes, over {UPLOAD_BYTES:,}: split it")
    return path.read_bytes()


def _iterate_rows(records: Iterable[Record], header: Sequence[str]) -> Iterator[UploadedRow]:
    for record in records:
        cells = [unescape_formula(as_text(cell)) for cell in record.cells]
        if not record.fault and not any(cell.strip() for cell in cells):
            continue
        faults = {}
        if record.fault:
            faults[""] = f"cannot be read: {record.fault}"
        elif any(cell.strip() for cell in cells[len(header) :]):
            faults[""] = f"has {len(cells)} cells and the header {len(header)}: correct the row"
        for name, cell in zip(header, record.cells, strict=False):
            if isinstance(cell, ErrorCell):
                faults[name] = f"the formula failed ({cell.text}): correct or empty the cell"
        yield UploadedRow(record.number, dict(zip(header, [*cells, *[""] * len(header)], strict=False)), faults)
