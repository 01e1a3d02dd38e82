"""Draws posts by year and framework as lines that differ in colour, dash and symbol, with names at their ends."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from quaestor.render.figures.canvas import Canvas, Frame, chart, draw_empty, spread_positions
from quaestor.render.figures.records import Figure, YearSeries
from quaestor.render.figures.style import (
    DASHES,
    LINE,
    SERIES,
    SHAPES,
    SMALL,
    count,
    join_with_and,
    round_steps,
    shorten,
    text_width,
)

_LABEL, _MOST_LABELS = 17, 7


def draw_by_year(
    years: Sequence[int],
    series: Sequence[YearSeries],
    *,
    unit: str = "posts",
    name: str = "by-year",
    title: str = "Posts by year",
) -> Figure:
    """Draws one line per series, with the count at its peak and its name and sum at its end."""
    if not years or not series:
        return draw_empty(name, title, f"there are no {unit} with a year yet")
    labels = [f"{line.name}, {count(sum(line.counts))} in all" for line in series]
    right = min(round(max(map(text_width, labels))) + 48, 300)
    frame = Frame(74, 26, right, 44, max(310, _LABEL * (len(series) + 1)))
    steps = round_steps(max(max(line.counts, default=0) for line in series), whole=True)
    canvas = Canvas()
    _label_ends(canvas, frame, series, labels, steps[-1])
    if len(series) <= _MOST_LABELS:
        _label_peaks(canvas, frame, years, series, steps[-1])
    layers = [_line(years, line, at, steps, unit) for at, line in enumerate(series)]
    return frame.build_figure(name, title, _describe(years, series, unit), canvas, layers)


def _line(years: Sequence[int], year_series: YearSeries, at: int, steps: Sequence[float], unit: str) -> alt.Chart:
    values = [{"year": year, "count": number} for year, number in zip(years, year_series.counts, strict=True)]
    color, shape = SERIES[at % len(SERIES)], SHAPES[at % len(SHAPES)]
    every = -(-len(years) // 12)
    domain = [years[0], years[-1]] if len(years) > 1 else [years[0] - 1, years[0] + 1]
    across = alt.Axis(values=list(years[::every]), format="d", grid=False, title=None)
    up = alt.Axis(values=list(steps), format=",~f", domain=False, ticks=False, title=unit, labelPadding=14)
    layer: alt.Chart = (
        chart(values)
        .mark_line(
            color=color,
            strokeWidth=2,
            strokeDash=list(DASHES[at % len(DASHES)]),
            point=alt.OverlayMarkDef(shape=shape, color=color, stroke=color, filled=True, size=46, strokeDash=[1, 0]),
        )
        .encode(
            x=alt.X("year:Q", scale=alt.Scale(domain=domain, nice=False, zero=False), axis=across),
            y=alt.Y("count:Q", scale=alt.Scale(domain=[0, steps[-1]], nice=False), axis=up),
        )
    )
    return layer


def _label_ends(canvas: Canvas, frame: Frame, series: Sequence[YearSeries], labels: Sequence[str], top: float) -> None:
    ends = [frame.height * (1 - line.counts[-1] / top) for line in series]
    positions = spread_positions(ends, _LABEL, 0, frame.height)
    x = frame.width if len(series[0].counts) > 1 else frame.width / 2
    for at, (label, end, y) in enumerate(zip(labels, ends, positions, strict=True)):
        canvas.lines([[(x + 8, end), (frame.width + 20, y), (frame.width + 24, y)]], LINE)
        symbol = {"x": frame.width + 32, "y": y, "shape": SHAPES[at % len(SHAPES)], "fill": SERIES[at % len(SERIES)]}
        canvas.symbols([symbol], size=46)
        canvas.text(frame.width + 41, y, shorten(label, frame.right - 43))


def _label_peaks(canvas: Canvas, frame: Frame, years: Sequence[int], series: Sequence[YearSeries], top: float) -> None:
    """Writes the peak of each line, unless it would overlap another label."""
    occupied: list[tuple[float, float]] = []
    for line in series:
        peak = max(range(len(years)), key=lambda at: line.counts[at])
        x = frame.width * (peak / (len(years) - 1) if len(years) > 1 else 0.5)
        y = frame.height * (1 - line.counts[peak] / top) - 13
        if line.counts[peak] and all(abs(x - other) > 34 or abs(y - above) > 13 for other, above in occupied):
            canvas.text(x, y, count(line.counts[peak]), size=SMALL, align="center", halo=True)
            occupied.append((x, y))


def _describe(years: Sequence[int], series: Sequence[YearSeries], unit: str) -> str:
    descriptions = []
    for line in series:
        most = max(line.counts, default=0)
        if not most:
            descriptions.append(f"{line.name} has none")
            continue
        total, peak = count(sum(line.counts)), years[line.counts.index(most)]
        descriptions.append(f"{line.name} has {total} {unit} in all, most of them in {peak} ({count(most)})")
    span = f"{years[0]} to {years[-1]}" if len(years) > 1 else f"{years[0]}"
    return (
        f"Lines of {unit} a year, {span}, for {join_with_and([line.name for line in series])}. "
        + "; ".join(descriptions)
        + "."
    )
