"""Rows of a table that somebody hands in: CSV, TSV or XLSX, every cell a text, every fault a sentence.

The apostrophe that `base.tables` puts before a text that begins like a formula is taken off again.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.table_files import unguard
from quaestor.evidence.sources.tables.cells import ErrorCell, Record, as_text
from quaestor.evidence.sources.tables.delimited import read_delimited
from quaestor.evidence.sources.tables.settings import TableSettings
from quaestor.evidence.sources.tables.source import columns_of
from quaestor.evidence.sources.tables.workbook import read_workbook


def columns_of_table(path: Path) -> tuple[str, ...]:
    """The names in the header."""
    if not path.is_file():
        raise InputError(f"there is no file {path}: give a CSV, TSV or XLSX")
    return tuple(unguard(name) for name in columns_of(path, _settings(path)))


def _settings(path: Path) -> TableSettings:
    return TableSettings(path=str(path), item="{item}")


def read_rows(path: Path, exact: Collection[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """(row number, column → cell) of every row that is not empty; cells outside the columns `exact` are stripped."""
    header, settings = columns_of_table(path), _settings(path)
    read = read_workbook if path.suffix.lower() == ".xlsx" else read_delimited
    with closing(_records(read(path, settings))) as records:
        for record in records:
            cells = _cells(path, record, len(header))
            if any(cell.strip() for cell in cells):
                named = zip(header, cells, strict=True)
                yield record.number, {name: cell if name in exact else cell.strip() for name, cell in named}


def _records(records: Iterator[Record]) -> Generator[Record, None, None]:
    for position, record in enumerate(records):
        if position:
            yield record


def _cells(path: Path, record: Record, width: int) -> list[str]:
    if record.fault:
        raise InputError(f"{path} cannot be read in row {record.number}: {record.fault}")
    failed = next((cell for cell in record.cells if isinstance(cell, ErrorCell)), None)
    if failed is not None:
        raise InputError(f"{path} has a failed formula ({failed.text}) in row {record.number}: mend or empty it")
    cells = [unguard(as_text(cell)) for cell in record.cells]
    if len(cells) != width and any(cell.strip() for cell in cells):
        raise InputError(
            f"{path} has {len(cells)} cells in row {record.number} and {width} in its header: mend the row"
        )
    return cells
