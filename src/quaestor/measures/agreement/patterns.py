"""Items that look alike to every statistic: the same labels, by whomever."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quaestor.measures.agreement.table import RatingTable

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Each distinct mix of labels once, with the number of items that show it.

    Ten thousand items of two raters fall into at most a few thousand patterns, so whatever is computed
    over patterns hardly grows with the items. Sums go through `einsum` and not through `@`: the products
    are small, and threads of a linear algebra library would wait for each other on a busy machine.
    """

    counts: Floats
    """Patterns × labels: how many raters chose the label."""
    items: Whole

    @property
    def n(self) -> int:
        return int(self.items.sum())

    @cached_property
    def raters(self) -> Floats:
        """How many raters each pattern has."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def shares(self) -> Floats:
        """Of the ratings of an item, the share of each label."""
        return np.asarray(self.counts / self.raters[:, None])

    @cached_property
    def use(self) -> Floats:
        """How much each label is used, every item counting once."""
        return self.total(self.shares) / self.n

    def total(self, values: Floats) -> Floats:
        """The sum over items of what is given for each pattern."""
        return np.asarray(np.einsum("p,p...->...", self.items.astype(np.float64), values))

    def mean(self, values: Floats) -> float:
        """The mean over items of what is given for each pattern."""
        return float(self.total(values)) / self.n

    def agreement(self, weights: Floats | None = None) -> Floats:
        """The share of pairs of raters that agree, for each pattern; partial agreement counts by its weight."""
        near = self.counts if weights is None else self.counts @ weights
        both = np.einsum("pl,pl->p", self.counts, near) - self.raters
        return np.asarray(both / (self.raters * (self.raters - 1)))


def patterns_of(table: RatingTable) -> Patterns:
    """The patterns of a table, in an order that depends on neither items nor raters."""
    rows = np.sort(table.ratings, axis=1)
    base = len(table.labels) + 1
    key = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        key = np.unique(key * base + column + 1, return_inverse=True)[1]
    _, first, items = np.unique(key, return_index=True, return_counts=True)
    counts = np.zeros((len(first), base))
    np.add.at(counts, (np.arange(len(first))[:, None], rows[first]), 1.0)  # missing ones fall into the last column
    return Patterns(np.ascontiguousarray(counts[:, :-1]), items)
