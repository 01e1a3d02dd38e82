"""Check where the texts of a figure are and whether they are complete."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from quaestor.render.figures.style import text_width

SVG = "{http://www.w3.org/2000/svg}"


def assert_text_inside(svg: str, wide: int = 760) -> None:
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    assert width == wide
    seen = _texts(root, 0.0, 0.0)
    assert seen
    for text, x, y, size, bold, anchor, upright in seen:
        long = text_width(text, size, bold=bold)
        before = {"start": 0.0, "middle": long / 2, "end": long}[anchor]
        along, across, room, side = (y, x, height, width) if upright else (x, y, width, height)
        first = along - (long - before) if upright else along - before
        assert size >= 10, text
        assert first >= -1, text
        assert first + long <= room + 1, text
        assert size * 0.5 <= across <= side, text


def _texts(element: ElementTree.Element, x: float, y: float) -> list[tuple[str, float, float, float, bool, str, bool]]:
    """Every text with its position in the figure."""
    transform = element.get("transform", "")
    upright = "rotate(-90)" in transform
    moves = [
        (float(across), float(down or 0)) for across, down in re.findall(r"translate\(([^,)]+),?([^)]*)\)", transform)
    ]
    if moves:
        x, y = x + moves[0][0], y + moves[0][1]
    found = []
    if element.tag == f"{SVG}text" and element.text and element.get("opacity") != "0":
        size = float(element.get("font-size", "0px")[:-2])
        bold = element.get("font-weight") == "bold"
        found.append((element.text, x, y, size, bold, element.get("text-anchor", "start"), upright))
    for child in element:
        found += _texts(child, x, y)
    return found
