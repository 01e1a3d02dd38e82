"""Percent agreement, coefficients corrected for chance, and the κ that a number of disagreements allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quaestor.measures.agreement.estimates import ONE_CODE, QUANTILE, analytic_estimate, correct_for_chance, check_item_count, wilson
from quaestor.measures.agreement.table import Floats, Patterns, RatingTable
from quaestor.measures.records import Estimate


def beyond_chance(patterns: Patterns, agreed: Floats, chance: float, chance_of_each: Floats) -> Estimate:
    """A coefficient from agreement, found and by chance, overall and as each pattern contributes to it.

    The variance is that of the items' contributions to the coefficient, made linear in them.
    """
    value = correct_for_chance(patterns.mean(agreed), chance)
    if value is None:
        return Estimate(undefined=ONE_CODE)
    contribution = (agreed - chance - 2 * (1 - value) * (chance_of_each - chance)) / (1 - chance)
    return analytic_estimate(value, patterns.mean((contribution - value) ** 2) / (patterns.n - 1))


def fleiss_kappa(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """κ for any number of raters, who need not be the same for each item; for two raters it is Scott's π."""
    if (why := check_item_count(patterns.n)) is not None:
        return why
    met = patterns.use if weights is None else weights @ patterns.use
    chance = float((patterns.use * met).sum())
    return beyond_chance(patterns, patterns.agreement(weights), chance, np.einsum("pl,l->p", patterns.shares, met))


def gwet_ac(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """AC1, or AC2 where weights are given (Gwet 2008)."""
    if (why := check_item_count(patterns.n)) is not None:
        return why
    labels = len(patterns.use)
    if labels < 2:
        return Estimate(undefined=ONE_CODE)
    factor = (labels if weights is None else float(weights.sum())) / (labels * (labels - 1))
    rest = factor * (1 - patterns.use)
    chance = float((patterns.use * rest).sum())
    return beyond_chance(patterns, patterns.agreement(weights), chance, np.einsum("pl,l->p", patterns.shares, rest))


def percent_agreement(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """Over the items, the mean share of agreeing pairs of raters.

    Where an item can only agree or not, the interval is Wilson's; else it comes from the spread of the items.
    """
    n = patterns.n
    if n == 0:
        return check_item_count(n) or Estimate()
    each = patterns.agreement(weights)
    value = patterns.mean(each)
    if np.isin(each, (0.0, 1.0)).all():
        return wilson(value, n)
    if n == 1:
        return Estimate(value)
    return _between_zero_and_one(value, patterns.mean((each - value) ** 2) / (n - 1))


def _between_zero_and_one(value: float, variance: float) -> Estimate:
    se = variance**0.5
    return Estimate(value, se, max(value - QUANTILE * se, 0.0), min(value + QUANTILE * se, 1.0), "analytic")


@dataclass(frozen=True, eq=False)
class Contingency:
    """What two raters said of the items both rated: label i by the first and j by the second `counts[i, j]` times."""

    first: str
    second: str
    counts: Floats

    @property
    def n(self) -> int:
        return int(self.counts.sum())


def build_contingency(table: RatingTable, first: int = 0, second: int = 1) -> Contingency:
    """The contingency table of two raters, given by their places."""
    labels = len(table.labels)
    one, other = table.ratings[:, first], table.ratings[:, second]
    both = (one >= 0) & (other >= 0)
    counts = np.bincount(one[both] * labels + other[both], minlength=labels * labels).reshape(labels, labels)
    return Contingency(table.raters[first], table.raters[second], counts.astype(np.float64))


def cohen_kappa(counts: Floats, weights: Floats | None = None) -> Estimate:
    """κ with its large-sample standard error when raters do agree beyond chance, not the one for testing κ = 0."""
    n = float(counts.sum())
    if (why := check_item_count(int(n))) is not None:
        return why
    weight = np.eye(len(counts)) if weights is None else weights
    shares = counts / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed = float((weight * shares).sum())
    row_weights, column_weights = weight @ columns, rows @ weight
    chance = float(rows @ row_weights)
    kappa = correct_for_chance(observed, chance)
    if kappa is None:
        return Estimate(undefined=ONE_CODE)
    influence = weight - (row_weights[:, None] + column_weights) * (1 - kappa)
    spread = float((shares * influence**2).sum()) - (kappa - chance * (1 - kappa)) ** 2
    return analytic_estimate(kappa, spread / (n * (1 - chance) ** 2))


def linear_weights(values: Floats) -> Floats:
    """A disagreement counts by its distance."""
    distance = np.abs(values[:, None] - values)
    return np.asarray(1 - distance / _widest(distance))


def quadratic_weights(values: Floats) -> Floats:
    """A disagreement counts by the square of its distance."""
    distance = (values[:, None] - values) ** 2
    return np.asarray(1 - distance / _widest(distance))


def _widest(distance: Floats) -> float:
    return float(distance.max(initial=0.0)) or 1.0


def build_membership(sets: Sequence[frozenset[str]], codes: Sequence[str]) -> Floats:
    """Sets × codes: 1 where the set holds the code."""
    place = {code: number for number, code in enumerate(codes)}
    held = np.zeros((len(sets), len(codes)))
    for row, members in enumerate(sets):
        held[row, [place[code] for code in members]] = 1.0
    return held


def jaccard_distance(held: Floats) -> Floats:
    """1 − shared ÷ all codes of the two sets; two empty sets are the same."""
    shared = held @ held.T
    sizes = held.sum(axis=1)
    union = sizes[:, None] + sizes - shared
    return np.asarray(1 - np.divide(shared, union, out=np.ones_like(shared), where=union > 0))


def masi_distance(held: Floats) -> Floats:
    """Passonneau's (2006) distance: Jaccard, lessened where one set holds the other, more than where they overlap."""
    shared = held @ held.T
    sizes = held.sum(axis=1)
    larger, smaller = np.maximum(sizes[:, None], sizes), np.minimum(sizes[:, None], sizes)
    monotonic = np.where(shared > 0, 1 / 3, 0.0)
    monotonic[shared == smaller] = 2 / 3
    monotonic[(shared == smaller) & (larger == smaller)] = 1.0
    return np.asarray(1 - (1 - jaccard_distance(held)) * monotonic)


def kappa_range(items: int, disagreements: int, kept: int | None = None) -> tuple[float, float] | None:
    """The smallest and largest Cohen's kappa of two raters and two answers with so many disagreements.

    `kept` is how many items ended with the first answer: at least those on which both gave it, at most those plus
    every disagreement. None where no such table exists, or where kappa is undefined in all of them.
    """
    if not 0 <= disagreements <= items or items == 0:
        return None
    agreed = items - disagreements
    lowest = 0 if kept is None else max(0, kept - disagreements)
    highest = agreed if kept is None else min(agreed, kept)
    if lowest > highest:
        return None
    found = []
    for both in {lowest, highest, *_near(agreed / 2, lowest, highest)}:
        for one_sided in {0, disagreements, *_near(disagreements / 2, 0, disagreements)}:
            value = _kappa(both, one_sided, disagreements - one_sided, agreed - both)
            if value is not None:
                found.append(value)
    return (min(found), max(found)) if found else None


def _near(middle: float, low: int, high: int) -> set[int]:
    """Kappa is extreme at the ends of a range or around its middle."""
    return {one for one in (math.floor(middle), math.ceil(middle)) if low <= one <= high}


def _kappa(both: int, first: int, second: int, neither: int) -> float | None:
    n = both + first + second + neither
    expected = ((both + first) * (both + second) + (neither + second) * (neither + first)) / n**2
    return None if expected == 1 else ((both + neither) / n - expected) / (1 - expected)
