"""Which codes are taken for one another, and how unequal the use of codes is."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from quaestor.measures.agreement.cohen import Contingency
from quaestor.measures.agreement.patterns import Patterns
from quaestor.measures.agreement.table import RatingTable
from quaestor.measures.records import ConfusedPair, Confusion

MOST_CONFUSED = 10


def confusion(labels: tuple[str, ...], found: Contingency) -> Confusion:
    """The contingency table of two raters as its cells that are not empty."""
    rows, columns = np.nonzero(found.counts)
    numbers = found.counts[rows, columns].astype(np.int64).tolist()
    cells = zip(rows.tolist(), columns.tolist(), numbers, strict=True)
    named = tuple((labels[row], labels[column], number) for row, column, number in cells)
    return Confusion(found.first, found.second, labels, named)


def confused_pairs(table: RatingTable, most: int = MOST_CONFUSED) -> tuple[ConfusedPair, ...]:
    """The pairs of codes that stand against each other most often, counted in pairs of raters."""
    labels = len(table.labels)
    found = [np.empty(0, dtype=np.int64)]
    for one, other in combinations(table.ratings.T, 2):
        torn = (one >= 0) & (other >= 0) & (one != other)
        found.append(np.minimum(one, other)[torn] * labels + np.maximum(one, other)[torn])
    pairs, often = np.unique(np.concatenate(found), return_counts=True)
    first = np.lexsort((pairs, -often))[:most]
    return tuple(
        ConfusedPair((table.labels[pair // labels], table.labels[pair % labels]), int(number))
        for pair, number in zip(pairs[first], often[first], strict=True)
    )


def items_confused(table: RatingTable, first: str, second: str, *, either: bool = False) -> tuple[str, ...]:
    """The items behind a cell of the table of two raters: the first said the one, the second the other.

    With `either`, those on which any two raters stand so, whoever said which: the items of a confused pair.
    """
    if first not in table.labels or second not in table.labels:
        return ()
    one, other = table.labels.index(first), table.labels.index(second)
    if either:
        found = (table.ratings == one).any(axis=1) & (table.ratings == other).any(axis=1)
    elif len(table.raters) == 2:
        found = (table.ratings[:, 0] == one) & (table.ratings[:, 1] == other)
    else:
        return ()
    return tuple(table.items[row] for row in np.flatnonzero(found).tolist())


def prevalence_index(patterns: Patterns) -> float | None:
    """0 where all codes are used alike, 1 where one has everything; for two codes that of Byrt et al. (1993)."""
    if not patterns.n:
        return None
    labels = len(patterns.use)
    return 1.0 if labels < 2 else float((labels * patterns.use.max() - 1) / (labels - 1))


def bias_index(table: RatingTable) -> float | None:
    """Half the summed difference in how two raters use the codes, of the two who differ most.

    For two codes that of Byrt et al. (1993).
    """
    if not len(table.ratings):
        return None
    labels = len(table.labels)
    each = [np.bincount(column[column >= 0], minlength=labels) for column in table.ratings.T]
    shares = [counts / counts.sum() for counts in each]
    return max(float(np.abs(one - other).sum() / 2) for one, other in combinations(shares, 2))
