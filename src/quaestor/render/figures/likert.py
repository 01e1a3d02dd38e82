"""Draws answers on a scale as diverging bars: one half of the scale extends to the left, the other to the right.

The middle line goes through the centre step, if the scale has one; else between the two middle steps, or through the
middle one of an odd number. Frequencies (never … regularly) are scales too. Every bar is 100 % of the answers in its
row, so that rows with different bases can be compared; each base is written at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from quaestor.render.figures.canvas import EMPTY, Canvas, Frame, chart, draw_empty
from quaestor.render.figures.records import Figure
from quaestor.render.figures.style import (
    INK,
    MUTED,
    NARROW,
    PAPER,
    SMALL,
    WASH,
    WIDTH,
    choose_ink,
    count,
    percent,
    shorten,
    text_width,
    wrap_text,
)

LOW, HIGH, CENTRE = ("#255b72", "#b5d0d8"), ("#e2b8b0", "#7a1f2b"), "#d3cec3"
"""Colours from the low end of the scale to its middle, from the middle to the high end, and of the middle itself."""
_MOST_LABEL, _LABEL_LINES, _LINE, _BAR, _GAP, _HEADING = 230, 3, 15, 24, 12, 26
_RIGHT, _BOTTOM, _KEY_LINE, _SWATCH, _EDGE = 92, 34, 20, 11, 16


@dataclass(frozen=True)
class ScaleRow:
    """How many respondents chose each step, from low to high; rows of one group are adjacent."""

    label: str
    counts: tuple[int, ...]
    group: str = ""

    @property
    def base(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class BarSegment:
    """One step of one bar, with its start and end as shares to the right of the middle line."""

    row: int
    step: int
    start: float
    end: float

    @property
    def share(self) -> float:
        return self.end - self.start


def draw_likert(
    steps: Sequence[str],
    rows: Sequence[ScaleRow],
    *,
    centre: int | None = None,
    stacked: bool = False,
    name: str = "scale",
    title: str = "Answers on a scale",
    narrow: bool = False,
) -> Figure:
    """Draws bars around the middle of the scale; `stacked` bars, for ranks, all begin at the left.

    `narrow` is for a phone: each label is above its bar.
    """
    if not _is_drawn(steps, rows):
        return draw_empty(name, title, "nobody has answered this yet", NARROW if narrow else WIDTH)
    segments = split_bars(rows, find_middle(len(steps), centre), stacked=stacked)
    colors = _shades(len(steps)) if stacked else choose_colors(len(steps), find_middle(len(steps), centre))
    layout = _layout(steps, rows, narrow=narrow)
    frame, tops = layout.frame, layout.tops
    canvas = Canvas()
    _draw_key(canvas, layout.key, steps, colors, frame)
    low, high = _domain(segments, stacked=stacked)
    for at, row in enumerate(rows):
        _write(canvas, layout, at, row, new_group=at == 0 or rows[at - 1].group != row.group)
    values = []
    for segment in segments:
        x, end = (frame.width * (edge - low) / (high - low) for edge in (segment.start, segment.end))
        words = f"{segment.share:.0%}"
        if text_width(words, SMALL) + 4 <= end - x:
            fill = colors[segment.step]
            canvas.text(
                (x + end) / 2, tops[segment.row] + _BAR / 2, words, color=choose_ink(fill), size=SMALL, align="center"
            )
        values.append(
            {
                "row": rows[segment.row].label,
                "step": steps[segment.step],
                "start": round(segment.start, 6),
                "end": round(segment.end, 6),
                "top": tops[segment.row],
                "bottom": tops[segment.row] + _BAR,
                "fill": colors[segment.step],
            }
        )
    # The line is behind the bars, since the share in the centre step is written over it.
    layers = [_middle_line(layout, rows, low, high), _bars(values, low, high)]
    return frame.build_figure(name, title, _describe(steps, rows, stacked=stacked), canvas, layers)


def likert_size(steps: Sequence[str], rows: Sequence[ScaleRow], *, narrow: bool = False) -> tuple[int, int]:
    """Returns the width and height of the figure without drawing it."""
    if not _is_drawn(steps, rows):
        return NARROW if narrow else WIDTH, EMPTY
    frame = _layout(steps, rows, narrow=narrow).frame
    return frame.whole, frame.top + frame.height + frame.bottom


def _is_drawn(steps: Sequence[str], rows: Sequence[ScaleRow]) -> bool:
    return bool(steps) and any(row.base for row in rows)


def find_middle(steps: int, centre: int | None) -> float:
    """Returns the middle in steps from the low end: 2.5 is through the third of five, 2 between the halves of four."""
    return steps / 2 if centre is None else centre + 0.5


def split_bars(rows: Sequence[ScaleRow], middle: float, *, stacked: bool = False) -> list[BarSegment]:
    """Returns the segments of all bars, one for each step with answers; the segments of a bar add up to 100 %."""
    segments = []
    for at, row in enumerate(rows):
        if not row.base:
            continue
        whole = math.floor(middle)
        before = sum(row.counts[:whole]) + row.counts[min(whole, len(row.counts) - 1)] * (middle - whole)
        ends = [0]
        for number in row.counts:
            ends.append(ends[-1] + number)
        origin = 0.0 if stacked else before
        for step, (start, end) in enumerate(pairwise(ends)):
            if end > start:
                segments.append(BarSegment(at, step, (start - origin) / row.base, (end - origin) / row.base))
    return segments


def choose_colors(steps: int, middle: float) -> list[str]:
    """Returns two hues that get lighter toward the middle, which is grey."""
    low, high = math.floor(middle), steps - math.ceil(middle)
    between = [CENTRE] if middle != low else []
    return [*_ramp(*LOW, low), *between, *_ramp(*HIGH, high)]


def _ramp(first: str, last: str, steps: int) -> list[str]:
    if steps == 1:
        return [_between(first, last, 0.35 if (first, last) == LOW else 0.65)]
    return [_between(first, last, at / (steps - 1)) for at in range(steps)]


def _shades(steps: int) -> list[str]:
    return [_between(HIGH[1], "#f3e6df", at / max(steps - 1, 1)) for at in range(steps)]


def _between(first: str, second: str, part: float) -> str:
    pairs = [(int(first[at : at + 2], 16), int(second[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(low + (high - low) * part):02x}" for low, high in pairs)


def _domain(segments: Sequence[BarSegment], *, stacked: bool) -> tuple[float, float]:
    """Returns how far the bars reach on either side, rounded up to tenths; an empty side takes no space."""
    if stacked:
        return 0.0, 1.0
    low, high = min(segment.start for segment in segments), max(segment.end for segment in segments)
    return min(math.floor(low * 10 + 1e-9) / 10, 0.0), max(math.ceil(high * 10 - 1e-9) / 10, 0.0)


@dataclass(frozen=True)
class _Layout:
    """The positions of all elements."""

    frame: Frame
    key: list[list[tuple[int, float]]]
    labels: list[tuple[str, ...]]
    tops: list[float]
    """The top of each bar."""
    narrow: bool


def _layout(steps: Sequence[str], rows: Sequence[ScaleRow], *, narrow: bool) -> _Layout:
    whole = NARROW if narrow else WIDTH
    left = _EDGE if narrow else min(round(max(text_width(row.label) for row in rows)) + 26, _MOST_LABEL)
    label_widths = [whole - 2 * _EDGE - text_width(_base(row), SMALL) - 10 if narrow else left - 22 for row in rows]
    labels = [wrap_text(row.label, width, _LABEL_LINES) for row, width in zip(rows, label_widths, strict=True)]
    tops, y, group = [], 0.0, ""
    for row, lines in zip(rows, labels, strict=True):
        if row.group != group:
            y, group = y + _HEADING, row.group
        written = _LINE * len(lines)
        tops.append(round(y + (written + 3 if narrow else (max(written, _BAR) - _BAR) / 2), 2))
        y += (written + 3 + _BAR if narrow else max(written, _BAR)) + _GAP
    key = _key_lines(steps, whole - 2 * _EDGE)
    above = 14 + _KEY_LINE * len(key) + 10
    frame = Frame(left, above, _EDGE if narrow else _RIGHT, _BOTTOM, round(y), whole)
    return _Layout(frame, key, labels, tops, narrow)


def _base(row: ScaleRow) -> str:
    return f"n = {count(row.base)}"


def _write(canvas: Canvas, layout: _Layout, at: int, row: ScaleRow, *, new_group: bool) -> None:
    frame, top, lines = layout.frame, layout.tops[at], layout.labels[at]
    middle = top + _BAR / 2
    last = top - 3 - _LINE / 2 if layout.narrow else middle + _LINE * (len(lines) - 1) / 2
    first = last - _LINE * (len(lines) - 1)
    if row.group and new_group:
        words = shorten(row.group, frame.whole - 2 * _EDGE, bold=True)
        canvas.text(_EDGE - frame.left, min(top, first - _LINE / 2) - 13, words, bold=True)
    for number, words in enumerate(lines):
        x, align = (0, "left") if layout.narrow else (-12, "right")
        canvas.text(x, first + _LINE * number, words, align=align)
    x, y, align = (frame.width, last, "right") if layout.narrow else (frame.width + 12, middle, "left")
    canvas.text(x, y, _base(row), color=MUTED, size=SMALL, align=align)
    if not row.base:
        canvas.boxes([{"x": 0, "y": top, "x2": frame.width, "y2": top + _BAR, "fill": WASH, "stroke": WASH}])
        canvas.text(12, middle, "nobody has answered this", color=MUTED, size=SMALL)


def _bars(values: list[dict[str, Any]], low: float, high: float) -> alt.Chart:
    bars: alt.Chart = (
        chart(values)
        .mark_rect(stroke=PAPER, strokeWidth=1)
        .encode(x=_across(low, high), x2="end:Q", y=_DOWN, y2="bottom:Q", fill=alt.Fill("fill:N", scale=None))
    )
    return bars


def _middle_line(layout: _Layout, rows: Sequence[ScaleRow], low: float, high: float) -> alt.Chart:
    """Draws the middle line through all bars, or through each bar separately if labels are between them."""
    ends: list[dict[str, Any]] = [{"start": 0, "top": -4, "bottom": layout.frame.height - _GAP + 4}]
    if layout.narrow:
        answered = [top for top, row in zip(layout.tops, rows, strict=True) if row.base]
        ends = [{"start": 0, "top": top - 2, "bottom": top + _BAR + 4} for top in answered]
    rule = chart(ends).mark_rule(color=INK, strokeWidth=1)
    line: alt.Chart = rule.encode(x=_across(low, high), y=_DOWN, y2="bottom:Q")
    return line


_DOWN = alt.Y("top:Q", scale=None, axis=None)


def _across(low: float, high: float) -> alt.X:
    """Returns the axis of shares on both sides of the middle, labelled without minus signs.

    Keywords are used instead of Altair's setters (`alt.X(…).scale(…)`), which are not thread-safe.
    """
    ticks = [tick / 4 for tick in range(-4, 5) if low - 1e-9 <= tick / 4 <= high + 1e-9]
    axis = alt.Axis(
        values=ticks, labelExpr="format(abs(datum.value), '.0%')", title=None, grid=False, domain=False, ticks=False
    )
    return alt.X("start:Q", scale=alt.Scale(domain=[low, high], nice=False, zero=False), axis=axis)


def _key_lines(steps: Sequence[str], width: float) -> list[list[tuple[int, float]]]:
    """Returns the steps and their positions in each line of the legend."""
    lines: list[list[tuple[int, float]]] = [[]]
    x = 0.0
    for step, label in enumerate(steps):
        wide = _SWATCH + 6 + min(text_width(label, SMALL), width - _SWATCH - 6)
        if lines[-1] and x + wide > width:
            lines.append([])
            x = 0.0
        lines[-1].append((step, x))
        x += wide + 18
    return lines


def _draw_key(
    canvas: Canvas, lines: list[list[tuple[int, float]]], steps: Sequence[str], colors: Sequence[str], frame: Frame
) -> None:
    boxes = []
    for at, line in enumerate(lines):
        y = 14 - frame.top + _KEY_LINE * at + _KEY_LINE / 2
        for step, x in line:
            start = x + _EDGE - frame.left
            edges = {"x": start, "x2": start + _SWATCH, "y": y - _SWATCH / 2, "y2": y + _SWATCH / 2}
            boxes.append({**edges, "fill": colors[step], "stroke": colors[step]})
            words = shorten(steps[step], frame.whole - 2 * _EDGE - _SWATCH - 6 - x, SMALL)
            canvas.text(start + _SWATCH + 6, y, words, color=MUTED, size=SMALL)
    canvas.boxes(boxes)


def _describe(steps: Sequence[str], rows: Sequence[ScaleRow], *, stacked: bool) -> str:
    sentences = []
    for row in rows:
        label = f"{row.group}, {row.label}" if row.group else row.label
        if not row.base:
            sentences.append(f"{label}: nobody has answered")
            continue
        shares = ", ".join(f"{step} {percent(n / row.base)}" for step, n in zip(steps, row.counts, strict=True))
        sentences.append(f"{label} (n = {count(row.base)}): {shares}")
    how = "begin at the left" if stacked else "part in the middle of the scale"
    return f"Bars of 100% that {how}, one for each of {len(rows)} rows. " + "; ".join(sentences) + "."
