"""The texts of each figure, and that none fails on unusual data."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from tests.support.drawings import assert_text_inside

from quaestor.render.figures.discrepancy import draw_discrepancy
from quaestor.render.figures.export import render_pdf, render_svg
from quaestor.render.figures.forest import draw_forest
from quaestor.render.figures.funnel import draw_funnel
from quaestor.render.figures.grids import draw_heat_map
from quaestor.render.figures.popularity_difficulty import draw_popularity_difficulty
from quaestor.render.figures.process import draw_process
from quaestor.render.figures.records import (
    Figure,
    ForestEstimate,
    FunnelStep,
    ProcessStage,
    ProcessStep,
    SetCurve,
    ShareColumn,
    TaxonomyPart,
    TaxonomyPoint,
    TrendLine,
    YearPoint,
    YearSeries,
)
from quaestor.render.figures.treemap import draw_treemap
from quaestor.render.figures.years import draw_by_year, draw_trend

LONG = "A framework with a name that nobody would choose because it does not end where names usually end"
HOSTILE = "</text><script>alert('1')</script> & \"\x00\x07\ud800\ufffe{{datum.x}}"
YEARS = tuple(range(2010, 2026))

WRITTEN = {
    "process": ("22,000,000 questions", "14,203 posts", "10 findings", "Collect", "Confirm each triplet"),
    "funnel": ("90,697", "14,203", "15.7% kept, 76,494 dropped", "how-to in the title"),
    "by-year": ("TensorFlow, 815 in all", "324", "PyTorch, 76 in all", "28", "2015", "2018"),
    "treemap": ("Data processing", "Object 0", "403", "area: posts · shade: median days to the accepted answer"),
    "heat-map": ("44.2%", "46.8%", "0%", "–", "n = 1,897", "Runtime environment"),
    "popularity-difficulty": ("popular and hard", "seldom seen and hard", "median 640", "median 1.90", "Object 39"),
    "discrepancy": ("raters differ", "not in earlier sets", "set"),
    "forest": (
        "0.53 [0.36, 0.70]",
        "moderate",
        "threshold 0.6",
        "undefined: every rater gave the same code",
        "0.2",
        "0.8",
    ),
    "trend": ("Data processing", "no clear trend", "34.0%", "2015", "2021"),
}
SPOKEN = {
    "process": ("3 stages", "Load the dump (22,000,000 questions)", "Confirm each triplet."),
    "funnel": ("by tag: 90,697 posts", "not closed: 3,842 (27.1% kept, 10,361 dropped)"),
    "by-year": ("TensorFlow has 815 posts in all, most of them in 2018 (324)", "2015 to 2018"),
    "treemap": ("4 groups", "the largest part Object 0 (403)", "Darkest by median days to the accepted answer"),
    "heat-map": ("TensorFlow (n = 1,897): Data processing 44.2%, Model setting 28.1%, Model training 13.1%",),
    "popularity-difficulty": ("40 objects", "640 views and 1.90 days", "objects are popular and hard"),
    "discrepancy": ("60 sets with 1,440 phrases", "From set 1 to set 60 discrepancy goes from 44.7% to 0.1%"),
    "forest": ("pilot: 0.53, 95% interval 0.36 to 0.70, moderate (n = 100)", "drift: undefined, every rater", "0.6"),
    "trend": ("Model setting: 34.0% in 2015", "in 2021 (interval 25.0% to 40.0%)"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_the_figure_shows_its_numbers(name: str, drawn: dict[str, str]) -> None:
    assert set(WRITTEN[name]) <= set(_texts(drawn[name]))


@pytest.mark.parametrize("name", SPOKEN)
def test_the_text_alternative_has_the_key_numbers(name: str, figures: dict[str, Figure]) -> None:
    for words in SPOKEN[name]:
        assert words in figures[name].alt


EMPTY: dict[str, Callable[[], Figure]] = {
    "process": lambda: draw_process([ProcessStage("nothing in it", ())]),
    "funnel": lambda: draw_funnel([]),
    "by-year": lambda: draw_by_year([], []),
    "treemap": lambda: draw_treemap([TaxonomyPart("phase", "object", 0)]),
    "heat-map": lambda: draw_heat_map([], []),
    "popularity": lambda: draw_popularity_difficulty(
        [TaxonomyPoint("phase", "object", 1, None, 2.0)], median_views=None, median_days=None
    ),
    "discrepancy": lambda: draw_discrepancy([]),
    "forest": lambda: draw_forest([]),
    "trend": lambda: draw_trend([TrendLine("phase", ())]),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_figure_without_data_states_the_reason(name: str) -> None:
    figure = EMPTY[name]()
    assert re.search(r"\b(no|not?hing)\b", figure.alt)
    texts = _texts(render_svg(figure))
    assert len(texts) == 1
    assert texts[0] in figure.alt


ODD: dict[str, Callable[[], Figure]] = {
    "one step": lambda: draw_process([ProcessStage("Only", (ProcessStep("this"),))]),
    "seven stages of long steps": lambda: draw_process(
        [ProcessStage(LONG, (ProcessStep(LONG, 10**12, LONG), ProcessStep(HOSTILE)))] * 7
    ),
    "a funnel of zeros": lambda: draw_funnel([FunnelStep("all", 0), FunnelStep("kept", 0)]),
    "a funnel that keeps everything": lambda: draw_funnel(
        [FunnelStep(LONG, 10**9), FunnelStep(HOSTILE, 10**9), FunnelStep("one", 1)]
    ),
    "one year": lambda: draw_by_year([2020], [YearSeries("PyTorch", (7,))]),
    "a year of nothing": lambda: draw_by_year([2020, 2021], [YearSeries("PyTorch", (0, 0))]),
    "twelve frameworks": lambda: draw_by_year(YEARS, [YearSeries(f"{LONG} {at}", (at,) * 16) for at in range(12)]),
    "one object": lambda: draw_treemap([TaxonomyPart("phase", "object", 1, 0.0)]),
    "objects without a value": lambda: draw_treemap(
        [TaxonomyPart("phase", LONG, 10), TaxonomyPart(HOSTILE, "small", 1)]
    ),
    "objects with zero days": lambda: draw_treemap(
        [TaxonomyPart("phase", "a", 5, 0.0), TaxonomyPart("phase", "b", 4, 3.0)]
    ),
    "a hundred phases": lambda: draw_treemap([TaxonomyPart(f"{LONG} {at}", f"o{at}", 1 + at, at) for at in range(100)]),
    "one cell": lambda: draw_heat_map(["phase"], [ShareColumn("PyTorch", 0, (None,))]),
    "twelve long columns": lambda: draw_heat_map([LONG, HOSTILE], [ShareColumn(LONG, 10**7, (1.0, 0.0))] * 12),
    "one place": lambda: draw_popularity_difficulty(
        [TaxonomyPoint("p", "o", 1, 5.0, 5.0)], median_views=5.0, median_days=5.0
    ),
    "zeros on log axes": lambda: draw_popularity_difficulty(
        [TaxonomyPoint("p", "never seen", 0, 0.0, 0.0), TaxonomyPoint("q", LONG, 9, 1e6, 400.0)],
        median_views=0.0,
        median_days=0.0,
    ),
    "only zeros": lambda: draw_popularity_difficulty(
        [TaxonomyPoint("p", "o", 1, 0, 0)], median_views=None, median_days=None
    ),
    "twelve phases": lambda: draw_popularity_difficulty(
        [TaxonomyPoint(f"{LONG} {at}", HOSTILE, 5, 10.0, 1.0) for at in range(12)], median_views=10.0, median_days=1.0
    ),
    "one set": lambda: draw_discrepancy([SetCurve(1, 24, 0.5, 1.0)]),
    "sets that agree": lambda: draw_discrepancy([SetCurve(1, 24, 0.0, 0.0), SetCurve(2, 24, 0.0, 0.0)]),
    "nothing defined": lambda: draw_forest([ForestEstimate(LONG, None, None, None, 0, reason=LONG * 2)]),
    "below chance": lambda: draw_forest([ForestEstimate("x", -0.9, -1.0, -0.5, 10**9, LONG)], threshold=1.0),
    "without an interval": lambda: draw_forest([ForestEstimate(HOSTILE, 1.0, None, None, 1)], statistic=LONG[:60]),
    "one year of a trend": lambda: draw_trend([TrendLine(LONG, (YearPoint(2020, 1.0, 0.2, 1.0, 1),), LONG)]),
    "twelve trends": lambda: draw_trend(
        [TrendLine("t", (YearPoint(2020, 0, 0, 0, 1), YearPoint(2024, 0, 0, 0.1, 1)))] * 12
    ),
    "a trend without posts": lambda: draw_trend(
        [TrendLine("none", ()), TrendLine("some", (YearPoint(2020, 0.5, 0.4, 0.6, 9),))]
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_unusual_data_is_drawn_completely(case: str) -> None:
    figure = ODD[case]()
    svg = render_svg(figure)
    assert_text_inside(svg)
    assert "NaN" not in svg
    assert "<script" not in svg
    assert render_pdf(svg).startswith(b"%PDF")


def test_every_phase_has_a_distinct_mark_and_every_line_a_distinct_dash(drawn: dict[str, str]) -> None:
    dashes = set(re.findall(r'stroke-dasharray="([^"]*)"', drawn["by-year"]))
    assert len(dashes) >= 3
    points = re.findall(r'<path[^>]* d="([^"]*)" fill="(#[0-9a-f]{6})"', drawn["popularity-difficulty"])
    assert len({color for _, color in points}) >= 4


def test_a_cell_is_darker_where_its_share_is_larger() -> None:
    svg = render_svg(draw_heat_map(["a", "b"], [ShareColumn("x", 10, (0.9, 0.1))]))
    first, second = re.findall(r'<path[^>]*fill="(#[0-9a-f]{6})"[^>]*stroke="#ffffff"', svg)[:2]
    assert int(first[1:3], 16) < int(second[1:3], 16)


def test_a_name_in_the_treemap_appears_only_if_it_fits(figures: dict[str, Figure], drawn: dict[str, str]) -> None:
    named = [text for text in _texts(drawn["treemap"]) if text.startswith("Object")]
    assert 10 <= len(named) < 40
    assert "Object 0" in named


def test_several_figures_of_one_kind_can_be_on_one_page() -> None:
    pages = [
        render_svg(draw_forest([ForestEstimate("x", 0.5, 0.4, 0.6, 9)], name=name))
        for name in ("forest-pilot", "forest-main")
    ]
    ids = [id_ for page in pages for id_ in re.findall(r'\bid="([^"]*)"', page)]
    assert len(ids) == len(set(ids))


def _texts(svg: str) -> list[str]:
    return [
        element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text") if element.text
    ]
