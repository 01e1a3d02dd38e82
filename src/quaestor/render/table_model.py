"""What is published: tables whose cells know their items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Number = int | float
_NO_NOTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Selection:
    """The items behind a number: those that have one of the values of every attribute named."""

    conditions: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def narrow(self, attribute: str, *values: str) -> Selection:
        return Selection((*self.conditions, (attribute, values)))


@dataclass(frozen=True)
class Cell:
    """One cell: what stands in it, part by part, the numbers themselves, and the items behind them."""

    parts: tuple[str, ...]
    values: tuple[Number | None, ...] = ()
    selection: Selection | None = None
    notes: tuple[str, ...] = ()
    """Marks of footnotes, such as `*`."""


@dataclass(frozen=True)
class Column:
    """One column; a cell with several parts, such as a count and its share, shows them together."""

    key: str
    title: str
    parts: tuple[str, ...] = ("",)
    """What each part of a cell is called where parts get columns of their own, as in CSV."""
    spanner: str = ""
    """A heading over neighbouring columns that name the same one."""
    numeric: bool = True
    numbers: tuple[str, ...] = ()
    """What each number of a cell is called in CSV and XLSX, where a part tells several, as an interval its bounds."""


@dataclass(frozen=True)
class Row:
    """One row: its key is how it is cited, its title what a reader sees."""

    key: str
    title: str
    cells: tuple[Cell, ...]
    total: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Rows under a common heading; an empty title has none."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table as it will be printed, in whatever format."""

    id: str
    title: str
    stub: str
    """The heading over the titles of rows."""
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    footnotes: Mapping[str, str] = field(default_factory=lambda: _NO_NOTES)
    """By mark: what it says."""
    notes: tuple[str, ...] = ()
    """Sentences below the table, the base first: what was counted, and how many."""

    def rows(self) -> Iterator[Row]:
        for group in self.groups:
            yield from group.rows

    @property
    def size(self) -> str:
        """How many rows it has, in words."""
        rows = sum(len(group.rows) for group in self.groups)
        return f"{rows:,} {'row' if rows == 1 else 'rows'}"

    def cell(self, row: str, column: str) -> Cell | None:
        """The cell at a row and a column, by their keys."""
        places = {column.key: number for number, column in enumerate(self.columns)}
        matching_row = next((candidate for candidate in self.rows() if candidate.key == row), None)
        return matching_row.cells[places[column]] if matching_row is not None and column in places else None


@dataclass(frozen=True)
class Value:
    """One computed value of a finding: a number or names, as shown, with the items behind it."""

    name: str
    claim: str
    shown: str
    number: float | None = None
    names: tuple[str, ...] = ()
    unit: str = ""
    """`share`, `days`, `names`, or nothing."""
    holds: bool = True
    why: str = ""
    """What it had to be, where it is not; or why it cannot be computed."""
    selection: Selection | None = None

    @property
    def known(self) -> bool:
        return self.number is not None or bool(self.names)


@dataclass(frozen=True)
class Finding:
    """A sentence and the values that support it, or do not."""

    finding: str
    sentence: str
    values: tuple[Value, ...]

    @property
    def holds(self) -> bool:
        return all(value.holds for value in self.values)
