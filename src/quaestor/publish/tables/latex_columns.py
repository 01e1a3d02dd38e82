"""How the columns of a table share a page of LaTeX, by the count of characters."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from quaestor.publish.records import Row, Table
from quaestor.publish.tables.layout import one_line, part_counts

LINES_OF_A_PAGE = 45
_CHARACTERS_OF_A_LINE = 100
_LONG_TITLE, _LONG_TEXT = 48, 30
"""Characters beyond which the titles of rows, or the texts of a column, are broken into lines."""
_STUB, _NATURAL_STUB, _PER_NUMBER, _LEAST, _MOST = 0.38, 0.25, 0.07, 0.14, 0.5
_SPARE, _WIDEST_STUB = 0.1, 0.8
"""Shares of the line."""
_SIZES = ((100, r"\small"), (115, r"\footnotesize"), (132, r"\scriptsize"))
"""Characters of a line that fit at a size."""


def subcolumns(table: Table) -> list[int]:
    """Numbers with several parts get a column for each, so that all of them line up."""
    return [count if column.numeric else 1 for column, count in zip(table.columns, part_counts(table), strict=True)]


def column_kinds(table: Table) -> str:
    """What the columns are to LaTeX; the outer edges end where the rules end."""
    shares = _shares(table)
    kinds = [_kind(shares[0])]
    for column, count, share in zip(table.columns, subcolumns(table), shares[1:], strict=True):
        kinds.append("r" + r"@{\enspace}r" * (count - 1) if column.numeric else _kind(share))
    return f"@{{}}{''.join(kinds)}@{{}}"


def lines_of(table: Table) -> int:
    """About how many lines the table takes, with texts that are broken and notes below."""
    shares = _shares(table)
    headings = sum(bool(group.title) for group in table.groups)
    below = [*table.footnotes.values(), *table.notes]
    return headings + sum(_lines(row, shares) for row in table.rows()) + sum(map(_lines_of_note, below))


def type_size(table: Table) -> str:
    """The largest type in which a table that runs over pages fits between the margins."""
    characters = min(_longest(row.title for row in table.rows()), _LONG_TITLE) + 2
    for place, column in enumerate(table.columns):
        longest = max(_longest(_texts(table, place)), len(one_line(column.title)) // 2)
        characters += min(longest, _LONG_TEXT) + 3
    return next((size for limit, size in _SIZES if characters <= limit), r"\tiny")


def _texts(table: Table, place: int) -> Iterable[str]:
    return (" ".join(row.cells[place].parts) for row in table.rows())


def _longest(texts: Iterable[str]) -> int:
    return max((len(one_line(text)) for text in texts), default=0)


def _shares(table: Table) -> list[float]:
    """Which share of the line the stub and each column get; zero where they are as wide as what stands in them."""
    long_stub = _longest(row.title for row in table.rows()) > _LONG_TITLE
    long = [
        not column.numeric and _longest(_texts(table, place)) > _LONG_TEXT for place, column in enumerate(table.columns)
    ]
    free = 1 - (_STUB if long_stub else _NATURAL_STUB) - _PER_NUMBER * (sum(subcolumns(table)) - sum(long))
    share = round(min(max(free / (sum(long) or 1), _LEAST), _MOST), 2)
    # Where no column has long texts, what they leave is the stub's.
    stub = round(_STUB if any(long) else min(max(_STUB, _STUB + free - _SPARE), _WIDEST_STUB), 2)
    return [stub if long_stub else 0.0, *(share if one else 0.0 for one in long)]


def _kind(share: float) -> str:
    return rf">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}" if share else "l"


def _lines(row: Row, shares: list[float]) -> int:
    texts = (row.title, *(" ".join(cell.parts) for cell in row.cells))
    return max(
        ceil(len(text) / (share * _CHARACTERS_OF_A_LINE)) or 1 if share else 1
        for text, share in zip(texts, shares, strict=True)
    )


def _lines_of_note(note: str) -> int:
    return ceil(len(note) / _CHARACTERS_OF_A_LINE)
