"""Records of evidence: its manifest, the funnel's result, and example items."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from quaestor.evidence.sources.protocol import InputFile


@dataclass(frozen=True)
class TableFile:
    """One Parquet file of a table."""

    name: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class TableEntry:
    """One table of the evidence."""

    rows: int
    rejected: int
    read: int
    unknown: dict[str, int]
    notable: dict[str, int]
    files: tuple[TableFile, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """What a folder of evidence contains, which files it was read from, and which version wrote it."""

    kind: str
    site: str
    settings: dict[str, Any]
    inputs: tuple[InputFile, ...]
    tables: dict[str, TableEntry]
    tool: str
    made: str
    """When it was written; a key of manifest.json."""
    seconds: float
    text_bytes: int = 0
    notes: tuple[str, ...] = ()
    format: int = 1


@dataclass(frozen=True)
class ExampleItem:
    """An item that illustrates what a funnel step keeps or drops."""

    item: str
    title: str
    tags: tuple[str, ...]
    created: str
    score: int | None
    views: int | None
    body: str = ""
    link: str = ""


@dataclass(frozen=True)
class StepResult:
    """One step of the funnel: how many items entered, how many it kept, and a seeded sample of both sides."""

    step: str
    entered: int
    kept: int
    rule: str
    kept_examples: tuple[ExampleItem, ...] = field(default=())
    dropped_examples: tuple[ExampleItem, ...] = field(default=())

    @property
    def dropped(self) -> int:
        return self.entered - self.kept


@dataclass(frozen=True)
class FunnelResult:
    """The result of the whole funnel over one source."""

    source: str
    steps: tuple[StepResult, ...]
    pending: tuple[str, ...] = ()
    seed: int = 0
    waits_for: str = ""
    note: str = ""
