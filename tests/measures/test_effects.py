"""Cliff's delta against the Mann–Whitney U of scipy and the matrix of all pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from quaestor.measures.group_comparison import cliffs_delta

GROUP = st.lists(st.integers(-4, 4).map(float), max_size=15)
HIGH = 1.959963984540054


def by_matrix(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float, float]:
    """Delta and its interval from the matrix of all pairs, as the formula is printed."""
    signs = np.sign(first[:, None] - second[None, :])
    n, m = signs.shape
    delta = signs.mean()
    rows, columns = signs.mean(axis=1).var(ddof=1), signs.mean(axis=0).var(ddof=1)
    pairs = ((signs - delta) ** 2).sum() / ((n - 1) * (m - 1))
    variance = ((m - 1) * rows + (n - 1) * columns + pairs) / (n * m)
    half = HIGH * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + HIGH**2 * variance)
    width = 1 - delta**2 + HIGH**2 * variance
    return delta, (delta - delta**3 - half) / width, (delta - delta**3 + half) / width


def two(seed: int, n: int, m: int, *, tied: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    first, second = generator.lognormal(0.3, 1, n), generator.lognormal(0, 1, m)
    return (np.round(first), np.round(second)) if tied else (first, second)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("seed", "n", "m"), [(1, 5, 9), (2, 40, 40), (3, 300, 20), (4, 700, 900)])
def test_delta_matches_scipys_mann_whitney_and_all_pairs(seed: int, n: int, m: int, tied: bool) -> None:
    from scipy import stats

    first, second = two(seed, n, m, tied=tied)
    found = cliffs_delta(first, second)
    assert found.value == pytest.approx(2 * stats.mannwhitneyu(first, second).statistic / (n * m) - 1, abs=1e-12)
    assert (found.value, found.low, found.high) == pytest.approx(by_matrix(first, second), abs=1e-12)


def test_the_textbook_example_of_ten_and_six() -> None:
    """Variance terms 0.2669753, 0.447 and 1.0055556 (Hogarty and Kromrey 1999) give a variance of 0.1060572."""
    found = cliffs_delta([10, 10, 20, 20, 20, 30, 30, 30, 40, 50], [10, 20, 30, 40, 40, 50])
    variance = (5 * 0.2669753 + 9 * 0.447 + 1.0055556) / 60
    room, width = 1 - 0.0625, 1 - 0.0625 + HIGH**2 * variance
    half = HIGH * math.sqrt(variance * (room**2 + HIGH**2 * variance))
    assert (found.value, found.band) == (-0.25, "small")
    assert found.low == pytest.approx((-0.25 * room - half) / width, abs=1e-6)
    assert found.high == pytest.approx((-0.25 * room + half) / width, abs=1e-6)


@given(GROUP, GROUP)
@settings(deadline=None)
def test_exchanging_the_groups_negates_delta(first: list[float], second: list[float]) -> None:
    found, turned = cliffs_delta(first, second), cliffs_delta(second, first)
    assert found.undefined == turned.undefined
    assert found.band == turned.band
    if found.value is not None and turned.value is not None:
        assert found.value == -turned.value
    if found.low is not None and turned.high is not None:
        assert found.low == pytest.approx(-turned.high, abs=1e-12)


@given(GROUP, GROUP)
@settings(deadline=None)
def test_delta_depends_only_on_the_order_of_values(first: list[float], second: list[float]) -> None:
    assert cliffs_delta(np.exp(first), np.exp(second)) == cliffs_delta(first[::-1], second[::-1])


@given(GROUP, GROUP)
@settings(deadline=None)
def test_results_are_never_nan(first: list[float], second: list[float]) -> None:
    found = cliffs_delta(first, second)
    assert (found.low is None) == (found.high is None) == bool(found.undefined)
    if found.low is not None and found.high is not None and found.value is not None:
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert found.low < found.high


def test_intervals_contain_the_true_value_about_95_percent_of_the_time() -> None:
    """Of two normal groups one standard deviation apart, delta is 2 Φ(1 ÷ √2) − 1."""
    generator = np.random.default_rng(6)
    truth, held = math.erf(0.5), 0
    for _ in range(600):
        found = cliffs_delta(generator.normal(1, 1, 30), generator.normal(0, 1, 45))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 553 <= held <= 588


@pytest.mark.parametrize(
    ("wins", "band"),
    [(146, "negligible"), (147, "small"), (329, "small"), (330, "medium"), (473, "medium"), (474, "large")],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_bands_start_at_their_limits(wins: int, band: str, sign: int) -> None:
    values = [float(sign)] * wins + [0.0] * (1_000 - wins)
    assert cliffs_delta(values, [0.0]).band == band


def test_groups_that_do_not_overlap_keep_an_interval_of_some_width() -> None:
    found = cliffs_delta([4, 5, 6, 7], [1, 2, 3])
    square = HIGH**2
    assert found.value == 1
    assert (found.low, found.high) == pytest.approx(((3 - square) / (3 + square), 1.0))


def test_missing_values_are_left_out() -> None:
    found = cliffs_delta([1, math.nan, 3, 2], [2, 0, math.nan])
    assert found == cliffs_delta([1, 3, 2], [2, 0])


@pytest.mark.parametrize(
    ("first", "second", "value", "why"),
    [
        ([], [], None, "undefined, because no group has values"),
        ([1.0, 2.0], [math.nan], None, "undefined, because one of the two groups has no values"),
        ([3.0], [1.0, 2.0], 1, "the interval is undefined, because a group of one item has no spread"),
        ([3.0, 3.0], [3.0, 3.0], 0, "the interval is undefined, because every value is the same"),
    ],
)
def test_an_undefined_delta_has_a_reason(
    first: list[float], second: list[float], value: float | None, why: str
) -> None:
    found = cliffs_delta(first, second)
    assert (found.value, found.low, found.high, found.undefined) == (value, None, None, why)
