"""Whether two values of the same items go together: correlations, and tests of association for tables of counts."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, chdtrc, gammaln, stdtr

from quaestor.base.errors import InputError
from quaestor.measures.agreement.estimates import QUANTILE
from quaestor.measures.arrays import Floats, Whole, rank, require_same_length, to_numbers
from quaestor.measures.records import Association, Correlation

MIN_ITEMS = 3
"""With two items the correlation is always 1 or −1."""

_NEARLY_ONE = 1e-12


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
    if 1 - abs(value) < _NEARLY_ONE:
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


REPLICATES = 9_999
MIN_EXPECTED = 5
MAX_SPARSE = 0.2
"""Cochran's rule: the chi-square distribution applies if at most a fifth of the cells expect fewer than 5 items."""

_TOLERANCE = 1e-7
"""A tolerance, because the logarithms of equally likely tables may differ in the last digits."""


def association(counts: ArrayLike, seed: int) -> Association:
    """Returns the test that fits a table of counts, with Cramér's V; empty rows and columns are dropped."""
    table = _to_counts(counts)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n = int(table.sum())
    if n == 0:
        return Association(n, undefined="undefined, because there are no items")
    if min(table.shape) < 2:
        reason = "one of the two attributes is the same for every item"
        return Association(n, undefined=f"undefined, because {reason}")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float(((table - expected) ** 2 / expected).sum())
    v = min(math.sqrt(statistic / (n * (min(table.shape) - 1))), 1.0)
    if table.shape == (2, 2):
        p = _compute_fisher(table)
        return Association(n, "Fisher's exact", p=p, cramers_v=v)
    if (expected < MIN_EXPECTED).mean() > MAX_SPARSE:
        p = _permute_chi_square(table, statistic, seed)
        return Association(n, "chi-square, permuted", statistic, p=p, cramers_v=v)
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    return Association(n, "chi-square", statistic, df, float(chdtrc(df, statistic)), v)


def _to_counts(counts: ArrayLike) -> Whole:
    table = np.asarray(counts)
    if table.ndim != 2:
        raise InputError(f"counts have {table.ndim} dimensions: pass a table with a row and a column for each code")
    if table.size and (table.dtype.kind not in "iu" or table.min() < 0):
        raise InputError("counts are not all whole numbers from 0 on: pass numbers of items, not shares")
    return table.astype(np.int64)


def _compute_fisher(table: Whole) -> float:
    """Returns the two-sided p-value: the probability, given the margins, of all tables that are at most as likely."""
    (a, b), (c, d) = table.tolist()
    corner = np.arange(max(0, a - d), a + min(b, c) + 1, dtype=np.float64)
    logarithms = -np.sum(
        [gammaln(cell + 1) for cell in (corner, a + b - corner, a + c - corner, d - a + corner)], axis=0
    )
    probabilities = np.exp(logarithms - logarithms.max())
    at_most_as_likely = logarithms <= logarithms[a - max(0, a - d)] + _TOLERANCE
    return min(float(probabilities[at_most_as_likely].sum() / probabilities.sum()), 1.0)


def _permute_chi_square(table: Whole, statistic: float, seed: int) -> float:
    """Returns the share of random permutations of one attribute's codes whose chi-square is at least as large.

    Permuted tables are drawn cell by cell, so that the cost does not grow with the number of items. The observed table
    counts as one of the permutations, so that the p-value is never 0.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n = int(rows.sum())
    generator = np.random.default_rng([seed, n])
    left = np.repeat(columns[:, None], REPLICATES, axis=1)
    total: Floats = np.zeros(REPLICATES)
    for row in rows[:-1].tolist():
        remaining = np.full(REPLICATES, row)
        others = left.sum(axis=0)
        for column, size in enumerate(columns[:-1].tolist()):
            others -= left[column]
            drawn = generator.hypergeometric(left[column], others, remaining)
            left[column] -= drawn
            remaining -= drawn
            total += drawn * drawn / (row * size)
        left[-1] -= remaining
        total += remaining * remaining / (row * columns[-1])
    total += (left * left / (rows[-1] * columns[:, None])).sum(axis=0)
    at_least_as_large = int((n * (total - 1) >= statistic - _TOLERANCE * (1 + statistic)).sum())
    return (1 + at_least_as_large) / (1 + REPLICATES)
