"""Draws agreement as a forest plot: one row per estimate with its interval, or the reason why it is undefined."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from quaestor.render.figures.canvas import Canvas, Frame, chart, draw_empty
from quaestor.render.figures.records import Figure, ForestEstimate
from quaestor.render.figures.style import (
    ACCENT,
    GRID,
    INK,
    MUTED,
    SMALL,
    WASH,
    WIDTH,
    count,
    shorten,
    text_width,
    wrap_text,
)

_ROW, _MOST_LABEL, _RIGHT = 34, 230, 226
_NARROW, _NARROW_ROW, _NARROW_SIDE = 360, 46, 14
"""In a narrow figure each label is above its interval, so that both are legible on a phone."""
_BANDS = (0.2, 0.4, 0.6, 0.8)


def draw_forest(
    rows: Sequence[ForestEstimate],
    *,
    statistic: str = "Cohen's kappa",
    threshold: float | None = None,
    name: str = "forest",
    title: str = "Agreement between raters with 95% intervals",
    narrow: bool = False,
) -> Figure:
    """Draws the estimates over the usual bands of agreement, with a marked line for the threshold, if any."""
    if not rows:
        return draw_empty(name, title, "no round has an agreement yet", _NARROW if narrow else WIDTH)
    if narrow:
        top = 12 if threshold is None else 30
        frame = Frame(_NARROW_SIDE, top, _NARROW_SIDE, 46, _NARROW_ROW * len(rows), _NARROW)
    else:
        left = min(round(max(text_width(row.label) for row in rows)) + 34, _MOST_LABEL)
        frame = Frame(left, 40, _RIGHT, 46, _ROW * len(rows))
    positions = [at + (0.7 if narrow else 0.5) for at in range(len(rows))]
    known = [value for row in rows for value in (row.estimate, row.low, row.high) if value is not None]
    least = -1.0 if min(known, default=0.0) < -0.2 else -0.2 if min(known, default=0.0) < 0 else 0.0
    canvas = Canvas()
    if threshold is not None:
        x = frame.width * (threshold - least) / (1 - least)
        canvas.lines([[(x, -6), (x, frame.height)]], INK, width=1.5, dash=(5, 3))
        align = "right" if x > frame.width - 40 else "left" if x < 40 else "center"
        canvas.text(x, -14, f"threshold {threshold:g}", size=SMALL, align=align)
    if not narrow:
        canvas.text(frame.width + 16, -14, shorten(statistic, frame.right - 56, SMALL), color=MUTED, size=SMALL)
        canvas.text(frame.width + frame.right - 16, -14, "n", color=MUTED, size=SMALL, align="right")
    for row, position in zip(rows, positions, strict=True):
        if narrow:
            _write_above(canvas, row, frame, _NARROW_ROW * position)
        else:
            _write_right(canvas, row, frame, _ROW * position)
    layers = _marks(rows, positions, least, shorten(statistic, frame.width))
    return frame.build_figure(name, title, _describe(rows, statistic, threshold), canvas, layers)


def _marks(rows: Sequence[ForestEstimate], positions: Sequence[float], least: float, statistic: str) -> list[alt.Chart]:
    domain = [least, 1.0]
    ticks = [tick for tick in (-1.0, -0.5, 0.0, *_BANDS, 1.0) if tick >= least]
    axis = alt.Axis(values=ticks, format="~g", title=statistic, gridColor=GRID, domain=False)
    scale = alt.Scale(domain=domain, nice=False, clamp=True)
    across, estimate = (alt.X(field, scale=scale, axis=axis) for field in ("low:Q", "estimate:Q"))
    down = alt.Y("row:Q", scale=alt.Scale(domain=[len(rows), 0], nice=False), axis=None)
    values = [
        {"row": position, "label": row.label, "low": row.low, "high": row.high, "estimate": row.estimate}
        for row, position in zip(rows, positions, strict=True)
        if row.estimate is not None
    ]
    whiskers = [value for value in values if value["low"] is not None and value["high"] is not None]
    frame = chart([{"row": 0, "low": least}]).mark_point(opacity=0).encode(x=across, y=down)
    interval = chart(whiskers).mark_rule(color=ACCENT, strokeWidth=2).encode(x=across, x2="high:Q", y=down)
    point = chart(values).mark_point(shape="square", filled=True, color=ACCENT, opacity=1, size=80)
    return [frame, interval, point.encode(x=estimate, y=down)]


def _write_above(canvas: Canvas, row: ForestEstimate, frame: Frame, y: float) -> None:
    value = "undefined" if row.estimate is None else f"{row.estimate:.2f}"
    canvas.text(0, y - 17, shorten(row.label, frame.width - text_width(value, bold=True) - 8), halo=True)
    canvas.text(frame.width, y - 17, value, bold=True, align="right", halo=True)


def _write_right(canvas: Canvas, row: ForestEstimate, frame: Frame, y: float) -> None:
    canvas.text(-18, y, shorten(row.label, frame.left - 30), align="right")
    end = frame.width + frame.right - 16
    canvas.text(end, y, count(row.n), size=SMALL, align="right")
    if row.estimate is None:
        words = wrap_text(f"undefined: {row.reason}" if row.reason else "undefined", frame.width - 24, 2, SMALL)
        canvas.boxes([{"x": 0, "y": y - 15, "x2": frame.width, "y2": y + 15, "fill": WASH, "stroke": WASH}])
        for line, text in enumerate(words):
            canvas.text(12, y + 13 * (line - (len(words) - 1) / 2), text, color=MUTED, size=SMALL)
        canvas.text(frame.width + 16, y, "–", color=MUTED)
        return
    interval = f" [{row.low:.2f}, {row.high:.2f}]" if row.low is not None and row.high is not None else ""
    width = frame.right - 32 - text_width(count(row.n), SMALL)
    lower = 7 if row.band else 0
    canvas.text(frame.width + 16, y - lower, shorten(f"{row.estimate:.2f}{interval}", width), bold=True)
    canvas.text(frame.width + 16, y + 8, shorten(row.band, width, SMALL), color=MUTED, size=SMALL)


def _describe(rows: Sequence[ForestEstimate], statistic: str, threshold: float | None) -> str:
    sentences = []
    for row in rows:
        if row.estimate is None:
            sentences.append(f"{row.label}: undefined{', ' + row.reason if row.reason else ''} (n = {count(row.n)})")
            continue
        interval = f", 95% interval {row.low:.2f} to {row.high:.2f}" if None not in (row.low, row.high) else ""
        band = f", {row.band}" if row.band else ""
        sentences.append(f"{row.label}: {row.estimate:.2f}{interval}{band} (n = {count(row.n)})")
    needed = f" A dashed line marks the {threshold:g} that was needed." if threshold is not None else ""
    return (
        f"{statistic} with its interval in {len(rows)} {'row' if len(rows) == 1 else 'rows'}. "
        + "; ".join(sentences)
        + f".{needed}"
    )
