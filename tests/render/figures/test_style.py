"""Colours are distinguishable in grey and for colour-blind readers; text is measured and numbers are legible."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from quaestor.render.figures.style import (
    DASHES,
    FONT,
    INK,
    MUTED,
    PAPER,
    SERIES,
    SHAPES,
    choose_ink,
    contrast,
    luminance,
    percent,
    quantity,
    round_steps,
    shade,
    shorten,
    text_width,
    wrap_text,
)

# How severe protanopia, deuteranopia and tritanopia change linear red, green and blue (Machado and others, 2009).
SIGHTS = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_of_series_are_distinct_for_every_kind_of_colour_blindness(sight: str) -> None:
    for one, other in itertools.combinations(SERIES, 2):
        assert math.dist(_lab(one, sight), _lab(other, sight)) > 20


def test_no_two_colours_of_series_are_the_same_grey() -> None:
    lightness = sorted(_lab(color, "usual")[0] for color in SERIES)
    assert min(high - low for low, high in itertools.pairwise(lightness)) > 5


def test_twelve_series_differ_in_more_than_colour() -> None:
    marks = [(SERIES[at % len(SERIES)], DASHES[at % len(DASHES)], SHAPES[at % len(SHAPES)]) for at in range(12)]
    assert len(set(marks)) == 12
    assert len({(dash, shape) for _, dash, shape in marks}) == 12


def test_text_and_marks_contrast_with_the_background() -> None:
    assert min(contrast(INK, PAPER), contrast(MUTED, PAPER)) >= 4.5
    assert all(contrast(color, PAPER) >= 2.7 for color in SERIES)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_value_is_never_lighter(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert luminance(shade(low)) >= luminance(shade(high))


@given(st.floats(-1, 2))
def test_text_is_legible_on_every_shade(part: float) -> None:
    assert contrast(choose_ink(shade(part)), shade(part)) >= 4.5


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    "text", ["Data processing", "GOOGLE QUOTA", "22,000,000 questions", "illicit filter", "mmmwww"]
)
def test_text_is_measured_a_little_too_wide_and_not_by_much(text: str, bold: bool) -> None:
    actual = _measured(text, bold=bold)
    assert actual - 1 <= text_width(text, 12, bold=bold) <= actual * 1.15 + 1


@given(st.text(max_size=60), st.floats(10, 400))
def test_shortened_text_fits(text: str, width: float) -> None:
    short = shorten(text, max(width, 12))
    assert text_width(short) <= max(width, 12)
    assert short == text or short.endswith("…")


@given(st.lists(st.text("abcdefg", min_size=1, max_size=9), max_size=12), st.integers(1, 4))
def test_wrapping_keeps_the_words_in_order_and_the_number_of_lines(words: list[str], lines: int) -> None:
    rows = wrap_text(" ".join(words), 90, lines)
    assert len(rows) <= lines
    assert all(text_width(row) <= 90 for row in rows)
    if not any(row.endswith("…") for row in rows):
        assert " ".join(rows) == " ".join(words)


@given(st.floats(1e-6, 1e9), st.integers(3, 8))
def test_round_steps_reach_the_largest_value(most: float, wanted: int) -> None:
    steps = round_steps(most, wanted)
    assert steps[0] == 0
    assert steps[-1] >= most * (1 - 1e-6)
    assert len(steps) <= wanted + 2


def test_numbers_are_written_with_the_decimals_they_need() -> None:
    assert [quantity(value) for value in (0, 0.004, 0.09, 2.2, 17.94, 179.25, 7644)] == [
        "0", "0.004", "0.09", "2.20", "17.9", "179", "7,644",
    ]  # fmt: skip
    assert [percent(share) for share in (0, 0.0004, 0.442)] == ["0%", "0.0%", "44.2%"]


def _measured(text: str, *, bold: bool) -> float:
    """The width the converter itself gives a label of an axis, with its own font."""
    axis = {"title": None, "labelFontSize": 12, "labelPadding": 0, "ticks": False, "domain": False, "labelLimit": 0}
    axis["labelFontWeight"] = "bold" if bold else "normal"
    spec = {
        "width": 10, "height": 10, "padding": 0, "data": {"values": [{"label": text}]},
        "mark": {"type": "point", "opacity": 0}, "encoding": {"y": {"field": "label", "type": "nominal", "axis": axis}},
        "config": {"font": FONT, "view": {"stroke": None}},
    }  # fmt: skip
    width = re.search(r'width="([\d.]+)"', vl_convert.vegalite_to_svg(spec))
    assert width
    return float(width[1]) - 10


def _lab(color: str, sight: str) -> tuple[float, float, float]:
    """CIELAB of a colour as this sight sees it."""
    values = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIGHTS[sight]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    ratio = xyz / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return float(116 * y - 16), float(500 * (x - y)), float(200 * (y - z))
