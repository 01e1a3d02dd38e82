"""In a treemap, areas are proportional to values, stay inside the frame, and no part is split."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.render.figures.treemap import Rectangle, squarify

WEIGHTS = st.lists(st.integers(0, 5_000), min_size=1, max_size=80)
SIDES = st.floats(20, 2_000)
PLACES = st.floats(-500, 500)
TOLERANCE = 1e-6


@given(WEIGHTS, PLACES, PLACES, SIDES, SIDES)
def test_areas_are_proportional_to_weights_and_fill_the_rectangle(
    weights: list[int], x: float, y: float, width: float, height: float
) -> None:
    placed = squarify(weights, x, y, width, height)
    total = sum(weights)
    assert len(placed) == len(weights)
    for weight, rectangle in zip(weights, placed, strict=True):
        expected = width * height * weight / total if total else 0.0
        assert math.isclose(rectangle.area, expected, rel_tol=1e-6, abs_tol=1e-6)


@given(WEIGHTS, PLACES, PLACES, SIDES, SIDES)
def test_every_part_is_inside_the_rectangle(
    weights: list[int], x: float, y: float, width: float, height: float
) -> None:
    for rectangle in squarify(weights, x, y, width, height):
        assert rectangle.width >= 0
        assert rectangle.height >= 0
        assert rectangle.x >= x - TOLERANCE
        assert rectangle.y >= y - TOLERANCE
        assert rectangle.x + rectangle.width <= x + width + TOLERANCE
        assert rectangle.y + rectangle.height <= y + height + TOLERANCE


@given(st.lists(st.integers(0, 5_000), min_size=2, max_size=40), SIDES, SIDES)
def test_no_two_parts_overlap(weights: list[int], width: float, height: float) -> None:
    placed = [rectangle for rectangle in squarify(weights, 0, 0, width, height) if rectangle.area > TOLERANCE]
    for number, one in enumerate(placed):
        for other in placed[number + 1 :]:
            across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert min(across, down) <= TOLERANCE


@given(st.lists(st.integers(10, 30), min_size=12, max_size=60), st.floats(0.5, 2.0))
def test_parts_of_similar_weight_are_near_squares(weights: list[int], shape: float) -> None:
    placed = squarify(weights, 0, 0, 600 * shape, 600)
    assert sum(map(_oblong, placed)) / len(placed) < 2
    assert max(map(_oblong, placed)) < 5


def test_the_published_example_of_the_method_is_reproduced() -> None:
    placed = squarify([6, 6, 4, 3, 2, 2, 1], 0, 0, 6, 4)
    assert placed[0] == Rectangle(0, 0, 3, 2)
    assert placed[1] == Rectangle(0, 2, 3, 2)
    assert placed[2].width == pytest.approx(12 / 7)
    assert placed[2].height == pytest.approx(7 / 3)


def test_parts_are_in_the_order_of_their_weights() -> None:
    rising = squarify([1, 2, 3, 4], 0, 0, 100, 50)
    falling = squarify([4, 3, 2, 1], 0, 0, 100, 50)
    assert rising == falling[::-1]
    assert all(one.area < other.area for one, other in pairwise(rising))


def test_zero_weights_take_no_space() -> None:
    assert squarify([], 0, 0, 10, 10) == []
    assert squarify([0, 0], 5, 6, 10, 10) == [Rectangle(5, 6, 0, 0)] * 2
    assert [part.area for part in squarify([1, 2], 0, 0, 0, 10)] == [0, 0]


def test_weights_of_any_magnitude_are_placed() -> None:
    assert all(math.isfinite(part.area) for part in squarify([1e308, 1e308, 1e-308], 0, 0, 10, 10))


@pytest.mark.parametrize("weight", [-1, math.nan, math.inf])
def test_an_invalid_weight_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="weight"):
        squarify([1, weight], 0, 0, 10, 10)


def test_an_inset_never_turns_a_rectangle_inside_out() -> None:
    assert Rectangle(0, 0, 10, 10).inset(1, 2, 3, 4) == Rectangle(1, 2, 6, 4)
    assert Rectangle(0, 0, 3, 3).inset(2, 2, 2, 2) == Rectangle(2, 2, 0, 0)


def _oblong(rectangle: Rectangle) -> float:
    long, short = max(rectangle.width, rectangle.height), min(rectangle.width, rectangle.height)
    return long / short
