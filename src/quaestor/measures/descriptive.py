"""Medians with their uncertainty and quartiles, of all items or of each group."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik

from quaestor.measures.arrays import Floats, codes, numbers, same_length
from quaestor.measures.records import Summary

Places = NDArray[np.int32]

MOST_RESAMPLED = 10_000
"""Above so many items the interval comes from order statistics; the two hardly differ by then."""

REPLICATES = 10_000

_TAIL = 0.025


def summary(values: ArrayLike, seed: int) -> Summary:
    """The summary of values; the same values in another order, or beside other groups, give the same."""
    found = numbers(values)
    known = np.sort(found[~np.isnan(found)])
    return _of_ordered(known, len(found) - len(known), seed)


def grouped_summaries(values: ArrayLike, groups: ArrayLike, n_groups: int, seed: int) -> list[Summary]:
    """The summary of each group by its code, empty groups too; items without a group are left out."""
    found, group = numbers(values), codes(groups, n_groups)
    same_length(found, group, "values and groups")
    narrow = group.astype(np.int16) if n_groups < 2**15 else group  # sorted by radix, several times quicker
    order = np.argsort(narrow, kind="stable")
    ends = np.cumsum(np.bincount(group + 1, minlength=n_groups + 1)).tolist()
    gathered = found[order]
    return [summary(gathered[start:end], seed) for start, end in pairwise(ends)]


def _of_ordered(ordered: Floats, missing: int, seed: int) -> Summary:
    n = len(ordered)
    if n == 0:
        return Summary(n, missing, undefined="undefined, because no item has a value")
    median = (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2
    q1, q3 = _quantile(ordered, 0.25), _quantile(ordered, 0.75)
    if n == 1:
        why = "one item has no spread"
        return Summary(n, missing, median, q1, q3, undefined=f"the interval is undefined, because {why}")
    if n > MOST_RESAMPLED:
        place = _lower_place(n)
        low, high = float(ordered[place]), float(ordered[n - 1 - place])
        return Summary(n, missing, median, q1, q3, low, high, "order statistics")
    lower, upper = resampled_places(n, seed)
    medians = np.sort((ordered[lower] + ordered[upper]) / 2)
    low, high = _quantile(medians, _TAIL), _quantile(medians, 1 - _TAIL)
    return Summary(n, missing, median, q1, q3, low, high, "bootstrap")


@lru_cache(maxsize=256)
def resampled_places(n: int, seed: int) -> tuple[Places, Places]:
    """Where the two middle values of bootstrap samples of n ordered values come from, one pair for each sample.

    Drawing n values with replacement is rounding down n uniform numbers times n; the j-th smallest of those numbers
    has a beta distribution, and the next one, given it, is the smallest of the n − j left above it. So two draws make
    a sample's median, with exactly the distribution that n draws would give. They depend on n and the seed alone:
    groups of equal size share them, and no group's interval changes because another one came or went.
    """
    generator = np.random.default_rng([seed, n])
    rank = (n + 1) // 2
    first = generator.beta(rank, n - rank + 1, REPLICATES)
    lower = np.minimum((n * first).astype(np.int32), n - 1)
    upper = lower
    if n % 2 == 0:
        second = 1 - (1 - first) * generator.random(REPLICATES) ** (1 / (n - rank))
        upper = np.minimum((n * second).astype(np.int32), n - 1)
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _lower_place(n: int) -> int:
    """The highest place, from 0, whose value exceeds the population's median with a chance of at most 2.5 %."""
    return int(bdtrik(_TAIL, n, 0.5))


def _quantile(ordered: Floats, share: float) -> float:
    """By linear interpolation between neighbours (type 7 of Hyndman and Fan 1996)."""
    place = (len(ordered) - 1) * share
    below = int(place)
    low = float(ordered[below])
    high = float(ordered[min(below + 1, len(ordered) - 1)])
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)
