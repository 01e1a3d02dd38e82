"""Percent agreement, coefficients corrected for chance, and the κ that a number of disagreements allows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from quaestor.measures.agreement.estimates import (
    ONE_CODE,
    QUANTILE,
    analytic_estimate,
    bootstrap_estimate,
    check_item_count,
    correct_for_chance,
    wilson,
)
from quaestor.measures.agreement.table import Floats, Patterns, RatingTable, Whole
from quaestor.measures.records import Estimate


def beyond_chance(patterns: Patterns, observed: Floats, chance: float, pattern_chance: Floats) -> Estimate:
    """Returns a coefficient from observed agreement and agreement by chance, in total and for each pattern.

    The variance is that of the linearized contributions of the items.
    """
    value = correct_for_chance(patterns.mean(observed), chance)
    if value is None:
        return Estimate(undefined=ONE_CODE)
    contribution = (observed - chance - 2 * (1 - value) * (pattern_chance - chance)) / (1 - chance)
    return analytic_estimate(value, patterns.mean((contribution - value) ** 2) / (patterns.n - 1))


def fleiss_kappa(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """Returns κ for any number of raters, who may differ between items; for two raters it is Scott's π."""
    if (problem := check_item_count(patterns.n)) is not None:
        return problem
    weighted_use = patterns.use if weights is None else weights @ patterns.use
    chance = float((patterns.use * weighted_use).sum())
    return beyond_chance(
        patterns, patterns.agreement(weights), chance, np.einsum("pl,l->p", patterns.shares, weighted_use)
    )


def gwet_ac(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """Returns AC1, or AC2 with weights (Gwet 2008)."""
    if (problem := check_item_count(patterns.n)) is not None:
        return problem
    labels = len(patterns.use)
    if labels < 2:
        return Estimate(undefined=ONE_CODE)
    factor = (labels if weights is None else float(weights.sum())) / (labels * (labels - 1))
    rest = factor * (1 - patterns.use)
    chance = float((patterns.use * rest).sum())
    return beyond_chance(patterns, patterns.agreement(weights), chance, np.einsum("pl,l->p", patterns.shares, rest))


def percent_agreement(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """Returns the mean share of agreeing pairs of raters over the items.

    If every item agrees completely or not at all, the interval is Wilson's; otherwise it comes from the variance.
    """
    n = patterns.n
    if n == 0:
        return check_item_count(n) or Estimate()
    agreement = patterns.agreement(weights)
    value = patterns.mean(agreement)
    if np.isin(agreement, (0.0, 1.0)).all():
        return wilson(value, n)
    if n == 1:
        return Estimate(value)
    return _clip_to_share(value, patterns.mean((agreement - value) ** 2) / (n - 1))


def _clip_to_share(value: float, variance: float) -> Estimate:
    se = variance**0.5
    return Estimate(value, se, max(value - QUANTILE * se, 0.0), min(value + QUANTILE * se, 1.0), "analytic")


@dataclass(frozen=True, eq=False)
class Contingency:
    """The labels of two raters on the items both rated: `counts[i, j]` items have label i and label j."""

    first: str
    second: str
    counts: Floats

    @property
    def n(self) -> int:
        return int(self.counts.sum())


def build_contingency(table: RatingTable, first: int = 0, second: int = 1) -> Contingency:
    """Builds the contingency table of two raters, identified by their columns."""
    labels = len(table.labels)
    left, right = table.ratings[:, first], table.ratings[:, second]
    both = (left >= 0) & (right >= 0)
    counts = np.bincount(left[both] * labels + right[both], minlength=labels * labels).reshape(labels, labels)
    return Contingency(table.raters[first], table.raters[second], counts.astype(np.float64))


def cohen_kappa(counts: Floats, weights: Floats | None = None) -> Estimate:
    """Returns κ with the large-sample standard error for intervals, not the one for testing κ = 0."""
    n = float(counts.sum())
    if (problem := check_item_count(int(n))) is not None:
        return problem
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
    """Returns weights that decrease with the distance of two values."""
    distance = np.abs(values[:, None] - values)
    return np.asarray(1 - distance / _find_max_distance(distance))


def quadratic_weights(values: Floats) -> Floats:
    """Returns weights that decrease with the squared distance of two values."""
    distance = (values[:, None] - values) ** 2
    return np.asarray(1 - distance / _find_max_distance(distance))


def _find_max_distance(distance: Floats) -> float:
    return float(distance.max(initial=0.0)) or 1.0


def build_membership(sets: Sequence[frozenset[str]], codes: Sequence[str]) -> Floats:
    """Returns a matrix of sets × codes with 1 for each code that a set contains."""
    columns = {code: number for number, code in enumerate(codes)}
    membership = np.zeros((len(sets), len(codes)))
    for row, members in enumerate(sets):
        membership[row, [columns[code] for code in members]] = 1.0
    return membership


def jaccard_distance(membership: Floats) -> Floats:
    """Returns 1 − shared codes ÷ all codes of two sets; two empty sets are equal."""
    shared = membership @ membership.T
    sizes = membership.sum(axis=1)
    union = sizes[:, None] + sizes - shared
    return np.asarray(1 - np.divide(shared, union, out=np.ones_like(shared), where=union > 0))


def masi_distance(membership: Floats) -> Floats:
    """Returns Passonneau's (2006) MASI distance: Jaccard, weighted by whether the sets are equal, nested or overlap."""
    shared = membership @ membership.T
    sizes = membership.sum(axis=1)
    larger, smaller = np.maximum(sizes[:, None], sizes), np.minimum(sizes[:, None], sizes)
    monotonic = np.where(shared > 0, 1 / 3, 0.0)
    monotonic[shared == smaller] = 2 / 3
    monotonic[(shared == smaller) & (larger == smaller)] = 1.0
    return np.asarray(1 - (1 - jaccard_distance(membership)) * monotonic)


def kappa_range(items: int, disagreements: int, kept: int | None = None) -> tuple[float, float] | None:
    """Returns the smallest and largest Cohen's kappa of two raters and two answers with so many disagreements.

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
    values = []
    for both in {lowest, highest, *_round_both_ways(agreed / 2, lowest, highest)}:
        for one_sided in {0, disagreements, *_round_both_ways(disagreements / 2, 0, disagreements)}:
            value = _kappa(both, one_sided, disagreements - one_sided, agreed - both)
            if value is not None:
                values.append(value)
    return (min(values), max(values)) if values else None


def _round_both_ways(middle: float, low: int, high: int) -> set[int]:
    """Returns the integers next to the middle of a range, where kappa is extreme unless it is so at the ends."""
    return {number for number in (math.floor(middle), math.ceil(middle)) if low <= number <= high}


def _kappa(both: int, first: int, second: int, neither: int) -> float | None:
    n = both + first + second + neither
    expected = ((both + first) * (both + second) + (neither + second) * (neither + first)) / n**2
    return None if expected == 1 else ((both + neither) / n - expected) / (1 - expected)


_FREQUENT = 16
_MAX_CELLS = 250_000


def draw_samples(items: Whole, replicates: int, generator: np.random.Generator) -> Iterator[Whole]:
    """Yields bootstrap samples of items as matrices of patterns × samples, some samples at a time.

    Frequent patterns are drawn by one multinomial, in which all rare patterns share a cell; their part is then spread
    among their few items. This has the exact distribution and is much faster than either method alone.
    """
    frequent = np.flatnonzero(items >= _FREQUENT)
    rare = np.flatnonzero(items < _FREQUENT)
    owners = np.repeat(rare, items[rare])
    n = items.sum()
    chances = np.append(items[frequent], len(owners)) / n
    step = max(1, _MAX_CELLS // max(len(items), len(owners)))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        drawn = generator.multinomial(n, chances, size=size)
        samples = np.zeros((len(items), size), dtype=np.int64)
        if len(owners):
            rest = drawn[:, -1]
            picked = owners[generator.integers(0, len(owners), rest.sum())]
            cells = picked * size + np.repeat(np.arange(size), rest)
            samples = np.bincount(cells, minlength=samples.size).reshape(samples.shape)
        samples[frequent] = drawn[:, :-1].T
        yield samples


REPLICATES = 1_000

Distance = Floats | Literal["nominal", "ordinal"]
"""The distance between any two labels: a matrix, or a scale from which it is computed."""


def krippendorff_alpha(patterns: Patterns, distance: Distance, *, seed: int, replicates: int = REPLICATES) -> Estimate:
    """Returns α with a bootstrap interval; every sample of items has its own expected disagreement."""
    if (problem := check_item_count(patterns.n)) is not None:
        return problem
    disagreement = _Disagreement(patterns, distance)
    value = float(disagreement.compute_alphas(patterns.items[:, None])[0])
    if not np.isfinite(value):
        return Estimate(undefined=ONE_CODE)
    samples = draw_samples(patterns.items, replicates, np.random.default_rng(seed))
    replicated = [disagreement.compute_alphas(sample) for sample in samples]
    return bootstrap_estimate(value, np.concatenate(replicated) if replicated else np.empty(0))


class _Disagreement:
    """Precomputed values that all samples of the same patterns share."""

    def __init__(self, patterns: Patterns, distance: Distance) -> None:
        self._distance = distance
        self._labels = patterns.counts.shape[1]
        labels, self._chosen = np.nonzero(patterns.counts.T)
        self._times = patterns.counts.T[labels, self._chosen].astype(np.int64)[:, None]
        self._present, self._starts = np.unique(labels, return_index=True)
        self._mixed = np.flatnonzero((patterns.counts > 0).sum(axis=1) > 1)
        self._counts, self._raters = patterns.counts[self._mixed], patterns.raters[self._mixed]
        self._pairs = self._compute_fixed_pairs()

    def _compute_fixed_pairs(self) -> Floats:
        """Returns the disagreement within each mixed pattern, as far as it does not depend on the sample."""
        if not isinstance(self._distance, str):
            return np.asarray(np.einsum("pl,pl->p", self._counts, self._counts @ self._distance))
        return np.asarray(self._raters**2 - np.einsum("pl,pl->p", self._counts, self._counts))

    def compute_alphas(self, samples: Whole) -> Floats:
        """Returns α of each sample (patterns × samples); infinite if every rating is the same code."""
        used = self._count_labels(samples)
        ratings = used.sum(axis=0)
        mixed = samples[self._mixed]
        if isinstance(self._distance, str) and self._distance == "ordinal":
            pairs, expected = self._compare_by_rank(used)
            observed = np.einsum("ps,ps,p->s", mixed, pairs, 1 / (self._raters - 1))
        else:
            observed = np.einsum("ps,p->s", mixed, self._pairs / (self._raters - 1))
            expected = self._compute_expected(used, ratings)
        alphas = np.full(samples.shape[1], np.inf)
        varied = expected > 1e-12 * ratings**2
        alphas[varied] = 1 - (ratings[varied] - 1) * observed[varied] / expected[varied]
        return alphas

    def _count_labels(self, samples: Whole) -> Floats:
        """Returns how often each label occurs (labels × samples); adds only the few labels of each pattern."""
        used = np.zeros((self._labels, samples.shape[1]))
        used[self._present] = np.add.reduceat(samples[self._chosen] * self._times, self._starts, axis=0)
        return used

    def _compute_expected(self, used: Floats, ratings: Floats) -> Floats:
        if isinstance(self._distance, str):
            return np.asarray(ratings**2 - np.einsum("ls,ls->s", used, used))
        return np.asarray(np.einsum("ls,ls->s", used, self._distance @ used))

    def _compare_by_rank(self, used: Floats) -> tuple[Floats, Floats]:
        """Returns observed and expected disagreement on an ordinal scale.

        The distance of two labels is the squared difference of their mid-ranks, which depends on how often the labels
        are used in the sample.
        """
        ranks = used.cumsum(axis=0) - used / 2
        ranks -= ranks.mean(axis=0)
        pairs = self._raters[:, None] * (self._counts @ ranks**2) - (self._counts @ ranks) ** 2
        squares, sums = np.einsum("ls,ls->s", used, ranks**2), np.einsum("ls,ls->s", used, ranks)
        return 2 * pairs, 2 * (used.sum(axis=0) * squares - sums**2)
