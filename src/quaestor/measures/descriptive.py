"""Items counted by their codes, shares with Wilson's interval, and medians with their uncertainty and quartiles."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik

from quaestor.base.errors import InputError
from quaestor.measures.agreement.estimates import wilson
from quaestor.measures.arrays import Floats, Whole, require_same_length, to_codes, to_numbers
from quaestor.measures.records import Share, Summary

Places = NDArray[np.int32]

MAX_RESAMPLED = 10_000
"""Above so many items the interval comes from order statistics; the two hardly differ by then."""

REPLICATES = 10_000

_TAIL = 0.025


def count_groups(groups: ArrayLike, n_groups: int) -> Whole:
    """How many items have each code."""
    found = to_codes(groups, n_groups)
    return np.bincount(found + 1, minlength=n_groups + 1)[1:]


def count_pairs(rows: ArrayLike, n_rows: int, columns: ArrayLike, n_columns: int) -> Whole:
    """How many items have each pair of codes; items without one of them are not counted."""
    first, second = to_codes(rows, n_rows, "rows"), to_codes(columns, n_columns, "columns")
    require_same_length(first, second, "rows and columns")
    # One more row and column take the items without a code, which saves making a mask and two copies.
    cells = (first + 1) * (n_columns + 1) + (second + 1)
    counts = np.bincount(cells, minlength=(n_rows + 1) * (n_columns + 1))
    return np.ascontiguousarray(counts.reshape(n_rows + 1, n_columns + 1)[1:, 1:])


def share(count: int, total: int) -> Share:
    """`count` of `of` items with Wilson's 95 % interval, which is honest for few items and at both ends."""
    if not 0 <= count <= total:
        raise InputError(f"{count} of {total} items is no share: count items among those they are a part of")
    if total == 0:
        return Share(count, total, undefined="undefined, because there is no item to take a share of")
    found = wilson(count / total, total)
    low, high = (0.0 if count == 0 else found.low), (1.0 if count == total else found.high)
    return Share(count, total, count / total, low, high)


def summary(values: ArrayLike, seed: int) -> Summary:
    """The summary of values; the same values in another order, or beside other groups, give the same."""
    found = to_numbers(values)
    known = np.sort(found[~np.isnan(found)])
    return _of_ordered(known, len(found) - len(known), seed)


def _of_ordered(ordered: Floats, missing: int, seed: int) -> Summary:
    n = len(ordered)
    if n == 0:
        return Summary(n, missing, undefined="undefined, because no item has a value")
    median = (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2
    q1, q3 = _quantile(ordered, 0.25), _quantile(ordered, 0.75)
    if n == 1:
        why = "one item has no spread"
        return Summary(n, missing, median, q1, q3, undefined=f"the interval is undefined, because {why}")
    if n > MAX_RESAMPLED:
        place = _lower_place(n)
        low, high = float(ordered[place]), float(ordered[n - 1 - place])
        return Summary(n, missing, median, q1, q3, low, high, "order statistics")
    lower, upper = draw_median_positions(n, seed)
    medians = np.sort((ordered[lower] + ordered[upper]) / 2)
    low, high = _quantile(medians, _TAIL), _quantile(medians, 1 - _TAIL)
    return Summary(n, missing, median, q1, q3, low, high, "bootstrap")


@lru_cache(maxsize=256)
def draw_median_positions(n: int, seed: int) -> tuple[Places, Places]:
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


def _quantile(ordered: Floats, part_below: float) -> float:
    """By linear interpolation between neighbours (type 7 of Hyndman and Fan 1996)."""
    place = (len(ordered) - 1) * part_below
    below = int(place)
    low = float(ordered[below])
    high = float(ordered[min(below + 1, len(ordered) - 1)])
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)
