"""The forest plot of a page: every row is there, words say what it shows, and labels can do no harm."""

from __future__ import annotations

from xml.etree import ElementTree

from quaestor.publish.figures.records import Estimate
from quaestor.publish.forest import draw_estimates

ROWS = [
    Estimate("<b>κ</b> & more", 0.5, 0.25, 0.75, 40),
    Estimate("below chance", -0.3, -0.5, -0.1, 40),
    Estimate("nothing", None, None, None, 0, reason="nobody rated"),
]


def test_points_stand_where_their_values_are_and_the_words_say_the_same() -> None:
    drawn = ElementTree.fromstring(draw_estimates(ROWS, name="overall", title="All <i>", threshold=0.5))
    points = [float(point.get("cx", "")) for point in drawn.iter("circle")]
    intervals = [line for line in drawn.iter("line") if line.get("class") == "interval"]
    assert len(points) == len(intervals) == 2
    assert points[1] < points[0]
    for point, line in zip(points, intervals, strict=True):
        assert abs((float(line.get("x1", "")) + float(line.get("x2", ""))) / 2 - point) < 0.2
    needed = next(line for line in drawn.iter("line") if line.get("class") == "needed")
    assert needed.get("x1") == f"{points[0]:.1f}"
    words = drawn.findtext("desc") or ""
    assert "<b>κ</b> & more: 0.50, 95 % interval 0.25 to 0.75 (40 items)" in words
    assert "nothing: undefined, nobody rated" in words
    assert "0.5 that was needed" in words
    ticks = [text.text for text in drawn.iter("text") if text.get("class") == "tick"]
    assert ticks == ["-0.6", "-0.4", "-0.2", "0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_the_drawing_brings_no_style_of_its_own() -> None:
    drawn = draw_estimates(ROWS, name="overall", title="All")
    assert "style" not in drawn
    assert 'aria-labelledby="overall-title overall-text"' in drawn
