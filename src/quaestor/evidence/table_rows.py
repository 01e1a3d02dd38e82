"""Reads the rows of an uploaded table (CSV, TSV or XLSX) with every cell as text.

The apostrophe that `base.table_files` puts before a text that begins like a formula is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.table_files import unescape_formula
from quaestor.evidence.sources.tables.cells import ErrorCell, Record, as_text
from quaestor.evidence.sources.tables.delimited import read_delimited
from quaestor.evidence.sources.tables.settings import TableSettings
from quaestor.evidence.sources.tables.source import read_column_names
from quaestor.evidence.sources.tables.workbook import read_workbook


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
