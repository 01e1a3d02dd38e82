"""A small study's worth of values, and all nine figures drawn from it."""

from __future__ import annotations

import math

import pytest

from quaestor.render.figures.by_year import draw_by_year
from quaestor.render.figures.discrepancy import draw_discrepancy
from quaestor.render.figures.export import svg_of
from quaestor.render.figures.forest import draw_forest
from quaestor.render.figures.funnel import draw_funnel
from quaestor.render.figures.heat_map import draw_heat_map
from quaestor.render.figures.popularity_difficulty import draw_popularity_difficulty
from quaestor.render.figures.process import draw_process
from quaestor.render.figures.records import (
    Column,
    Estimate,
    Figure,
    Kept,
    Part,
    Place,
    Series,
    SetCurve,
    Share,
    Stage,
    Step,
    Trend,
)
from quaestor.render.figures.treemap import draw_treemap
from quaestor.render.figures.trend import draw_trend

PHASES = ("Data processing", "Model setting", "Model training", "Runtime environment")


def draw_all() -> dict[str, Figure]:
    objects = [(PHASES[at % 4], f"Object {at}", 3 + 400 // (at + 1)) for at in range(40)]
    stages = [
        Stage(
            "Collect", (Step("Load the dump", 22_000_000, "questions"), Step("Keep how-to questions", 14_203, "posts"))
        ),
        Stage(
            "Build the taxonomy", (Step("Name a verb and an object", 2_401, "phrases"), Step("Confirm each triplet"))
        ),
        Stage("Measure", (Step("Check the findings", 10, "findings"),)),
    ]
    shares = tuple(Share(year, 0.3 + year % 3 / 50, 0.25, 0.4, 120) for year in range(2015, 2022))
    figures = [
        draw_process(stages),
        draw_funnel([Kept("by tag", 90_697), Kept("how-to in the title", 14_203), Kept("not closed", 3_842)]),
        draw_by_year(
            [2015, 2016, 2017, 2018],
            [
                Series("TensorFlow", (15, 160, 316, 324)),
                Series("PyTorch", (0, 0, 20, 56)),
                Series("Theano", (8, 28, 6, 0)),
            ],
        ),
        draw_treemap([Part(phase, name, posts, posts / 7) for phase, name, posts in objects]),
        draw_heat_map(
            PHASES,
            [
                Column("TensorFlow", 1_897, (0.442, 0.281, 0.131, 0.014)),
                Column("Theano", 47, (0.468, 0.298, None, 0.0)),
            ],
        ),
        draw_popularity_difficulty(
            [
                Place(phase, name, posts, 100.0 * 1.1**at, 0.01 * 1.3**at)
                for at, (phase, name, posts) in enumerate(objects)
            ],
            median_views=640.0,
            median_days=1.9,
        ),
        draw_discrepancy([SetCurve(at, 24, 0.5 * math.exp(-at / 9), 0.8 * math.exp(-at / 7)) for at in range(1, 61)]),
        draw_forest(
            [
                Estimate("pilot", 0.53, 0.36, 0.70, 100, "moderate"),
                Estimate("drift", None, None, None, 12, reason="every rater gave the same code"),
            ],
            threshold=0.6,
        ),
        draw_trend([Trend(phase, shares, "no clear trend") for phase in PHASES]),
    ]
    return {figure.name: figure for figure in figures}


@pytest.fixture(scope="session")
def figures() -> dict[str, Figure]:
    return draw_all()


@pytest.fixture(scope="session")
def drawn(figures: dict[str, Figure]) -> dict[str, str]:
    return {name: svg_of(figure) for name, figure in figures.items()}
