"""Figures, and the records from which they are drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from importlib import import_module
from typing import Any

_WORDS = re.compile(r'<title id="[^"]*">(.*?)</title><desc id="[^"]*">(.*?)</desc>', re.DOTALL)
_MODULES = {"by_year": "years", "trend": "years", "heat_map": "grids", "code_grid": "grids"}
"""The module of each kind of figure that has no module of its own name."""


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
class FigurePlan:
    """A figure that `draw_KIND` draws from the arguments; another process can draw it.

    Planning is cheap, while importing the drawing library alone takes half a second.
    """

    kind: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def draw(self) -> Figure:
        module = import_module(f"quaestor.render.figures.{_MODULES.get(self.kind, self.kind)}")
        figure: Figure = getattr(module, f"draw_{self.kind}")(*self.arguments, **self.keywords)
        return figure


@dataclass(frozen=True)
class DrawnFigure:
    """A figure in every format."""

    name: str
    title: str
    alt: str
    svg: str
    pdf: bytes
    png: bytes

    @classmethod
    def read(cls, files: Mapping[str, bytes]) -> DrawnFigure:
        """Returns the figure whose `files` these are; its title and text alternative are in the SVG."""
        name = next(iter(files)).rpartition(".")[0]
        svg = files[f"{name}.svg"].decode("utf-8")
        words = _WORDS.search(svg)
        if words is None:
            raise ValueError(f"{name}.svg has no title: it was not drawn here")
        title, alt = map(unescape, words.groups())
        return cls(name, title, alt, svg, files[f"{name}.pdf"], files[f"{name}.png"])

    @property
    def files(self) -> dict[str, bytes]:
        """The content of each file by its name."""
        contents = {"svg": self.svg.encode("utf-8"), "pdf": self.pdf, "png": self.png}
        return {f"{self.name}.{ending}": content for ending, content in contents.items()}


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


@dataclass(frozen=True)
class ChoiceBar:
    """One option: how many chose it, and their share with its interval; no share if nobody answered."""

    label: str
    count: int
    share: float | None
    low: float | None = None
    high: float | None = None
