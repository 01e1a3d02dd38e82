"""Pearson and Spearman against scipy, far into the tail, and where they are undefined."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from quaestor.base.errors import InputError
from quaestor.measures.association import pearson, spearman
from quaestor.measures.records import Correlation

PAIRS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), max_size=30)


def pair(seed: int, n: int, slope: float, *, tied: bool = False) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    x = generator.lognormal(0, 1, n)
    y = slope * x + generator.lognormal(0, 1, n)
    return (np.round(x), np.round(y)) if tied else (x, y)


CASES = [
    (seed, n, slope, tied)
    for seed, (n, slope) in enumerate([(4, 1.0), (5, 0.0), (30, 0.5), (63, -2.0), (200, 0.8), (2_401, 0.01)])
    for tied in (False, True)
]


@pytest.mark.parametrize(("seed", "n", "slope", "tied"), CASES)
def test_pearson_matches_scipy(seed: int, n: int, slope: float, tied: bool) -> None:
    from scipy import stats

    x, y = pair(seed, n, slope, tied=tied)
    found, expected = pearson(x, y), stats.pearsonr(x, y)
    interval = expected.confidence_interval(0.95)
    assert found.value == pytest.approx(expected.statistic, abs=1e-10)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-300)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


@pytest.mark.parametrize(("seed", "n", "slope", "tied"), CASES)
def test_spearman_matches_scipy(seed: int, n: int, slope: float, tied: bool) -> None:
    from scipy import stats

    x, y = pair(seed, n, slope, tied=tied)
    found, expected = spearman(x, y), stats.spearmanr(x, y)
    assert found.value == pytest.approx(expected.statistic, abs=1e-10)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("wanted", [1e-3, 1e-6, 1e-9, 1e-12, 1e-40])
def test_the_p_value_is_precise_far_in_the_tail(wanted: float) -> None:
    from scipy import stats

    n = 500
    generator = np.random.default_rng(1)
    x, noise = generator.normal(0, 1, (2, n))
    x, noise = x - x.mean(), noise - noise.mean()
    noise -= x * (noise @ x) / (x @ x)
    t = stats.t.isf(wanted / 2, n - 2)
    y = x / np.linalg.norm(x) * t / math.sqrt(n - 2) + noise / np.linalg.norm(noise)
    found, expected = pearson(x, y), stats.pearsonr(x, y)
    assert found.p == pytest.approx(wanted, rel=1e-6)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6)


def test_the_interval_of_spearman_matches_bonett_and_wright_by_hand() -> None:
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    y = [2.0, 1.0, 4.0, 3.0, 6.0, 5.0, 7.0]
    found = spearman(x, y)
    rho = 1 - 6 * 6 / (7 * 48)
    half = 1.959964 * math.sqrt((1 + rho**2 / 2) / 4)
    assert found.value == pytest.approx(rho)
    assert found.low == pytest.approx(math.tanh(math.atanh(rho) - half), abs=1e-6)
    assert found.high == pytest.approx(math.tanh(math.atanh(rho) + half), abs=1e-6)


def test_spearmans_interval_contains_the_true_value_about_95_percent_of_the_time() -> None:
    """Of a normal pair with r = 0.6, Spearman's ρ is 6 ÷ π × asin(0.3)."""
    generator = np.random.default_rng(5)
    truth, held = 6 / math.pi * math.asin(0.3), 0
    for _ in range(600):
        x, noise = generator.normal(0, 1, (2, 50))
        found = spearman(x, 0.6 * x + 0.8 * noise)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 553 <= held <= 588


@given(PAIRS)
@settings(deadline=None)
def test_results_are_never_nan(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(one) for one, _ in pairs], [float(other) for _, other in pairs]
    for found in (pearson(x, y), spearman(x, y)):
        numbers = [number for number in (found.value, found.p, found.low, found.high) if number is not None]
        assert all(math.isfinite(number) for number in numbers)
        assert (found.low is None) == bool(found.undefined)
        if found.value is not None:
            assert -1 <= found.value <= 1
            assert found.p is not None
            assert 0 <= found.p <= 1
        if found.low is not None and found.high is not None and found.value is not None:
            assert -1 <= found.low <= found.value <= found.high <= 1


@given(PAIRS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_neither_the_order_of_items_nor_of_the_two_values_matters(
    pairs: list[tuple[int, int]], shuffler: random.Random
) -> None:
    x, y = [one for one, _ in pairs], [other for _, other in pairs]
    mixed = shuffler.sample(pairs, len(pairs))
    for way in (pearson, spearman):
        found, again = way(x, y), way([other for _, other in mixed], [one for one, _ in mixed])
        assert found.value == pytest.approx(again.value, abs=1e-12)
        assert found.undefined == again.undefined


@given(PAIRS)
@settings(deadline=None)
def test_spearman_depends_only_on_the_order_of_values(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array([one for one, _ in pairs], dtype=float), np.array([other for _, other in pairs], dtype=float)
    assert spearman(np.exp(x / 10), y**3) == spearman(x, y)


def test_items_without_one_of_the_values_are_left_out() -> None:
    x, y = [1.0, math.nan, 2.0, 3.0, 4.0, 9.0], [1.0, 5.0, 3.0, 2.0, 4.0, math.nan]
    for way in (pearson, spearman):
        assert way(x, y) == way([1, 2, 3, 4], [1, 3, 2, 4])


@pytest.mark.parametrize("way", [pearson, spearman])
def test_the_correlation_of_two_items_is_undefined(way: Callable[..., Correlation]) -> None:
    found = way([1.0, 2.0], [1.0, 2.0])
    assert (found.n, found.value, found.p) == (2, None, None)
    assert found.undefined == "undefined, because fewer than 3 items have both values"


def test_the_correlation_of_a_constant_is_undefined() -> None:
    for way in (pearson, spearman):
        assert "is the same for every item" in way([0.1] * 9, range(9)).undefined
        assert way([0.1] * 9, range(9)).value is None


def test_three_items_have_a_p_value_and_no_interval() -> None:
    found = pearson([1, 2, 3], [1, 3, 2])
    assert found.value == pytest.approx(0.5)
    assert found.p == pytest.approx(2 / 3)
    assert found.low is found.high is None
    assert found.undefined == "the interval is undefined, because it needs at least 4 items"


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_correlation_is_exactly_one_without_an_interval(sign: int) -> None:
    x = np.random.default_rng(2).normal(0, 1, 50)
    for found in (pearson(x, sign * (0.3 * x + 7)), spearman(x, sign * np.exp(x))):
        assert (found.value, found.p, found.low) == (sign, 0, None)
        assert found.undefined.startswith("the interval is undefined, because ")


def test_values_far_from_zero_or_very_large_keep_their_correlation() -> None:
    x, y = pair(3, 40, 0.7)
    expected = pearson(x, y).value
    assert pearson(1e200 * x, 1e-200 * y).value == pytest.approx(expected, abs=1e-12)
    assert pearson(1e9 + x, y).value == pytest.approx(expected, abs=1e-6)


def test_infinite_values_are_refused() -> None:
    with pytest.raises(InputError, match="y have inf at position 1: leave it out"):
        pearson([1, 2, 3], [1, math.inf, 3])
    with pytest.raises(InputError, match="x have -1e\\+301 at position 0"):
        spearman([-1e301, 2, 3], [1, 2, 3])


def test_the_largest_values_raise_no_overflow_warning() -> None:
    assert pearson([1e300, -1e300, 0, 1], [1, 2, 3, 5]).value is not None
