"""Draws posts by year as lines, and shares by year as small panels with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from quaestor.base.names import join_with_and
from quaestor.render.figures.canvas import Canvas, Frame, chart, draw_empty, spread_positions
from quaestor.render.figures.records import Figure, TrendLine, YearPoint, YearSeries
from quaestor.render.figures.style import (
    ACCENT,
    DASHES,
    GRID,
    LINE,
    MUTED,
    SERIES,
    SHAPES,
    SMALL,
    count,
    percent,
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
    return frame.build_figure(name, title, _describe_counts(years, series, unit), canvas, layers)


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


def _describe_counts(years: Sequence[int], series: Sequence[YearSeries], unit: str) -> str:
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


_ACROSS, _HEIGHT, _GAP, _BETWEEN = 3, 110, 58, 76
_BAND = "#e3c6c1"


def draw_trend(
    trends: Sequence[TrendLine],
    *,
    name: str = "trend",
    title: str = "Shares by year with 95% intervals",
) -> Figure:
    """Draws one panel per trend, all with the same scales; a missing year is a gap on the axis."""
    years = sorted({share.year for trend in trends for share in trend.shares})
    if not years:
        return draw_empty(name, title, "there is no share with a year yet")
    across = min(len(trends), _ACROSS)
    down = -(-len(trends) // across)
    frame = Frame(52, 48, 56, 30, down * _HEIGHT + (down - 1) * _BETWEEN)
    width = (frame.width - _GAP * (across - 1)) / across
    steps = round_steps(max(share.high for trend in trends for share in trend.shares), 4)
    canvas = Canvas()
    for at, trend in enumerate(trends):
        x, y = (at % across) * (width + _GAP), (at // across) * (_HEIGHT + _BETWEEN)
        panel = _Panel(x, y, width, years[0], years[-1], steps[-1])
        panel.axes(canvas, years, steps, labelled=at % across == 0)
        panel.draw(canvas, trend)
    return frame.build_figure(name, title, _describe_shares(trends, years), canvas)


@dataclass(frozen=True)
class _Panel:
    left: float
    top: float
    width: float
    first: int
    last: int
    most: float

    def x(self, year: int) -> float:
        span = self.last - self.first
        return self.left + self.width * ((year - self.first) / span if span else 0.5)

    def y(self, share: float) -> float:
        return self.top + _HEIGHT * (1 - share / self.most)

    def axes(self, canvas: Canvas, years: Sequence[int], steps: Sequence[float], *, labelled: bool) -> None:
        right = self.left + self.width
        canvas.lines([[(self.left, self.y(step)), (right, self.y(step))] for step in steps[1:]], GRID)
        canvas.lines([[(self.left, self.y(0)), (right, self.y(0))]], LINE)
        if labelled:
            for step in steps:
                canvas.text(self.left - 8, self.y(step), f"{100 * step:g}%", color=MUTED, size=SMALL, align="right")
        for year in sorted({years[0], years[-1]}):
            canvas.text(self.x(year), self.y(0) + 14, str(year), color=MUTED, size=SMALL, align="center")

    def draw(self, canvas: Canvas, trend: TrendLine) -> None:
        canvas.text(self.left, self.top - 32, shorten(trend.name, self.width + 40, bold=True), bold=True)
        canvas.text(self.left, self.top - 16, shorten(trend.note, self.width + 40, SMALL), color=MUTED, size=SMALL)
        if not trend.shares:
            canvas.text(self.left + self.width / 2, self.top + _HEIGHT / 2, "no posts", color=MUTED, align="center")
            return
        shares = sorted(trend.shares, key=lambda share: share.year)
        self._band(canvas, shares)
        canvas.lines([[(self.x(share.year), self.y(share.share)) for share in shares]], ACCENT, width=2)
        dots = [
            {"x": self.x(share.year), "y": self.y(share.share), "shape": "circle", "fill": ACCENT} for share in shares
        ]
        canvas.symbols(dots, size=22)
        end = shares[-1]
        canvas.text(self.x(end.year) + 7, self.y(end.share), percent(end.share), size=SMALL, bold=True, halo=True)

    def _band(self, canvas: Canvas, shares: Sequence[YearPoint]) -> None:
        if len(shares) == 1:
            x = self.x(shares[0].year)
            canvas.lines([[(x, self.y(shares[0].low)), (x, self.y(shares[0].high))]], _BAND, width=7)
            return
        upper = [(self.x(share.year), self.y(share.high)) for share in shares]
        lower = [(self.x(share.year), self.y(share.low)) for share in reversed(shares)]
        canvas.areas([[*upper, *lower]], _BAND)


def _describe_shares(trends: Sequence[TrendLine], years: Sequence[int]) -> str:
    sentences = []
    for trend in trends:
        if not trend.shares:
            sentences.append(f"{trend.name}: no posts")
            continue
        shares = sorted(trend.shares, key=lambda share: share.year)
        first, last = shares[0], shares[-1]
        description = f"{trend.name}: {percent(first.share)} in {first.year}"
        if last.year != first.year:
            description += (
                f", {percent(last.share)} in {last.year} (interval {percent(last.low)} to {percent(last.high)})"
            )
        sentences.append(description + (f", {trend.note}" if trend.note else ""))
    span = f"{years[0]} to {years[-1]}" if len(years) > 1 else f"{years[0]}"
    return f"Small panels of shares by year, {span}, with 95% intervals as bands. " + "; ".join(sentences) + "."
