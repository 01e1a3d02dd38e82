"""Labels do not overlap."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.render.figures.canvas import spread_positions
from quaestor.render.figures.popularity_difficulty import Label, Spot, place_labels
from quaestor.render.figures.treemap import Rectangle


@given(st.lists(st.floats(0, 300), max_size=15), st.floats(1, 40))
def test_spread_positions_keep_order_gap_and_limits(wanted: list[float], gap: float) -> None:
    places = spread_positions(wanted, gap, 0, 300)
    kept = min(gap, 300 / max(len(wanted) - 1, 1))
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in places)
    for one, other in itertools.pairwise(sorted(places)):
        assert other - one >= kept - 1e-6
    for one, other in itertools.combinations(range(len(wanted)), 2):
        if wanted[one] < wanted[other]:
            assert places[one] < places[other]


def test_positions_far_enough_apart_do_not_move() -> None:
    assert spread_positions([10, 200, 90], 20, 0, 300) == [10, 200, 90]


POINTS = st.lists(st.tuples(st.floats(0, 500), st.floats(0, 400), st.floats(2, 20), st.floats(10, 120)), max_size=25)


@given(POINTS)
def test_labels_overlap_neither_each_other_nor_a_point(points: list[tuple[float, float, float, float]]) -> None:
    labels = [Label(f"{at}", x, y, radius, width) for at, (x, y, radius, width) in enumerate(points)]
    marks = [Rectangle(x - radius, y - radius, 2 * radius, 2 * radius) for x, y, radius, _ in points]
    widths = {label.text: label.width for label in labels}
    boxes = [_box(spot, widths[spot.text]) for spot in place_labels(labels, marks, Rectangle(0, 0, 500, 400))]
    for one, other in itertools.combinations(boxes, 2):
        assert _apart(one, other)
    assert all(_apart(box, mark) for box in boxes for mark in marks)
    assert all(box.x >= 0 and box.x + box.width <= 500 and box.y >= 0 and box.y + box.height <= 400 for box in boxes)


def test_a_crowded_label_moves_away_at_the_end_of_a_line() -> None:
    wall = [Rectangle(60, 60, 80, 80)]
    (spot,) = place_labels([Label("far", 100, 100, 5, 30)], wall, Rectangle(0, 0, 300, 300))
    assert spot.leader
    assert spot.leader[1][0] == pytest.approx(spot.x - 3 if spot.align == "left" else spot.x + 3)


def test_a_label_without_free_space_is_omitted() -> None:
    assert (
        place_labels([Label("none", 50, 50, 5, 30)], [Rectangle(-900, -900, 2000, 2000)], Rectangle(0, 0, 99, 99)) == []
    )


def _box(spot: Spot, width: float) -> Rectangle:
    left = {"left": spot.x, "right": spot.x - width, "center": spot.x - width / 2}[spot.align]
    return Rectangle(left, spot.y - 6.5, width, 13)


def _apart(one: Rectangle, other: Rectangle) -> bool:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    return min(across, min(one.y + one.height, other.y + other.height) - max(one.y, other.y)) <= 1e-6
