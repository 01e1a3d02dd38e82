"""Shared by all table formats: layout, safe text and names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote

from quaestor.render.table_model import Cell, Column, Group, Number, Table

Link = Callable[[str, str, str], str]
"""Maps (table id, row key, column key) to the address of the page with the items behind that cell."""

NO_ITEMS = "no items"

_BREAKS = re.compile(r"\r\n|[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_PRINTED = re.compile(r"(?:(?<![\w.)%])[-−])?\d+(?:\.\d+)?%?")
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_ADDRESS_CHARACTERS = "/:?#[]@!&'()*+,;=%"


@dataclass(frozen=True)
class Span:
    """Neighbouring columns under one spanner; an empty title means no spanner."""

    title: str
    columns: tuple[Column, ...]


def printable(text: str) -> str:
    """Replaces characters that cannot be printed or encoded by the replacement character."""
    return _UNPRINTABLE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Returns printable text in one line, with line breaks replaced by spaces."""
    return printable(_BREAKS.sub(" ", text)).strip()


def caption(table: Table) -> str:
    """Returns a caption such as `Table 3. Posts by year`."""
    return f"{table_label(table)}. {one_line(table.title)}"


def table_label(table: Table) -> str:
    return f"Table {one_line(table.id)}"


def safe_name(identifier: str) -> str:
    """Returns the identifier if it is safe in file names and addresses, else a safe and unique form of it."""
    if _SAFE_NAME.fullmatch(identifier):
        return identifier
    likeness = re.sub(r"[^A-Za-z0-9]+", "-", identifier).strip("-")[:40]
    digest = hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{likeness}-{digest}".lstrip("-")


def safe_address(address: str) -> str:
    """Percent-encodes an address, so that it cannot end the attribute or command that contains it."""
    return quote(address, safe=_ADDRESS_CHARACTERS, errors="replace").replace("~", "%7E")


def build_address(table: Table, row: str, column: Column, cell: Cell, link: Link | None) -> str:
    """Returns the address of the items behind a cell; empty if there are none to show."""
    if link is None or cell.selection is None or not any(map(one_line, cell.parts)):
        return ""
    return safe_address(link(table.id, row, column.key))


def group_columns(table: Table) -> list[Span]:
    """Groups neighbouring columns with the same spanner."""
    groups = groupby(table.columns, key=lambda column: column.spanner)
    return [Span(one_line(title), tuple(columns)) for title, columns in groups]


def has_spanners(table: Table) -> bool:
    return any(span.title for span in group_columns(table))


def list_groups(table: Table) -> tuple[Group, ...]:
    """Returns the groups; for a table without any an empty one, so that the table says it has no items."""
    return table.groups or (Group("", ()),)


def part_counts(table: Table) -> list[int]:
    """Returns the largest number of parts in the cells of each column."""
    counts = [len(column.parts) or 1 for column in table.columns]
    for row in table.rows():
        counts = [max(count, len(cell.parts)) for count, cell in zip(counts, row.cells, strict=True)]
    return counts


def part_name(column: Column, number: int) -> str:
    """Returns the name of a part in formats with a column per part; the first may have none."""
    name = one_line(column.parts[number]) if number < len(column.parts) else ""
    return name or (str(number + 1) if number else "")


def part_text(cell: Cell, number: int) -> str:
    return one_line(cell.parts[number]) if number < len(cell.parts) else ""


def part_value(cell: Cell, number: int) -> Number | None:
    return cell.values[number] if number < len(cell.values) else None


def data_counts(table: Table) -> list[int]:
    """Returns how many columns each column needs in formats with a column per number."""
    counts = zip(table.columns, part_counts(table), strict=True)
    return [(len(column.numbers) or count) + len(column.more) for column, count in counts]


def data_name(column: Column, number: int) -> str:
    if column.more and number >= len(column.parts):
        return column.more[number - len(column.parts)]
    return one_line(column.numbers[number]) if column.numbers else part_name(column, number)


def data_text(column: Column, cell: Cell, number: int) -> str:
    """Returns one number as printed, such as one bound of `[1.2 to 3.4]`."""
    if column.more and number >= len(column.parts):
        return "".join(cell.more[number - len(column.parts) :][:1])
    if not column.numbers:
        return part_text(cell, number)
    printed = _PRINTED.findall(" ".join(map(one_line, cell.parts)))
    value = part_value(cell, number)
    if value is None:
        return ""
    return printed[number] if len(printed) == len(column.numbers) else f"{value:.15g}"


def join_parts(texts: Iterable[str]) -> Iterator[str]:
    """Yields the parts for one line of text, with all but the first in parentheses, as in `328 (20.3%)`."""
    for number, text in enumerate(filter(None, texts)):
        yield text if number == 0 or text.startswith(("(", "[")) else f"({text})"


def join_marks(notes: tuple[str, ...]) -> str:
    """Joins the footnote marks of one cell or row."""
    return ",".join(filter(None, map(one_line, notes)))
