"""Likert scales as diverging bars: every bar is complete and centred, for any answers."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.drawings import assert_text_inside

from quaestor.render.figures.choices import draw_choices
from quaestor.render.figures.export import render_svg, write_figure
from quaestor.render.figures.likert import ScaleRow, choose_colors, draw_likert, find_middle, likert_size, split_bars
from quaestor.render.figures.records import ChoiceBar, Figure
from quaestor.render.figures.style import luminance

FOUR = ("Never", "Rarely", "Occasionally", "Regularly")
FIVE = ("Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree")
LONG = "a label that goes on where labels usually end, with commas, and with more words than there is room for " * 2


def bars(figure: Figure) -> dict[str, list[tuple[str, float, float]]]:
    """From the drawing itself: by row, each step with where it begins and ends."""
    found: dict[str, list[tuple[str, float, float]]] = {}
    for values in figure.spec["datasets"].values():
        for value in values:
            if "step" in value:
                found.setdefault(value["row"], []).append((value["step"], value["start"], value["end"]))
    return found


def reach(figure: Figure) -> tuple[float, float]:
    low, high = figure.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    return low, high


def test_a_scale_with_a_centre_is_divided_through_it() -> None:
    figure = draw_likert(FIVE, [ScaleRow("a", (1, 2, 4, 2, 1))], centre=2)
    assert bars(figure)["a"] == [
        ("Strongly disagree", -0.5, -0.4), ("Disagree", -0.4, -0.2), ("Neither", -0.2, 0.2),
        ("Agree", 0.2, 0.4), ("Strongly agree", 0.4, 0.5),
    ]  # fmt: skip


def test_an_even_scale_is_divided_between_its_two_middle_steps() -> None:
    figure = draw_likert(FOUR, [ScaleRow("crashes", (1, 2, 3, 4))])
    assert bars(figure)["crashes"] == [
        ("Never", -0.3, -0.2), ("Rarely", -0.2, 0.0), ("Occasionally", 0.0, 0.3), ("Regularly", 0.3, 0.7),
    ]  # fmt: skip
    assert reach(figure) == (-0.3, 0.7)


def test_without_disagreement_the_left_side_takes_no_space() -> None:
    figure = draw_likert(FIVE, [ScaleRow("a", (0, 0, 0, 3, 1)), ScaleRow("b", (0, 0, 0, 0, 2))], centre=2)
    assert reach(figure) == (0.0, 1.0)
    assert bars(figure) == {"a": [("Agree", 0.0, 0.75), ("Strongly agree", 0.75, 1.0)], "b": [("Strongly agree", 0, 1)]}


def test_only_neutral_answers_give_one_bar_around_the_line() -> None:
    figure = draw_likert(FIVE, [ScaleRow("a", (0, 0, 9, 0, 0))], centre=2)
    assert bars(figure)["a"] == [("Neither", -0.5, 0.5)]


def test_rows_with_different_bases_missing_levels_or_no_answers_are_drawn_together() -> None:
    rows = [ScaleRow("many", (0, 20_000, 0, 30_000, 0)), ScaleRow("one", (0, 1, 0, 0, 0)), ScaleRow("none", (0,) * 5)]
    figure = draw_likert(FIVE, rows, centre=2)
    assert bars(figure) == {
        "many": [("Disagree", -0.4, 0.0), ("Agree", 0.0, 0.6)],
        "one": [("Disagree", -1.0, 0.0)],
    }
    svg = render_svg(figure)
    for words in ("n = 50,000", "n = 1", "n = 0", "nobody has answered this", *FIVE):
        assert words in svg
    assert "one (n = 1): Strongly disagree 0%, Disagree 100.0%" in figure.alt
    assert "none: nobody has answered" in figure.alt


def test_each_group_has_one_heading() -> None:
    rows = [ScaleRow(label, (1, 1, 1, 1), group) for group in ("Crashes", "Speed") for label in ("PRO", "normal")]
    svg = render_svg(draw_likert(FOUR, rows))
    assert svg.count(">Crashes<") == svg.count(">Speed<") == 1
    assert svg.count(">PRO<") == 2
    assert_text_inside(svg)


def is_as_large_as_told(figure: Figure, size: tuple[int, int]) -> bool:
    spec, edges = figure.spec, figure.spec["padding"]
    return size == (
        spec["width"] + edges["left"] + edges["right"], spec["height"] + edges["top"] + edges["bottom"]
    )  # fmt: skip


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(
    "rows",
    [
        [ScaleRow("Crashes", (1, 2, 3, 4)), ScaleRow(LONG, (0, 0, 0, 12_345))],
        [ScaleRow(label, (1, 1, 1, 1), group) for group in (LONG, "Speed") for label in ("PRO", LONG)],
        [ScaleRow("a", (0, 0, 0, 0)), ScaleRow("b", (0, 1, 0, 0))],
        [],
    ],
    ids=["rows", "groups", "one without answers", "nothing"],
)
def test_the_size_is_known_without_drawing_and_contains_everything(rows: list[ScaleRow], narrow: bool) -> None:
    steps = (*FOUR[:3], LONG)
    figure = draw_likert(steps, rows, narrow=narrow)
    assert is_as_large_as_told(figure, likert_size(steps, rows, narrow=narrow))
    assert_text_inside(render_svg(figure), 300 if narrow else 760)


def test_on_a_phone_label_and_bar_both_have_the_whole_width() -> None:
    rows = [ScaleRow("How often a converted model crashes when it is loaded", (1, 2, 3, 4))]
    wide, narrow = (draw_likert(FOUR, rows, narrow=one) for one in (False, True))
    assert bars(wide) == bars(narrow)
    assert wide.alt == narrow.alt
    [bar, *_] = [value for values in narrow.spec["datasets"].values() for value in values if "step" in value]
    written = [one for layer in narrow.spec["layer"] for one in layer["data"].get("values", ()) if "text" in one]
    label = [one for one in written if one["text"] in rows[0].label]
    assert " ".join(one["text"] for one in label) == rows[0].label
    assert all(one["y"] < bar["top"] and one["x"] == 0 for one in label)
    assert narrow.spec["width"] == 268


@pytest.mark.parametrize("rows", [[], [ScaleRow("a", (0, 0, 0, 0))]], ids=["no row", "no answer"])
def test_without_answers_the_figure_is_a_sentence(rows: list[ScaleRow]) -> None:
    figure = draw_likert(FOUR, rows, title="How often")
    assert "nobody has answered this yet" in render_svg(figure)
    assert bars(figure) == {} if "datasets" in figure.spec else True


def test_long_labels_stay_inside() -> None:
    rows = [ScaleRow(f"{LONG}{at}", (1, 2, 3, 4, 5), f"{LONG} group") for at in range(2)]
    assert_text_inside(render_svg(draw_likert([f"{LONG}{at}" for at in range(5)], rows, centre=2)))
    choice = ChoiceBar(LONG, 12_345, 0.5, 0.4, 0.6)
    assert_text_inside(render_svg(draw_choices([choice, ChoiceBar("b", 0, 0.0, 0.0, 0.1)], 24_690)))


@settings(max_examples=150, deadline=None)
@given(
    rows=st.integers(2, 9).flatmap(
        lambda steps: st.lists(st.lists(st.integers(0, 999), min_size=steps, max_size=steps), min_size=1, max_size=4)
    ),
    centre=st.none() | st.integers(0, 8),
    stacked=st.booleans(),
)
def test_every_bar_is_100_percent_without_gaps(rows: list[list[int]], centre: int | None, stacked: bool) -> None:
    steps = len(rows[0])
    middle = find_middle(steps, None if centre is None else min(centre, steps - 1))
    pieces = split_bars([ScaleRow("", tuple(row)) for row in rows], middle, stacked=stacked)
    assert len(choose_colors(steps, middle)) == steps
    for at, row in enumerate(rows):
        here = [piece for piece in pieces if piece.row == at]
        assert [piece.step for piece in here] == [step for step, count in enumerate(row) if count]
        for one, following in itertools.pairwise(here):
            assert one.end == pytest.approx(following.start)
        if here:
            assert here[-1].end - here[0].start == pytest.approx(1)
            assert all(piece.share == pytest.approx(row[piece.step] / sum(row)) for piece in here)
            below = sum(row[: int(middle)]) + row[min(int(middle), steps - 1)] * (middle - int(middle))
            assert here[0].start == pytest.approx(0 if stacked else -below / sum(row))


def test_steps_grow_darker_toward_both_ends() -> None:
    light = [luminance(color) for color in choose_colors(7, 3.5)]
    assert light[:3] == sorted(light[:3])
    assert light[4:] == sorted(light[4:], reverse=True)
    assert len(set(choose_colors(7, 3.5))) == 7


def test_the_same_answers_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_figure(draw_likert(FOUR, [ScaleRow("a", (1, 2, 3, 4))], name="scale"), tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_figures_that_are_drawn_at_the_same_time_are_not_mixed_up() -> None:
    """Altair's setters keep what they set on the class: two pages at once drew one figure on the other's axis."""
    rows = [ScaleRow("a", (9, 0, 0, 0)), ScaleRow("b", (0, 0, 0, 9))]

    def drawn(at: int) -> Figure:
        if at % 3 == 0:
            return draw_choices([ChoiceBar("a", at, 0.2, 0.1, 0.3)], 100)
        return draw_likert(FOUR, rows, stacked=at % 3 == 1)

    expected = [drawn(at).spec for at in range(3)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(drawn, [at % 3 for at in range(24)]))
    assert [figure.spec for figure in found] == [expected[at % 3] for at in range(24)]
