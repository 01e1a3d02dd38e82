"""The two curves as a drawing that says what it shows, and by whom."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from quaestor.coding.records import SetCurve
from quaestor.publish.curves import draw_curves, save_curves

FOUND = [SetCurve(1, 24, 0.79, 0.75), SetCurve(2, 24, 0.5, 0.25), SetCurve(3, 25, 0.0, 0.0)]
SVG = "{http://www.w3.org/2000/svg}"


def test_each_set_is_a_point_and_the_curves_fall_on_the_page() -> None:
    drawing = ElementTree.fromstring(draw_curves(FOUND, "phrases"))
    lines = drawing.findall(f"{SVG}polyline")
    assert [line.get("class") for line in lines] == ["discrepancy", "incompatibility"]
    heights = [float(point.split(",")[1]) for point in str(lines[0].get("points")).split()]
    assert heights == sorted(heights), "lower shares stand lower"
    labels = [text.text for text in drawing.findall(f"{SVG}text")]
    assert {"80%", "0%", "1", "3"} <= set(labels)
    assert "differ in 79% of the first set and 0% of the last" in str(drawing.findtext(f"{SVG}desc"))


def test_simulated_raters_are_named_in_the_drawing() -> None:
    assert "simulated raters" in draw_curves(FOUND, "phrases", simulated=True)
    assert "simulated" not in draw_curves(FOUND, "phrases")


def test_a_round_without_a_finished_set_and_a_hostile_name_still_make_a_drawing(tmp_path: Path) -> None:
    path = save_curves([], tmp_path, "../<script>")
    assert path.parent == tmp_path
    ElementTree.fromstring(path.read_text("utf-8"))
