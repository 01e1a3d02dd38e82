"""Co-occurrence and saturation of codes in interviews, against counting by hand and other methods."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from quaestor.base.errors import InputError
from quaestor.measures import co_occurrence as interviews
from quaestor.measures.co_occurrence import (
    StoppingRule,
    accumulate_codes,
    apply_rule,
    character_overlap,
    co_occurrence,
    expected_codes,
    order_interval,
    participant_shares,
    saturation,
)

TABLES = st.integers(1, 6).flatmap(
    lambda codes: st.lists(st.lists(st.booleans(), min_size=codes, max_size=codes), min_size=1, max_size=5)
)


def flags(rows: list[list[bool]] | list[list[int]]) -> interviews.Flags:
    return np.array(rows, bool)


def test_participants_are_counted_once_with_wilsons_interval() -> None:
    found = participant_shares(np.array([[3, 0, 1, 0], [0, 0, 0, 0]]))
    assert [(one.count, one.of, one.value) for one in found] == [(2, 4, 0.5), (0, 4, 0.0)]
    assert (found[0].low, found[0].high) == pytest.approx(proportion_confint(2, 4, method="wilson"))
    with pytest.raises(InputError, match="a row for each code"):
        participant_shares(np.array([1, 2]))


@given(TABLES)
def test_co_occurrence_equals_counting_with_sets(rows: list[list[bool]]) -> None:
    found = co_occurrence(flags(rows))
    units = [{place for place, there in enumerate(row) if there} for row in rows]
    for a in range(len(rows[0])):
        for b in range(len(rows[0])):
            both = sum({a, b} <= unit for unit in units)
            either = sum(bool({a, b} & unit) for unit in units)
            assert found.counts[a, b] == both
            assert math.isnan(found.jaccard[a, b]) if not either else found.jaccard[a, b] == both / either


@given(st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 12), st.integers(1, 9), st.integers(0, 2)), max_size=8))
def test_shared_words_are_counted_character_by_character(drawn: list[tuple[str, int, int, int]]) -> None:
    stretches = [(text, start, start + length, code) for text, start, length, code in drawn]
    places: list[set[tuple[str, int]]] = [set(), set(), set()]
    for text, start, end, code in stretches:
        places[code] |= {(text, at) for at in range(start, end)}
    found = character_overlap(stretches, 3)
    for a in range(3):
        for b in range(3):
            assert found.counts[a, b] == len(places[a] & places[b])
            if places[a] | places[b]:
                assert found.jaccard[a, b] == len(places[a] & places[b]) / len(places[a] | places[b])


@given(TABLES)
def test_the_mean_over_all_orders_equals_the_exact_formula(rows: list[list[bool]]) -> None:
    found = flags(rows)
    curves = [accumulate_codes(found[list(order)]) for order in permutations(range(len(found)))]
    assert expected_codes(found) == pytest.approx(np.mean(curves, axis=0))
    low, high = order_interval(found, 1)
    assert low == pytest.approx(np.quantile(curves, 0.025, axis=0))
    assert high == pytest.approx(np.quantile(curves, 0.975, axis=0))


def test_random_orders_scatter_around_the_mean_and_depend_only_on_the_seed() -> None:
    found = np.random.default_rng(3).random((12, 30)) < 0.2
    low, high = order_interval(found, 5)
    assert (low, high) == order_interval(found, 5)
    expected = expected_codes(found)
    assert all(below <= mean <= above for below, mean, above in zip(low, expected, high, strict=True))
    assert low[-1] == high[-1] == accumulate_codes(found)[-1] == pytest.approx(expected[-1])
    assert low[3] < expected[3] < high[3]


def test_new_codes_are_counted_in_the_order_of_interviews() -> None:
    found = saturation(flags([[1, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1]]), 1)
    assert (found.new, found.total) == ((2, 0, 1), (2, 2, 3))
    assert saturation(np.zeros((0, 3), bool), 1).new == ()


def test_a_stopping_rule_compares_a_run_with_the_base() -> None:
    """37 codes in the base of four, then 3, 1, 2, 0, 1 and 0 new ones; runs of two begin one after another."""
    new = [10, 10, 9, 8, 3, 1, 2, 0, 1, 0]
    found = np.zeros((len(new), sum(new)), bool)
    for row, end in enumerate(np.cumsum(new).tolist()):
        found[row, end - new[row] : end] = True
    at_most = apply_rule(found, StoppingRule("at most 5 %", 4, 2, 0.05))
    assert at_most.shares == pytest.approx((4 / 37, 3 / 37, 2 / 37, 1 / 37, 1 / 37))
    assert at_most.reached == 7, "interviews 8 and 9 are the first two that add no more than 5 %"
    assert apply_rule(found, StoppingRule("nothing", 4, 2, 0.0)).reached is None
    one = apply_rule(found, StoppingRule("one", 4, 1, 0.0))
    assert (one.reached, one.lapsed) == (9, 7), "the ninth interview refutes the eighth"


def test_the_ten_plus_three_rule_needs_three_interviews_without_new_codes() -> None:
    rule = StoppingRule("ten and three", 10, 3, 0.0)
    found = np.zeros((15, 3), bool)
    found[0, 0] = found[11, 1] = True
    assert apply_rule(found, rule).reached == 12
    assert "needs 13 interviews, but there are 12" in apply_rule(found[:12], rule).undefined
    assert "have no code" in apply_rule(np.zeros((13, 1), bool), rule).undefined


@pytest.mark.parametrize("call", [co_occurrence, lambda found: saturation(found, 1)])
def test_a_list_instead_of_a_table_is_refused(call: object) -> None:
    with pytest.raises(InputError, match="a row for each"):
        call(np.array([True]))  # type: ignore[operator]
