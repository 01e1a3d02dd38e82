"""Kruskal–Wallis, Dunn and Holm against scipy, scikit-posthocs and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from quaestor.measures.group_comparison import holm, kruskal_wallis

ITEMS = st.lists(st.tuples(st.integers(0, 6).map(float) | st.just(math.nan), st.integers(-1, 4)), max_size=40)


def grouped(seed: int, n: int, groups: int, *, tied: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Unequal groups whose values drift apart a little."""
    generator = np.random.default_rng(seed)
    group = generator.choice(groups, n, p=generator.dirichlet(np.full(groups, 3.0)))
    values = generator.lognormal(0, 1, n) + 0.2 * group
    return (np.round(values) if tied else values), group


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("seed", "n", "groups"), [(1, 12, 2), (2, 60, 3), (3, 400, 7), (4, 2_401, 7)])
def test_kruskal_wallis_matches_scipy(seed: int, n: int, groups: int, tied: bool) -> None:
    from scipy import stats

    values, group = grouped(seed, n, groups, tied=tied)
    present = np.unique(group)
    found = kruskal_wallis(values, group, groups)
    expected = stats.kruskal(*(values[group == code] for code in present))
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-8)
    assert (found.df, found.n, found.groups) == (len(present) - 1, n, tuple(present))


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("seed", "n", "groups"), [(2, 60, 3), (3, 400, 7), (4, 2_401, 7)])
def test_dunns_test_matches_scikit_posthocs(seed: int, n: int, groups: int, tied: bool) -> None:
    import scikit_posthocs

    values, group = grouped(seed, n, groups, tied=tied)
    parts = [values[group == code] for code in np.unique(group)]
    plain, adjusted = (scikit_posthocs.posthoc_dunn(parts, p_adjust=way).to_numpy() for way in (None, "holm"))
    pairs = kruskal_wallis(values, group, groups).pairs
    assert len(pairs) == len(parts) * (len(parts) - 1) // 2
    places = {int(code): place for place, code in enumerate(np.unique(group))}
    for pair in pairs:
        cell = places[pair.first], places[pair.second]
        assert pair.p == pytest.approx(plain[cell], rel=1e-8)
        assert pair.adjusted == pytest.approx(adjusted[cell], rel=1e-8)
        means = [np.mean(ranks_of(values)[group == code]) for code in (pair.first, pair.second)]
        assert math.copysign(1, pair.z) == math.copysign(1, means[0] - means[1])


def ranks_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy import stats

    return np.asarray(stats.rankdata(values))


@pytest.mark.parametrize("n", [1, 2, 5, 21])
def test_holms_correction_matches_statsmodels(n: int) -> None:
    from statsmodels.stats.multitest import multipletests

    p_values = np.round(np.random.default_rng(n).beta(0.3, 2, n), 2)
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-12)


def test_holms_correction_matches_a_calculation_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.7, 0.6]) == pytest.approx([1, 1])
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(deadline=None)
def test_corrected_p_values_keep_their_order_and_never_fall(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert (adjusted >= p_values).all()
    assert adjusted.max() <= 1
    assert (np.diff(adjusted[np.argsort(p_values)]) >= 0).all()


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_epsilon_squared_is_the_r_squared_of_a_regression_of_ranks_on_groups(groups: int, tied: bool) -> None:
    from statsmodels.api import OLS

    values, group = grouped(groups, 60, groups, tied=tied)
    ranks = ranks_of(values)
    known = OLS(ranks, (group[:, None] == np.arange(groups)).astype(float)).fit()
    within = float((known.resid**2).sum())
    found = kruskal_wallis(values, group, groups)
    assert found.epsilon_squared == pytest.approx(1 - within / float(((ranks - ranks.mean()) ** 2).sum()))
    assert found.band in ("negligible", "small", "medium", "large")


def test_the_statistic_matches_a_calculation_by_hand() -> None:
    """Ranks 1 2 | 3 4 | 5 6: H = 12 ÷ (6 × 7) × (9 ÷ 2 + 49 ÷ 2 + 121 ÷ 2) − 3 × 7."""
    found = kruskal_wallis([1, 2, 10, 20, 300, 400], [0, 0, 1, 1, 2, 2], 3)
    assert found.statistic == pytest.approx(12 / 42 * 89.5 - 21)
    error = math.sqrt(6 * 7 / 12 * (1 / 2 + 1 / 2))
    assert [pair.z for pair in found.pairs] == pytest.approx([-2 / error, -4 / error, -2 / error])


@given(ITEMS)
@settings(deadline=None)
def test_order_of_items_codes_of_groups_and_monotone_maps_do_not_matter(items: list[tuple[float, int]]) -> None:
    values, group = np.array([value for value, _ in items]), np.array([code for _, code in items], dtype=int)
    found = kruskal_wallis(values, group, 5)
    renamed = np.array([4, 2, 0, 3, 1, -1])[group]
    for again in (
        kruskal_wallis(values[::-1], group[::-1], 5),
        kruskal_wallis(values, renamed, 5),
        kruskal_wallis(np.exp(values), group, 5),
    ):
        assert again.statistic == pytest.approx(found.statistic, abs=1e-9)
        assert again.undefined == found.undefined
        assert sorted(pair.p for pair in again.pairs) == pytest.approx(sorted(pair.p for pair in found.pairs), abs=1e-9)


@given(ITEMS)
@settings(deadline=None)
def test_results_are_never_nan(items: list[tuple[float, int]]) -> None:
    found = kruskal_wallis([value for value, _ in items], [code for _, code in items], 5)
    assert (found.p is None) == bool(found.undefined)
    if found.p is None:
        assert found.pairs == ()
        return
    assert found.statistic is not None
    assert found.statistic >= 0
    assert 0 <= found.p <= 1
    assert all(math.isfinite(pair.z) and 0 <= pair.p <= pair.adjusted <= 1 for pair in found.pairs)


def test_groups_without_values_are_ignored() -> None:
    values, group = [1.0, 4.0, 2.0, 8.0, math.nan, 3.0], [0, 0, 3, 3, 1, -1]
    found = kruskal_wallis(values, group, 5)
    alone = kruskal_wallis(values[:4], [0, 0, 1, 1], 2)
    assert found.groups == (0, 3)
    assert (found.statistic, found.p) == (alone.statistic, alone.p)


@pytest.mark.parametrize(
    ("values", "groups", "why"),
    [
        ([], [], "fewer than two groups have values"),
        ([1.0, 2.0], [2, 2], "fewer than two groups have values"),
        ([1.0, math.nan], [0, 1], "fewer than two groups have values"),
        ([7.0, 7.0, 7.0], [0, 1, 2], "every value is the same"),
    ],
)
def test_an_undefined_test_has_a_reason(values: list[float], groups: list[int], why: str) -> None:
    found = kruskal_wallis(values, groups, 3)
    assert found.undefined == f"undefined, because {why}"
    assert found.statistic is found.p is found.df is None


def test_two_items_in_two_groups_are_enough_for_a_p_value() -> None:
    found = kruskal_wallis([1, 2], [0, 1], 2)
    assert found.statistic == pytest.approx(1)
    assert found.pairs[0].p == pytest.approx(found.p)
