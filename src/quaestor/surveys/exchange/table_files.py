"""Writes the two tables of a survey export as CSV, XLSX or Parquet, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.table_files import Cell, ExportTable, replace_table_file, write_csv, write_workbook

TEXT, WHOLE, NUMBER = "text", "whole", "number"
"""Type of a column."""
FORMATS = (".csv", ".xlsx", ".parquet")
GUARDED = "texts:guarded"
"""The column that states whether texts that look like formulas have an apostrophe in front."""
_BATCH = 20_000


@dataclass(frozen=True)
class Sheet:
    """A table: its columns with their types, and its rows of texts."""

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Iterable[Sequence[str]]


def write_sheets(path: Path, first: Sheet, second: Sheet, raw: bool = False) -> tuple[int, list[Path]]:
    """Writes two tables to one workbook or two files; returns the number of rows of the first, and the files.

    Adds an apostrophe to texts that look like formulas, unless `raw`; Parquet files need none.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path} has no supported ending: use {', '.join(FORMATS)}")
    if suffix == ".xlsx":
        tables = [_table(sheet, raw, in_workbook=True) for sheet in (first, second)]
        return write_workbook(tables, path, escape_formulas=not raw, private=True)[0], [path]
    codebook_path = path.with_name(f"{path.stem}.codebook.csv")
    if suffix == ".csv":
        rows = write_csv(_table(first, raw, in_workbook=False), path, escape_formulas=not raw, private=True)
    else:
        with replace_table_file(path, private=True) as aside:
            rows = _parquet(aside, first, raw)
    write_csv(_table(second, raw, in_workbook=False), codebook_path, escape_formulas=not raw, private=True)
    return rows, [path, codebook_path]


def is_guarded(path: Path, raw: bool) -> bool:
    """Tells whether texts of the first table get apostrophes."""
    return not raw and path.suffix.lower() != ".parquet"


def _table(sheet: Sheet, raw: bool, in_workbook: bool) -> ExportTable:
    """Converts a sheet for the table writer, which stores numbers as numbers in a workbook."""
    numbers = [place for place, (_, holds) in enumerate(sheet.columns) if holds in (WHOLE, NUMBER)]

    def with_numbers(row: Sequence[str]) -> Sequence[Cell]:
        cells: list[Cell] = list(row)
        for place in numbers:
            if row[place]:
                cells[place] = float(row[place])
        return cells

    rows = map(with_numbers, sheet.rows) if in_workbook and not raw else sheet.rows
    return ExportTable(sheet.name, [name for name, _ in sheet.columns], rows)


def _parquet(path: Path, sheet: Sheet, raw: bool) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    types = {WHOLE: pa.int32(), NUMBER: pa.string() if raw else pa.float64()}
    schema = pa.schema([(name, types.get(holds, pa.string())) for name, holds in sheet.columns])
    makers = [_maker(holds, raw) for _, holds in sheet.columns]
    rows, count = iter(sheet.rows), 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(islice(rows, _BATCH)):
            columns = zip(*batch, strict=True)
            arrays = [
                pa.array([make(cell) if cell else None for cell in column], type=field.type)
                for make, column, field in zip(makers, columns, schema, strict=True)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            count += len(batch)
    return count


def _maker(holds: str, raw: bool) -> Callable[[str], Any]:
    if holds == WHOLE:
        return int
    return float if holds == NUMBER and not raw else str
