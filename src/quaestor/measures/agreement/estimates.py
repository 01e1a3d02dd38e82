"""From a value and its variance to an estimate; a value that cannot be is a sentence, never a NaN."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from quaestor.measures.records import Estimate

QUANTILE = NormalDist().inv_cdf(0.975)
"""The half-width of a 95 % interval in standard errors: 1.96."""

MIN_ITEMS = 2
"""Chance cannot be told apart from agreement on a single item."""

ONE_CODE = "undefined, because every rating is the same code, so agreement by chance is certain"

_CLOSE = 1e-12


def undefined_estimate(why: str) -> Estimate:
    return Estimate(undefined=f"undefined, because {why}")


def check_item_count(n: int) -> Estimate | None:
    """Why nothing can be said about so few items; None where there are enough."""
    if n >= MIN_ITEMS:
        return None
    return undefined_estimate("no item has ratings by two raters" if n == 0 else "only one item has ratings by two raters")


def analytic_estimate(value: float, variance: float) -> Estimate:
    """Value ± 1.96 standard errors, cut where a coefficient ends.

    Raters who differ and have a standard error of 0, as where one of them never gives a code, have no interval: one
    without width would promise that other items give the same.
    """
    se = math.sqrt(max(variance, 0.0))
    value = _settle(value)
    if variance < _CLOSE and value != 1:
        return Estimate(value, se, how="analytic")
    return Estimate(value, se, max(value - QUANTILE * se, -1.0), min(value + QUANTILE * se, 1.0), "analytic")


def correct_for_chance(observed: float, chance: float) -> float | None:
    """Agreement beyond chance as a share of what chance leaves; None where chance leaves nothing."""
    return None if 1 - chance < _CLOSE else (observed - chance) / (1 - chance)


def bootstrap_estimate(value: float, replicates: NDArray[np.float64]) -> Estimate:
    """The spread of the replicates about a value, which stays the one of the data themselves."""
    value = _settle(value)
    found = replicates[np.isfinite(replicates)]
    if found.size < MIN_ITEMS:
        return Estimate(value)
    low, high = np.quantile(found, [0.025, 0.975])
    return Estimate(value, float(found.std(ddof=1)), _settle(float(low)), _settle(float(high)), "bootstrap")


def wilson(share: float, n: int) -> Estimate:
    """A share of n items with Wilson's score interval, which is honest at 0 and 1 too."""
    middle = (share + QUANTILE**2 / (2 * n)) / (1 + QUANTILE**2 / n)
    half = QUANTILE / (1 + QUANTILE**2 / n) * math.sqrt(share * (1 - share) / n + QUANTILE**2 / (4 * n * n))
    se = math.sqrt(share * (1 - share) / n)
    return Estimate(share, se, max(middle - half, 0.0), min(middle + half, 1.0), "analytic")


def _settle(value: float) -> float:
    """Rounding in the last digits must not turn perfect agreement into 0.9999999999999999."""
    nearest = round(value)
    return float(nearest) if abs(value - nearest) < _CLOSE else value
