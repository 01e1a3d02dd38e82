"""What a reader of the numbers should know before believing them, one sentence each."""

from __future__ import annotations

from quaestor.measures.agreement.patterns import Patterns
from quaestor.measures.agreement.table import RatingTable
from quaestor.measures.records import Estimate

_HIGH_PERCENT, _LOW_KAPPA, _SKEWED, _BIASED, _FEW = 0.8, 0.6, 0.5, 0.3, 20


def cautions(
    table: RatingTable,
    patterns: Patterns,
    *,
    percent: Estimate,
    kappa: Estimate,
    ac1: Estimate,
    prevalence: float | None,
    bias: float | None,
) -> tuple[str, ...]:
    """The sentences that apply."""
    found = [f"{rater} shares no item with another rater and is left out." for rater in table.lonely]
    if 0 < patterns.n < _FEW:
        found.append(f"With {patterns.n} items the intervals are rough: they are made for large samples.")
    if (skewed := _paradox(table, patterns, percent, kappa, ac1, prevalence)) is not None:
        found.append(skewed)
    if kappa.value == 1 and kappa.se == 0:
        found.append(
            "Nobody disagrees, so the standard error of κ is 0 and tells nothing about other items; "
            "the interval of percent agreement does."
        )
    if bias is not None and bias >= _BIASED:
        found.append(
            f"The raters use the codes unequally often (bias {bias:.2f}): talk about what the codes mean before "
            "reading κ."
        )
    return tuple(found)


def _paradox(
    table: RatingTable,
    patterns: Patterns,
    percent: Estimate,
    kappa: Estimate,
    ac1: Estimate,
    prevalence: float | None,
) -> str | None:
    """The paradox of Feinstein and Cicchetti (1990): nearly all agree, and κ is low since one code has nearly all."""
    if percent.value is None or kappa.value is None or prevalence is None:
        return None
    if percent.value < _HIGH_PERCENT or kappa.value >= _LOW_KAPPA or prevalence < _SKEWED:
        return None
    common = int(patterns.use.argmax())
    beside = "" if ac1.value is None else f" (here {ac1.value:.2f})"
    return (
        f"κ is {round(kappa.value, 2) + 0.0:.2f} although the raters agree on {percent.value:.0%} of the items, "
        "because "
        f"{patterns.use[common]:.0%} of the ratings are {table.labels[common]}: where codes are so unequal, "
        f"read AC1{beside} beside κ."
    )
