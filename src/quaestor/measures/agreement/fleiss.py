"""Fleiss' κ: chance is that two ratings drawn from everybody's agree."""

from __future__ import annotations

import numpy as np

from quaestor.measures.agreement.chance import beyond_chance
from quaestor.measures.agreement.estimates import too_few
from quaestor.measures.agreement.patterns import Floats, Patterns
from quaestor.measures.records import Estimate


def fleiss_kappa(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """κ for any number of raters, who need not be the same for each item; for two raters it is Scott's π."""
    if (why := too_few(patterns.n)) is not None:
        return why
    met = patterns.use if weights is None else weights @ patterns.use
    chance = float((patterns.use * met).sum())
    return beyond_chance(patterns, patterns.agreement(weights), chance, np.einsum("pl,l->p", patterns.shares, met))
