"""Shares by year and the Mann–Kendall test, against scipy's tau and all permutations."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.measures.descriptive import share
from quaestor.measures.records import Trend
from quaestor.measures.trends import mann_kendall, trend, yearly_shares

SERIES = st.lists(st.integers(-8, 8).map(float) | st.just(math.nan), max_size=25)


@pytest.mark.parametrize("n", range(3, 11))
@pytest.mark.parametrize("seed", range(4))
def test_up_to_ten_years_without_ties_p_matches_scipys_exact_test(n: int, seed: int) -> None:
    from scipy import stats

    values = np.random.default_rng(seed).normal(0, 1, n) + 0.3 * seed * np.arange(n)
    found, expected = mann_kendall(values), stats.kendalltau(np.arange(n), values, method="exact")
    assert found.tau == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize("n", [3, 5, 6])
def test_the_exact_p_value_counts_every_order(n: int) -> None:
    far = [abs(mann_kendall(order).s or 0) for order in permutations(range(n))]
    for order in ([*range(n)], [*range(1, n), 0], [*range(n - 2), n - 1, n - 2]):
        found = mann_kendall(order)
        assert found.p == pytest.approx(np.mean(np.array(far) >= abs(found.s or 0)))


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_tau_and_the_variance_of_s_match_scipy(seed: int, tied: bool) -> None:
    """Scipy's p has no continuity correction, so its variance is read back from it."""
    from scipy import stats

    generator = np.random.default_rng(seed)
    values = generator.normal(0, 2, 18) + 0.1 * np.arange(18)
    values = np.round(values) if tied else values
    found = mann_kendall(values)
    expected = stats.kendalltau(np.arange(18), values, method="asymptotic")
    assert found.tau == pytest.approx(expected.statistic, abs=1e-12)
    assert found.s
    error = abs(found.s) / stats.norm.isf(expected.pvalue / 2)
    assert found.p == pytest.approx(2 * stats.norm.sf((abs(found.s) - 1) / error), rel=1e-6)


def test_a_tied_series_matches_a_calculation_by_hand() -> None:
    """1 2 2 3 5 4: of 15 pairs 13 rise, 1 falls, 1 is tied; variance (6×5×17 − 2×1×9) ÷ 18 = 82 ÷ 3."""
    found = mann_kendall([1, 2, 2, 3, 5, 4])
    assert found.s == 12
    assert found.tau == pytest.approx(12 / math.sqrt(15 * 14))
    assert found.p == pytest.approx(math.erfc(11 / math.sqrt(82 / 3) / math.sqrt(2)))
    assert found.direction == "rising"


@given(SERIES)
@settings(deadline=None)
def test_a_trend_depends_only_on_the_order_and_reversing_time_negates_it(values: list[float]) -> None:
    found = mann_kendall(values)
    assert mann_kendall(np.exp(values)) == found
    turned = mann_kendall(values[::-1])
    assert turned.p == found.p
    assert turned.undefined == found.undefined
    opposite = {"rising": "falling", "falling": "rising"}
    assert turned.direction == opposite.get(found.direction, found.direction)
    if found.s is not None and turned.s is not None:
        assert turned.s == -found.s
        assert turned.tau == pytest.approx(-(found.tau or 0))


@given(SERIES)
@settings(deadline=None)
def test_results_are_never_nan(values: list[float]) -> None:
    found = mann_kendall(values)
    assert (found.p is None) == (found.tau is None) == (found.direction == "") == bool(found.undefined)
    assert found.years == sum(not math.isnan(value) for value in values)
    if found.p is not None and found.tau is not None:
        assert 0 <= found.p <= 1
        assert -1 - 1e-12 <= found.tau <= 1 + 1e-12


@pytest.mark.parametrize(
    ("values", "direction"),
    [
        (range(5), "rising"),
        (range(5, 0, -1), "falling"),
        (range(4), "no trend"),  # no order of four values is rare enough
        ([1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2], "no trend"),
    ],
)
def test_a_direction_is_reported_only_if_it_is_significant(values: list[float], direction: str) -> None:
    assert mann_kendall(list(values)).direction == direction


def test_random_series_show_a_trend_about_one_time_in_twenty() -> None:
    generator = np.random.default_rng(2)
    for years in (9, 20):
        called = sum(mann_kendall(generator.random(years)).direction != "no trend" for _ in range(800))
        assert 20 <= called <= 62


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([], "fewer than 3 years have a value"),
        ([1.0, math.nan, 2.0], "fewer than 3 years have a value"),
        ([0.2, 0.2, 0.2, 0.2], "every year has the same value"),
    ],
)
def test_an_undefined_test_has_a_reason(values: list[float], why: str) -> None:
    found = mann_kendall(values)
    assert found == Trend(found.years, undefined=f"undefined, because {why}")


def test_yearly_shares_count_the_chosen_among_the_items_of_each_year() -> None:
    years, chosen = [2018, 2016, 2016, 2018, 2018, 2016], [True, False, True, True, False, False]
    found = yearly_shares(years, chosen, extra_years=[2019])
    assert [(one.year, one.count, one.of) for one in found] == [(2016, 1, 3), (2017, 0, 0), (2018, 2, 3), (2019, 0, 0)]
    for one in found:
        alone = share(one.count, one.of)
        assert (one.share, one.low, one.high, one.undefined) == (alone.value, alone.low, alone.high, alone.undefined)
    assert found[1].undefined == "undefined, because there are no items"


@given(st.lists(st.tuples(st.integers(2008, 2022), st.booleans()), max_size=60))
@settings(deadline=None)
def test_yearly_shares_include_every_item(items: list[tuple[int, bool]]) -> None:
    found = yearly_shares([year for year, _ in items], [one for _, one in items])
    assert sum(one.of for one in found) == len(items)
    assert sum(one.count for one in found) == sum(one for _, one in items)
    assert [one.year for one in found] == sorted({one.year for one in found})


def test_the_trend_of_shares_is_computed_by_year_without_empty_years() -> None:
    years = np.repeat(np.arange(2012, 2019), 10)
    chosen = np.concatenate([np.arange(10) < rising for rising in range(1, 8)])
    shares = yearly_shares(years, chosen, extra_years=[2021])
    found = trend(shares[::-1])
    assert (found.years, found.s, found.tau, found.direction) == (7, 21, 1, "rising")
    assert found.p == pytest.approx(2 / math.factorial(7))


def test_items_without_a_year_are_left_out_and_fractional_years_refused() -> None:
    assert [yearly_share.of for yearly_share in yearly_shares([2016.0, math.nan], [True, True])] == [1]
    assert yearly_shares([], []) == []
    with pytest.raises(InputError, match="years are not all whole numbers"):
        yearly_shares([2016.5], [True])
