"""Builds estimates from values and variances; an undefined value has a reason and is never NaN."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from quaestor.measures.records import Estimate

QUANTILE = NormalDist().inv_cdf(0.975)
"""The half-width of a 95 % interval in standard errors: 1.96."""

MIN_ITEMS = 2
"""With a single item, agreement cannot be distinguished from chance."""

ONE_CODE = "undefined, because every rating is the same code, so agreement by chance is certain"

_CLOSE = 1e-12


def undefined_estimate(reason: str) -> Estimate:
    return Estimate(undefined=f"undefined, because {reason}")


def check_item_count(n: int) -> Estimate | None:
    """Returns an undefined estimate for too few items; None if there are enough."""
    if n >= MIN_ITEMS:
        return None
    return undefined_estimate(
        "no item has ratings by two raters" if n == 0 else "only one item has ratings by two raters"
    )


def analytic_estimate(value: float, variance: float) -> Estimate:
    """Returns value ± 1.96 standard errors, limited to the range of a coefficient.

    If raters disagree but the standard error is 0, for example because one of them never uses a code, there is no
    interval: an interval of width 0 would claim certainty about other items.
    """
    se = math.sqrt(max(variance, 0.0))
    value = _snap_to_integer(value)
    if variance < _CLOSE and value != 1:
        return Estimate(value, se, how="analytic")
    return Estimate(value, se, max(value - QUANTILE * se, -1.0), min(value + QUANTILE * se, 1.0), "analytic")


def correct_for_chance(observed: float, chance: float) -> float | None:
    """Returns agreement beyond chance as a share of the possible one; None if chance agreement is 1."""
    return None if 1 - chance < _CLOSE else (observed - chance) / (1 - chance)


def bootstrap_estimate(value: float, replicates: NDArray[np.float64]) -> Estimate:
    """Returns the value of the data with the standard error and the interval of bootstrap replicates."""
    value = _snap_to_integer(value)
    finite = replicates[np.isfinite(replicates)]
    if finite.size < MIN_ITEMS:
        return Estimate(value)
    low, high = np.quantile(finite, [0.025, 0.975])
    return Estimate(
        value, float(finite.std(ddof=1)), _snap_to_integer(float(low)), _snap_to_integer(float(high)), "bootstrap"
    )


def wilson(share: float, n: float) -> Estimate:
    """Returns a share of n items with Wilson's score interval, which is accurate at 0 and 1 too."""
    middle = (share + QUANTILE**2 / (2 * n)) / (1 + QUANTILE**2 / n)
    half = QUANTILE / (1 + QUANTILE**2 / n) * math.sqrt(share * (1 - share) / n + QUANTILE**2 / (4 * n * n))
    se = math.sqrt(share * (1 - share) / n)
    return Estimate(share, se, max(middle - half, 0.0), min(middle + half, 1.0), "analytic")


def _snap_to_integer(value: float) -> float:
    """Removes rounding errors, so that perfect agreement is 1 and not 0.9999999999999999."""
    nearest = round(value)
    return float(nearest) if abs(value - nearest) < _CLOSE else value
