"""Values of a small study, and all nine figures drawn from them."""

from __future__ import annotations

import math

import pytest

from quaestor.render.figures.discrepancy import draw_discrepancy
from quaestor.render.figures.export import render_svg
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

PHASES = ("Data processing", "Model setting", "Model training", "Runtime environment")


def draw_all() -> dict[str, Figure]:
    objects = [(PHASES[at % 4], f"Object {at}", 3 + 400 // (at + 1)) for at in range(40)]
    stages = [
        ProcessStage(
            "Collect",
            (
                ProcessStep("Load the dump", 22_000_000, "questions"),
                ProcessStep("Keep how-to questions", 14_203, "posts"),
            ),
        ),
        ProcessStage(
            "Build the taxonomy",
            (ProcessStep("Name a verb and an object", 2_401, "phrases"), ProcessStep("Confirm each triplet")),
        ),
        ProcessStage("Measure", (ProcessStep("Check the findings", 10, "findings"),)),
    ]
    shares = tuple(YearPoint(year, 0.3 + year % 3 / 50, 0.25, 0.4, 120) for year in range(2015, 2022))
    figures = [
        draw_process(stages),
        draw_funnel(
            [FunnelStep("by tag", 90_697), FunnelStep("how-to in the title", 14_203), FunnelStep("not closed", 3_842)]
        ),
        draw_by_year(
            [2015, 2016, 2017, 2018],
            [
                YearSeries("TensorFlow", (15, 160, 316, 324)),
                YearSeries("PyTorch", (0, 0, 20, 56)),
                YearSeries("Theano", (8, 28, 6, 0)),
            ],
        ),
        draw_treemap([TaxonomyPart(phase, name, posts, posts / 7) for phase, name, posts in objects]),
        draw_heat_map(
            PHASES,
            [
                ShareColumn("TensorFlow", 1_897, (0.442, 0.281, 0.131, 0.014)),
                ShareColumn("Theano", 47, (0.468, 0.298, None, 0.0)),
            ],
        ),
        draw_popularity_difficulty(
            [
                TaxonomyPoint(phase, name, posts, 100.0 * 1.1**at, 0.01 * 1.3**at)
                for at, (phase, name, posts) in enumerate(objects)
            ],
            median_views=640.0,
            median_days=1.9,
        ),
        draw_discrepancy([SetCurve(at, 24, 0.5 * math.exp(-at / 9), 0.8 * math.exp(-at / 7)) for at in range(1, 61)]),
        draw_forest(
            [
                ForestEstimate("pilot", 0.53, 0.36, 0.70, 100, "moderate"),
                ForestEstimate("drift", None, None, None, 12, reason="every rater gave the same code"),
            ],
            threshold=0.6,
        ),
        draw_trend([TrendLine(phase, shares, "no clear trend") for phase in PHASES]),
    ]
    return {figure.name: figure for figure in figures}


@pytest.fixture(scope="session")
def figures() -> dict[str, Figure]:
    return draw_all()


@pytest.fixture(scope="session")
def drawn(figures: dict[str, Figure]) -> dict[str, str]:
    return {name: render_svg(figure) for name, figure in figures.items()}
