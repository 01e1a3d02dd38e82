"""What the measures hand on: estimates with their uncertainty, and the agreement of raters on one facet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scale = Literal["nominal", "ordinal", "interval"]
KappaKind = Literal["cohen", "fleiss"]


@dataclass(frozen=True)
class Estimate:
    """A statistic with standard error and 95 % interval; where there is none, a sentence that says why."""

    value: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    how: Literal["analytic", "bootstrap", ""] = ""
    undefined: str = ""


@dataclass(frozen=True)
class CodeAgreement:
    """One code against the rest."""

    code: str
    kappa: Estimate
    percent: float | None
    """Items on which the raters agree whether the code applies."""
    specific: float | None
    """Of the uses of the code, the share that another rater shares (positive specific agreement)."""
    n_any: int
    """Items for which at least one rater used the code."""
    n_all: int
    """Items for which every rater used it."""


@dataclass(frozen=True)
class PairAgreement:
    """Two of several raters, on the items both rated."""

    first: str
    second: str
    n: int
    percent: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class ConfusedPair:
    """Two codes and how often one rater used the one where another used the other."""

    codes: tuple[str, str]
    n: int


@dataclass(frozen=True)
class Confusion:
    """What the second rater said where the first said something: only cells that are not empty."""

    first: str
    second: str
    labels: tuple[str, ...]
    cells: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class Agreement:
    """Everything about the agreement of raters on one facet, shown together always."""

    facet: str
    scale: Scale
    multilabel: bool
    raters: tuple[str, ...]
    n: int
    left_out: int
    reasons: dict[str, int]
    percent: Estimate
    overlap: Estimate | None
    """For facets with several codes an item: how much of two raters' codes are the same (Jaccard), on average."""
    kappa: Estimate
    kappa_kind: KappaKind
    band: str
    weighted_kappa: Estimate | None
    weighted_band: str
    weights: str
    """How disagreements are weighed: `linear`, `quadratic`, `masi`, or nothing on a nominal scale."""
    fleiss: Estimate
    ac1: Estimate
    ac2: Estimate | None
    alpha: Estimate
    prevalence: float | None
    bias: float | None
    warnings: tuple[str, ...] = ()
    codes: tuple[CodeAgreement, ...] = ()
    pairs: tuple[PairAgreement, ...] = ()
    confusion: Confusion | None = None
    confused: tuple[ConfusedPair, ...] = field(default=())
