"""How far two groups lie apart, by Cliff's delta."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from quaestor.measures.agreement.estimates import QUANTILE
from quaestor.measures.arrays import Floats, Whole, numbers
from quaestor.measures.records import Band, Effect

_BELOW: tuple[tuple[float, Band], ...] = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"))


def cliffs_delta(first: ArrayLike, second: ArrayLike) -> Effect:
    """The share of pairs in which the first group has the larger value, less those in which it has the smaller.

    Both groups are sorted and looked up in each other, so the pairs are never made. The interval is the asymmetric one
    of Cliff (1996) over his consistent variance.
    """
    one, other = (np.sort(found[~np.isnan(found)]) for found in (numbers(first, "first"), numbers(second, "second")))
    n, m = len(one), len(other)
    if not n or not m:
        why = "no group has values" if not n and not m else "one of the two groups has no values"
        return Effect(n, m, undefined=f"undefined, because {why}")
    wins, ties = _dominance(one, other)
    value = int(wins.sum()) / (n * m)
    if min(n, m) == 1:
        why = "a group of one item has no spread"
        return Effect(n, m, value, _band(value), undefined=f"the interval is undefined, because {why}")
    if ties == n * m:
        return Effect(n, m, value, _band(value), undefined="the interval is undefined, because every value is the same")
    back, _ = _dominance(other, one)
    low, high = _interval(value, _variance(wins / m, -back / n, ties, value), min(n, m))
    return Effect(n, m, value, _band(value), low, high)


def _dominance(one: Floats, other: Floats) -> tuple[Whole, int]:
    """For each value of one group, how many of the other are smaller less how many are larger; and the tied pairs."""
    below, up_to = np.searchsorted(other, one, "left"), np.searchsorted(other, one, "right")
    return below + up_to - len(other), int((up_to - below).sum())


def _variance(rows: Floats, columns: Floats, ties: int, value: float) -> float:
    """Cliff's consistent estimate, from the mean dominance of each value of either group."""
    n, m = len(rows), len(columns)
    row_spread = float(((rows - value) ** 2).sum()) / (n - 1)
    column_spread = float(((columns - value) ** 2).sum()) / (m - 1)
    pair_spread = (n * m - ties - n * m * value * value) / ((n - 1) * (m - 1))
    return ((m - 1) * row_spread + (n - 1) * column_spread + pair_spread) / (n * m)


def _interval(value: float, variance: float, smaller: int) -> tuple[float, float]:
    """Bounds that stay within −1 and 1; where the groups do not overlap, those of Feng and Cliff (2004)."""
    square = QUANTILE**2
    if abs(value) == 1:
        inner = (smaller - square) / (smaller + square)
        return (inner, 1.0) if value > 0 else (-1.0, -inner)
    room = 1 - value * value
    half = QUANTILE * math.sqrt(variance) * math.sqrt(room * room + square * variance)
    middle, width = value * room, room + square * variance
    return max((middle - half) / width, -1.0), min((middle + half) / width, 1.0)


def _band(value: float) -> Band:
    """The word for the size of a delta (Romano et al. 2006)."""
    return next((name for limit, name in _BELOW if abs(value) < limit), "large")
