"""Tests whether two attributes of the same items are associated: Fisher's exact test for 2 × 2, else chi-square."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, gammaln

from quaestor.base.errors import InputError
from quaestor.measures.arrays import Floats, Whole
from quaestor.measures.records import Association

REPLICATES = 9_999
MIN_EXPECTED = 5
MAX_SPARSE = 0.2
"""Cochran's rule: the chi-square distribution applies if at most a fifth of the cells expect fewer than 5 items."""

_CLOSE = 1e-7
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
    at_most_as_likely = logarithms <= logarithms[a - max(0, a - d)] + _CLOSE
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
    at_least_as_large = int((n * (total - 1) >= statistic - _CLOSE * (1 + statistic)).sum())
    return (1 + at_least_as_large) / (1 + REPLICATES)
