"""The results of the measures: values with their uncertainty, or the reason why they are undefined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Scale = Literal["nominal", "ordinal", "interval"]
KappaKind = Literal["cohen", "fleiss"]
Band = Literal["negligible", "small", "medium", "large", ""]
_VARIANCE_BANDS: tuple[tuple[float, Band], ...] = ((0.01, "negligible"), (0.06, "small"), (0.14, "medium"))
Direction = Literal["rising", "falling", "no trend", ""]


@dataclass(frozen=True)
class Estimate:
    """A statistic with standard error and 95 % interval, or the reason why it is undefined."""

    value: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    how: Literal["analytic", "bootstrap", ""] = ""
    undefined: str = ""


@dataclass(frozen=True)
class CodeAgreement:
    """The agreement on one code against all others."""

    code: str
    kappa: Estimate
    percent: float | None
    """The share of items on which the raters agree whether the code applies."""
    specific: float | None
    """The share of uses of the code that match another rater's (positive specific agreement)."""
    n_any: int
    """Items for which at least one rater used the code."""
    n_all: int
    """Items for which every rater used the code."""


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two of several raters, on the items both rated."""

    first: str
    second: str
    n: int
    percent: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class ConfusedPair:
    """Two codes, and how often one rater used the first and another the second."""

    codes: tuple[str, str]
    n: int


@dataclass(frozen=True)
class Confusion:
    """The non-empty cells of the confusion table of two raters."""

    first: str
    second: str
    labels: tuple[str, ...]
    cells: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class Agreement:
    """The agreement of raters on one facet; all its parts are always shown together."""

    facet: str
    scale: Scale
    multilabel: bool
    raters: tuple[str, ...]
    n: int
    left_out: int
    reasons: dict[str, int]
    estimates: Mapping[str, Estimate]
    """Estimates by the name of the statistic; those that do not apply to the facet are left out."""
    bands: Mapping[str, str]
    """The band of Landis and Koch for each κ."""
    kappa_kind: KappaKind
    weights: str
    """The weights of disagreements: `linear`, `quadratic`, `masi`, or empty on a nominal scale."""
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
    """The median of some values with 95 % interval and quartiles."""

    n: int
    missing: int = 0
    """Items without a value, which are not counted in n."""
    median: float | None = None
    q1: float | None = None
    q3: float | None = None
    low: float | None = None
    high: float | None = None
    how: Literal["bootstrap", "order statistics", ""] = ""
    undefined: str = ""


@dataclass(frozen=True)
class Correlation:
    """The correlation of two values of the same items, with p-value and 95 % interval."""

    kind: Literal["pearson", "spearman"]
    n: int
    """Items that have both values."""
    value: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class WeightedShare:
    """A weighted share with Wilson's 95 % interval for the effective sample size."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    effective: float | None = None
    """The effective sample size of the responses that the share is of."""
    undefined: str = ""


@dataclass(frozen=True)
class Share:
    """A share with Wilson's 95 % interval."""

    count: int
    of: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    undefined: str = ""
    weighted: WeightedShare | None = None
    """The same share with weights, if the responses have weights."""


@dataclass(frozen=True)
class PairTest:
    """Dunn's test of two groups, identified by their codes: z, p-value, and the p-value adjusted by Holm's method."""

    first: int
    second: int
    z: float
    p: float
    adjusted: float


@dataclass(frozen=True)
class GroupTest:
    """Tests whether the values of groups differ (Kruskal and Wallis), and which pairs of groups do (Dunn)."""

    n: int
    groups: tuple[int, ...]
    """The codes of the groups with values."""
    statistic: float | None = None
    df: int | None = None
    p: float | None = None
    pairs: tuple[PairTest, ...] = ()
    undefined: str = ""

    @property
    def epsilon_squared(self) -> float | None:
        """The effect size: the share of the variance of ranks between groups (rank ε²), from 0 to 1."""
        return None if self.statistic is None else min(self.statistic / (self.n - 1), 1.0)

    @property
    def band(self) -> Band:
        """The size of the effect in words, by Cohen's (1988) bands for shares of variance."""
        size = self.epsilon_squared
        return "" if size is None else next((name for limit, name in _VARIANCE_BANDS if size < limit), "large")


@dataclass(frozen=True)
class Effect:
    """Cliff's delta: how much more often a value of the first group is larger than smaller."""

    value: float | None = None
    band: Band = ""
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class Association:
    """The test and the strength of the association of two attributes."""

    n: int
    test: Literal["chi-square", "chi-square, permuted", "Fisher's exact", ""] = ""
    statistic: float | None = None
    """Pearson's chi-square; None for Fisher's test."""
    df: int | None = None
    """None unless the p-value comes from the chi-square distribution."""
    p: float | None = None
    cramers_v: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class YearShare:
    """The share in one year with Wilson's 95 % interval."""

    year: int
    count: int
    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None
    undefined: str = ""


@dataclass(frozen=True)
class Trend:
    """The test of a rising or falling trend of a yearly value (Mann and Kendall)."""

    years: int
    """The number of years with a value."""
    tau: float | None = None
    s: int | None = None
    p: float | None = None
    direction: Direction = ""
    undefined: str = ""
