"""A logarithmic axis keeps the order of its values, zero included, and names round ones."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.render.figures.popularity_difficulty import LogAxis

VALUES = st.lists(st.one_of(st.just(0.0), st.floats(0.001, 1e7)), min_size=1, max_size=20)


@given(VALUES)
def test_positions_keep_the_order_of_the_values_and_stay_on_the_axis(values: list[float]) -> None:
    axis = LogAxis.over(values, None)
    places = [axis.part(value) for value in sorted(values)]
    assert all(0 <= place <= 1 for place in places)
    assert all(one <= other for one, other in itertools.pairwise(places))


@given(VALUES)
def test_zero_is_below_every_positive_value(values: list[float]) -> None:
    axis = LogAxis.over([*values, 0.0], None)
    assert all(axis.part(value) > axis.part(0) for value in values if value > 0)
    assert axis.ticks()[0] == 0


def test_equal_ratios_have_equal_distances() -> None:
    axis = LogAxis.over([0.1, 1, 10, 100], 5)
    steps = [axis.part(10 * value) - axis.part(value) for value in (0.1, 1, 10)]
    assert steps == pytest.approx([steps[0]] * 3)
    assert axis.ticks() == [0.1, 1, 10, 100]
