"""Items counted by code, and shares with Wilson's interval, against pandas and statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.measures.descriptive import count_groups, count_pairs, share

PAIRS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), max_size=40)


@given(PAIRS)
@settings(deadline=None)
def test_pair_counts_match_pandas_and_keep_empty_codes(pairs: list[tuple[int, int]]) -> None:
    import pandas

    frame = pandas.DataFrame(pairs, columns=["row", "column"], dtype=int)
    known = frame[(frame["row"] >= 0) & (frame["column"] >= 0)]
    expected = known.groupby(["row", "column"]).size().unstack(fill_value=0).reindex(range(4), fill_value=0)
    expected = expected.reindex(columns=range(3), fill_value=0)
    found = count_pairs([row for row, _ in pairs], 4, [column for _, column in pairs], 3)
    assert found.shape == (4, 3)
    assert found.tolist() == expected.to_numpy().tolist()


@given(PAIRS)
@settings(deadline=None)
def test_pair_counts_include_every_item_with_both_codes(pairs: list[tuple[int, int]]) -> None:
    rows, columns = [row for row, _ in pairs], [column for _, column in pairs]
    found = count_pairs(rows, 4, columns, 3)
    assert found.sum() == sum(row >= 0 and column >= 0 for row, column in pairs)
    with_column = [row for row, column in pairs if column >= 0]
    assert found.sum(axis=1).tolist() == count_groups(with_column, 4).tolist()


def test_pair_counts_of_no_items_have_the_full_shape() -> None:
    assert count_pairs([], 2, [], 3).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("rows", "columns", "what"),
    [
        ([0, 4], [0, 0], "rows have codes from 0 to 4, but there are 4 codes"),
        ([0, 0], [-2, 0], "columns have codes from -2 to 0"),
        ([0.5], [0], "rows are float64, not whole numbers"),
        ([0, 1], [0], "rows and columns have 2 and 1 entries"),
        ([[0]], [0], "rows have 2 dimensions"),
    ],
)
def test_invalid_codes_are_refused_with_a_remedy(rows: Any, columns: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        count_pairs(rows, 4, columns, 3)


@given(st.integers(1, 5_000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
@settings(deadline=None)
def test_the_interval_of_a_share_matches_wilsons_in_statsmodels(counted: tuple[int, int]) -> None:
    from statsmodels.stats.proportion import proportion_confint

    found = share(*counted)
    low, high = proportion_confint(*counted, method="wilson")
    assert found.value == counted[0] / counted[1]
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_the_interval_of_a_share_stays_between_zero_and_one() -> None:
    nothing, everything = share(0, 7), share(7, 7)
    assert nothing.low == 0
    assert everything.high == 1
    assert nothing.high == pytest.approx(1 - (everything.low or 0))
    assert nothing.high == pytest.approx(0.354330, abs=1e-6)


def test_a_share_of_no_items_is_undefined() -> None:
    found = share(0, 0)
    assert found.value is found.low is found.high is None
    assert found.undefined == "undefined, because there are no items"


@pytest.mark.parametrize(("count", "of"), [(3, 2), (-1, 2)])
def test_a_count_above_the_total_is_refused(count: int, of: int) -> None:
    with pytest.raises(InputError, match=f"{count} of {of} items is not a share"):
        share(count, of)


def test_counts_are_plain_numbers() -> None:
    counts = count_pairs(np.array([0, 1]), 2, np.array([1, 1]), 2).tolist()
    assert all(type(cell) is int for row in counts for cell in row)
