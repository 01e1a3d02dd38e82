"""Cohen's κ of two raters, plain or weighted, with the standard error of Fleiss, Cohen and Everitt (1969)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quaestor.measures.agreement.estimates import ONE_CODE, analytic, corrected, too_few
from quaestor.measures.agreement.patterns import Floats
from quaestor.measures.agreement.table import RatingTable
from quaestor.measures.records import Estimate


@dataclass(frozen=True, eq=False)
class Contingency:
    """What two raters said of the items both rated: label i by the first and j by the second `counts[i, j]` times."""

    first: str
    second: str
    counts: Floats

    @property
    def n(self) -> int:
        return int(self.counts.sum())


def contingency(table: RatingTable, first: int = 0, second: int = 1) -> Contingency:
    """The contingency table of two raters, given by their places."""
    labels = len(table.labels)
    one, other = table.ratings[:, first], table.ratings[:, second]
    both = (one >= 0) & (other >= 0)
    counts = np.bincount(one[both] * labels + other[both], minlength=labels * labels).reshape(labels, labels)
    return Contingency(table.raters[first], table.raters[second], counts.astype(np.float64))


def cohen_kappa(counts: Floats, weights: Floats | None = None) -> Estimate:
    """κ with its large-sample standard error when raters do agree beyond chance, not the one for testing κ = 0."""
    n = float(counts.sum())
    if (why := too_few(int(n))) is not None:
        return why
    weight = np.eye(len(counts)) if weights is None else weights
    shares = counts / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed = float((weight * shares).sum())
    row_weights, column_weights = weight @ columns, rows @ weight
    chance = float(rows @ row_weights)
    kappa = corrected(observed, chance)
    if kappa is None:
        return Estimate(undefined=ONE_CODE)
    influence = weight - (row_weights[:, None] + column_weights) * (1 - kappa)
    spread = float((shares * influence**2).sum()) - (kappa - chance * (1 - kappa)) ** 2
    return analytic(kappa, spread / (n * (1 - chance) ** 2))
