"""Krippendorff's α: observed against expected disagreement, with a seeded bootstrap over items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from quaestor.measures.agreement.estimates import ONE_CODE, bootstrap_estimate, check_item_count
from quaestor.measures.agreement.table import Floats, Patterns, Whole
from quaestor.measures.records import Estimate

_LARGE = 16
_MOST_CELLS = 250_000


def draw_samples(items: Whole, replicates: int, generator: np.random.Generator) -> Iterator[Whole]:
    """Samples as if items were drawn one by one: patterns × samples, some samples at a time.

    Frequent patterns are drawn by one multinomial; the others together get what is left, and it is spread among
    their few items. Both are the exact distribution; together they are much quicker than either.
    """
    large = np.flatnonzero(items >= _LARGE)
    small = np.flatnonzero(items < _LARGE)
    owners = np.repeat(small, items[small])
    n = items.sum()
    chances = np.append(items[large], len(owners)) / n
    step = max(1, _MOST_CELLS // max(len(items), len(owners)))
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        drawn = generator.multinomial(n, chances, size=size)
        samples = np.zeros((len(items), size), dtype=np.int64)
        if len(owners):
            rest = drawn[:, -1]
            picked = owners[generator.integers(0, len(owners), rest.sum())]
            cells = picked * size + np.repeat(np.arange(size), rest)
            samples = np.bincount(cells, minlength=samples.size).reshape(samples.shape)
        samples[large] = drawn[:, :-1].T
        yield samples


REPLICATES = 1_000

Distance = Floats | Literal["nominal", "ordinal"]
"""Between any two labels: a matrix, or a scale by which the labels and their use make it."""


def krippendorff_alpha(patterns: Patterns, distance: Distance, *, seed: int, replicates: int = REPLICATES) -> Estimate:
    """α with the spread of its replicates; every replicate is a sample of items with its own expected disagreement."""
    if (why := check_item_count(patterns.n)) is not None:
        return why
    disagreement = _Disagreement(patterns, distance)
    value = float(disagreement.alphas(patterns.items[:, None])[0])
    if not np.isfinite(value):
        return Estimate(undefined=ONE_CODE)
    samples = draw_samples(patterns.items, replicates, np.random.default_rng(seed))
    found = [disagreement.alphas(sample) for sample in samples]
    return bootstrap_estimate(value, np.concatenate(found) if found else np.empty(0))


class _Disagreement:
    """What all samples of the same patterns share, so that each costs only its own sums."""

    def __init__(self, patterns: Patterns, distance: Distance) -> None:
        self._distance = distance
        self._labels = patterns.counts.shape[1]
        labels, self._chosen = np.nonzero(patterns.counts.T)
        self._times = patterns.counts.T[labels, self._chosen].astype(np.int64)[:, None]
        self._present, self._starts = np.unique(labels, return_index=True)
        self._mixed = np.flatnonzero((patterns.counts > 0).sum(axis=1) > 1)
        self._counts, self._raters = patterns.counts[self._mixed], patterns.raters[self._mixed]
        self._pairs = self._fixed_pairs()

    def _fixed_pairs(self) -> Floats:
        """The disagreement within each mixed pattern, where it does not depend on the sample."""
        if not isinstance(self._distance, str):
            return np.asarray(np.einsum("pl,pl->p", self._counts, self._counts @ self._distance))
        return np.asarray(self._raters**2 - np.einsum("pl,pl->p", self._counts, self._counts))

    def alphas(self, samples: Whole) -> Floats:
        """α of each sample (patterns × samples); infinite where every rating is the same code."""
        used = self._used(samples)
        ratings = used.sum(axis=0)
        torn = samples[self._mixed]
        if isinstance(self._distance, str) and self._distance == "ordinal":
            pairs, expected = self._by_rank(used)
            observed = np.einsum("ps,ps,p->s", torn, pairs, 1 / (self._raters - 1))
        else:
            observed = np.einsum("ps,p->s", torn, self._pairs / (self._raters - 1))
            expected = self._expected(used, ratings)
        found = np.full(samples.shape[1], np.inf)
        varied = expected > 1e-12 * ratings**2
        found[varied] = 1 - (ratings[varied] - 1) * observed[varied] / expected[varied]
        return found

    def _used(self, samples: Whole) -> Floats:
        """Labels × samples: how often each label occurs. Few occur in a pattern, so only those are added."""
        used = np.zeros((self._labels, samples.shape[1]))
        used[self._present] = np.add.reduceat(samples[self._chosen] * self._times, self._starts, axis=0)
        return used

    def _expected(self, used: Floats, ratings: Floats) -> Floats:
        if isinstance(self._distance, str):
            return np.asarray(ratings**2 - np.einsum("ls,ls->s", used, used))
        return np.asarray(np.einsum("ls,ls->s", used, self._distance @ used))

    def _by_rank(self, used: Floats) -> tuple[Floats, Floats]:
        """Two labels are as far apart as the ratings that lie between them: the squared difference of mid-ranks.

        It depends on how often the labels are used, so every sample has its own.
        """
        ranks = used.cumsum(axis=0) - used / 2
        ranks -= ranks.mean(axis=0)
        pairs = self._raters[:, None] * (self._counts @ ranks**2) - (self._counts @ ranks) ** 2
        squares, sums = np.einsum("ls,ls->s", used, ranks**2), np.einsum("ls,ls->s", used, ranks)
        return 2 * pairs, 2 * (used.sum(axis=0) * squares - sums**2)
