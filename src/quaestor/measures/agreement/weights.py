"""How much two different labels still agree: 1 for the same, 0 for the furthest apart; no weights: not at all."""

from __future__ import annotations

import numpy as np

from quaestor.measures.agreement.patterns import Floats


def linear(values: Floats) -> Floats:
    """A disagreement counts by its distance."""
    distance = np.abs(values[:, None] - values)
    return np.asarray(1 - distance / _widest(distance))


def quadratic(values: Floats) -> Floats:
    """A disagreement counts by the square of its distance."""
    distance = (values[:, None] - values) ** 2
    return np.asarray(1 - distance / _widest(distance))


def _widest(distance: Floats) -> float:
    return float(distance.max(initial=0.0)) or 1.0
