"""Counts by code, shares with Wilson's interval, and medians with interval and quartiles."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik

from quaestor.base.errors import InputError
from quaestor.measures.agreement.estimates import wilson
from quaestor.measures.arrays import Floats, Whole, require_same_length, to_codes, to_numbers
from quaestor.measures.records import Share, Summary

Positions = NDArray[np.int32]

MAX_RESAMPLED = 10_000
"""With more items the interval comes from order statistics, which then hardly differs from the bootstrap."""

REPLICATES = 10_000

_TAIL = 0.025


def count_groups(groups: ArrayLike, n_groups: int) -> Whole:
    """Counts the items with each code."""
    codes = to_codes(groups, n_groups)
    return np.bincount(codes + 1, minlength=n_groups + 1)[1:]


def count_pairs(rows: ArrayLike, n_rows: int, columns: ArrayLike, n_columns: int) -> Whole:
    """Counts the items with each pair of codes; items without one of the two are not counted."""
    first, second = to_codes(rows, n_rows, "rows"), to_codes(columns, n_columns, "columns")
    require_same_length(first, second, "rows and columns")
    # An extra row and column count the items without a code, which saves a mask and two copies.
    cells = (first + 1) * (n_columns + 1) + (second + 1)
    counts = np.bincount(cells, minlength=(n_rows + 1) * (n_columns + 1))
    return np.ascontiguousarray(counts.reshape(n_rows + 1, n_columns + 1)[1:, 1:])


def share(count: int, total: int) -> Share:
    """Returns a share with Wilson's 95 % interval, which is accurate for few items and near 0 and 1."""
    if not 0 <= count <= total:
        raise InputError(f"{count} of {total} items is not a share: count items out of a larger total")
    if total == 0:
        return Share(count, total, undefined="undefined, because there are no items")
    interval = wilson(count / total, total)
    low, high = (0.0 if count == 0 else interval.low), (1.0 if count == total else interval.high)
    return Share(count, total, count / total, low, high)


def summary(values: ArrayLike, seed: int) -> Summary:
    """Summarizes values; the result does not depend on their order or on other groups."""
    numbers = to_numbers(values)
    known = np.sort(numbers[~np.isnan(numbers)])
    return _summarize_sorted(known, len(numbers) - len(known), seed)


def _summarize_sorted(ordered: Floats, missing: int, seed: int) -> Summary:
    n = len(ordered)
    if n == 0:
        return Summary(n, missing, undefined="undefined, because no item has a value")
    median = (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2
    q1, q3 = _quantile(ordered, 0.25), _quantile(ordered, 0.75)
    if n == 1:
        reason = "one item has no spread"
        return Summary(n, missing, median, q1, q3, undefined=f"the interval is undefined, because {reason}")
    if n > MAX_RESAMPLED:
        # The highest position whose value exceeds the population's median with a probability of at most 2.5 %.
        position = int(bdtrik(_TAIL, n, 0.5))
        low, high = float(ordered[position]), float(ordered[n - 1 - position])
        return Summary(n, missing, median, q1, q3, low, high, "order statistics")
    lower, upper = draw_median_positions(n, seed)
    medians = np.sort((ordered[lower] + ordered[upper]) / 2)
    low, high = _quantile(medians, _TAIL), _quantile(medians, 1 - _TAIL)
    return Summary(n, missing, median, q1, q3, low, high, "bootstrap")


@lru_cache(maxsize=256)
def draw_median_positions(n: int, seed: int) -> tuple[Positions, Positions]:
    """Returns the positions, among n sorted values, of the two middle values of each bootstrap sample.

    Drawing n values with replacement is rounding down n uniform numbers times n; the j-th smallest of those numbers
    has a beta distribution, and the next one, given it, is the smallest of the n − j left above it. So two draws make
    a sample's median, with exactly the distribution that n draws would give. They depend only on n and the seed:
    groups of equal size share them, and adding or removing a group does not change the interval of another.
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


def _quantile(ordered: Floats, probability: float) -> float:
    """Returns a quantile by linear interpolation between neighbours (type 7 of Hyndman and Fan 1996)."""
    position = (len(ordered) - 1) * probability
    below = int(position)
    low = float(ordered[below])
    high = float(ordered[min(below + 1, len(ordered) - 1)])
    part = position - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)
