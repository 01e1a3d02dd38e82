"""Whether groups differ: the test of Kruskal and Wallis over all, Dunn's over every two, with Holm's correction."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from quaestor.measures.arrays import Floats, codes, numbers, ranked, same_length
from quaestor.measures.records import GroupTest, PairTest


def kruskal_wallis(values: ArrayLike, groups: ArrayLike, n_groups: int) -> GroupTest:
    """Both tests on the same ranks, corrected for ties; groups without values take no part."""
    found, group = numbers(values), codes(groups, n_groups)
    same_length(found, group, "values and groups")
    known = ~np.isnan(found) & (group >= 0)
    found, group = found[known], group[known]
    sizes = np.bincount(group, minlength=n_groups)
    present = np.flatnonzero(sizes)
    n, names = len(found), tuple(present.tolist())
    if len(present) < 2:
        why = "fewer than two groups have values"
        return GroupTest(n, names, undefined=f"undefined, because {why}")
    ranking = ranked(found)
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
