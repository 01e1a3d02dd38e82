"""Writes tables that people open in a spreadsheet, and escapes texts that a spreadsheet would run as formulas.

A spreadsheet runs a cell that begins like a formula, even if a stranger typed it. Such a text gets an apostrophe in
front, in CSV and in XLSX alike, because people save one as the other; `unescape_formula` removes exactly that one.
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
from quaestor.base.files import replace_file

Cell = str | int | float | None
"""A number is written as a number; an empty cell is None or an empty text."""

FILE_FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""The formats of a table file, with their media types."""

LONGEST_TEXT = 32_767
"""The longest text that a workbook cell can hold, in UTF-16 units."""

# The csv module's limit applies to the whole process and is lower than a long answer; our readers check their own.
csv.field_size_limit(2**31 - 1)

_LINE_END = "\r\n"
_MAX_ROWS, _MAX_COLUMNS, _LARGEST_WHOLE = 1_048_576, 16_384, 2**53
# Spreadsheets pass over blanks, control characters and invisible marks before they look for the sign of a formula.
_SKIPPED = r"[\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]*"
_FORMULA = re.compile(rf"'*(?:{_SKIPPED}[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])")
_NUMBER = re.compile(r"[+-]?(\d[\d,]*(\.\d+)?|\.\d+)([eE][+-]?\d+)?%?", re.ASCII)
_UNWRITABLE = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class ExportTable:
    """A table to write to a file; `name` is the name of its sheet in a workbook."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[Cell]]

    @classmethod
    def from_mappings(cls, name: str, rows: Sequence[Mapping[str, Cell]]) -> ExportTable:
        """Builds a table whose columns are the keys of its first row; without rows its only column is `item`."""
        columns = list(rows[0]) if rows else ["item"]
        return cls(name, columns, [[row.get(column) for column in columns] for row in rows])


def escape_formula(text: str) -> str:
    """Returns the text so that no spreadsheet runs it; a plain number stays unchanged."""
    return f"'{text}" if _is_risky(text) else text


def unescape_formula(text: str) -> str:
    """Undoes `escape_formula`."""
    return text[1:] if text.startswith("'") and _is_risky(text[1:]) else text


def _is_risky(text: str) -> bool:
    """Whether a text begins like a formula after any number of apostrophes, so that escaping can be undone."""
    return _FORMULA.match(text) is not None and not _NUMBER.fullmatch(text.lstrip("'"))


def format_csv(rows: Iterable[Sequence[Cell]], *, escape_formulas: bool = True, line_end: str = _LINE_END) -> str:
    """Rows as CSV after RFC 4180. A character that no file can hold, such as NUL, becomes U+FFFD."""
    if line_end != _LINE_END:
        # Told of another line end, the csv module would leave \r unquoted in a text.
        lines = (format_csv([row], escape_formulas=escape_formulas) for row in rows)
        return "".join(line.removesuffix(_LINE_END) + line_end for line in lines)
    file = io.StringIO(newline="")
    _write_csv(file, rows, escape_formulas)
    return file.getvalue()


def parse_csv(text: str) -> Iterator[list[str]]:
    """Yields the rows of a CSV that Quaestor wrote; `sources.tables` reads CSV files of others."""
    return csv.reader(io.StringIO(text, newline=""), strict=True)


def format_table(table: ExportTable, file_format: str) -> bytes:
    """Returns a table as the content of a CSV or XLSX file."""
    if file_format not in FILE_FORMATS:
        raise InputError(f"{file_format!r} is not a file format; choose from: {' or '.join(FILE_FORMATS)}")
    if file_format == "csv":
        return format_csv(_with_header(table)).encode("utf-8")
    file = io.BytesIO()
    _write_workbook(file, [table], escape_formulas=True, options={"in_memory": True})
    return file.getvalue()


def write_table(table: ExportTable, path: Path, *, private: bool = False) -> int:
    """Writes a CSV or XLSX file, completely or not at all, and returns the number of rows below its header."""
    if path.suffix.lower() not in (".csv", ".xlsx"):
        raise InputError(f"{path} is neither .csv nor .xlsx: use one of these two extensions")
    if path.suffix.lower() == ".xlsx":
        return write_workbook([table], path, private=private)[0]
    return write_csv(table, path, private=private)


def write_csv(table: ExportTable, path: Path, *, escape_formulas: bool = True, private: bool = False) -> int:
    """Writes a table of any length as CSV and returns the number of rows below its header."""
    with (
        replace_table_file(path, private=private) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        return _write_csv(file, _with_header(table), escape_formulas) - 1


def write_workbook(
    tables: Sequence[ExportTable], path: Path, *, escape_formulas: bool = True, private: bool = False
) -> list[int]:
    """Writes each table into a sheet of one workbook and returns the number of rows below each header.

    Texts become text cells; a workbook stores 16 digits of a fraction. A table that does not fit is refused.
    """
    with replace_table_file(path, private=private) as temporary:
        return _write_workbook(
            str(temporary), tables, escape_formulas, {"constant_memory": True, "tmpdir": str(path.parent)}
        )


@contextmanager
def replace_table_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yields a temporary file that replaces `path` if the block succeeds; raises InputError for a failed write."""
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist: create it first")
    try:
        with replace_file(path, private=private) as temporary:
            yield temporary
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


def format_workbook_text(text: str) -> str:
    """Returns a text as XlsxWriter must get it: no formula, no raw XML, no character that a file cannot hold."""
    return escape_rich_text(str(_format_cell(text, escape_formulas=True)))


def escape_rich_text(text: str) -> str:
    """Escapes a text for XlsxWriter, which would write a text between <r> and </r> as raw XML."""
    if not (text.startswith("<r>") and text.endswith("</r>")):
        return text
    return f'<r><t xml:space="preserve">{escape(text, quote=False)}</t></r>'


def _with_header(table: ExportTable) -> Iterator[Sequence[Cell]]:
    yield table.columns
    yield from table.rows


def _format_cell(cell: Cell, escape_formulas: bool) -> str | int | float:
    if cell is None:
        return ""
    if isinstance(cell, float) and not math.isfinite(cell):
        cell = str(cell)
    if isinstance(cell, str):
        if cell.isalnum():  # a fast path for nearly all cells, measured on agreement for a thousand codes
            return cell
        text = _UNWRITABLE.sub("\ufffd", cell)
        return escape_formula(text) if escape_formulas else text
    return cell


def _write_csv(file: IO[str], rows: Iterable[Sequence[Cell]], escape_formulas: bool) -> int:
    writer, count = csv.writer(file, lineterminator=_LINE_END), 0
    for row in rows:
        writer.writerow([_format_cell(cell, escape_formulas) for cell in row])
        count += 1
    return count


def _write_workbook(
    file: str | IO[bytes], tables: Sequence[ExportTable], escape_formulas: bool, options: dict[str, Any]
) -> list[int]:
    from xlsxwriter import Workbook

    with Workbook(file, options) as book:
        return [_fill_sheet(book.add_worksheet(table.name), table, escape_formulas) for table in tables]


def _fill_sheet(sheet: Any, table: ExportTable, escape_formulas: bool) -> int:
    if len(table.columns) > _MAX_COLUMNS:
        raise InputError(f"{len(table.columns):,} columns are more than a workbook can hold: export as CSV")
    line = 0
    for line, row in enumerate(_with_header(table)):
        if line >= _MAX_ROWS:
            raise InputError(f"there are more rows than the {_MAX_ROWS:,} of a workbook: export as CSV")
        for column, cell in enumerate(_format_cell(cell, escape_formulas) for cell in row):
            if cell == "":
                continue
            if isinstance(cell, str) or (isinstance(cell, int) and abs(cell) > _LARGEST_WHOLE):
                if sheet.write_string(line, column, escape_rich_text(str(cell))):
                    raise InputError(
                        f"the text in row {line + 1}, column {table.columns[column]!r}, is longer than the"
                        f" {LONGEST_TEXT:,} characters of a cell in a workbook: export as CSV"
                    )
            else:
                sheet.write_number(line, column, cell)
    return line
