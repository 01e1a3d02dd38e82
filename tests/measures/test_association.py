"""Fisher, chi-square and permuted chi-square against scipy and against every table there can be."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.measures import association as room
from quaestor.measures.association import association
from quaestor.measures.descriptive import count_pairs

TABLES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 12), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(3, 2), (7, 3), (4, 6)])
def test_chi_square_and_cramers_v_match_scipy(seed: int, shape: tuple[int, int]) -> None:
    from scipy import stats
    from scipy.stats.contingency import association as strength

    table = np.random.default_rng(seed).integers(20, 60, shape)
    found, expected = association(table, seed=0), stats.chi2_contingency(table, correction=False)
    assert found.test == "chi-square"
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.df == expected.dof
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.cramers_v == pytest.approx(strength(table, method="cramer"), rel=1e-12)


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
@settings(max_examples=200, deadline=None)
def test_two_by_two_tables_use_fishers_exact_test_and_match_scipy(cells: list[int]) -> None:
    from scipy import stats

    table = np.array(cells).reshape(2, 2)
    found = association(table, seed=0)
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        assert found.p is None
        return
    assert found.test == "Fisher's exact"
    assert found.p == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-7)
    assert found.statistic is found.df is None


def test_the_exact_test_holds_for_very_many_items() -> None:
    from scipy import stats

    table = [[250_400, 249_600], [249_500, 250_500]]
    assert association(table, seed=0).p == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-5)


def test_the_lady_tasting_tea() -> None:
    found = association([[3, 1], [1, 3]], seed=0)
    assert found.p == pytest.approx(34 / 70)
    assert found.cramers_v == pytest.approx(0.5)


@pytest.mark.parametrize("table", [[[3, 0, 1], [0, 2, 2]], [[2, 1, 0], [0, 1, 1], [1, 0, 2]]])
def test_the_permuted_p_value_matches_all_permutations(table: list[list[int]]) -> None:
    counts = np.array(table)
    rows, columns = (np.repeat(places, counts.ravel()) for places in np.indices(counts.shape).reshape(2, -1))
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    least = ((counts - expected) ** 2 / expected).sum() - 1e-9
    dealt = np.array(list(permutations(columns.tolist())))
    cells = (rows * counts.shape[1] + dealt) + np.arange(len(dealt))[:, None] * counts.size
    tables = np.bincount(cells.ravel(), minlength=len(dealt) * counts.size).reshape(-1, *counts.shape)
    exact = float((((tables - expected) ** 2 / expected).sum(axis=(1, 2)) >= least).mean())
    found = association(counts, seed=1)
    assert found.test == "chi-square, permuted"
    assert found.df is None
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / room.REPLICATES))


def test_the_permuted_p_value_matches_scipy_on_a_larger_sparse_table() -> None:
    from scipy import stats

    generator = np.random.default_rng(4)
    rows = generator.choice(12, 150, p=generator.dirichlet(np.full(12, 0.7)))
    columns = np.where(generator.random(150) < 0.15, rows % 3, generator.integers(0, 3, 150))
    found = association(count_pairs(rows, 12, columns, 3), seed=0)
    table = count_pairs(rows, 12, columns, 3)
    table = table[table.sum(axis=1) > 0]
    method = stats.PermutationMethod(n_resamples=9_999, rng=np.random.default_rng(1))
    expected = stats.chi2_contingency(table, correction=False, method=method)
    assert found.test == "chi-square, permuted"
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue, abs=0.02)
    assert 0.001 < expected.pvalue < 0.5


def test_the_permuted_p_value_is_never_zero_and_is_reproducible() -> None:
    table = np.diag([3] * 6)
    found = association(table, seed=5)
    assert found.p == 1 / (1 + room.REPLICATES)
    assert found.cramers_v == 1
    blurred = [[1, 2, 0], [0, 3, 4], [2, 2, 2]]
    assert association(blurred, seed=5) == association(blurred, seed=5)
    assert association(blurred, seed=5).p != association(blurred, seed=6).p


def test_with_a_fifth_of_sparse_cells_the_chi_square_distribution_is_used() -> None:
    assert association([[8, 8, 20, 20, 20], [1, 1, 9, 9, 9]], seed=0).test == "chi-square"
    assert association([[8, 8, 20, 20], [1, 1, 9, 9]], seed=0).test == "chi-square, permuted"


@given(TABLES)
@settings(max_examples=60, deadline=None)
def test_results_are_never_nan_and_empty_codes_do_not_matter(table: list[list[int]]) -> None:
    found = association(table, seed=0)
    assert (found.p is None) == (found.cramers_v is None) == bool(found.undefined)
    if found.p is not None and found.cramers_v is not None:
        assert 0 < found.p <= 1
        assert 0 <= found.cramers_v <= 1
    padded = np.zeros((len(table) + 2, len(table[0]) + 1), dtype=int)
    padded[1:-1, :-1] = table
    assert association(padded, seed=0) == found


def test_without_association_the_permuted_p_value_is_one() -> None:
    """The rounding of sums must not make equal tables look unequal."""
    assert association(np.transpose([[3, 7, 7], [3, 7, 7]]), seed=0).p == 1


@given(TABLES)
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_two_attributes_does_not_matter(table: list[list[int]]) -> None:
    found, turned = association(table, seed=0), association(np.transpose(table), seed=0)
    assert (found.test, found.df, found.undefined) == (turned.test, turned.df, turned.undefined)
    assert found.cramers_v == pytest.approx(turned.cramers_v, abs=1e-12)
    assert found.p == pytest.approx(turned.p, abs=0.03 if "permuted" in found.test else 1e-9)


@pytest.mark.parametrize(
    ("table", "n", "why"),
    [
        ([[0, 0], [0, 0]], 0, "there are no items"),
        (np.zeros((0, 3), dtype=int), 0, "there are no items"),
        ([[4, 0, 7]], 11, "one of the two attributes is the same for every item"),
        ([[4, 0], [7, 0]], 11, "one of the two attributes is the same for every item"),
        ([[1]], 1, "one of the two attributes is the same for every item"),
    ],
)
def test_an_undefined_test_has_a_reason(table: Any, n: int, why: str) -> None:
    found = association(table, seed=0)
    assert (found.n, found.test, found.p, found.undefined) == (n, "", None, f"undefined, because {why}")


@pytest.mark.parametrize("table", [[[1, -1], [2, 2]], [[0.5, 1], [1, 1]], [1, 2, 3]])
def test_an_invalid_table_of_counts_is_refused(table: Any) -> None:
    with pytest.raises(InputError, match="counts"):
        association(table, seed=0)
