"""Bootstrap samples of items, drawn as counts of patterns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quaestor.measures.agreement.patterns import Whole

_LARGE = 16
_MOST_CELLS = 250_000


def resampled(items: Whole, replicates: int, generator: np.random.Generator) -> Iterator[Whole]:
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
