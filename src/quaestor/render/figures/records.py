"""What a figure is, and the plain values each one is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A drawing with its words: the text alternative says what it shows, numbers included."""

    name: str
    """The name of its files, without an ending."""
    title: str
    alt: str
    spec: Mapping[str, Any] = field(hash=False)
    """The drawing in Vega-Lite."""

    @property
    def size(self) -> tuple[int, int]:
        """Its width and height in pixels, margins and all, known before it is drawn."""
        room = self.spec["padding"]
        return (
            self.spec["width"] + room["left"] + room["right"],
            self.spec["height"] + room["top"] + room["bottom"],
        )


@dataclass(frozen=True)
class ProcessStep:
    """One thing that was done, and how many came out of it."""

    text: str
    count: int | None = None
    unit: str = ""


@dataclass(frozen=True)
class ProcessStage:
    """Steps of a study under one heading."""

    title: str
    steps: tuple[ProcessStep, ...]


@dataclass(frozen=True)
class FunnelStep:
    """A step of the funnel and how many it kept."""

    title: str
    count: int


@dataclass(frozen=True)
class YearSeries:
    """Counts under one name, in the order of the years they belong to."""

    name: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class TaxonomyPart:
    """An object of the taxonomy: its posts are its size, its value, where there is one, its shade."""

    phase: str
    name: str
    posts: int
    value: float | None = None


@dataclass(frozen=True)
class ShareColumn:
    """A column of the heat map: one share a row, of `base` items."""

    name: str
    base: int
    shares: tuple[float | None, ...]


@dataclass(frozen=True)
class TaxonomyPoint:
    """An object of the taxonomy on the map of popularity and difficulty."""

    phase: str
    name: str
    posts: int
    views: float | None
    days: float | None


@dataclass(frozen=True)
class ForestEstimate:
    """A row of the forest plot; without an estimate, the reason why there is none."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    band: str = ""
    reason: str = ""


@dataclass(frozen=True)
class SetCurve:
    """How one set of phrases went: raters against each other, and the set against those before it."""

    set: int
    items: int
    discrepancy: float
    incompatibility: float


@dataclass(frozen=True)
class YearShare:
    """A share in one year with its interval."""

    year: int
    share: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class TrendLine:
    """Shares over the years under one name, with a word on their direction."""

    name: str
    shares: tuple[YearShare, ...]
    note: str = ""


@dataclass(frozen=True)
class SaturationPoint:
    """An interview: how many codes it adds, how many there are then, and how many so many interviews usually give."""

    name: str
    new: int
    total: int
    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class CodeCounts:
    """A code with a count for each participant, under the theme it belongs to."""

    group: str
    name: str
    counts: tuple[int, ...]
