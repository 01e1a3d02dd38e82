"""Krippendorff's α: observed against expected disagreement, with a seeded bootstrap over items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from quaestor.measures.agreement.estimates import ONE_CODE, bootstrap_estimate, check_item_count
from quaestor.measures.agreement.table import Floats, Patterns, Whole
from quaestor.measures.records import Estimate

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
