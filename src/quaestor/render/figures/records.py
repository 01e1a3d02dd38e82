"""Figures, and the records from which they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A drawing with its title and a text alternative that includes its numbers."""

    name: str
    """The name of its files, without an extension."""
    title: str
    alt: str
    spec: Mapping[str, Any] = field(hash=False)
    """The drawing in Vega-Lite."""

    @property
    def size(self) -> tuple[int, int]:
        """The width and height in pixels, including margins, known before it is drawn."""
        room = self.spec["padding"]
        return (
            self.spec["width"] + room["left"] + room["right"],
            self.spec["height"] + room["top"] + room["bottom"],
        )


@dataclass(frozen=True)
class ProcessStep:
    """One step of the study's process and how many items resulted."""

    text: str
    count: int | None = None
    unit: str = ""


@dataclass(frozen=True)
class ProcessStage:
    """Steps of the study's process under one heading."""

    title: str
    steps: tuple[ProcessStep, ...]


@dataclass(frozen=True)
class StrandShare:
    """How many of a strand's units have a code, with an interval for the share; no share if the strand has no data."""

    count: int
    base: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class FunnelStep:
    """A step of the funnel and how many items it kept."""

    title: str
    count: int
    note: str = ""
    """Replaces the share kept, for a step that did not look at every item."""


@dataclass(frozen=True)
class YearSeries:
    """Counts of one category, one per year."""

    name: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class TaxonomyPart:
    """An object of the taxonomy in the treemap: its posts give its size, its value, if any, its shade."""

    phase: str
    name: str
    posts: int
    value: float | None = None


@dataclass(frozen=True)
class ShareColumn:
    """A column of the heat map: a share of `base` items for each row."""

    name: str
    base: int
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class TaxonomyPoint:
    """An object of the taxonomy in the plot of popularity and difficulty."""

    phase: str
    name: str
    posts: int
    views: float | None
    days: float | None


@dataclass(frozen=True)
class ForestEstimate:
    """A row of the forest plot; an undefined estimate has a reason."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    band: str = ""
    reason: str = ""


@dataclass(frozen=True)
class SetCurve:
    """One set of phrases: the discrepancy between raters and the incompatibility with earlier sets."""

    set: int
    items: int
    discrepancy: float
    incompatibility: float


@dataclass(frozen=True)
class YearPoint:
    """A share in one year with its confidence interval."""

    year: int
    share: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class TrendLine:
    """Shares of one category over the years, with a note on their direction."""

    name: str
    shares: tuple[YearPoint, ...]
    note: str = ""


@dataclass(frozen=True)
class SaturationPoint:
    """An interview: its new codes, all codes so far, and the expected number of codes after as many interviews."""

    name: str
    new: int
    total: int
    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class CodeCounts:
    """A code of a theme with a count for each participant."""

    group: str
    name: str
    counts: tuple[int, ...]
