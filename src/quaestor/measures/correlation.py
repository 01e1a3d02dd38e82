"""Pearson's correlation of values, Spearman's of ranks, and the p-values that fit a printed correlation."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, stdtr

from quaestor.measures.agreement.estimates import QUANTILE
from quaestor.measures.arrays import Floats, rank, require_same_length, to_numbers
from quaestor.measures.records import Correlation

MIN_ITEMS = 3
"""With two items the correlation is always 1 or −1."""

_CLOSE = 1e-12


def pearson(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Correlates values over the items that have both."""
    return _correlate("pearson", *_drop_incomplete(x, y))


def spearman(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Correlates average ranks over the items that have both values."""
    first, second = _drop_incomplete(x, y)
    return _correlate("spearman", rank(first).ranks, rank(second).ranks)


def correlation_p_value(r: float, n: int) -> float | None:
    """Returns the two-sided p-value of Pearson's r over n pairs; None for fewer than 3 pairs."""
    if n < 3:
        return None
    if abs(r) >= 1:
        return 0.0
    t = abs(r) * math.sqrt((n - 2) / (1 - r * r))
    return float(2 * stdtr(n - 2, -t))


def p_range(r: float, decimals: int, n: int) -> tuple[float, float] | None:
    """Returns the smallest and largest p-value of an r that was rounded to so many decimals."""
    half = 0.5 * 10.0**-decimals
    low, high = max(0.0, abs(r) - half), min(1.0, abs(r) + half)
    largest, smallest = correlation_p_value(low, n), correlation_p_value(high, n)
    return None if largest is None or smallest is None else (smallest, largest)


def _drop_incomplete(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    first, second = to_numbers(x, "x"), to_numbers(y, "y")
    require_same_length(first, second, "x and y")
    both = ~(np.isnan(first) | np.isnan(second))
    return first[both], second[both]


def _correlate(kind: Literal["pearson", "spearman"], x: Floats, y: Floats) -> Correlation:
    n = len(x)
    if n < MIN_ITEMS:
        reason = "fewer than 3 items have both values"
        return Correlation(kind, n, undefined=f"undefined, because {reason}")
    if x.min() == x.max() or y.min() == y.max():
        reason = "one of the two values is the same for every item"
        return Correlation(kind, n, undefined=f"undefined, because {reason}")
    value = float(np.dot(_normalize(x), _normalize(y)))
    if 1 - abs(value) < _CLOSE:
        reason = "all items lie on a line"
        value = math.copysign(1.0, value)
        return Correlation(kind, n, value, 0.0, undefined=f"the interval is undefined, because {reason}")
    # Student's t on n − 2 degrees of freedom, written as a beta integral, which keeps its digits far out in the tail.
    p = float(betainc(n / 2 - 1, 0.5, (1 - value) * (1 + value)))
    if n == MIN_ITEMS:
        return Correlation(kind, n, value, p, undefined="the interval is undefined, because it needs at least 4 items")
    # Bonett and Wright (2000): ranks vary more than Fisher's z allows for.
    excess = 1 + value * value / 2 if kind == "spearman" else 1.0
    middle, half = math.atanh(value), QUANTILE * math.sqrt(excess / (n - 3))
    return Correlation(kind, n, value, p, math.tanh(middle - half), math.tanh(middle + half))


def _normalize(values: Floats) -> Floats:
    """Returns deviations from the mean, scaled to length 1; scaled twice, so that no square overflows."""
    deviations: Floats = values - values[0]
    deviations /= np.abs(deviations).max()
    deviations -= deviations.mean()
    deviations /= math.sqrt(float(np.dot(deviations, deviations)))
    return deviations
