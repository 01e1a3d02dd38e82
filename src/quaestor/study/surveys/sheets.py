"""Tables of any length into CSV, XLSX and Parquet files, row by row: memory stays flat, a file is whole or absent."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.files import fsync
from quaestor.base.spreadsheets import harmless

TEXT, SAFE, WHOLE, NUMBER = "text", "safe", "whole", "number"
"""What a column holds: words of people, words of our own that begin like no formula, whole numbers, numbers."""
FORMATS = (".csv", ".xlsx", ".parquet")
GUARDED = "texts:guarded"
"""The column by which a table says that an apostrophe was put before texts that begin like a formula."""
_BATCH = 20_000
_MOST_ROWS, _MOST_COLUMNS, _LONGEST = 1_048_576, 16_384, 32_767
"""What a sheet can hold; of a text, in units of UTF-16."""


@dataclass(frozen=True)
class Sheet:
    """A table: its columns with what they hold, and its rows, of which every cell is a text."""

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Iterable[Sequence[str]]


def write_sheets(path: Path, first: Sheet, second: Sheet, raw: bool = False) -> tuple[int, list[Path]]:
    """Write two tables: into one workbook, or into two files; how many rows the first has, and the files.

    What could be taken for a formula gets an apostrophe before it, unless `raw`; Parquet files need none.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path} is none of {', '.join(FORMATS)}: name a file of one of these")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}: make it first")
    if suffix == ".xlsx":
        with _aside(path) as aside:
            rows = _workbook(aside, (first, second), raw)
        return rows, [path]
    beside = path.with_name(f"{path.stem}.codebook.csv")
    with _aside(path) as aside:
        rows = _delimited(aside, first, raw) if suffix == ".csv" else _parquet(aside, first, raw)
    with _aside(beside) as aside:
        _delimited(aside, second, raw)
    return rows, [path, beside]


def is_guarded(path: Path, raw: bool) -> bool:
    """Whether the texts of the first table get apostrophes."""
    return not raw and path.suffix.lower() != ".parquet"


def guarded_text(text: str) -> str:
    """A text that no spreadsheet takes for a formula; one that looks as if it were guarded gets an apostrophe more."""
    return f"'{text}" if _is_formula(text.lstrip("'")) else text


def unguarded_text(text: str) -> str:
    """The text behind a guarded one."""
    return text[1:] if text.startswith("'") and _is_formula(text.lstrip("'")) else text


def _is_formula(text: str) -> bool:
    return harmless(text) != text


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A file to write, which takes the place of `path` when all went well; for the eyes of its owner alone."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        yield aside
        fsync(aside)
        os.replace(aside, path)
        fsync(path.parent)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        aside.unlink(missing_ok=True)


def _guard(sheet: Sheet, raw: bool) -> Callable[[Sequence[str]], Sequence[str]]:
    """What makes the cells of a row harmless; only those that hold words of people can be anything else."""
    places = [] if raw else [place for place, (_, holds) in enumerate(sheet.columns) if holds == TEXT]

    def guarded(row: Sequence[str]) -> Sequence[str]:
        made = list(row)
        for place in places:
            if made[place]:
                made[place] = guarded_text(made[place])
        return made

    return guarded if places else lambda row: row


def _delimited(path: Path, sheet: Sheet, raw: bool) -> int:
    guarded, rows = _guard(sheet, raw), 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _ in sheet.columns])
        for row in sheet.rows:
            writer.writerow(guarded(row))
            rows += 1
    return rows


def _workbook(path: Path, sheets: Iterable[Sheet], raw: bool) -> int:
    from xlsxwriter import Workbook

    with Workbook(str(path), {"constant_memory": True, "tmpdir": str(path.parent)}) as book:
        counts = [_fill(book.add_worksheet(sheet.name), sheet, raw) for sheet in sheets]
    return counts[0]


def _fill(target: Any, sheet: Sheet, raw: bool) -> int:
    if len(sheet.columns) > _MOST_COLUMNS:
        raise InputError(f"{len(sheet.columns):,} columns are more than a workbook can hold: export as CSV or Parquet")
    guarded, line = _guard(sheet, raw), 0
    typed = [holds in (WHOLE, NUMBER) and not raw for _, holds in sheet.columns]
    for place, (name, _) in enumerate(sheet.columns):
        target.write_string(0, place, name)
    for line, row in enumerate(sheet.rows, start=1):
        if line >= _MOST_ROWS:
            raise InputError(f"there are more rows than the {_MOST_ROWS:,} of a workbook: export as CSV or Parquet")
        for place, cell in enumerate(guarded(row)):
            if not cell:
                continue
            if typed[place]:
                target.write_number(line, place, float(cell))
                continue
            if len(cell) * 2 > _LONGEST and len(cell.encode("utf-16-le")) // 2 > _LONGEST:
                raise InputError(f"a text of row {line} is too long for a workbook: export as CSV or Parquet")
            target.write_string(line, place, cell)
    return line


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
