"""Draws saturation: bars for new codes per interview, a line for all codes so far, a band for other orders."""

from __future__ import annotations

from collections.abc import Sequence

from quaestor.base.names import join_with_and
from quaestor.render.figures.canvas import Canvas, Frame, draw_empty, spread_positions
from quaestor.render.figures.records import Figure, SaturationPoint
from quaestor.render.figures.style import (
    ACCENT,
    DASHES,
    GRID,
    INK,
    LINE,
    MUTED,
    SMALL,
    count,
    round_steps,
    shorten,
)

_HEIGHT, _BESIDE, _MOST_NAMED = 290, 150, 24
_BAND, _BAR = "#efdeda", "#d6c9b4"


def draw_saturation(
    interviews: Sequence[SaturationPoint],
    *,
    order: str = "in the order in which they were held",
    stops: Sequence[str] = (),
    name: str = "saturation",
    title: str = "New codes interview by interview",
) -> Figure:
    """Draws the saturation curve; line and band meet at the last interview, since every order ends with all codes."""
    if not interviews:
        return draw_empty(name, title, "no interview has been coded yet")
    frame = Frame(56, 36, _BESIDE, 52, _HEIGHT)
    steps = round_steps(max(1.0, interviews[-1].total, *(interview.high for interview in interviews)), whole=True)
    canvas = Canvas()
    plot = _Plot(frame, len(interviews), steps[-1])
    _axes(canvas, plot, interviews, steps, order)
    upper = [(plot.x(at), plot.y(interview.high)) for at, interview in enumerate(interviews)]
    lower = [(plot.x(at), plot.y(interview.low)) for at, interview in enumerate(interviews)]
    canvas.areas([[*upper, *reversed(lower)]], _BAND)
    _bars(canvas, plot, interviews)
    expected = [(plot.x(at), plot.y(interview.expected)) for at, interview in enumerate(interviews)]
    canvas.lines([expected], MUTED, width=1.5, dash=DASHES[1])
    total = [(plot.x(at), plot.y(interview.total)) for at, interview in enumerate(interviews)]
    canvas.lines([total], ACCENT, width=2)
    canvas.symbols([{"x": x, "y": y, "shape": "circle", "fill": ACCENT} for x, y in total], size=34)
    _legend(canvas, frame, plot, interviews)
    return frame.build_figure(name, title, _describe(interviews, order, stops), canvas)


class _Plot:
    """Converts an interview and a number of codes to coordinates."""

    def __init__(self, frame: Frame, n: int, most: float) -> None:
        self.frame, self.n, self.most = frame, n, most
        self.step = frame.width / n

    def x(self, at: int) -> float:
        return self.step * (at + 0.5)

    def y(self, codes: float) -> float:
        return self.frame.height * (1 - codes / self.most)


def _axes(
    canvas: Canvas, plot: _Plot, interviews: Sequence[SaturationPoint], steps: Sequence[float], order: str
) -> None:
    width, bottom = plot.frame.width, plot.frame.height
    canvas.lines([[(0, plot.y(step)), (width, plot.y(step))] for step in steps[1:]], GRID)
    canvas.lines([[(0, bottom), (width, bottom)]], LINE)
    for step in steps:
        canvas.text(-10, plot.y(step), f"{step:g}", color=MUTED, size=SMALL, align="right")
    every = -(-len(interviews) // _MOST_NAMED)
    for at, interview in enumerate(interviews):
        if at % every == 0:
            label = shorten(interview.name, plot.step * every - 3, SMALL)
            canvas.text(plot.x(at), bottom + 15, label, color=MUTED, size=SMALL, align="center")
    canvas.text(width / 2, bottom + 38, f"interviews, {order}", align="center")
    canvas.text(-34, -22, "codes", color=INK)


def _bars(canvas: Canvas, plot: _Plot, interviews: Sequence[SaturationPoint]) -> None:
    half = min(plot.step * 0.28, 22)
    boxes = []
    for at, interview in enumerate(interviews):
        x, y = plot.x(at), plot.y(interview.new)
        if interview.new:
            box = {"x": x - half, "y": y, "x2": x + half, "y2": plot.frame.height, "fill": _BAR, "stroke": _BAR}
            boxes.append(box)
        if plot.step > 18:
            canvas.text(x, y - 9, count(interview.new), size=SMALL, align="center", halo=True)
    canvas.boxes(boxes)


def _legend(canvas: Canvas, frame: Frame, plot: _Plot, interviews: Sequence[SaturationPoint]) -> None:
    last = interviews[-1]
    ends = [plot.y(last.total), plot.y(last.expected) + 30, plot.y(last.total) + 62, plot.y(last.new)]
    positions = spread_positions(ends, 30, 6, frame.height - 4)
    x = frame.width + 12
    canvas.lines([[(x, positions[0]), (x + 20, positions[0])]], ACCENT, width=2)
    canvas.text(x + 26, positions[0], f"{count(last.total)} codes in all", bold=True)
    canvas.lines([[(x, positions[1]), (x + 20, positions[1])]], MUTED, width=1.5, dash=DASHES[1])
    canvas.text(x + 26, positions[1], "on average")
    box = {"x": x, "y": positions[2] - 6, "x2": x + 20, "y2": positions[2] + 6, "fill": _BAND, "stroke": _BAND}
    bar = {"x": x, "y": positions[3] - 6, "x2": x + 20, "y2": positions[3] + 6, "fill": _BAR, "stroke": _BAR}
    canvas.boxes([box, bar])
    canvas.text(x + 26, positions[2], "95% of orders")
    canvas.text(x + 26, positions[3], "new codes")


def _describe(interviews: Sequence[SaturationPoint], order: str, stops: Sequence[str]) -> str:
    new = join_with_and([f"{interview.name} {count(interview.new)}" for interview in interviews])
    several = "interview" if len(interviews) == 1 else "interviews"
    sentence = f"{count(interviews[-1].total)} codes in {len(interviews)} {several}, {order}. New codes: {new}."
    return " ".join([sentence, *stops])
