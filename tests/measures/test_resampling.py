"""Bootstrap samples drawn by pattern are those of items drawn one by one."""

from __future__ import annotations

import numpy as np

from quaestor.measures.agreement.chance_corrected import draw_samples

ITEMS = np.array([500, 1, 3, 200, 15, 1, 80])
"""Frequent patterns and rare ones, which are drawn in two different ways."""


def test_every_sample_has_as_many_items_as_the_data() -> None:
    samples = np.concatenate(list(draw_samples(ITEMS, 1_001, np.random.default_rng(1))), axis=1)
    assert samples.shape == (len(ITEMS), 1_001)
    assert (samples.sum(axis=0) == ITEMS.sum()).all()


def test_samples_have_the_variance_and_covariance_of_the_multinomial_distribution() -> None:
    samples = np.concatenate(list(draw_samples(ITEMS, 40_000, np.random.default_rng(2))), axis=1)
    n, chances = ITEMS.sum(), ITEMS / ITEMS.sum()
    expected = n * (np.diag(chances) - np.outer(chances, chances))
    assert np.allclose(samples.mean(axis=1), ITEMS, rtol=0.02)
    spread = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((np.cov(samples) - expected) / spread).max() < 0.03


def test_many_patterns_are_drawn_in_several_batches() -> None:
    items = np.full(9_000, 2)
    goes = list(draw_samples(items, 50, np.random.default_rng(3)))
    assert len(goes) > 1
    assert sum(go.shape[1] for go in goes) == 50
    assert all((go.sum(axis=0) == 18_000).all() for go in goes)
