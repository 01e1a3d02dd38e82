"""Figures of themes: saturation, mentions by participant, and co-occurrence."""

from __future__ import annotations

import numpy as np

from quaestor.interviews.themes.co_occurrence import compute_saturation, describe_stop
from quaestor.interviews.themes.records import TURN, InterviewThemes, count_mentions, find_occurrences
from quaestor.measures.co_occurrence import co_occurrence
from quaestor.render.figures.export import render_svg
from quaestor.render.figures.grids import draw_co_occurrence, draw_code_map
from quaestor.render.figures.records import CodeCounts, Figure, SaturationPoint
from quaestor.render.figures.saturation import draw_saturation

SATURATION, CODE_MAP, TOGETHER = "saturation", "code-map", "together"
FIGURES = (SATURATION, CODE_MAP, TOGETHER)
_MOST_CODES = 14
"""The codes shown, those that co-occur most often."""


def draw_figures(themes: InterviewThemes) -> list[Figure]:
    return [draw_figure(themes, name) for name in FIGURES]


def draw_figure(themes: InterviewThemes, name: str) -> Figure:
    """Draws the figure of this name."""
    return {SATURATION: _saturation, CODE_MAP: _code_map, TOGETHER: _draw_co_occurrence}[name](themes)


def render_figure(themes: InterviewThemes, name: str) -> str | None:
    """Returns a figure as SVG for a page; None if there is none of that name."""
    return render_svg(draw_figure(themes, name)) if name in FIGURES else None


def _saturation(themes: InterviewThemes) -> Figure:
    saturation = compute_saturation(themes)
    names = [" + ".join(event) for event in themes.events]
    order = "in the order of their pseudonyms" if themes.undated else "in the order in which they were held"
    lines = zip(
        names, saturation.new, saturation.total, saturation.expected, saturation.low, saturation.high, strict=True
    )
    return draw_saturation(
        [SaturationPoint(*line) for line in lines],
        order=order,
        stops=[describe_stop(stop) for stop in saturation.stops],
    )


def _code_map(themes: InterviewThemes) -> Figure:
    rows = [
        CodeCounts(code.theme_name, code.name, tuple(counts))
        for code, counts in zip(themes.codes, count_mentions(themes).tolist(), strict=True)
    ]
    return draw_code_map(themes.participants, rows)


def _draw_co_occurrence(themes: InterviewThemes) -> Figure:
    """Draws the codes that co-occur most often, in the order of the codebook."""
    _, matrix = find_occurrences(themes, TURN)
    counts = co_occurrence(matrix).counts
    meets = counts.sum(axis=1) - counts.diagonal()
    best = np.argsort(-meets, kind="stable")[:_MOST_CODES]
    chosen = sorted(place for place in best.tolist() if meets[place])
    names = [themes.codes[place].name for place in chosen]
    return draw_co_occurrence(names, counts[np.ix_(chosen, chosen)].tolist())
