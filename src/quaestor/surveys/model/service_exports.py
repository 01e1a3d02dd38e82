"""What a survey service writes when it exports answers: names, wordings and keys of columns, then a row a respondent.

Qualtrics puts two or three rows above the answers: the names, the wordings, and in newer files a key of each column. It
also writes columns that tell in which order options were shown; those are no answers.
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
    """A cell whose formula failed; the text is what a spreadsheet shows in its place, such as #N/A."""

    __slots__ = ()


@dataclass(frozen=True)
class PlainRow:
    """A row of a file as texts; its number is the one a spreadsheet shows."""

    number: int
    cells: Sequence[str]


@dataclass(frozen=True)
class Export:
    """A file of answers with its header told apart from its rows."""

    columns: tuple[str, ...]
    header: tuple[PlainRow, ...]
    """All rows above the answers, the names too."""
    rows: Iterator[PlainRow]

    def repeats_header(self, row: PlainRow) -> bool:
        """Whether a row among the answers is a header once more, as in files that were put together."""
        cells = [cell.strip() for cell in row.cells]
        return any(cells == [cell.strip() for cell in header_row.cells] for header_row in self.header) or is_key_row(
            row
        )


def shaped(rows: Iterable[PlainRow], where: str, header_rows: int | None = None) -> Export:
    """Tell the header from the answers: as many rows as said, else up to the row of keys, else two."""
    following = iter(rows)
    head: list[PlainRow] = []
    for row in following:
        head.append(row)
        if len(head) == (header_rows or MOST_HEADER_ROWS):
            break
    if not head or not any(cell.strip() for cell in head[0].cells):
        raise InputError(f"{where} has no names of columns in its first row: export it with a header")
    high = header_rows or _height(head)
    columns = tuple(cell.strip() for cell in head[0].cells)
    for row in head[1:high]:
        _check_width(row, len(columns), where)
    checked = (_fitted(row, len(columns), where) for row in chain(head[high:], following))
    return Export(columns, tuple(head[:high]), checked)


def is_key_row(row: PlainRow) -> bool:
    """Whether a row holds the keys of columns that Qualtrics writes below the wordings."""
    return any(_KEY.match(cell) for cell in row.cells)


def is_display_order(column: str) -> bool:
    """Whether a column tells in which order options were shown, and nothing that was answered."""
    return _DISPLAY_ORDER.search(column) is not None


def _height(head: Sequence[PlainRow]) -> int:
    return next((place for place, row in enumerate(head, start=1) if is_key_row(row)), min(2, len(head)))


def _fitted(row: PlainRow, width: int, where: str) -> PlainRow:
    """The row without empty cells beyond the header; one that is empty as a whole may have any width."""
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
            f"{where} has {len(row.cells)} cells in row {row.number} and {width} names of columns: mend the row, "
            f"since nobody can tell which answer belongs where"
        )
