"""Shares by year, and whether they rise or fall, by the test of Mann and Kendall."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from quaestor.base.errors import InputError
from quaestor.measures.arrays import Floats, rank, require_same_length, to_numbers
from quaestor.measures.descriptive import share
from quaestor.measures.records import Direction, Trend, YearShare

MIN_YEARS = 3
MAX_EXACT = 10
"""Up to so many years without ties every order is counted; beyond, the normal distribution is close."""

SIGNIFICANT = 0.05


def yearly_shares(years: ArrayLike, chosen: ArrayLike, extra_years: Iterable[int] = ()) -> list[YearShare]:
    """Of the items of each year, the share that is chosen; years come in order, gaps and those listed included.

    A year without items has no share, and says so.
    """
    whole, flags = np.asarray(years), np.asarray(chosen, dtype=bool)
    require_same_length(whole, flags, "years and chosen")
    if whole.dtype.kind not in "iu":
        known = to_numbers(whole, "years")
        whole, flags = known[~np.isnan(known)], flags[~np.isnan(known)]
        if (whole % 1 != 0).any():
            raise InputError("years are not all whole numbers: give the year of each item, such as 2019")
        whole = whole.astype(np.int64)
    wanted = [*extra_years, *([whole.min(), whole.max()] if whole.size else [])]
    if not wanted:
        return []
    first, last = int(min(wanted)), int(max(wanted))
    of = np.bincount(whole - first, minlength=last - first + 1).tolist()
    counts = np.bincount(whole[flags] - first, minlength=last - first + 1).tolist()
    return [_of_year(year, count, base) for year, count, base in zip(range(first, last + 1), counts, of, strict=True)]


def trend(shares: Sequence[YearShare]) -> Trend:
    """The trend of yearly shares over the years that have one."""
    ordered = sorted(shares, key=lambda one: one.year)
    return mann_kendall([math.nan if one.share is None else one.share for one in ordered])


def mann_kendall(values: ArrayLike) -> Trend:
    """The trend of values in the order of time: Kendall's tau-b, S, and a two-sided p-value corrected for ties."""
    found = to_numbers(values)
    found = found[~np.isnan(found)]
    n = len(found)
    if n < MIN_YEARS:
        return Trend(n, undefined="undefined, because fewer than 3 years have a value")
    ranking = rank(found)
    if ranking.spread == 0:
        return Trend(n, undefined="undefined, because every year has the same value")
    s = _rises_less_falls(found)
    _, lengths = np.unique(found, return_counts=True)
    pairs = n * (n - 1) // 2
    untied = pairs - sum(length * (length - 1) // 2 for length in lengths.tolist())
    tau = s / math.sqrt(pairs * untied)
    p = _exact(n, s) if n <= MAX_EXACT and not ranking.ties else _approximate(n, s, lengths.tolist())
    return Trend(n, tau, s, p, _direction(s, p))


def _of_year(year: int, count: int, of: int) -> YearShare:
    found = share(count, of)
    return YearShare(year, count, of, found.value, found.low, found.high, found.undefined)


def _rises_less_falls(values: Floats) -> int:
    later = ((values[place + 1 :], value) for place, value in enumerate(values))
    return sum(int((rest > value).sum()) - int((rest < value).sum()) for rest, value in later)


def _approximate(n: int, s: int, lengths: Sequence[int]) -> float:
    """By the normal distribution, S drawn nearer to 0 by 1, since it moves in steps of 2."""
    ties = sum(length * (length - 1) * (2 * length + 5) for length in lengths)
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    return float(2 * ndtr(-max(abs(s) - 1, 0) / math.sqrt(variance)))


def _exact(n: int, s: int) -> float:
    """The share of all orders of n different values whose S is as far from 0."""
    orders = _orders_by_inversions(n)
    pairs = len(orders) - 1
    as_far = sum(often for inversions, often in enumerate(orders) if abs(pairs - 2 * inversions) >= abs(s))
    return as_far / math.factorial(n)


@lru_cache(maxsize=MAX_EXACT)
def _orders_by_inversions(n: int) -> tuple[int, ...]:
    """How many orders of n things have 0, 1, 2 … pairs the wrong way round."""
    orders = [1]
    for size in range(2, n + 1):
        # The new largest thing goes in at one of `size` places, and is passed by 0 to size − 1 of the others.
        orders = np.convolve(orders, [1] * size).tolist()
    return tuple(orders)


def _direction(s: int, p: float) -> Direction:
    if p >= SIGNIFICANT:
        return "no trend"
    return "rising" if s > 0 else "falling"
