"""What the measures hand on: numbers with their uncertainty, each able to say in a sentence why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Scale = Literal["nominal", "ordinal", "interval"]
KappaKind = Literal["cohen", "fleiss"]
Band = Literal["negligible", "small", "medium", "large", ""]
_SHARE_OF_SPREAD: tuple[tuple[float, Band], ...] = ((0.01, "negligible"), (0.06, "small"), (0.14, "medium"))
Direction = Literal["rising", "falling", "no trend", ""]


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
    estimates: Mapping[str, Estimate]
    """By the name of the statistic; those that do not apply to the facet are left out."""
    bands: Mapping[str, str]
    """The word of Landis and Koch for each κ."""
    kappa_kind: KappaKind
    weights: str
    """How disagreements are weighed: `linear`, `quadratic`, `masi`, or nothing on a nominal scale."""
    prevalence: float | None
    bias: float | None
    warnings: tuple[str, ...] = ()
    codes: tuple[CodeAgreement, ...] = ()
    pairs: tuple[PairAgreement, ...] = ()
    confusion: Confusion | None = None
    confused: tuple[ConfusedPair, ...] = field(default=())

    @property
    def percent(self) -> Estimate:
        return self.estimates["percent"]

    @property
    def overlap(self) -> Estimate | None:
        return self.estimates.get("overlap")

    @property
    def kappa(self) -> Estimate:
        return self.estimates["kappa"]

    @property
    def band(self) -> str:
        return self.bands["kappa"]

    @property
    def weighted_kappa(self) -> Estimate | None:
        return self.estimates.get("weighted_kappa")

    @property
    def weighted_band(self) -> str:
        return self.bands.get("weighted_kappa", "")

    @property
    def ac1(self) -> Estimate:
        return self.estimates["ac1"]

    @property
    def alpha(self) -> Estimate:
        return self.estimates["alpha"]


@dataclass(frozen=True)
class Summary:
    """The middle of some values: median with 95 % interval and quartiles."""

    n: int
    missing: int = 0
    """Items that have no value and are left out of n."""
    median: float | None = None
    q1: float | None = None
    q3: float | None = None
    low: float | None = None
    high: float | None = None
    how: Literal["bootstrap", "order statistics", ""] = ""
    undefined: str = ""


@dataclass(frozen=True)
class Correlation:
    """How two values of the same items go together, with the p-value of no correlation and a 95 % interval."""

    kind: Literal["pearson", "spearman"]
    n: int
    """Items that have both values."""
    value: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class Share:
    """A part of a whole with Wilson's 95 % interval."""

    count: int
    of: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class PairTest:
    """Two of several groups, by their codes: Dunn's z, its p-value, and the one adjusted by Holm's method."""

    first: int
    second: int
    z: float
    p: float
    adjusted: float


@dataclass(frozen=True)
class GroupTest:
    """Whether groups differ in where their values lie (Kruskal and Wallis), and which two do (Dunn)."""

    n: int
    groups: tuple[int, ...]
    """Codes of the groups that have values."""
    statistic: float | None = None
    df: int | None = None
    p: float | None = None
    pairs: tuple[PairTest, ...] = ()
    undefined: str = ""

    @property
    def epsilon_squared(self) -> float | None:
        """How strongly they differ: the part of the spread of ranks that lies between groups (rank ε²), 0 to 1."""
        return None if self.statistic is None else min(self.statistic / (self.n - 1), 1.0)

    @property
    def band(self) -> Band:
        """The word for that, by Cohen's (1988) bands for shares of variance."""
        size = self.epsilon_squared
        return "" if size is None else next((name for limit, name in _SHARE_OF_SPREAD if size < limit), "large")


@dataclass(frozen=True)
class Effect:
    """Cliff's delta: how much more often a value of the first group is the larger one than the smaller one."""

    value: float | None = None
    band: Band = ""
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class Association:
    """Whether two attributes depend on each other, and how closely."""

    n: int
    test: Literal["chi-square", "chi-square, permuted", "Fisher's exact", ""] = ""
    statistic: float | None = None
    """Pearson's chi-square; nothing for Fisher's test, which has none."""
    df: int | None = None
    """Nothing where the p-value does not come from the chi-square distribution."""
    p: float | None = None
    cramers_v: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class YearShare:
    """The share of one year with Wilson's 95 % interval."""

    year: int
    count: int
    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class Trend:
    """Whether a yearly value rises or falls (Mann and Kendall)."""

    years: int
    """Years that have a value."""
    tau: float | None = None
    s: int | None = None
    p: float | None = None
    direction: Direction = ""
    undefined: str = ""
