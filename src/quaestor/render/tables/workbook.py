"""Writes tables as a workbook with one sheet per table; cells are numbers formatted as printed."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from quaestor.base.table_files import LONGEST_TEXT, escape_formula, escape_rich_text
from quaestor.render.table_model import Cell, Column, Number, Row, Table
from quaestor.render.tables.layout import (
    NO_ITEMS,
    Link,
    build_address,
    caption,
    data_counts,
    data_name,
    data_text,
    group_columns,
    has_spanners,
    join_marks,
    list_groups,
    one_line,
    part_value,
    table_label,
)

_ALWAYS = datetime(1980, 1, 1, tzinfo=UTC)
"""The creation date of every workbook, fixed so that the same tables give the same bytes."""
_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
_LONGEST_ADDRESS, _LONGEST_NAME = 2_000, 31
_WIDEST_STUB, _WIDEST_COLUMN, _LEAST_WIDTH = 60, 40, 7


def to_xlsx(tables: Iterable[Table], link: Link | None = None) -> bytes:
    """Returns the workbook, byte-identical for the same tables."""
    file = io.BytesIO()
    workbook = Workbook(file, {"in_memory": True})
    workbook.set_properties({"created": _ALWAYS})
    used_names: set[str] = set()
    for table in tables:
        _Sheet(workbook, workbook.add_worksheet(_sheet_name(table, used_names)), table, link).write()
    if not used_names:
        workbook.add_worksheet("no tables")
    workbook.close()
    return file.getvalue()


def _sheet_name(table: Table, used_names: set[str]) -> str:
    """Returns a name that spreadsheets allow and that differs from all others in more than case."""
    name = _FORBIDDEN.sub("-", table_label(table)).strip("'")
    number, candidate = 1, name[:_LONGEST_NAME].strip("' ")
    while candidate.casefold() in used_names:
        number += 1
        ending = f" ({number})"
        candidate = name[: _LONGEST_NAME - len(ending)].strip("' ") + ending
    used_names.add(candidate.casefold())
    return candidate


class _Sheet:
    """Writes one table to its sheet: caption, headings, rows and notes, from top to bottom."""

    def __init__(self, workbook: Workbook, sheet: Worksheet, table: Table, link: Link | None) -> None:
        self._workbook, self._sheet, self._table, self._link = workbook, sheet, table, link
        self._counts = data_counts(table)
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}
        self._line = 0

    def write(self) -> None:
        self._text(0, caption(self._table), bold=True, font_size=12)
        self._line = 2
        self._heading()
        self._sheet.freeze_panes(self._line, 1)
        for group in list_groups(self._table):
            if one_line(group.title):
                self._text(0, group.title, italic=True, font_color="#5f5b53")
                self._line += 1
            if not group.rows:
                self._text(0, NO_ITEMS, italic=True)
                self._line += 1
            for row in group.rows:
                self._row(row, indent=1 if one_line(group.title) else 0)
        self._below()
        self._widths()

    def _format(self, **properties: Any) -> Any:
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            self._formats[key] = self._workbook.add_format(properties)
        return self._formats[key]

    def _text(self, column: int, text: str, **properties: Any) -> None:
        shown = escape_rich_text(escape_formula(one_line(text))[:LONGEST_TEXT])
        self._sheet.write_string(self._line, column, shown, self._format(**properties) if properties else None)

    def _heading(self) -> None:
        """Writes spanners, titles and, if cells have several parts, the names of the parts."""
        if has_spanners(self._table):
            counts, place = iter(self._counts), 1
            for span in group_columns(self._table):
                width = sum(islice(counts, len(span.columns)))
                if span.title:
                    self._across(place, width, span.title, bold=True, align="center", bottom=1)
                place += width
            self._line += 1
        several = any(count > 1 for count in self._counts)
        rule = {} if several else {"bottom": 1}
        self._text(0, self._table.stub, bold=True, **rule)
        place = 1
        for column, count in zip(self._table.columns, self._counts, strict=True):
            self._across(place, count, column.title, bold=True, align=_side(column), text_wrap=True, **rule)
            place += count
        self._line += 1
        if several:
            self._part_names()

    def _part_names(self) -> None:
        self._text(0, "", bottom=1)
        place = 1
        for column, count in zip(self._table.columns, self._counts, strict=True):
            for number in range(count):
                self._text(place + number, data_name(column, number), italic=True, align=_side(column), bottom=1)
            place += count
        self._line += 1

    def _across(self, column: int, width: int, text: str, **properties: Any) -> None:
        if width > 1:
            last = column + width - 1
            self._sheet.merge_range(self._line, column, self._line, last, "", self._format(**properties))
        self._text(column, text, **properties)

    def _row(self, row: Row, indent: int) -> None:
        look: dict[str, Any] = {"bold": True, "top": 1} if row.total else {}
        mark = join_marks(row.notes)
        self._text(0, f"{one_line(row.title)} {mark}".strip(), **look, **({"indent": indent} if indent else {}))
        place = 1
        for column, cell, count in zip(self._table.columns, row.cells, self._counts, strict=True):
            self._cell(place, column, cell, count, look, build_address(self._table, row.key, column, cell, self._link))
            place += count
        self._line += 1

    def _cell(self, place: int, column: Column, cell: Cell, count: int, look: dict[str, Any], address: str) -> None:
        last = max((number for number in range(count) if data_text(column, cell, number)), default=0)
        for number in range(count):
            text, value = data_text(column, cell, number), part_value(cell, number)
            mark = join_marks(cell.notes) if number == last else ""
            properties = {**look, "align": _side(column)}
            if text and address:
                self._open(place + number, address)
                properties, address = {**properties, "font_color": "#7a1f2b"}, ""
            shape = number_format(value, text, mark) if value is not None and text else None
            if value is None or shape is None:
                self._text(place + number, f"{text} {mark}".strip(), **properties)
            else:
                style = self._format(**properties, num_format=shape)
                self._sheet.write_number(self._line, place + number, value, style)

    def _open(self, column: int, address: str) -> None:
        """Adds a link to the cell, whose content is written afterwards; omitted if the address is too long."""
        if len(address) > _LONGEST_ADDRESS:
            return
        whole = address if "://" in address else f"external:./{address.removeprefix('./')}"
        self._sheet.write_url(self._line, column, whole, None, "")

    def _below(self) -> None:
        self._line += 1
        table = self._table
        for text in (*(f"{mark} {text}" for mark, text in table.footnotes.items()), *filter(one_line, table.notes)):
            self._text(0, text, font_color="#5f5b53")
            self._line += 1

    def _widths(self) -> None:
        titles = [self._table.stub, *(row.title for row in self._table.rows())]
        self._sheet.set_column(0, 0, min(max(map(len, titles)) + 3, _WIDEST_STUB))
        place = 1
        for at, (column, count) in enumerate(zip(self._table.columns, self._counts, strict=True)):
            for number in range(count):
                texts = [data_text(column, row.cells[at], number) for row in self._table.rows()]
                texts += [data_name(column, number), column.title[: len(column.title) // count]]
                width = min(max(max(map(len, texts)) + 2, _LEAST_WIDTH), _WIDEST_COLUMN)
                self._sheet.set_column(place + number, place + number, width)
            place += count


def _side(column: Column) -> str:
    return "right" if column.numeric else "left"


_PRINTED = re.compile(
    r"(?P<sign>[-−]?)(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?P<places>[0-9]{1,10}))?(?P<percent>%?)"
)
_LARGEST = 10**15
"""From here on a spreadsheet does not store all digits of a number."""
_LONGEST = 255


def number_format(value: Number, text: str, mark: str = "") -> str | None:
    """Returns the number format that shows the value as the text with its mark; None if there is none."""
    if not math.isfinite(value) or abs(value) >= _LARGEST:
        return None
    suffix = f" {mark}" if mark else ""
    # With a single section the spreadsheet would add its own sign to a negative number.
    sections = [shape + _quoted(suffix) for shape in _shape(value, text)] or [_quoted(text + suffix)] * 3
    pattern = ";".join(sections)
    return pattern if len(pattern) <= _LONGEST else None


def _shape(value: Number, text: str) -> list[str]:
    """Returns the digits, decimals and percent sign of the text, if the rounded number equals the text."""
    printed = _PRINTED.fullmatch(text)
    if printed is None:
        return []
    places, scale = len(printed["places"] or ""), 100 if printed["percent"] else 1
    # Spreadsheets store fifteen digits and round half away from zero.
    known = abs(Decimal(f"{value:.15g}")) * scale
    rounded = known.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    decimal = Decimal(text.replace(",", "").strip("-−%"))
    below_zero = value < 0 and rounded != 0
    if rounded != decimal or below_zero != bool(printed["sign"]) or (value < 0) != below_zero:
        return []
    whole = printed["whole"]
    if len(whole) > 1 and whole[0] == "0":
        return []
    digits = "0" if decimal >= 1000 and "," not in whole else "#,##0"
    shape = f"{digits}{'.' + '0' * places if places else ''}{printed['percent']}"
    return [shape, f'"−"{shape}'] if printed["sign"] == "−" else [shape]


def _quoted(text: str) -> str:
    """Quotes literal text in a number format."""
    return "".join(f'"{part}"' if part != '"' else r"\"" for part in re.split('(")', text) if part)
