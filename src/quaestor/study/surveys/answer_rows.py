"""Rows of a file of answers, whoever wrote it: CSV, TSV or XLSX, every cell a text."""

from __future__ import annotations

import codecs
from collections.abc import Generator
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.hashing import sha256_of
from quaestor.sources.survey_exports import Failed, PlainRow
from quaestor.sources.tables import TableSettings
from quaestor.sources.tables.cells import ErrorCell, Record, as_text
from quaestor.sources.tables.delimited import DELIMITERS, read_delimited
from quaestor.sources.tables.workbook import read_workbook

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_HEAD = 64 * 1024


def digest_of(path: Path) -> str:
    """The SHA-256 of a file of answers; one that is not there or empty is refused."""
    if not path.is_file():
        raise InputError(f"there is no file {path}: give a CSV, TSV or XLSX file of answers")
    if not path.stat().st_size:
        raise InputError(f"{path} is empty: give a file of answers with its header")
    return sha256_of(path)


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
