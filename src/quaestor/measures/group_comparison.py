"""Whether groups differ (Kruskal and Wallis, Dunn, Holm), and how far two of them lie apart (Cliff's delta)."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from quaestor.measures.agreement.estimates import QUANTILE
from quaestor.measures.arrays import Floats, Whole, rank, require_same_length, to_codes, to_numbers
from quaestor.measures.records import Band, Effect, GroupTest, PairTest

_BELOW: tuple[tuple[float, Band], ...] = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"))


def kruskal_wallis(values: ArrayLike, groups: ArrayLike, n_groups: int) -> GroupTest:
    """Both tests on the same ranks, corrected for ties; groups without values take no part."""
    found, group = to_numbers(values), to_codes(groups, n_groups)
    require_same_length(found, group, "values and groups")
    known = ~np.isnan(found) & (group >= 0)
    found, group = found[known], group[known]
    sizes = np.bincount(group, minlength=n_groups)
    present = np.flatnonzero(sizes)
    n, names = len(found), tuple(present.tolist())
    if len(present) < 2:
        why = "fewer than two groups have values"
        return GroupTest(n, names, undefined=f"undefined, because {why}")
    ranking = rank(found)
    if ranking.spread == 0:
        return GroupTest(n, names, undefined="undefined, because every value is the same")
    means = np.bincount(group, weights=ranking.ranks, minlength=n_groups)[present] / sizes[present]
    between = float(sizes[present] @ (means - (n + 1) / 2) ** 2)
    variance = ranking.spread / (n - 1)
    df = len(present) - 1
    statistic = between / variance
    pairs = _dunn(names, means, sizes[present] / variance)
    return GroupTest(n, names, statistic, df, float(chdtrc(df, statistic)), pairs)


def holm(p_values: ArrayLike) -> Floats:
    """P-values multiplied by how many hypotheses are still open, never smaller than one before, cut at 1."""
    found = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(found, kind="stable")
    stepped = np.maximum.accumulate(found[order] * np.arange(len(found), 0, -1))
    adjusted = np.empty_like(found)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _dunn(names: tuple[int, ...], means: Floats, precision: Floats) -> tuple[PairTest, ...]:
    """Every two groups: the distance of their mean ranks in standard errors."""
    first, second = (np.array(side) for side in zip(*combinations(range(len(names)), 2), strict=True))
    z = (means[first] - means[second]) / np.sqrt(1 / precision[first] + 1 / precision[second])
    p = 2 * ndtr(-np.abs(z))
    columns = (first.tolist(), second.tolist(), z.tolist(), p.tolist(), holm(p).tolist())
    return tuple(
        PairTest(names[one], names[other], distance, chance, adjusted)
        for one, other, distance, chance, adjusted in zip(*columns, strict=True)
    )


def cliffs_delta(first: ArrayLike, second: ArrayLike) -> Effect:
    """The share of pairs in which the first group has the larger value, less those in which it has the smaller.

    Both groups are sorted and looked up in each other, so the pairs are never made. The interval is the asymmetric one
    of Cliff (1996) over his consistent variance.
    """
    one, other = (
        np.sort(found[~np.isnan(found)]) for found in (to_numbers(first, "first"), to_numbers(second, "second"))
    )
    n, m = len(one), len(other)
    if not n or not m:
        why = "no group has values" if not n and not m else "one of the two groups has no values"
        return Effect(undefined=f"undefined, because {why}")
    wins, ties = _dominance(one, other)
    value = int(wins.sum()) / (n * m)
    if min(n, m) == 1:
        why = "a group of one item has no spread"
        return Effect(value, _delta_band(value), undefined=f"the interval is undefined, because {why}")
    if ties == n * m:
        return Effect(value, _delta_band(value), undefined="the interval is undefined, because every value is the same")
    back, _ = _dominance(other, one)
    low, high = _delta_interval(value, _delta_variance(wins / m, -back / n, ties, value), min(n, m))
    return Effect(value, _delta_band(value), low, high)


def _dominance(one: Floats, other: Floats) -> tuple[Whole, int]:
    """For each value of one group, how many of the other are smaller less how many are larger; and the tied pairs."""
    below, up_to = np.searchsorted(other, one, "left"), np.searchsorted(other, one, "right")
    return below + up_to - len(other), int((up_to - below).sum())


def _delta_variance(rows: Floats, columns: Floats, ties: int, value: float) -> float:
    """Cliff's consistent estimate, from the mean dominance of each value of either group."""
    n, m = len(rows), len(columns)
    row_spread = float(((rows - value) ** 2).sum()) / (n - 1)
    column_spread = float(((columns - value) ** 2).sum()) / (m - 1)
    pair_spread = (n * m - ties - n * m * value * value) / ((n - 1) * (m - 1))
    return ((m - 1) * row_spread + (n - 1) * column_spread + pair_spread) / (n * m)


def _delta_interval(value: float, variance: float, smaller: int) -> tuple[float, float]:
    """Bounds that stay within −1 and 1; where the groups do not overlap, those of Feng and Cliff (2004)."""
    square = QUANTILE**2
    if abs(value) == 1:
        inner = (smaller - square) / (smaller + square)
        return (inner, 1.0) if value > 0 else (-1.0, -inner)
    room = 1 - value * value
    half = QUANTILE * math.sqrt(variance) * math.sqrt(room * room + square * variance)
    middle, width = value * room, room + square * variance
    return max((middle - half) / width, -1.0), min((middle + half) / width, 1.0)


def _delta_band(value: float) -> Band:
    """The word for the size of a delta (Romano et al. 2006)."""
    return next((name for limit, name in _BELOW if abs(value) < limit), "large")
