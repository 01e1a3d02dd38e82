"""Whether two attributes of the same items depend on each other: an exact test where there is one, else chi-square."""

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
"""Cochran's rule: chi-square may be looked up where at most a fifth of the cells expect fewer than 5 items."""

_CLOSE = 1e-7
"""Equally likely tables count as equal although their logarithms differ in the last digits."""


def association(counts: ArrayLike, seed: int) -> Association:
    """The test that fits a table of counts, with Cramér's V; empty rows and columns take no part."""
    table = _checked(counts)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n = int(table.sum())
    if n == 0:
        return Association(n, undefined="undefined, because there is no item to count")
    if min(table.shape) < 2:
        why = "one of the two attributes is the same for every item"
        return Association(n, undefined=f"undefined, because {why}")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float(((table - expected) ** 2 / expected).sum())
    v = min(math.sqrt(statistic / (n * (min(table.shape) - 1))), 1.0)
    if table.shape == (2, 2):
        p = _fisher(table)
        return Association(n, "Fisher's exact", p=p, cramers_v=v)
    if (expected < MIN_EXPECTED).mean() > MAX_SPARSE:
        p = _permuted(table, statistic, seed)
        return Association(n, "chi-square, permuted", statistic, p=p, cramers_v=v)
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    return Association(n, "chi-square", statistic, df, float(chdtrc(df, statistic)), v)


def _checked(counts: ArrayLike) -> Whole:
    table = np.asarray(counts)
    if table.ndim != 2:
        raise InputError(f"counts have {table.ndim} dimensions: give a table with a row and a column for each code")
    if table.size and (table.dtype.kind not in "iu" or table.min() < 0):
        raise InputError("counts are not all whole numbers from 0 on: count items, and give no shares")
    return table.astype(np.int64)


def _fisher(table: Whole) -> float:
    """Two-sided: the chance, given the margins, of all tables that are no likelier than this one."""
    (a, b), (c, d) = table.tolist()
    here = np.arange(max(0, a - d), a + min(b, c) + 1, dtype=np.float64)
    logarithms = -np.sum([gammaln(cell + 1) for cell in (here, a + b - here, a + c - here, d - a + here)], axis=0)
    chances = np.exp(logarithms - logarithms.max())
    no_likelier = logarithms <= logarithms[a - max(0, a - d)] + _CLOSE
    return min(float(chances[no_likelier].sum() / chances.sum()), 1.0)


def _permuted(table: Whole, statistic: float, seed: int) -> float:
    """How often chi-square is as large when the codes of one attribute are dealt out anew among the items.

    The tables that dealing gives are drawn cell by cell, so the cost does not grow with the items. The table itself
    counts as one of the deals, so that the p-value is never 0.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n = int(rows.sum())
    generator = np.random.default_rng([seed, n])
    left = np.repeat(columns[:, None], REPLICATES, axis=1)
    total: Floats = np.zeros(REPLICATES)
    for row in rows[:-1].tolist():
        open_places = np.full(REPLICATES, row)
        others = left.sum(axis=0)
        for column, size in enumerate(columns[:-1].tolist()):
            others -= left[column]
            drawn = generator.hypergeometric(left[column], others, open_places)
            left[column] -= drawn
            open_places -= drawn
            total += drawn * drawn / (row * size)
        left[-1] -= open_places
        total += open_places * open_places / (row * columns[-1])
    total += (left * left / (rows[-1] * columns[:, None])).sum(axis=0)
    as_large = int((n * (total - 1) >= statistic - _CLOSE * (1 + statistic)).sum())
    return (1 + as_large) / (1 + REPLICATES)
