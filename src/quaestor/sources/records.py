"""What a source hands on: batches of rows, rejects and counts, and the sink that takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

REJECT_EXCERPT = 2_000
"""Bytes of a bad row that are kept with its reject; the offset leads to the rest."""


LEFT_OUT = "left_out"
"""The table of a few rows that a source left out by choice, kept so that they can be shown."""


@dataclass(frozen=True)
class Reject:
    """One piece of the input that could not become a row: where it is, why, and how it begins."""

    offset: int
    reason: str
    excerpt: str = ""


@dataclass(frozen=True)
class InputFile:
    """One file that was read, as the manifest remembers it."""

    name: str
    bytes: int
    modified_ns: int
    sha256: str


@dataclass(frozen=True)
class TableCounts:
    """What came out of one table of the input."""

    rows: int = 0
    rejected: int = 0
    read: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    notable: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: TableCounts) -> TableCounts:
        return TableCounts(
            rows=self.rows + other.rows,
            rejected=self.rejected + other.rejected,
            read=self.read + other.read,
            unknown=_sum(self.unknown, other.unknown),
            notable=_sum(self.notable, other.notable),
        )


def _sum(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {name: left.get(name, 0) + right.get(name, 0) for name in sorted({*left, *right})}


class RowWriter(Protocol):
    """Takes the rows and rejects of one lane of one table; nothing is visible before the whole is committed."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def reject(self, reject: Reject) -> None: ...

    def close(self) -> None: ...


class Sink(Protocol):
    """Where a source puts its rows; it travels to worker processes, so it must pickle."""

    @property
    def scratch(self) -> Path:
        """A folder for notes that are needed only while the source is read."""
        ...

    def open(self, table: str, lane: str, schema: pa.Schema) -> RowWriter: ...


Progress = Callable[[str, int, int], None]
"""Told as work goes on: what is being read, bytes done, bytes in all (0 where unknown)."""


def no_progress(what: str, done: int, total: int) -> None:
    """For callers that do not look."""


Row = dict[str, Any]
"""One row as Python values, by column name."""
