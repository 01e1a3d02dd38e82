"""The values that printed figures allow for each other, against all possible tables."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from quaestor.measures.agreement.chance_corrected import kappa_range
from quaestor.measures.association import correlation_p_value, p_range


@cache
def kappa_of(both: int, first: int, second: int, neither: int) -> float | None:
    """Cohen's kappa by an independent implementation; None where both raters gave one answer throughout."""
    one = [1] * (both + first) + [0] * (second + neither)
    other = [1] * both + [0] * first + [1] * second + [0] * neither
    if len({*one, *other}) == 1:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(cohen_kappa_score(one, other))


def by_hand(items: int, disagreements: int, kept: int | None) -> tuple[float, float] | None:
    """The extremes over all two-by-two tables, and over all ways to settle their disagreements."""
    found = []
    for both in range(items - disagreements + 1):
        for first in range(disagreements + 1):
            if kept is not None and not both <= kept <= both + disagreements:
                continue
            value = kappa_of(both, first, disagreements - first, items - disagreements - both)
            if value is not None:
                found.append(value)
    return (min(found), max(found)) if found else None


@pytest.mark.parametrize("items", range(1, 8))
def test_the_range_of_kappa_equals_that_of_all_tables(items: int) -> None:
    for disagreements in range(items + 1):
        for kept in (None, *range(items + 1)):
            found, expected = kappa_range(items, disagreements, kept), by_hand(items, disagreements, kept)
            assert (found is None) == (expected is None), (items, disagreements, kept)
            if found is not None and expected is not None:
                assert found == pytest.approx(expected, abs=1e-12), (items, disagreements, kept)


@given(st.integers(8, 400), st.data())
def test_no_table_has_a_kappa_outside_the_range(items: int, data: st.DataObject) -> None:
    disagreements = data.draw(st.integers(0, items))
    both = data.draw(st.integers(0, items - disagreements))
    first = data.draw(st.integers(0, disagreements))
    kept = data.draw(st.none() | st.integers(both, both + disagreements))
    value = kappa_of(both, first, disagreements - first, items - disagreements - both)
    found = kappa_range(items, disagreements, kept)
    if value is not None:
        assert found is not None
        assert found[0] - 1e-9 <= value <= found[1] + 1e-9


@pytest.mark.parametrize(
    ("items", "disagreements", "kept"),
    [(0, 0, None), (10, 11, None), (10, -1, None), (10, 2, 11), (10, 2, 40), (10, 2, -1), (1, 0, None), (9, 0, 9)],
)
def test_impossible_counts_have_no_kappa(items: int, disagreements: int, kept: int | None) -> None:
    assert kappa_range(items, disagreements, kept) is None


def test_the_printed_kappa_of_the_bundled_study_is_impossible_for_its_candidates() -> None:
    found = kappa_range(3842, 174, 2401)
    assert found is not None
    assert [round(bound, 2) for bound in found] == [0.9, 0.91]


@given(st.lists(st.tuples(st.integers(-40, 40), st.integers(-40, 40)), min_size=3, max_size=25))
def test_the_p_value_matches_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, np.float64).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    expected = stats.pearsonr(x, y)
    if abs(expected.statistic) > 1 - 1e-9:
        return
    assert correlation_p_value(float(expected.statistic), len(pairs)) == pytest.approx(expected.pvalue, rel=1e-6)


def test_a_perfect_correlation_has_p_0_and_two_pairs_have_none() -> None:
    assert correlation_p_value(1.0, 5) == correlation_p_value(-1.0, 3) == 0.0
    assert correlation_p_value(0.5, 2) is None
    assert p_range(0.5, 2, 2) is None


@given(st.floats(-1, 1), st.integers(1, 4), st.integers(3, 200))
def test_the_p_value_of_a_coefficient_is_within_the_range_of_its_printed_form(r: float, decimals: int, n: int) -> None:
    bounds, p = p_range(round(r, decimals), decimals, n), correlation_p_value(r, n)
    assert bounds is not None
    assert p is not None
    assert bounds[0] - 1e-9 <= p <= bounds[1] + 1e-9
    assert p_range(-round(r, decimals), decimals, n) == bounds
