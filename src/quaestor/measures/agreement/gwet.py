"""Gwet's AC1 and AC2: chance agreement only where an item is hard, so skewed codes do not sink it."""

from __future__ import annotations

import numpy as np

from quaestor.measures.agreement.chance import beyond_chance
from quaestor.measures.agreement.estimates import ONE_CODE, too_few
from quaestor.measures.agreement.patterns import Floats, Patterns
from quaestor.measures.records import Estimate


def gwet_ac(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """AC1, or AC2 where weights are given (Gwet 2008)."""
    if (why := too_few(patterns.n)) is not None:
        return why
    labels = len(patterns.use)
    if labels < 2:
        return Estimate(undefined=ONE_CODE)
    factor = (labels if weights is None else float(weights.sum())) / (labels * (labels - 1))
    rest = factor * (1 - patterns.use)
    chance = float((patterns.use * rest).sum())
    return beyond_chance(patterns, patterns.agreement(weights), chance, np.einsum("pl,l->p", patterns.shares, rest))
