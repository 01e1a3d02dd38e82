"""Figures drawn in parallel equal those drawn one after another."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import quaestor.render
from quaestor.render.figures.discrepancy import draw_discrepancy
from quaestor.render.figures.forest import draw_forest
from quaestor.render.figures.grids import draw_heat_map
from quaestor.render.figures.popularity_difficulty import draw_popularity_difficulty
from quaestor.render.figures.records import Figure, ForestEstimate, SetCurve, ShareColumn, TaxonomyPoint, YearSeries
from quaestor.render.figures.years import draw_by_year

_SETTER = re.compile(r"""alt\.\w+\("[^()]*\)\s*\.\w+\(""")
"""`alt.X(…).scale(…)`: such setters keep what they make on the class, where another thread finds it."""


def forest(at: int) -> Figure:
    return draw_forest([ForestEstimate("pilot", 0.5 - at / 3, 0.3 - at / 3, 0.7, 10 + at)] * (at + 1))


def heat_map(at: int) -> Figure:
    return draw_heat_map(["one", "two", "three"][: at + 1], [ShareColumn("A", 3, (0.1, 0.2, 0.7)[: at + 1])])


def by_year(at: int) -> Figure:
    return draw_by_year([2010, 2011 + at], [YearSeries("A", (1, 10 ** (at + 1)))])


def discrepancy(at: int) -> Figure:
    return draw_discrepancy([SetCurve(one, 24, 0.5 / one, 0.2 * at) for one in range(1, 5 + 9 * at)])


def popularity(at: int) -> Figure:
    places = [TaxonomyPoint("A", str(one), one, 10.0 ** (one + at), 0.1 * one) for one in (1, 2, 3)]
    return draw_popularity_difficulty(places, median_views=100.0, median_days=0.2)


@pytest.mark.parametrize("draw", [forest, heat_map, by_year, discrepancy, popularity])
def test_figures_drawn_at_the_same_time_keep_their_own_scales(draw: Callable[[int], Figure]) -> None:
    expected = [draw(at).spec for at in range(3)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(draw, [at % 3 for at in range(18)]))
    assert [figure.spec for figure in found] == [expected[at % 3] for at in range(18)]


def test_no_figure_uses_altair_setters_that_are_not_thread_safe() -> None:
    assert _SETTER.search('alt.X("low:Q").scale(domain=[0, 1])')
    for path in Path(quaestor.render.__path__[0]).rglob("*.py"):
        assert _SETTER.search(path.read_text("utf-8")) is None, path.name
