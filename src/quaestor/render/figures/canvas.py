"""Draws marks at pixel positions, for labels of charts and for drawings without scales."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from quaestor.render.figures.records import Figure
from quaestor.render.figures.style import FONT, GRID, INK, LINE, MUTED, NORMAL, PAPER, SMALL, WIDTH, wrap_text

_UNPRINTABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
EMPTY = 100
"""The height of a figure without data."""
Values = list[dict[str, Any]]
Path = Sequence[tuple[float, float]]


@dataclass
class Canvas:
    """Collects marks, in pixels from the upper left corner of the plot, and returns them as layers of a chart."""

    _shapes: list[dict[str, Any]] = field(default_factory=list)
    _texts: dict[tuple[Any, ...], Values] = field(default_factory=dict)

    def boxes(self, values: Values, *, corner: float = 0.0) -> None:
        """Adds rectangles from x, y to x2, y2, each with its `fill` and `stroke`."""
        mark = {"type": "rect", "cornerRadius": corner, "strokeWidth": 1}
        self._add(values, mark, {"x2": {"field": "x2"}, "y2": {"field": "y2"}, **_as_given("fill", "stroke")})

    def lines(
        self,
        paths: Sequence[Path],
        color: str = LINE,
        *,
        width: float = 1.0,
        dash: Sequence[int] = (1, 0),
    ) -> None:
        mark = {"type": "line", "color": color, "strokeWidth": width, "strokeDash": list(dash), "strokeJoin": "miter"}
        self._add(_points(paths), mark, _ALONG)

    def areas(self, paths: Sequence[Path], color: str) -> None:
        """Adds closed areas without an outline."""
        mark = {"type": "line", "filled": True, "color": color, "interpolate": "linear-closed", "strokeWidth": 0}
        self._add(_points(paths), mark, _ALONG)

    def symbols(self, values: Values, *, size: float = 70) -> None:
        """Adds points, each with its `shape` and `fill`."""
        self._add(values, {"type": "point", "opacity": 1, "size": size, "strokeWidth": 0}, _as_given("shape", "fill"))

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        color: str = INK,
        size: int = NORMAL,
        bold: bool = False,
        align: str = "left",
        halo: bool = False,
    ) -> None:
        """Adds a line of text above all other marks, vertically centred at `y`, if wanted with a halo."""
        if words:
            values = self._texts.setdefault((color, size, bold, align, halo), [])
            values.append({"x": round(x, 2), "y": round(y, 2), "text": words})

    def layers(self) -> list[dict[str, Any]]:
        written = []
        shown = {"text": {"field": "text", "type": "nominal"}}
        for (color, size, bold, align, halo), values in self._texts.items():
            mark = {"type": "text", "align": align, "baseline": "middle", "fontSize": size, "color": color}
            mark["fontWeight"] = "bold" if bold else "normal"
            if halo:
                ring = {**mark, "color": PAPER, "stroke": PAPER, "strokeWidth": 3, "strokeJoin": "round"}
                written.append(_layer(values, ring, shown))
            written.append(_layer(values, mark, shown))
        return [*self._shapes, *written]

    def _add(self, values: Values, mark: dict[str, Any], encoding: dict[str, Any]) -> None:
        if values:
            self._shapes.append(_layer(values, mark, encoding))


_ALONG = {"detail": {"field": "line", "type": "nominal"}, "order": {"field": "at", "type": "quantitative"}}


def _points(paths: Sequence[Path]) -> Values:
    return [
        {"line": line, "at": at, "x": round(x, 2), "y": round(y, 2)}
        for line, path in enumerate(paths)
        for at, (x, y) in enumerate(path)
    ]


def _as_given(*channels: str) -> dict[str, Any]:
    return {channel: {"field": channel, "type": "nominal", "scale": None} for channel in channels}


def _layer(values: Values, mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    """Builds a layer as plain Vega-Lite, since Altair takes longer to validate dozens of them than to draw them."""
    at = {axis: {"field": axis, "type": "quantitative", "scale": None, "axis": None} for axis in ("x", "y")}
    return {"data": {"values": values}, "mark": mark, "encoding": {**at, **encoding}}


def chart(values: Values) -> alt.Chart:
    """Returns a chart with inline values in the units of its scales."""
    return alt.Chart(alt.InlineData(values=values))


@dataclass(frozen=True)
class Frame:
    """The size of a plot inside a figure, with margins for axes and labels."""

    left: int
    top: int
    right: int
    bottom: int
    height: int
    whole: int = WIDTH
    """The width of the figure including margins."""

    @property
    def width(self) -> int:
        return self.whole - self.left - self.right

    def build_figure(
        self, name: str, title: str, words: str, canvas: Canvas, charts: Sequence[alt.Chart] = ()
    ) -> Figure:
        """Builds a figure from charts with the canvas above; margins are fixed, so that text does not move the plot."""
        drawing = alt.LayerChart(layer=list(charts)).properties(
            description=words,
            width=self.width,
            height=self.height,
            autosize="none",
            padding={"left": self.left, "top": self.top, "right": self.right, "bottom": self.bottom},
        )
        spec = _styled(drawing)
        spec["layer"] = [*spec["layer"], *canvas.layers()]
        return Figure(name, remove_unprintable(title), remove_unprintable(words), remove_unprintable(spec))


def _styled(drawing: alt.LayerChart) -> dict[str, Any]:
    """Returns the drawing as Vega-Lite in the common style; only the figure as a whole has a text alternative."""
    view = alt.ViewConfig(stroke=None)
    configured = drawing.configure(aria=False, font=FONT, background=PAPER, view=view).configure_axis(
        labelFontSize=SMALL,
        labelColor=MUTED,
        labelPadding=6,
        labelLimit=0,
        labelFlush=False,
        titleFontSize=NORMAL,
        titleColor=INK,
        titleFontWeight="normal",
        titlePadding=10,
        titleLimit=0,
        gridColor=GRID,
        domainColor=LINE,
        tickColor=LINE,
        tickSize=4,
    )
    spec: dict[str, Any] = configured.to_dict()
    return spec


def remove_unprintable(value: Any) -> Any:
    """Removes characters that XML does not allow: the converter aborts the whole process at the first one."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("", value)
    if isinstance(value, dict):
        return {key: remove_unprintable(item) for key, item in value.items()}
    return [remove_unprintable(item) for item in value] if isinstance(value, list) else value


def draw_empty(name: str, title: str, reason: str, whole: int = WIDTH) -> Figure:
    """Draws a figure without data that states the reason."""
    frame = Frame(20, 20, 20, 20, EMPTY - 40, whole)
    canvas = Canvas()
    canvas.boxes([{"x": 0, "y": 0, "x2": frame.width, "y2": frame.height, "fill": PAPER, "stroke": LINE}], corner=3)
    rows = wrap_text(reason, frame.width - 40, 2)
    for at, row in enumerate(rows):
        y = frame.height / 2 + 16 * (at - (len(rows) - 1) / 2)
        canvas.text(frame.width / 2, y, row, color=MUTED, align="center")
    return frame.build_figure(name, title, f"{title}: {reason}.", canvas)


def spread_positions(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Moves positions apart by at least the gap, in the same order and as near as possible to the original ones."""
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    gap = min(gap, (high - low) / max(len(order) - 1, 1))
    positions = list(positions)
    floor = low
    for index in order:
        positions[index] = max(positions[index], floor)
        floor = positions[index] + gap
    ceiling = high
    for index in reversed(order):
        positions[index] = min(positions[index], ceiling)
        ceiling = positions[index] - gap
    return positions
