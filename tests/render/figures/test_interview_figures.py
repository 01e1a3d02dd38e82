"""Figures of interviews: their texts, nothing outside the frame, and no failure on unusual data."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.drawings import assert_text_inside

from quaestor.render.figures.export import render_svg, write_figure
from quaestor.render.figures.grids import choose_shade, draw_co_occurrence, draw_code_map
from quaestor.render.figures.records import CodeCounts, Figure, SaturationPoint
from quaestor.render.figures.saturation import draw_saturation
from quaestor.render.figures.style import contrast, luminance

LONG = "a code with a name that nobody would choose because it does not end where names usually end"
HOSTILE = "</text><script>alert('1')</script> & \"\x00\ud800{{datum.x}}"


def curve(n: int, name: str = "P{}") -> list[SaturationPoint]:
    return [
        SaturationPoint(name.format(at), n - at, at * n, at * n * 0.9, at * n * 0.7, n * n) for at in range(1, n + 1)
    ]


def drawn() -> list[Figure]:
    several = [CodeCounts(f"theme {at % 3}", f"code {at}", (at, 0, at % 2)) for at in range(1, 9)]
    return [
        draw_saturation(curve(6), stops=["A rule: reached."]),
        draw_code_map(["P1", "P2", "P3"], several),
        draw_co_occurrence(["data", "time", "shapes"], [[3, 2, 0], [2, 4, 1], [0, 1, 2]]),
    ]


def test_the_text_alternative_of_each_figure_has_its_numbers() -> None:
    curves, grid, half = drawn()
    assert curves.alt == (
        "36 codes in 6 interviews, in the order in which they were held. "
        "New codes: P1 5, P2 4, P3 3, P4 2, P5 1 and P6 0. A rule: reached."
    )
    assert "8 codes by 3 participants" in grid.alt
    assert "code 1 by 2" in grid.alt
    assert half.alt.endswith("most often: data and time in 2 and time and shapes in 1.")
    for figure, words in ((curves, "36 codes in all"), (grid, "theme 2"), (half, "shapes")):
        assert words in "".join(ElementTree.fromstring(render_svg(figure)).itertext())


def turned(color: str) -> str:
    """A colour as the report shows it on a dark page: invert(.89) hue-rotate(180deg)."""
    red, green, blue = (0.89 - 0.78 * int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    grey = 2 * (0.213 * red + 0.715 * green + 0.072 * blue)
    return "#" + "".join(f"{round(255 * min(max(grey - one, 0.0), 1.0)):02x}" for one in (red, green, blue))


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_count_can_be_read_in_its_cell_on_a_light_page_and_on_a_dark_one(one: float, other: float) -> None:
    fill, ink = choose_shade(one)
    assert contrast(fill, ink) >= 4.5
    assert contrast(turned(fill), turned(ink)) >= 4.5
    low, high = sorted((one, other))
    assert luminance(choose_shade(low)[0]) >= luminance(choose_shade(high)[0])


def test_a_dark_page_inverts_the_grids() -> None:
    """The report leaves drawings with black letters as they are."""
    assert not any('fill="#000000"' in render_svg(figure) for figure in drawn())


@pytest.mark.parametrize(
    "figure",
    [
        *drawn(),
        draw_saturation(curve(1)),
        draw_saturation(curve(60, LONG + " {}")),
        draw_saturation([SaturationPoint(HOSTILE, 0, 0, 0.0, 0.0, 0.0)]),
        draw_code_map(["P"] * 40, [CodeCounts(LONG, LONG, (1,) * 40), CodeCounts("", HOSTILE, (0,) * 40)]),
        draw_co_occurrence([LONG, HOSTILE, *"abcdefghijkl"], [[1] * 14] * 14),
    ],
    ids=lambda figure: figure.name,
)  # fmt: skip
def test_long_code_names_stay_inside_the_figure(figure: Figure) -> None:
    assert_text_inside(render_svg(figure))
    assert "<script" not in render_svg(figure)
    width, height = figure.size
    assert f'width="{width}" height="{height}"' in render_svg(figure)[:200], "a page can keep its room"


def test_a_figure_without_data_states_that_there_is_none() -> None:
    assert "no interview has been coded yet" in draw_saturation([]).alt
    assert "no interview has been coded yet" in draw_code_map([], []).alt
    assert "no two codes occur in the same turn yet" in draw_co_occurrence(["a", "b"], [[1, 0], [0, 1]]).alt


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for figure in drawn() for path in write_figure(figure, tmp_path / "first")}
    render_svg.cache_clear()
    again = {path.name: path.read_bytes() for figure in drawn() for path in write_figure(figure, tmp_path / "again")}
    assert first == again
