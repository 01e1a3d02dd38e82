"""Reads the layout of survey service exports: header rows, then a row per respondent.

Qualtrics puts two or three rows above the answers: column names, question texts, and in newer files import ids. It
also writes columns with the display order of options, which are not answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from quaestor.base.errors import InputError

MOST_HEADER_ROWS = 3
_KEY = re.compile(r'\s*\{\s*"ImportId"\s*:')
_DISPLAY_ORDER = re.compile(r"_DO(_|$)")


class UnreadableCell(str):
    """A cell whose formula failed; the text is what a spreadsheet shows, such as #N/A."""

    __slots__ = ()


@dataclass(frozen=True)
class PlainRow:
    """A row of a file as texts, with the row number a spreadsheet shows."""

    number: int
    cells: Sequence[str]


@dataclass(frozen=True)
class Export:
    """A file of answers, split into header and rows."""

    columns: tuple[str, ...]
    header: tuple[PlainRow, ...]
    """All rows above the answers, including the column names."""
    rows: Iterator[PlainRow]

    def repeats_header(self, row: PlainRow) -> bool:
        """Tells whether a row repeats the header, as in concatenated files."""
        cells = [cell.strip() for cell in row.cells]
        return any(cells == [cell.strip() for cell in header_row.cells] for header_row in self.header) or is_key_row(
            row
        )


def split_header(rows: Iterable[PlainRow], where: str, header_rows: int | None = None) -> Export:
    """Splits the header from the answers: the given number of rows, else up to the row of import ids, else two."""
    following = iter(rows)
    head: list[PlainRow] = []
    for row in following:
        head.append(row)
        if len(head) == (header_rows or MOST_HEADER_ROWS):
            break
    if not head or not any(cell.strip() for cell in head[0].cells):
        raise InputError(f"{where} has no column names in its first row: export it with a header")
    high = header_rows or _height(head)
    columns = tuple(cell.strip() for cell in head[0].cells)
    for row in head[1:high]:
        _check_width(row, len(columns), where)
    checked = (_fitted(row, len(columns), where) for row in chain(head[high:], following))
    return Export(columns, tuple(head[:high]), checked)


def is_key_row(row: PlainRow) -> bool:
    """Tells whether a row contains the import ids that Qualtrics writes below the question texts."""
    return any(_KEY.match(cell) for cell in row.cells)


def is_display_order(column: str) -> bool:
    """Tells whether a column contains the display order of options instead of answers."""
    return _DISPLAY_ORDER.search(column) is not None


def _height(head: Sequence[PlainRow]) -> int:
    return next((place for place, row in enumerate(head, start=1) if is_key_row(row)), min(2, len(head)))


def _fitted(row: PlainRow, width: int, where: str) -> PlainRow:
    """Drops empty cells beyond the header; an empty row may have any width."""
    cells = list(row.cells)
    if not any(cell.strip() for cell in cells):
        return PlainRow(row.number, [""] * width)
    while len(cells) > width and not cells[-1].strip():
        cells.pop()
    _check_width(PlainRow(row.number, cells), width, where)
    return PlainRow(row.number, cells)


def _check_width(row: PlainRow, width: int, where: str) -> None:
    if len(row.cells) != width:
        raise InputError(
            f"{where} has {len(row.cells)} cells in row {row.number}, but {width} column names: fix the row, "
            f"since its answers cannot be assigned to columns"
        )
