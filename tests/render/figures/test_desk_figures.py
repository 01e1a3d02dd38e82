"""Figures that the desk shows and saves: every row is drawn, a description says what it shows, labels are escaped."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.drawings import assert_text_inside

from quaestor.render.figures.discrepancy import draw_round_curves
from quaestor.render.figures.export import render_svg, write_svg
from quaestor.render.figures.forest import draw_forest
from quaestor.render.figures.funnel import draw_funnel
from quaestor.render.figures.records import ForestEstimate, FunnelStep, SetCurve

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [
    ForestEstimate("<b>κ</b> & more", 0.5, 0.25, 0.75, 40),
    ForestEstimate("below chance", -0.3, -0.5, -0.1, 40),
    ForestEstimate("nothing", None, None, None, 0, reason="nobody rated"),
]
SETS = [SetCurve(1, 24, 0.79, 0.75), SetCurve(2, 24, 0.5, 0.25), SetCurve(3, 25, 0.0, 0.0)]


def forest() -> str:
    return render_svg(draw_forest(ROWS, name="overall", title="All <i>", threshold=0.5, narrow=True))


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def moved_by(mark: ElementTree.Element) -> tuple[float, float]:
    across, down = re.findall(r"-?[\d.]+", mark.get("transform", ""))
    return float(across), float(down)


def test_forest_plot_points_are_at_their_values_and_match_the_text() -> None:
    drawn = ElementTree.fromstring(forest())
    points = [moved_by(element) for element in drawn.iter(f"{SVG}path") if element.get("fill") == "#7a1f2b"]
    intervals = [element for element in drawn.iter(f"{SVG}line") if element.get("stroke") == "#7a1f2b"]
    assert len(points) == len(intervals) == 2
    assert points[1][0] < points[0][0]
    for point, interval in zip(points, intervals, strict=True):
        start, down = moved_by(interval)
        assert start + float(interval.get("x2", "")) / 2 == pytest.approx(point[0], abs=0.2)
        assert down == pytest.approx(point[1], abs=0.2)
    needed = next(element for element in drawn.iter(f"{SVG}path") if element.get("stroke") == "#1d1c1a")
    assert float(re.findall(r"[\d.]+", needed.get("d", ""))[0]) == pytest.approx(points[0][0], abs=0.2)
    words = drawn.findtext(f"{SVG}desc") or ""
    assert "<b>κ</b> & more: 0.50, 95% interval 0.25 to 0.75 (n = 40)" in words
    assert "nothing: undefined, nobody rated" in words
    assert "0.5 that was needed" in words
    assert {"<b>κ</b> & more", "0.50", "below chance", "-0.30", "nothing", "undefined"} <= set(texts(forest()))


def test_a_narrow_forest_is_legible_on_a_phone() -> None:
    assert_text_inside(forest(), 360)
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', forest())]
    assert min(sizes) * 280 / 360 > 8


def test_each_set_is_a_point_of_the_curves() -> None:
    svg = render_svg(draw_round_curves(SETS, "phrases", simulated=False))
    drawn = ElementTree.fromstring(svg)
    curves = [element for element in drawn.iter(f"{SVG}path") if element.get("stroke") in ("#7a1f2b", "#255b72")]
    lines = [curve for curve in curves if curve.get("d", "").count("L") == 2]
    assert [line.get("stroke") for line in lines] == ["#7a1f2b", "#255b72"]
    heights = [float(point.split(",")[1]) for point in re.findall(r"-?[\d.]+,-?[\d.]+", lines[0].get("d", ""))]
    assert heights == sorted(heights), "lower shares stand lower"
    assert {"80%", "0%", "1", "3"} <= set(texts(svg))
    assert "discrepancy goes from 79.0% to 0%" in str(drawn.findtext(f"{SVG}desc"))


def test_simulated_raters_and_lost_blindness_are_named_in_the_figure() -> None:
    drawn = texts(render_svg(draw_round_curves(SETS, "phrases", simulated=True, blindness="not blind")))
    assert "phrases: sets of phrases (simulated raters, not blind)" in drawn
    assert not any(
        "simulated" in text for text in texts(render_svg(draw_round_curves(SETS, "phrases", simulated=False)))
    )


def test_a_figure_is_drawn_without_finished_sets_and_with_a_hostile_name(tmp_path: Path) -> None:
    path = write_svg(draw_round_curves([], "../<script>", simulated=False), tmp_path)
    assert path.parent == tmp_path
    ElementTree.fromstring(path.read_text("utf-8"))


def test_the_funnel_figure_marks_undecided_steps_and_describes_its_evidence() -> None:
    steps = [FunnelStep("everything in posts", 1000), FunnelStep("answered", 0)]
    figure = draw_funnel(steps, pending=["kept by two raters"], note="synthetic evidence <b>")
    svg = render_svg(figure)
    assert {"kept by two raters", "still to be decided", "synthetic evidence <b>"} <= set(texts(svg))
    assert_text_inside(svg)
    assert "kept by two raters: still to be decided." in figure.alt
    assert "synthetic evidence <b>." in figure.alt


def test_the_bars_of_a_funnel_are_as_long_as_their_counts() -> None:
    figure = draw_funnel([FunnelStep("everything in posts", 1000), FunnelStep("answered", 500)])
    values = [row for layer in figure.spec["layer"] for row in layer["data"]["values"]]
    boxes = [row for row in values if "fill" in row and "x2" in row]
    first, second = (box["x2"] - box["x"] for box in boxes)
    assert first > 100
    assert second == pytest.approx(first / 2)


def test_every_colour_of_a_figure_at_the_desk_follows_the_page() -> None:
    desk = (resources.files("quaestor.web") / "static" / "desk.css").read_text("utf-8")
    for svg in (forest(), render_svg(draw_round_curves(SETS, "phrases", simulated=True))):
        drawn = ElementTree.fromstring(svg)
        for mark in drawn.iter():
            for channel in ("fill", "stroke"):
                color = mark.get(channel, "none")
                if color.startswith("#") and mark.get("opacity") != "0":
                    assert f'.drawn [{channel}="{color}"]' in desk, (mark.tag, channel, color)
        assert "style=" not in svg
        assert "<style" not in svg
