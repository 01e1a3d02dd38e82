"""Survey weights: post-stratification, raking, trimming, and shares and means of weighted responses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quaestor.base.errors import InputError
from quaestor.measures.agreement.estimates import QUANTILE, wilson
from quaestor.measures.arrays import Floats, Whole, require_same_length, to_codes, to_numbers
from quaestor.measures.records import Estimate, WeightedShare

MAX_ROUNDS = 1_000
"""Raking that needs more rounds through all margins does not converge in practice."""
TOLERANCE = 1e-8
"""Raking ends once no weighted share differs more than this from its target."""
_MAX_TRIMS = 50
_BISECTIONS, _LARGEST_FACTOR = 100, 1e12


@dataclass(frozen=True)
class Margin:
    """The cell of each response, −1 without an answer, and the share of each cell in the population."""

    codes: Whole
    targets: Floats

    def count(self) -> Whole:
        """Returns the number of responses in each cell."""
        return np.bincount(self.codes + 1, minlength=len(self.targets) + 1)[1:]

    def shares(self, weights: Floats) -> Floats:
        """Returns the weighted share of each cell among the responses with an answer."""
        sums = np.bincount(self.codes + 1, weights, len(self.targets) + 1)[1:]
        total: Floats = sums / sums.sum()
        return total


@dataclass(frozen=True)
class SampleSize:
    """The number of weighted responses, and how many unweighted ones would be as precise (Kish 1965)."""

    n: int
    effective: float
    least: float
    most: float

    @property
    def design_effect(self) -> float:
        """Returns n divided by the effective sample size."""
        return self.n / self.effective


@dataclass(frozen=True)
class RakedWeights:
    """Weights with mean 1, and how well they meet the targets."""

    weights: Floats
    rounds: int
    trimmed: int
    """Number of responses whose weight is a bound."""
    largest_difference: float
    """The largest difference between a weighted share and its target."""


def build_margin(codes: ArrayLike, targets: ArrayLike) -> Margin:
    """Returns a margin with targets divided by their sum; raises InputError for a cell without responses."""
    shares = to_numbers(targets)
    if len(shares) == 0 or not np.isfinite(shares).all() or (shares <= 0).any():
        raise InputError("targets must be numbers above 0")
    margin = Margin(to_codes(codes, len(shares)), shares / shares.sum())
    empty = np.flatnonzero(margin.count() == 0)
    if len(empty):
        raise InputError(f"cell {int(empty[0])} has a target but no response")
    return margin


def post_stratify(margin: Margin) -> Floats:
    """Returns the weights that give each cell its share; a response without an answer has weight 1."""
    counts = margin.count()
    factors = np.append(margin.targets * counts.sum() / counts, 1.0)  # code −1 is the last
    weights: Floats = factors[margin.codes]
    return weights


def rake(margins: Sequence[Margin], start: Floats | None = None, max_rounds: int = MAX_ROUNDS) -> RakedWeights:
    """Returns the weights that meet the targets of every margin, by iterative proportional fitting.

    Responses without an answer form a further cell of the margin; its target is its unweighted share. Of all weights
    that meet the targets, these are the closest to `start` (or to 1) in relative entropy. Raises InputError if they
    do not converge, because the responses cannot meet all targets at once.
    """
    if not margins:
        raise InputError("raking needs at least one margin")
    n = len(margins[0].codes)
    for margin in margins[1:]:
        require_same_length(margins[0].codes, margin.codes, "margins")
    cells = [np.where(margin.codes < 0, len(margin.targets), margin.codes) for margin in margins]
    totals = [_target_totals(margin, n) for margin in margins]
    weights = np.ones(n) if start is None else start * (n / start.sum())
    largest = math.inf
    for rounds in range(1, max_rounds + 1):
        differences = []
        for cell, total in zip(cells, totals, strict=True):
            sums = np.bincount(cell, weights, len(total))
            differences.append(float(np.abs(sums - total).max()) / n)
            weights = weights * np.divide(total, sums, out=np.ones_like(total), where=sums > 0)[cell]
        # The differences before this round; one more round than necessary, and no further pass over the responses.
        largest = max(differences)
        if largest <= TOLERANCE:
            return RakedWeights(weights, rounds, 0, find_largest_difference(margins, weights))
    raise InputError(
        f"raking does not converge: after {max_rounds:,} rounds a weighted share still differs by "
        f"{largest * 100:.2g} percentage points from its target, because these responses cannot meet all targets "
        "at once: merge cells, or leave out a margin"
    )


def trim(weights: Floats, least: float | None, most: float | None) -> Floats:
    """Returns the nearest weights within the bounds whose mean is 1: those between the bounds keep their ratios."""
    low, high = least or 0.0, most if most is not None else math.inf
    if not low <= 1 <= high:
        raise InputError(f"weights have the mean 1, which is not between {low:g} and {high:g}: widen the bounds")
    distinct, times = np.unique(weights, return_counts=True)

    def mean_at(factor: float) -> float:
        return float(np.average(np.clip(distinct * factor, low, high), weights=times))

    below, above = 0.0, 1.0
    while mean_at(above) < 1 and above < _LARGEST_FACTOR:
        above *= 2
    for _ in range(_BISECTIONS):
        middle = (below + above) / 2
        below, above = (middle, above) if mean_at(middle) < 1 else (below, middle)
    return np.clip(weights * above, low, high)


def fit_weights(margins: Sequence[Margin], least: float | None = None, most: float | None = None) -> RakedWeights:
    """Returns the weights that meet the targets, and that lie between the bounds if there are some.

    One margin is met in one step: this is post-stratification. With bounds, raking and trimming alternate until both
    hold; if they cannot, the bounds hold and `largest_difference` says how far the shares are from the targets.
    """
    fitted = RakedWeights(post_stratify(margins[0]), 1, 0, 0.0) if len(margins) == 1 else rake(margins)
    if least is None and most is None:
        return fitted
    rounds, trimmed = fitted.rounds, trim(fitted.weights, least, most)
    for _ in range(_MAX_TRIMS if len(margins) > 1 else 0):
        if find_largest_difference(margins, trimmed) <= TOLERANCE:
            break
        raked = rake(margins, trimmed)
        rounds += raked.rounds
        trimmed = trim(raked.weights, least, most)
    at_bound = [np.isclose(trimmed, bound) for bound in (least, most) if bound is not None]
    return RakedWeights(trimmed, rounds, int(np.any(at_bound, axis=0).sum()), find_largest_difference(margins, trimmed))


def find_largest_difference(margins: Sequence[Margin], weights: Floats) -> float:
    """Returns the largest difference between a weighted share and its target."""
    return max(float(np.abs(margin.shares(weights) - margin.targets).max()) for margin in margins)


def measure_sample_size(weights: ArrayLike) -> SampleSize:
    """Returns Kish's effective sample size (Σw)² / Σw², with the range of the weights."""
    numbers = to_numbers(weights)
    if len(numbers) == 0:
        return SampleSize(0, 0.0, 0.0, 0.0)
    return SampleSize(len(numbers), _effective_size(numbers), float(numbers.min()), float(numbers.max()))


def weighted_share(chosen: NDArray[np.bool_], weights: Floats) -> WeightedShare:
    """Returns the weighted share of the responses that chose something.

    The interval is Wilson's with the effective sample size of these responses instead of their number.
    """
    if len(weights) == 0:
        return WeightedShare(undefined="undefined, because there are no items")
    n = _effective_size(weights)
    total, count = float(weights.sum()), float(weights[chosen].sum())
    value = 1.0 if chosen.all() else count / total
    interval = wilson(value, n)
    low, high = (interval.low if chosen.any() else 0.0), (1.0 if chosen.all() else interval.high)
    return WeightedShare(value, low, high, n)


def weighted_mean(values: ArrayLike, weights: Floats) -> Estimate:
    """Returns the weighted mean of the known values, with the interval of a ratio estimator (linearised variance)."""
    numbers = to_numbers(values)
    known = ~np.isnan(numbers)
    numbers, weights = numbers[known], weights[known]
    n = len(numbers)
    if n == 0:
        return Estimate(undefined="undefined, because no item has a value")
    value = float(np.average(numbers, weights=weights))
    if n == 1:
        return Estimate(value, undefined="the interval is undefined, because one item has no spread")
    residuals = weights * (numbers - value) / weights.sum()
    se = math.sqrt(n / (n - 1) * float((residuals**2).sum()))
    return Estimate(value, se, value - QUANTILE * se, value + QUANTILE * se, "analytic")


def _target_totals(margin: Margin, n: int) -> Floats:
    answered = int((margin.codes >= 0).sum())
    return np.append(margin.targets * answered, float(n - answered))


def _effective_size(weights: Floats) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())
