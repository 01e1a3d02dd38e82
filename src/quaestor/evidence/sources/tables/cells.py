"""Converts the cells of a table file to the types that the study file declares."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

import pyarrow as pa

from quaestor.evidence.sources.tables.settings import ColumnType, TableColumnSettings

SHOWN_CHARACTERS = 60
"""Characters of a value that a message shows."""

LONGEST_FIELD = 4 * 1024 * 1024
"""Characters of one cell; a longer one is a mistake or an attack on memory."""

ARROW_TYPES: dict[ColumnType, pa.DataType] = {
    "text": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "time": pa.timestamp("ms"),
    "flag": pa.bool_(),
    "list": pa.list_(pa.string()),
}

_EXPECTED: dict[ColumnType, str] = {
    "text": "text",
    "whole": "a whole number",
    "number": "a number",
    "time": "a time",
    "flag": "true or false",
    "list": "a list",
}
_WHOLE = re.compile(r"([+-]?[0-9]{1,19})(\.0*)?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DAY, _CLOCK, _ZONE = r"\d{4}-\d\d-\d\d", r"\d\d(:\d\d(:\d\d([.,]\d{1,9})?)?)?", r"(Z|[+-]\d\d(:?\d\d)?)"
_TIME = re.compile(rf"{_DAY}([T ]{_CLOCK}{_ZONE}?)?", re.ASCII)
_FLAGS = {
    "true": True, "yes": True, "t": True, "y": True, "1": True,
    "false": False, "no": False, "f": False, "n": False, "0": False,
}  # fmt: skip
_EXACT = 2**53
"""Above this a floating-point number cannot represent every integer, so its value may not be the intended one."""


@dataclass(frozen=True)
class ErrorCell:
    """A spreadsheet cell whose formula failed; `text` is what it shows, such as #N/A."""

    text: str


Cell = str | int | float | bool | datetime | date | time | timedelta | ErrorCell
Value = str | int | float | bool | datetime | list[str] | None


class Record(NamedTuple):
    """One row of the file, or the reason why it cannot be split into cells."""

    number: int
    """The row's number in the file, from 1."""
    offset: int
    """The offset for a reject: a byte in a text file, the row's number in a workbook."""
    cells: list[Cell] | list[str]
    excerpt: Callable[[], str]
    fault: str = ""
    done: int = 0
    """Bytes of the file up to the end of this row, for the progress."""


class BadValue(ValueError):
    """A cell that does not match the type of its column; the message says why."""


def as_text(cell: Cell) -> str:
    """Returns a cell as text: a whole number without a decimal point, a time as ISO 8601."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, ErrorCell):
        return cell.text
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= _EXACT:
        return str(int(cell))
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return str(cell)


def convert(cell: Cell, column: TableColumnSettings) -> Value:
    """Converts a cell to the type of its column, or to None if it is empty; raises BadValue."""
    text = as_text(cell)
    if text in column.empty or (column.type not in ("text", "list") and text.strip() in column.empty):
        if column.required:
            raise BadValue(f"is required, but the row has {shorten(text)}")
        return None
    value = None if isinstance(cell, ErrorCell) else _CONVERTERS[column.type](cell, text, column)
    if value is None:
        form = f" in the form {column.format}" if column.format else ""
        raise BadValue(f"found {shorten(text)}, expected {_EXPECTED[column.type]}{form}")
    return value


def shorten(text: str) -> str:
    """Returns a text for a message: quoted, with control characters escaped, and shortened."""
    return repr(text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…")


def _text(cell: Cell, text: str, column: TableColumnSettings) -> Value:
    return html.unescape(text) if column.escaped else text


def _parse_integer(cell: Cell, text: str, column: TableColumnSettings) -> Value:
    if isinstance(cell, float) and abs(cell) > _EXACT:
        return None
    match = _WHOLE.fullmatch(text.strip()) if isinstance(cell, str | int | float) else None
    value = int(match[1]) if match else None
    return value if value is not None and -(2**63) <= value < 2**63 else None


def _number(cell: Cell, text: str, column: TableColumnSettings) -> Value:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    if isinstance(cell, str) and not _NUMBER.fullmatch(text.strip()):
        return None
    value = float(cell)
    return value if math.isfinite(value) else None


def _time(cell: Cell, text: str, column: TableColumnSettings) -> Value:
    moment: datetime
    if isinstance(cell, datetime):
        moment = cell
    elif isinstance(cell, date):
        moment = datetime.combine(cell, time())
    elif not isinstance(cell, str):
        return None
    else:
        text = text.strip()
        if not column.format and not _TIME.fullmatch(text):
            return None
        try:
            moment = datetime.strptime(text, column.format) if column.format else datetime.fromisoformat(text)
        except ValueError:
            return None
    return _in_milliseconds(moment)


def _in_milliseconds(moment: datetime) -> datetime | None:
    """Truncates to milliseconds, and converts to UTC if the value has a time zone."""
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            return None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _flag(cell: Cell, text: str, column: TableColumnSettings) -> Value:
    return _FLAGS.get(text.strip().casefold()) if isinstance(cell, str | int | float) else None


def _list(cell: Cell, text: str, column: TableColumnSettings) -> Value:
    entries = (entry.strip(column.strip) for entry in text.split(column.separator))
    return [entry for entry in entries if entry]


_CONVERTERS: dict[ColumnType, Callable[[Cell, str, TableColumnSettings], Value]] = {
    "text": _text,
    "whole": _parse_integer,
    "number": _number,
    "time": _time,
    "flag": _flag,
    "list": _list,
}
