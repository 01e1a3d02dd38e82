"""Tests of differences between groups (Kruskal and Wallis, Dunn, Holm) and their effect size (Cliff's delta)."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from quaestor.measures.agreement.estimates import QUANTILE
from quaestor.measures.arrays import Floats, Whole, rank, require_same_length, to_codes, to_numbers
from quaestor.measures.records import Band, Effect, GroupTest, PairTest

_BANDS: tuple[tuple[float, Band], ...] = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"))


def kruskal_wallis(values: ArrayLike, groups: ArrayLike, n_groups: int) -> GroupTest:
    """Runs the tests of Kruskal and Wallis and of Dunn on the same ranks, corrected for ties; skips empty groups."""
    numbers, group = to_numbers(values), to_codes(groups, n_groups)
    require_same_length(numbers, group, "values and groups")
    known = ~np.isnan(numbers) & (group >= 0)
    numbers, group = numbers[known], group[known]
    sizes = np.bincount(group, minlength=n_groups)
    present = np.flatnonzero(sizes)
    n, names = len(numbers), tuple(present.tolist())
    if len(present) < 2:
        reason = "fewer than two groups have values"
        return GroupTest(n, names, undefined=f"undefined, because {reason}")
    ranking = rank(numbers)
    if ranking.spread == 0:
        return GroupTest(n, names, undefined="undefined, because every value is the same")
    means = np.bincount(group, weights=ranking.ranks, minlength=n_groups)[present] / sizes[present]
    between = float(sizes[present] @ (means - (n + 1) / 2) ** 2)
    variance = ranking.spread / (n - 1)
    df = len(present) - 1
    statistic = between / variance
    pairs = _compare_pairs(names, means, sizes[present] / variance)
    return GroupTest(n, names, statistic, df, float(chdtrc(df, statistic)), pairs)


def holm(p_values: ArrayLike) -> Floats:
    """Adjusts p-values by Holm's method: times the number of remaining hypotheses, non-decreasing, at most 1."""
    original = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(original, kind="stable")
    stepped = np.maximum.accumulate(original[order] * np.arange(len(original), 0, -1))
    adjusted = np.empty_like(original)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _compare_pairs(names: tuple[int, ...], means: Floats, precision: Floats) -> tuple[PairTest, ...]:
    """Compares every two groups by the difference of their mean ranks in standard errors."""
    first, second = (np.array(side) for side in zip(*combinations(range(len(names)), 2), strict=True))
    z = (means[first] - means[second]) / np.sqrt(1 / precision[first] + 1 / precision[second])
    p = 2 * ndtr(-np.abs(z))
    columns = (first.tolist(), second.tolist(), z.tolist(), p.tolist(), holm(p).tolist())
    return tuple(
        PairTest(names[left], names[right], difference, p_value, adjusted)
        for left, right, difference, p_value, adjusted in zip(*columns, strict=True)
    )


def cliffs_delta(first: ArrayLike, second: ArrayLike) -> Effect:
    """Returns the share of pairs in which the first group has the larger value, minus the share with the smaller one.

    Both groups are sorted and looked up in each other, so that no pairs are enumerated. The interval is the asymmetric
    one of Cliff (1996) with his consistent variance.
    """
    left, right = (
        np.sort(numbers[~np.isnan(numbers)]) for numbers in (to_numbers(first, "first"), to_numbers(second, "second"))
    )
    n, m = len(left), len(right)
    if not n or not m:
        reason = "no group has values" if not n and not m else "one of the two groups has no values"
        return Effect(undefined=f"undefined, because {reason}")
    wins, ties = _count_dominance(left, right)
    value = int(wins.sum()) / (n * m)
    if min(n, m) == 1:
        reason = "a group of one item has no spread"
        return Effect(value, _name_delta_size(value), undefined=f"the interval is undefined, because {reason}")
    if ties == n * m:
        reason = "every value is the same"
        return Effect(value, _name_delta_size(value), undefined=f"the interval is undefined, because {reason}")
    back, _ = _count_dominance(right, left)
    low, high = _compute_delta_interval(value, _compute_delta_variance(wins / m, -back / n, ties, value), min(n, m))
    return Effect(value, _name_delta_size(value), low, high)


def _count_dominance(left: Floats, right: Floats) -> tuple[Whole, int]:
    """Returns, for each left value, the smaller minus the larger right values, and the number of tied pairs."""
    below, up_to = np.searchsorted(right, left, "left"), np.searchsorted(right, left, "right")
    return below + up_to - len(right), int((up_to - below).sum())


def _compute_delta_variance(rows: Floats, columns: Floats, ties: int, value: float) -> float:
    """Returns Cliff's consistent estimate of the variance, from the mean dominance of each value."""
    n, m = len(rows), len(columns)
    row_spread = float(((rows - value) ** 2).sum()) / (n - 1)
    column_spread = float(((columns - value) ** 2).sum()) / (m - 1)
    pair_spread = (n * m - ties - n * m * value * value) / ((n - 1) * (m - 1))
    return ((m - 1) * row_spread + (n - 1) * column_spread + pair_spread) / (n * m)


def _compute_delta_interval(value: float, variance: float, smaller: int) -> tuple[float, float]:
    """Returns bounds within −1 and 1; for groups that do not overlap, those of Feng and Cliff (2004)."""
    square = QUANTILE**2
    if abs(value) == 1:
        inner = (smaller - square) / (smaller + square)
        return (inner, 1.0) if value > 0 else (-1.0, -inner)
    room = 1 - value * value
    half = QUANTILE * math.sqrt(variance) * math.sqrt(room * room + square * variance)
    middle, width = value * room, room + square * variance
    return max((middle - half) / width, -1.0), min((middle + half) / width, 1.0)


def _name_delta_size(value: float) -> Band:
    """Returns the size of a delta in words (Romano et al. 2006)."""
    return next((name for limit, name in _BANDS if abs(value) < limit), "large")
