"""Shares by year, and the test of Mann and Kendall for a rising or falling trend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from quaestor.base.errors import InputError
from quaestor.measures.arrays import rank, require_same_length, to_numbers
from quaestor.measures.descriptive import share
from quaestor.measures.records import Direction, Trend, YearShare

MIN_YEARS = 3
MAX_EXACT = 10
"""Up to this many years without ties the test is exact; beyond that the normal approximation is close."""

SIGNIFICANT = 0.05


def yearly_shares(years: ArrayLike, chosen: ArrayLike, extra_years: Iterable[int] = ()) -> list[YearShare]:
    """Returns the share of chosen items for each year from the first to the last, including gaps and `extra_years`.

    The share of a year without items is undefined.
    """
    whole, flags = np.asarray(years), np.asarray(chosen, dtype=bool)
    require_same_length(whole, flags, "years and chosen")
    if whole.dtype.kind not in "iu":
        known = to_numbers(whole, "years")
        whole, flags = known[~np.isnan(known)], flags[~np.isnan(known)]
        if (whole % 1 != 0).any():
            raise InputError("years are not all whole numbers: pass the year of each item, such as 2019")
        whole = whole.astype(np.int64)
    bounds = [*extra_years, *([whole.min(), whole.max()] if whole.size else [])]
    if not bounds:
        return []
    first, last = int(min(bounds)), int(max(bounds))
    totals = np.bincount(whole - first, minlength=last - first + 1).tolist()
    counts = np.bincount(whole[flags] - first, minlength=last - first + 1).tolist()
    return [_build_year(*row) for row in zip(range(first, last + 1), counts, totals, strict=True)]


def trend(shares: Sequence[YearShare]) -> Trend:
    """Tests the trend of yearly shares over the years that have one."""
    ordered = sorted(shares, key=lambda year_share: year_share.year)
    return mann_kendall([math.nan if year.share is None else year.share for year in ordered])


def mann_kendall(values: ArrayLike) -> Trend:
    """Tests the trend of values in order of time: Kendall's tau-b, S, and a two-sided p-value corrected for ties."""
    numbers = to_numbers(values)
    numbers = numbers[~np.isnan(numbers)]
    n = len(numbers)
    if n < MIN_YEARS:
        return Trend(n, undefined="undefined, because fewer than 3 years have a value")
    ranking = rank(numbers)
    if ranking.spread == 0:
        return Trend(n, undefined="undefined, because every year has the same value")
    later = ((numbers[position + 1 :], value) for position, value in enumerate(numbers))
    s = sum(int((rest > value).sum()) - int((rest < value).sum()) for rest, value in later)
    _, lengths = np.unique(numbers, return_counts=True)
    pairs = n * (n - 1) // 2
    untied = pairs - sum(length * (length - 1) // 2 for length in lengths.tolist())
    tau = s / math.sqrt(pairs * untied)
    p = _compute_exact_p(n, s) if n <= MAX_EXACT and not ranking.ties else _approximate_p(n, s, lengths.tolist())
    return Trend(n, tau, s, p, _choose_direction(s, p))


def _build_year(year: int, count: int, total: int) -> YearShare:
    year_share = share(count, total)
    return YearShare(year, count, total, year_share.value, year_share.low, year_share.high, year_share.undefined)


def _approximate_p(n: int, s: int, lengths: Sequence[int]) -> float:
    """Returns the p-value by the normal distribution; corrects S by 1 for continuity, since it moves in steps of 2."""
    ties = sum(length * (length - 1) * (2 * length + 5) for length in lengths)
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    return float(2 * ndtr(-max(abs(s) - 1, 0) / math.sqrt(variance)))


def _compute_exact_p(n: int, s: int) -> float:
    """Returns the share of all orders of n different values whose S is at least as far from 0."""
    orders = _count_orders_by_inversions(n)
    pairs = len(orders) - 1
    at_least_as_far = sum(count for inversions, count in enumerate(orders) if abs(pairs - 2 * inversions) >= abs(s))
    return at_least_as_far / math.factorial(n)


@lru_cache(maxsize=MAX_EXACT)
def _count_orders_by_inversions(n: int) -> tuple[int, ...]:
    """Returns how many orders of n elements have 0, 1, 2 … inverted pairs."""
    orders = [1]
    for size in range(2, n + 1):
        # The new largest element goes to one of `size` positions, which adds 0 to size − 1 inversions.
        orders = np.convolve(orders, [1] * size).tolist()
    return tuple(orders)


def _choose_direction(s: int, p: float) -> Direction:
    if p >= SIGNIFICANT:
        return "no trend"
    return "rising" if s > 0 else "falling"
