"""Draws shares by year as small multiples: one panel per phase on the same scales, with intervals as bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.render.figures.canvas import Canvas, Frame, draw_empty
from quaestor.render.figures.records import Figure, TrendLine, YearPoint
from quaestor.render.figures.style import ACCENT, GRID, LINE, MUTED, SMALL, percent, round_steps, shorten

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
    return frame.build_figure(name, title, _describe(trends, years), canvas)


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


def _describe(trends: Sequence[TrendLine], years: Sequence[int]) -> str:
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
