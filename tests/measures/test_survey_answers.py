"""Survey statistics against independent libraries, or calculations by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from quaestor.base.errors import InputError
from quaestor.measures.survey_answers import (
    GroupDifference,
    adjust_p_values,
    compare_groups,
    distribution,
    mean,
    multiple_shares,
    rankings,
    single_shares,
)

TABLES = st.integers(2, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 60), min_size=columns, max_size=columns), min_size=2, max_size=5
    )
)  # fmt: skip


def test_shares_of_a_single_choice_count_respondents_who_chose() -> None:
    found = single_shares([0, 0, 2, -1, -1], 3)
    assert [(one.count, one.of) for one in found] == [(2, 3), (0, 3), (1, 3)]
    low, high = proportion_confint(2, 3, method="wilson")
    assert (found[0].low, found[0].high) == (pytest.approx(low), pytest.approx(high))


def test_shares_of_several_choices_are_of_respondents_and_exceed_the_whole() -> None:
    chosen = np.array([[1, 1], [1, 0], [0, 0], [1, 1]], np.bool_)
    answered = np.array([True, True, False, True])
    found = multiple_shares(chosen, answered)
    assert [(one.count, one.of) for one in found] == [(3, 3), (2, 3)]
    with pytest.raises(InputError, match="a row for each respondent"):
        multiple_shares(chosen, answered[:2])


def test_the_interval_of_a_mean_matches_a_bootstrap() -> None:
    values = np.random.default_rng(5).integers(0, 30, 120).astype(float)
    found = mean(values, 7)
    known = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=9_999, rng=1).confidence_interval
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(known.low, abs=0.15)
    assert found.high == pytest.approx(known.high, abs=0.15)
    assert found == mean(values[::-1], 7), "the order tells nothing"
    assert found != mean(values, 8)


def test_the_mean_of_many_values_has_a_normal_interval_and_of_none_is_undefined() -> None:
    values = np.random.default_rng(5).normal(50, 9, 20_000)
    found = mean(values, 0)
    assert found.how == "analytic"
    assert found.se == pytest.approx(stats.sem(values))
    assert mean([math.nan], 0).undefined == "undefined, because no item has a value"
    assert (mean([3], 0).value, mean([3], 0).low) == (3, None)
    alike = mean([2.5, 2.5], 0)
    assert (alike.low, alike.high) == (2.5, 2.5)


def test_the_mean_rank_counts_respondents_who_ranked_the_option() -> None:
    places = np.array([[1, 2, 3], [2, 1, 0], [0, 0, 0], [1, 3, 2]], np.int16)
    first, second, third = rankings(places, 0)
    assert [one.placed for one in (first, second, third)] == [3, 3, 2]
    assert [one.mean.value for one in (first, second, third)] == [pytest.approx(4 / 3), 2, 2.5]
    assert [(one.first.count, one.first.of) for one in (first, second, third)] == [(2, 3), (1, 3), (0, 3)]


def test_numbers_are_counted_individually_or_in_round_ranges() -> None:
    assert [(label, one.count) for label, one in distribution([3, 1, 3], 12)] == [("1", 1), ("3", 2)]
    labels, shares = zip(*distribution(range(100), 12), strict=True)
    assert labels[:2] == ("0 to under 10", "10 to under 20")
    assert labels[-1] == "90 to 100"
    assert {share.count for share in shares} == {10}
    assert distribution([], 12) == []


@pytest.mark.parametrize("size", [1e-300, 5e-324, 1e-12, 1e-9, 1e6, 1e14, 1e140])
def test_ranges_of_very_small_and_very_large_numbers_have_distinct_labels(size: float) -> None:
    values = [place * size for place in range(1, 40)]
    labels, shares = zip(*distribution(values, 12), strict=True)
    assert len(set(labels)) == len(labels)
    assert sum(share.count for share in shares) == 39
    assert not any(label.startswith("0 to under 0") for label in labels)


def test_large_numbers_that_differ_in_their_last_digits_have_distinct_labels() -> None:
    assert [label for label, _ in distribution([1234567, 1234568], 12)] == ["1234567", "1234568"]


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_every_number_is_counted_in_the_distribution(values: list[float]) -> None:
    found = distribution(values, 12)
    assert sum(one.count for _, one in found) == len(values)
    assert len(found) <= 14


@settings(max_examples=80, deadline=None)
@given(table=TABLES)
def test_the_interval_of_v_matches_the_noncentral_distribution(table: list[list[int]]) -> None:
    found = compare_groups(table, 3)
    if found.association.undefined:
        assert found.strength.undefined
        return
    kept = np.array(table)[np.array(table).sum(axis=1) > 0][:, np.array(table).sum(axis=0) > 0]
    statistic = stats.chi2_contingency(kept, correction=False).statistic
    assert found.strength.value == pytest.approx(stats.contingency.association(kept, method="cramer"), abs=1e-9)
    df, scale = (kept.shape[0] - 1) * (kept.shape[1] - 1), kept.sum() * (min(kept.shape) - 1)
    low, high = found.strength.low, found.strength.high
    assert low is not None
    assert high is not None
    assert 0 <= low <= high <= 1
    if low > 0:
        assert stats.ncx2.cdf(statistic, df, low**2 * scale) == pytest.approx(0.975, abs=1e-6)
    else:
        assert stats.chi2.sf(statistic, df) >= 0.025 - 1e-9
    if high < 1:
        assert stats.ncx2.cdf(max(statistic, df), df, high**2 * scale) == pytest.approx(0.025, abs=1e-6)


def test_few_answers_do_not_prove_that_groups_are_equal() -> None:
    found = compare_groups([[9, 9], [8, 8], [4, 5]], 0).strength
    assert found.value == pytest.approx(0.04, abs=0.01)
    assert found.low == 0
    assert found.high is not None
    assert found.high > 0.3


def test_the_test_depends_on_the_table_and_states_its_doubts() -> None:
    large = compare_groups([[30, 10, 25], [20, 40, 19]], 0)
    assert large.association.test == "chi-square"
    assert large.association.p == pytest.approx(stats.chi2_contingency([[30, 10, 25], [20, 40, 19]]).pvalue)
    assert large.doubts == ()
    assert large.strength.band == "medium"
    small = compare_groups([[3, 1], [1, 4]], 0)
    assert small.association.test == "Fisher's exact"
    assert small.association.p == pytest.approx(stats.fisher_exact([[3, 1], [1, 4]]).pvalue)
    assert small.doubts == ("the smallest group has 4 answers, too few for reliable conclusions",)
    sparse = compare_groups([[3, 1, 9], [1, 4, 2], [2, 2, 1]], 0)
    assert sparse.association.test == "chi-square, permuted"
    assert len(sparse.doubts) == 2
    assert compare_groups([[5, 5], [0, 0]], 0).association.undefined


def test_several_tests_of_one_question_are_corrected_together() -> None:
    tests = [
        compare_groups([[30, 10], [20, 40]], 0),
        compare_groups([[5, 5], [0, 0]], 0),
        compare_groups([[25, 20], [25, 30]], 0),
    ]
    known = [test.association.p for test in tests if test.association.p is not None]
    expected = multipletests(known, method="holm")[1].tolist()
    found = adjust_p_values(tests)
    assert [one.adjusted for one in found] == [pytest.approx(expected[0]), None, pytest.approx(expected[1])]
    assert all(isinstance(one, GroupDifference) for one in found)
