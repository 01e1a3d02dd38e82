"""Draws the answers to a choice question as bars with count, share of respondents and interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from quaestor.render.figures.canvas import Canvas, Frame, chart, draw_empty
from quaestor.render.figures.records import ChoiceBar, Figure
from quaestor.render.figures.style import (
    ACCENT,
    GRID,
    INK,
    LINE,
    MUTED,
    SMALL,
    count,
    percent,
    round_steps,
    text_width,
    wrap_text,
)

_MOST_LABEL, _LINES, _LINE, _BAR, _GAP, _RIGHT = 260, 3, 15, 20, 12, 120


def draw_choices(
    choices: Sequence[ChoiceBar],
    base: int,
    *,
    note: str = "",
    name: str = "choices",
    title: str = "Answers",
    of: str = "who answered",
) -> Figure:
    """Draws the options in the given order; thin lines are 95% intervals, and the axis names the base."""
    if not choices or not base:
        return draw_empty(name, title, "nobody has answered this yet")
    left = min(round(max(text_width(choice.label) for choice in choices)) + 26, _MOST_LABEL)
    labels = [wrap_text(choice.label, left - 22, _LINES) for choice in choices]
    tall = [max(_LINE * len(lines), _BAR) + _GAP for lines in labels]
    middles = [sum(tall[:at]) + tall[at] / 2 for at in range(len(tall))]
    frame = Frame(left, 14, _RIGHT, 50, sum(tall))
    canvas = Canvas()
    values: list[dict[str, Any]] = []
    for choice, lines, middle in zip(choices, labels, middles, strict=True):
        for at, caption in enumerate(lines):
            canvas.text(-12, middle + _LINE * (at - (len(lines) - 1) / 2), caption, align="right")
        canvas.text(frame.width + 14, middle, count(choice.count), bold=True)
        share_x = 14 + text_width(count(choice.count), bold=True) + 8
        canvas.text(frame.width + share_x, middle, percent(choice.share or 0.0), color=MUTED, size=SMALL)
        edges = {"top": middle - _BAR / 2, "bottom": middle + _BAR / 2, "middle": middle}
        values.append(
            {"label": choice.label, "share": choice.share or 0.0, "low": choice.low, "high": choice.high, **edges}
        )
    most = max((choice.high if choice.high is not None else choice.share or 0.0) for choice in choices)
    whole = f"{count(base)} {of}{', ' + note if note else ''}"
    description = _describe(choices, whole)
    return frame.build_figure(name, title, description, canvas, _marks(values, most, f"share of the {whole}"))


def _marks(values: list[dict[str, Any]], most: float, title: str) -> list[alt.Chart]:
    ticks = [tick for tick in round_steps(max(most, 0.1)) if tick <= 1.0]
    end = min(max(ticks[-1], most), 1.0)
    axis = alt.Axis(values=ticks, format=".0%", title=title, gridColor=GRID, domain=False, ticks=False)
    # Keywords instead of Altair's setters (`alt.X(…).scale(…)`), which are not thread-safe.
    scale = alt.Scale(domain=[0, end], nice=False, clamp=True)
    across, interval = (alt.X(field, scale=scale, axis=axis) for field in ("share:Q", "low:Q"))
    bars = chart([{**value, "zero": 0} for value in values]).mark_rect(color=ACCENT, opacity=0.6)
    known = [value for value in values if value["low"] is not None and value["high"] is not None]
    whiskers = chart(known).mark_rule(color=INK, strokeWidth=1.5, opacity=0.75)
    top, middle = (alt.Y(field, scale=None, axis=None) for field in ("top:Q", "middle:Q"))
    base_line = chart([{"share": 0, "top": 0, "bottom": max(value["bottom"] for value in values)}])
    return [
        bars.encode(x=across, x2="zero:Q", y=top, y2="bottom:Q"),
        whiskers.encode(x=interval, x2="high:Q", y=middle),
        base_line.mark_rule(color=LINE).encode(x=across, y=top, y2="bottom:Q"),
    ]


def _describe(choices: Sequence[ChoiceBar], whole: str) -> str:
    descriptions = []
    for choice in choices:
        known = choice.low is not None and choice.high is not None
        interval = f", 95% interval {choice.low:.1%} to {choice.high:.1%}" if known else ""
        descriptions.append(f"{choice.label}: {count(choice.count)} ({percent(choice.share or 0.0)}{interval})")
    return f"A bar for each of {len(choices)} options, of {whole}. {'; '.join(descriptions)}."
