"""The interface of a source kind: its settings, the plan to ingest its input, and the sink for its rows."""

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
"""Bytes of a bad row that are stored with its reject; its offset leads to the rest."""


LEFT_OUT = "left_out"
"""The table with examples of rows that a source skipped by tag."""


@dataclass(frozen=True)
class Reject:
    """A part of the input that is not a valid row: its offset, the reason, and how it begins."""

    offset: int
    reason: str
    excerpt: str = ""


@dataclass(frozen=True)
class InputFile:
    """An input file as recorded in the manifest."""

    name: str
    bytes: int
    modified_ns: int
    sha256: str


@dataclass(frozen=True)
class TableCounts:
    """Counts of the rows of one input table."""

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
    """Receives the rows and rejects of one part of a table; nothing is visible before the dataset is committed."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def reject(self, reject: Reject) -> None: ...

    def close(self) -> None: ...


class Sink(Protocol):
    """Receives the rows of a source; must be picklable, since worker processes use it."""

    @property
    def scratch(self) -> Path:
        """A folder for temporary files."""
        ...

    def open(self, table: str, part: str, schema: pa.Schema) -> RowWriter: ...


Progress = Callable[[str, int, int], None]
"""Called during the work with what is being read, bytes done and total bytes (0 if unknown)."""


def no_progress(what: str, done: int, total: int) -> None:
    """Ignores progress."""


Row = dict[str, Any]
"""One row as Python values, by column name."""


@dataclass(frozen=True)
class IngestPlan:
    """What to read from a source, and how."""

    kind: str
    settings: dict[str, Any]
    """The settings recorded in the manifest; `site` is the prefix of item ids that the source does not define."""
    files: list[Path]
    """The input files, which the manifest lists with size, time and SHA-256 to detect changes."""
    text_sizes: dict[str, int]
    """Bytes of text by table, in the order of the manifest; 0 if unknown before reading."""
    read: Callable[[Sink, Mapping[str, TableCounts]], Iterator[tuple[str, TableCounts, int]]]
    """Writes rows to a sink and yields each finished table with its counts and bytes.

    A resumable plan skips the tables that an interrupted run finished.
    """
    resumable: bool = False
    notes: tuple[str, ...] = ()
    """Caveats for all readers of the evidence, for example that it is synthetic."""

    def fingerprint(self) -> str:
        """Returns a hash of everything that the evidence depends on."""
        stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in self.files]
        text = json.dumps([__version__, self.kind, self.settings, stats], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


SettingsType = TypeVar("SettingsType", bound=SourceSettings)


@dataclass(frozen=True)
class SourceRequest(Generic[SettingsType]):
    """A `[sources.NAME]` table of a study file, to be ingested."""

    name: str
    settings: SettingsType
    path: Path
    """The existing input."""
    families: Mapping[str, tuple[str, ...]]
    """The tag families of the study, whose names a source accepts in place of tags."""
    progress: Progress = no_progress


PUT_INPUT = "put the input there or correct the path"
"""The remedy if the input of a source is missing and no command writes it."""


class Source(Protocol[SettingsType]):
    """A kind of source; constructed without arguments, and stateless."""

    @property
    def settings(self) -> type[SettingsType]:
        """The settings it accepts in study.toml; `kind` is the name it is registered under."""
        ...

    def plan(self, request: SourceRequest[SettingsType]) -> IngestPlan:
        """Returns how to ingest the input; raises InputError if the input is not of this kind."""
        ...

    def remedy(self, path: Path) -> str:
        """Returns what to do if there is no input at a path and no feature writes it."""
        ...
