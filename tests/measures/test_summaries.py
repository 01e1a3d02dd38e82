"""Medians with the intervals of a bootstrap, computed exactly; above 10,000 items by rank."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.grouped_summaries import grouped_summaries

from quaestor.base.errors import InputError
from quaestor.measures.descriptive import MAX_RESAMPLED, REPLICATES, draw_median_positions, summary
from quaestor.measures.records import Summary

VALUES = st.lists(st.floats(-1e6, 1e6) | st.just(math.nan) | st.integers(0, 3).map(float), max_size=40)


def heavy(n: int, seed: int = 1) -> NDArray[np.float64]:
    """Days as they come: most short, a few very long."""
    return np.round(np.random.default_rng(seed).lognormal(0, 2, n), 2)


def resampled_one_by_one(n: int, replicates: int, seed: int) -> NDArray[np.int64]:
    """The two middle places of bootstrap samples, made by drawing every item."""
    drawn = np.sort(np.random.default_rng(seed).integers(0, n, (replicates, n)), axis=1)
    return drawn[:, [(n - 1) // 2, n // 2]]


@given(VALUES)
@settings(deadline=None)
def test_median_and_quartiles_match_numpy(values: list[float]) -> None:
    known = np.array([value for value in values if not math.isnan(value)])
    found = summary(values, seed=0)
    assert found.n == len(known)
    assert found.missing == len(values) - len(known)
    if found.n:
        assert found.median == np.median(known)
        assert (found.q1, found.q3) == tuple(np.quantile(known, [0.25, 0.75]))


@given(VALUES, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_items_does_not_matter(values: list[float], shuffler: random.Random) -> None:
    assert summary(shuffler.sample(values, len(values)), seed=3) == summary(values, seed=3)


@given(VALUES)
@settings(deadline=None)
def test_the_interval_lies_around_the_median_and_within_the_values(values: list[float]) -> None:
    found = summary(values, seed=0)
    if found.how:
        assert found.low is not None
        assert found.high is not None
        assert found.median is not None
        assert np.nanmin(values) <= found.low <= found.median <= found.high <= np.nanmax(values)


@pytest.mark.parametrize("n", [2, 3, 8, 21, 50])
def test_the_positions_of_the_middle_values_are_distributed_as_in_a_bootstrap(n: int) -> None:
    lower, upper = draw_median_positions(n, 5)
    naive = resampled_one_by_one(n, 60_000, seed=9)
    for ours, theirs in ((lower, naive[:, 0]), (upper, naive[:, 1]), (lower + upper, naive.sum(axis=1))):
        steps = np.arange(2 * n)
        distance = np.abs(
            np.searchsorted(np.sort(ours), steps, "right") / REPLICATES
            - np.searchsorted(np.sort(theirs), steps, "right") / len(theirs)
        ).max()
        assert distance < 1.63 * math.sqrt(1 / REPLICATES + 1 / len(theirs))  # Kolmogorov and Smirnov at 1 %


@pytest.mark.parametrize("n", [4, 6, 20])
def test_the_two_middle_values_are_correlated_as_in_a_bootstrap(n: int) -> None:
    lower, upper = draw_median_positions(n, 2)
    naive = resampled_one_by_one(n, 60_000, seed=4)
    assert np.mean(lower == upper) == pytest.approx(np.mean(naive[:, 0] == naive[:, 1]), abs=0.02)
    assert np.corrcoef(lower, upper)[0, 1] == pytest.approx(np.corrcoef(naive.T)[0, 1], abs=0.02)


@pytest.mark.parametrize("n", [9, 40, 401])
def test_the_interval_matches_scipys_percentile_bootstrap(n: int) -> None:
    from scipy import stats

    values = np.random.default_rng(n).normal(0, 1, n)
    found = summary(values, seed=1)
    expected = stats.bootstrap(
        (values,), np.median, method="percentile", n_resamples=10_000, rng=np.random.default_rng(2)
    )
    spread = expected.standard_error
    assert found.how == "bootstrap"
    assert found.low == pytest.approx(expected.confidence_interval.low, abs=0.25 * spread)
    assert found.high == pytest.approx(expected.confidence_interval.high, abs=0.25 * spread)


@pytest.mark.parametrize("n", [MAX_RESAMPLED + 1, MAX_RESAMPLED + 2, 54_321])
def test_above_ten_thousand_items_the_interval_matches_scipys_order_statistics(n: int) -> None:
    from scipy import stats

    values = np.random.default_rng(n).lognormal(0, 2, n)  # no ties, so that the next place is another value
    found = summary(values, seed=1)
    expected = stats.quantile_test(values, p=0.5).confidence_interval()
    assert found.how == "order statistics"
    assert (found.low, found.high) == (expected.low, expected.high)


def test_bootstrap_and_order_statistics_nearly_agree_at_the_limit() -> None:
    values = np.random.default_rng(3).normal(0, 1, MAX_RESAMPLED + 1)
    by_rank, resampled = summary(values, seed=0), summary(values[:-1], seed=0)
    assert (by_rank.how, resampled.how) == ("order statistics", "bootstrap")
    assert by_rank.low == pytest.approx(resampled.low, abs=0.002)
    assert by_rank.high == pytest.approx(resampled.high, abs=0.002)


def test_intervals_contain_the_median_about_95_percent_of_the_time() -> None:
    generator = np.random.default_rng(8)
    found = [summary(generator.exponential(1, 60), seed=run) for run in range(400)]
    held = sum(one.low <= math.log(2) <= one.high for one in found if one.low is not None and one.high is not None)
    assert 368 <= held <= 394


@given(st.lists(st.tuples(st.floats(0, 100) | st.just(math.nan), st.integers(-1, 4)), max_size=40))
@settings(deadline=None)
def test_each_group_is_summarised_as_if_it_were_alone(items: list[tuple[float, int]]) -> None:
    found = grouped_summaries([value for value, _ in items], [group for _, group in items], 5, seed=7)
    assert found == [summary([value for value, group in items if group == code], seed=7) for code in range(5)]


def test_adding_a_group_does_not_change_the_interval_of_another() -> None:
    values, groups = heavy(300), np.repeat([0, 1, 2], 100)
    alone = grouped_summaries(values[:100], groups[:100], 1, seed=0)[0]
    assert alone == grouped_summaries(values, groups, 3, seed=0)[0]


def test_another_seed_changes_the_interval_slightly_but_not_the_median() -> None:
    values = np.random.default_rng(0).normal(0, 1, 99)
    one, other = summary(values, seed=1), summary(values, seed=2)
    assert summary(values, seed=1) == one
    assert one.median == other.median
    assert (one.low, one.high) != (other.low, other.high)
    assert one.low == pytest.approx(other.low, abs=0.08)


def test_the_median_of_no_items_is_undefined() -> None:
    assert summary([], seed=0) == Summary(0, undefined="undefined, because no item has a value")
    assert summary([math.nan, math.nan], seed=0).missing == 2


def test_one_item_is_its_own_median_without_an_interval() -> None:
    found = summary([4.5, math.nan], seed=0)
    why = "the interval is undefined, because one item has no spread"
    assert found == Summary(1, 1, 4.5, 4.5, 4.5, undefined=why)


@pytest.mark.parametrize("n", [2, 3, 500, MAX_RESAMPLED + 5])
def test_the_interval_of_equal_values_is_that_value(n: int) -> None:
    found = summary(np.full(n, 0.1), seed=0)
    assert (found.median, found.q1, found.q3, found.low, found.high) == (0.1,) * 5


@pytest.mark.parametrize(("values", "groups"), [([1.0, math.inf], [0, 0]), ([1.0], [0, 1]), ([1.0], [2])])
def test_invalid_values_are_refused(values: Any, groups: Any) -> None:
    with pytest.raises(InputError):
        grouped_summaries(values, groups, 2, seed=0)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 400), st.integers(0, 2**32))
def test_drawn_positions_stay_within_the_values(n: int, seed: int) -> None:
    lower, upper = draw_median_positions(n, seed)
    assert lower.min() >= 0
    assert upper.max() < n
    assert (lower <= upper).all()
