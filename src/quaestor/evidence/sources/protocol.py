"""What a kind of source is: the settings it reads, how its input is found, and how it becomes rows in a sink."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from quaestor import __version__
from quaestor.study.settings.sources import SourceSettings

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


@dataclass(frozen=True)
class IngestPlan:
    """What is to be read of a source, and how."""

    kind: str
    settings: dict[str, Any]
    """What the manifest remembers of the settings; `site` begins the ids of items that have none of their own."""
    files: list[Path]
    """The files that are read: named in the manifest with size, time and SHA-256, and looked at for changes."""
    text_sizes: dict[str, int]
    """By table, in the order of the manifest, how many bytes of text it has as far as that is known beforehand."""
    read: Callable[[Sink, Mapping[str, TableCounts]], Iterator[tuple[str, TableCounts, int]]]
    """Puts rows into a sink and gives each table that is finished, with counts and bytes.

    Where the plan is resumable, it leaves out the tables that an interrupted run had finished.
    """
    resumable: bool = False
    notes: tuple[str, ...] = ()
    """What whoever sees the evidence must know, such as that it is synthetic."""

    def fingerprint(self) -> str:
        """Changes whenever the evidence would."""
        stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in self.files]
        text = json.dumps([__version__, self.kind, self.settings, stats], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


SettingsType = TypeVar("SettingsType", bound=SourceSettings)


@dataclass(frozen=True)
class SourceRequest(Generic[SettingsType]):
    """One `[sources.NAME]` of a study, to be read."""

    name: str
    settings: SettingsType
    path: Path
    """Where its input is; the input is there."""
    families: Mapping[str, tuple[str, ...]]
    """The tag families of the study, which a source may name in place of tags."""
    progress: Progress = no_progress


PUT_INPUT = "put the input there or correct the path"
"""The remedy of a source whose input comes from elsewhere."""


class Source(Protocol[SettingsType]):
    """A kind of source; it is made without arguments and keeps nothing between calls."""

    @property
    def settings(self) -> type[SettingsType]:
        """What study.toml may say about it; `kind` is the name it is registered under."""
        ...

    def plan(self, request: SourceRequest[SettingsType]) -> IngestPlan:
        """Find the input and say how it is read; refuses an input that is none with an InputError."""
        ...

    def remedy(self, path: Path) -> str:
        """What to do where there is no input at a path; of an input that a feature writes, the feature says it."""
        ...
