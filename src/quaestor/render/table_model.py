"""The model of published tables, whose cells refer to the items they count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

Number = int | float
_NO_NOTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Selection:
    """The items behind a number: those with one of the values of every attribute in the conditions."""

    conditions: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def narrow(self, attribute: str, *values: str) -> Selection:
        return Selection((*self.conditions, (attribute, values)))


@dataclass(frozen=True)
class Cell:
    """One cell: the text of each part, the numbers, and the items behind them."""

    parts: tuple[str, ...]
    values: tuple[Number | None, ...] = ()
    selection: Selection | None = None
    notes: tuple[str, ...] = ()
    """Footnote marks, such as `*`."""
    more: tuple[str, ...] = ()
    """Texts of further numbers: pages show them on demand, and CSV and XLSX have a column for each."""


@dataclass(frozen=True)
class Column:
    """One column; a cell with several parts, such as a count and its share, shows them together."""

    key: str
    title: str
    parts: tuple[str, ...] = ("",)
    """The name of each part of a cell in formats with a column per part, such as CSV."""
    spanner: str = ""
    """A heading over neighbouring columns with the same spanner."""
    numeric: bool = True
    numbers: tuple[str, ...] = ()
    """The name of each number in CSV and XLSX, if a part has several, such as the bounds of an interval."""
    more: tuple[str, ...] = ()
    """The names of the further numbers of its cells; a page shows one of them instead of the last part."""


@dataclass(frozen=True)
class Row:
    """One row: its key identifies it in references, its title is printed."""

    key: str
    title: str
    cells: tuple[Cell, ...]
    total: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Rows under a common heading; an empty title means no heading."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table, independent of the format."""

    id: str
    title: str
    stub: str
    """The heading over the titles of rows."""
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    footnotes: Mapping[str, str] = field(default_factory=lambda: _NO_NOTES)
    """The text of each footnote by its mark."""
    notes: tuple[str, ...] = ()
    """Sentences below the table; the first states the base: what was counted, and how many."""

    def rows(self) -> Iterator[Row]:
        for group in self.groups:
            yield from group.rows

    @property
    def size(self) -> str:
        """The number of rows as text."""
        rows = sum(len(group.rows) for group in self.groups)
        return f"{rows:,} {'row' if rows == 1 else 'rows'}"

    def without_selections(self) -> Table:
        """Returns the table without links to the items behind its cells."""
        groups = tuple(
            replace(
                group,
                rows=tuple(
                    replace(row, cells=tuple(replace(cell, selection=None) for cell in row.cells)) for row in group.rows
                ),
            )
            for group in self.groups
        )
        return replace(self, groups=groups)

    def cell(self, row: str, column: str) -> Cell | None:
        """Returns the cell at a row and a column, given by their keys."""
        places = {column.key: number for number, column in enumerate(self.columns)}
        matching_row = next((candidate for candidate in self.rows() if candidate.key == row), None)
        return matching_row.cells[places[column]] if matching_row is not None and column in places else None


@dataclass(frozen=True)
class Value:
    """One computed value of a finding: a number or names, its printed form, and the items behind it."""

    name: str
    claim: str
    shown: str
    number: float | None = None
    names: tuple[str, ...] = ()
    unit: str = ""
    """`share`, `days`, `names`, or nothing."""
    holds: bool = True
    why: str = ""
    """The expected value if it differs, or why the value cannot be computed."""
    selection: Selection | None = None

    @property
    def known(self) -> bool:
        return self.number is not None or bool(self.names)


@dataclass(frozen=True)
class Finding:
    """A sentence and the values that support or contradict it."""

    finding: str
    sentence: str
    values: tuple[Value, ...]

    @property
    def holds(self) -> bool:
        return all(value.holds for value in self.values)
