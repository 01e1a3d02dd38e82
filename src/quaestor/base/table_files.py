"""The one writer of tables that people open in a spreadsheet, and the guard that keeps their texts from running.

A spreadsheet runs a cell that begins like a formula, also when a stranger typed it. Such a text gets an apostrophe
before it, in CSV and in XLSX alike, because people save one as the other; `unguard` takes exactly this one off again.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import IO, Any

from quaestor.base.errors import InputError
from quaestor.base.files import replacing

Cell = str | int | float | None
"""A number is written as a number; an empty cell is None or an empty text."""

FORMS = {"csv": "text/csv; charset=utf-8", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
"""What a table can be written as, with the media type of each."""

LONGEST_TEXT = 32_767
"""What a cell of a workbook can hold, in units of UTF-16."""

# The limit of the csv module belongs to the whole process and is lower than a long answer; readers have their own.
csv.field_size_limit(2**31 - 1)

_LINE_END = "\r\n"
_MOST_ROWS, _MOST_COLUMNS, _LARGEST_WHOLE = 1_048_576, 16_384, 2**53
# Spreadsheets pass over blanks, control characters and invisible marks before they look for the sign of a formula.
_PASSED_OVER = r"[\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*"
_FORMULA = re.compile(rf"'*(?:{_PASSED_OVER}[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
_NUMBER = re.compile(r"[+-]?(\d[\d,]*(\.\d+)?|\.\d+)([eE][+-]?\d+)?%?", re.ASCII)
_UNWRITABLE = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Table:
    """Rows under named columns; `name` is that of the sheet in a workbook."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Cell]]

    @classmethod
    def of(cls, name: str, rows: Sequence[Mapping[str, Cell]]) -> Table:
        """A table whose columns are the keys of its first row; without any row it has a column of items."""
        columns = list(rows[0]) if rows else ["item"]
        return cls(name, columns, [[row.get(column) for column in columns] for row in rows])


def guard(text: str) -> str:
    """The text as no spreadsheet runs it; a plain number stays as it is."""
    return f"'{text}" if _is_risky(text) else text


def unguard(text: str) -> str:
    """The text that `guard` was given."""
    return text[1:] if text.startswith("'") and _is_risky(text[1:]) else text


def _is_risky(text: str) -> bool:
    """Whether a text begins like a formula, behind any number of apostrophes: else two texts would be guarded alike."""
    return _FORMULA.match(text) is not None and not _NUMBER.fullmatch(text.lstrip("'"))


def csv_text(rows: Iterable[Sequence[Cell]], *, guarded: bool = True, line_end: str = _LINE_END) -> str:
    """Rows as CSV after RFC 4180. A character that no file can hold, such as NUL, becomes U+FFFD."""
    if line_end != _LINE_END:
        # Told of another line end, the csv module would leave \r unquoted in a text.
        lines = (csv_text([row], guarded=guarded) for row in rows)
        return "".join(line.removesuffix(_LINE_END) + line_end for line in lines)
    file = io.StringIO(newline="")
    _write_csv(file, rows, guarded)
    return file.getvalue()


def csv_rows(text: str) -> Iterator[list[str]]:
    """The rows of a CSV that Quaestor wrote for itself; for those of others there is `sources.tables`."""
    return csv.reader(io.StringIO(text, newline=""), strict=True)


def table_bytes(table: Table, form: str) -> bytes:
    """The table as the content of a CSV or XLSX file."""
    if form not in FORMS:
        raise InputError(f"there is no file of the form {form!r}, allowed: {' or '.join(FORMS)}")
    if form == "csv":
        return csv_text(_with_header(table)).encode("utf-8")
    file = io.BytesIO()
    _write_workbook(file, [table], guarded=True, options={"in_memory": True})
    return file.getvalue()


def write_table(table: Table, path: Path, *, private: bool = False) -> int:
    """Write a CSV or XLSX file, whole or not at all, and return how many rows it has below the header."""
    if path.suffix.lower() not in (".csv", ".xlsx"):
        raise InputError(f"{path} is neither .csv nor .xlsx: name a file of one of the two")
    if path.suffix.lower() == ".xlsx":
        return write_workbook([table], path, private=private)[0]
    return write_csv(table, path, private=private)


def write_csv(table: Table, path: Path, *, guarded: bool = True, private: bool = False) -> int:
    """Write a table of any length as CSV, and return how many rows it has below the header."""
    with new_table_file(path, private=private) as aside, aside.open("w", encoding="utf-8", newline="") as file:
        return _write_csv(file, _with_header(table), guarded) - 1


def write_workbook(tables: Sequence[Table], path: Path, *, guarded: bool = True, private: bool = False) -> list[int]:
    """Write tables of any length into one workbook, a sheet each, and return how many rows each has below its header.

    Texts are text cells; of a fraction a workbook holds 16 digits. What does not fit into a sheet is refused.
    """
    with new_table_file(path, private=private) as aside:
        return _write_workbook(str(aside), tables, guarded, {"constant_memory": True, "tmpdir": str(path.parent)})


@contextmanager
def new_table_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A file to write a table into; it takes the place of `path` once it is whole, and what fails is one sentence."""
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}: make it first")
    try:
        with replacing(path, private=private) as aside:
            yield aside
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


def sheet_text(text: str) -> str:
    """A text as XlsxWriter must be given it: one between <r> and </r> it would write as XML of its own."""
    if not (text.startswith("<r>") and text.endswith("</r>")):
        return text
    return f'<r><t xml:space="preserve">{escape(text, quote=False)}</t></r>'


def _with_header(table: Table) -> Iterator[Sequence[Cell]]:
    yield table.columns
    yield from table.rows


def _written(cell: Cell, guarded: bool) -> str | int | float:
    if cell is None:
        return ""
    if isinstance(cell, float) and not math.isfinite(cell):
        cell = str(cell)
    if isinstance(cell, str):
        if cell.isalnum():  # nearly all cells of a table of agreement on a thousand codes
            return cell
        text = _UNWRITABLE.sub("\ufffd", cell)
        return guard(text) if guarded else text
    return cell


def _write_csv(file: IO[str], rows: Iterable[Sequence[Cell]], guarded: bool) -> int:
    writer, count = csv.writer(file, lineterminator=_LINE_END), 0
    for row in rows:
        writer.writerow([_written(cell, guarded) for cell in row])
        count += 1
    return count


def _write_workbook(
    file: str | IO[bytes], tables: Sequence[Table], guarded: bool, options: dict[str, Any]
) -> list[int]:
    from xlsxwriter import Workbook

    with Workbook(file, options) as book:
        return [_fill_sheet(book.add_worksheet(table.name), table, guarded) for table in tables]


def _fill_sheet(sheet: Any, table: Table, guarded: bool) -> int:
    if len(table.columns) > _MOST_COLUMNS:
        raise InputError(f"{len(table.columns):,} columns are more than a workbook can hold: export as CSV")
    line = 0
    for line, row in enumerate(_with_header(table)):
        if line >= _MOST_ROWS:
            raise InputError(f"there are more rows than the {_MOST_ROWS:,} of a workbook: export as CSV")
        for place, cell in enumerate(_written(cell, guarded) for cell in row):
            if cell == "":
                continue
            if isinstance(cell, str) or (isinstance(cell, int) and abs(cell) > _LARGEST_WHOLE):
                if sheet.write_string(line, place, sheet_text(str(cell))):
                    raise InputError(
                        f"the text in row {line + 1}, column {table.columns[place]!r}, is longer than the"
                        f" {LONGEST_TEXT:,} characters of a cell in a workbook: export as CSV"
                    )
            else:
                sheet.write_number(line, place, cell)
    return line
