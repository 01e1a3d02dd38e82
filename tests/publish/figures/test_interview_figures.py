"""Figures of interviews: what they say, that nothing leaves them, and that odd studies break none."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from drawings import assert_text_inside
from quaestor.publish.figures.code_grid import draw_code_map, draw_together
from quaestor.publish.figures.drawing import svg_of, write_figure
from quaestor.publish.figures.records import Accumulated, Counted, Figure
from quaestor.publish.figures.saturation import draw_saturation

LONG = "a code with a name that nobody would choose because it does not end where names usually end"
HOSTILE = "</text><script>alert('1')</script> & \"\x00\ud800{{datum.x}}"


def curve(n: int, name: str = "P{}") -> list[Accumulated]:
    return [Accumulated(name.format(at), n - at, at * n, at * n * 0.9, at * n * 0.7, n * n) for at in range(1, n + 1)]


def drawn() -> list[Figure]:
    several = [Counted(f"theme {at % 3}", f"code {at}", (at, 0, at % 2)) for at in range(1, 9)]
    return [
        draw_saturation(curve(6), stops=["A rule: reached."]),
        draw_code_map(["P1", "P2", "P3"], several),
        draw_together(["data", "time", "shapes"], [[3, 2, 0], [2, 4, 1], [0, 1, 2]]),
    ]


def test_each_figure_says_its_numbers_in_words() -> None:
    curves, grid, half = drawn()
    assert curves.alt == (
        "36 codes in 6 interviews. New codes: P1 5, P2 4, P3 3, P4 2, P5 1 and P6 0. A rule: reached."
    )
    assert "8 codes by 3 participants" in grid.alt
    assert "code 1 by 2" in grid.alt
    assert half.alt.endswith("most often: data and time in 2 and time and shapes in 1.")
    for figure, words in ((curves, "36 codes in all"), (grid, "theme 2"), (half, "shapes")):
        assert words in "".join(ElementTree.fromstring(svg_of(figure)).itertext())


@pytest.mark.parametrize(
    "figure",
    [
        *drawn(),
        draw_saturation(curve(1)),
        draw_saturation(curve(60, LONG + " {}")),
        draw_saturation([Accumulated(HOSTILE, 0, 0, 0.0, 0.0, 0.0)]),
        draw_code_map(["P"] * 40, [Counted(LONG, LONG, (1,) * 40), Counted("", HOSTILE, (0,) * 40)]),
        draw_together([LONG, HOSTILE, *"abcdefghijkl"], [[1] * 14] * 14),
    ],
    ids=lambda figure: figure.name,
)  # fmt: skip
def test_nothing_leaves_a_figure_whatever_codes_are_called(figure: Figure) -> None:
    assert_text_inside(svg_of(figure))
    assert "<script" not in svg_of(figure)
    width, height = figure.size
    assert f'width="{width}" height="{height}"' in svg_of(figure)[:200], "a page can keep its room"


def test_where_there_is_nothing_yet_a_figure_says_so() -> None:
    assert "no interview has been coded yet" in draw_saturation([]).alt
    assert "no interview has been coded yet" in draw_code_map([], []).alt
    assert "no two codes occur in the same turn yet" in draw_together(["a", "b"], [[1, 0], [0, 1]]).alt


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for one in drawn() for path in write_figure(one, tmp_path / "first")}
    svg_of.cache_clear()
    again = {path.name: path.read_bytes() for one in drawn() for path in write_figure(one, tmp_path / "again")}
    assert first == again
