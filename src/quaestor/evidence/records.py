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
class SampledStep:
    """A step decided by a round over a sample: what it did with the drawn items, and what that means for all.

    The estimate is the share kept of the drawn and decided items, applied to all that reached the step. It assumes a
    random sample; stratified samples are proportional.
    """

    drawn: int
    rated: int
    excluded: int
    not_drawn: int
    estimate: float | None = None
    """How many items raters would keep if they rated all, with a 95 % interval."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class StepResult:
    """One step of the funnel: how many items entered, how many it kept, and a seeded sample of both sides."""

    step: str
    entered: int
    kept: int
    rule: str
    kept_examples: tuple[ExampleItem, ...] = field(default=())
    dropped_examples: tuple[ExampleItem, ...] = field(default=())

    sampled: SampledStep | None = None
    """Set if nobody looked at some of the items that reached a round."""

    @property
    def dropped(self) -> int:
        """The number of items that the step rejected; items nobody looked at are not among them."""
        return self.sampled.excluded if self.sampled else self.entered - self.kept

    def describe_sample(self) -> str:
        """Returns what a round over a sample did with the items that reached it; empty for other steps."""
        sampled = self.sampled
        if sampled is None:
            return ""
        counts = f"{sampled.drawn:,} drawn, {sampled.rated:,} rated, {self.kept:,} kept, {sampled.excluded:,} excluded"
        text = f"{counts}; {sampled.not_drawn:,} not drawn"
        if sampled.estimate is None or sampled.low is None or sampled.high is None:
            return text
        bounds = f"95 % CI {round(sampled.low):,} to {round(sampled.high):,}"
        return f"{text}; about {round(sampled.estimate):,} of all {self.entered:,} would be kept ({bounds})"


@dataclass(frozen=True)
class FunnelResult:
    """The result of the whole funnel over one source."""

    source: str
    steps: tuple[StepResult, ...]
    pending: tuple[str, ...] = ()
    seed: int = 0
    waits_for: str = ""
    note: str = ""
    items: int = 0
    """The number of items in the source; 0 in results of older versions."""

    @property
    def entered(self) -> int:
        """Returns how many items entered the funnel."""
        return self.steps[0].entered if self.steps else self.items
