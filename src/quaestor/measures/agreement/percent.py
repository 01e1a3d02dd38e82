"""Percent agreement: how often two raters say the same, with nothing taken off for chance."""

from __future__ import annotations

import numpy as np

from quaestor.measures.agreement.estimates import QUANTILE, too_few, wilson
from quaestor.measures.agreement.patterns import Floats, Patterns
from quaestor.measures.records import Estimate


def percent_agreement(patterns: Patterns, weights: Floats | None = None) -> Estimate:
    """Over the items, the mean share of agreeing pairs of raters.

    Where an item can only agree or not, the interval is Wilson's; else it comes from the spread of the items.
    """
    n = patterns.n
    if n == 0:
        return too_few(n) or Estimate()
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
