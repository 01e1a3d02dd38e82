"""Draws the funnel: one bar per step on a common linear scale, with counts and the shares kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from quaestor.render.figures.canvas import Canvas, Frame, draw_empty
from quaestor.render.figures.records import Figure, FunnelStep
from quaestor.render.figures.style import (
    ACCENT,
    INK,
    MUTED,
    NORMAL,
    SMALL,
    WASH,
    count,
    percent,
    shorten,
    text_width,
    wrap_text,
)

_LABEL, _ROW, _BAR, _LEAST_PENDING = 200, 58, 30, 40


def draw_funnel(
    steps: Sequence[FunnelStep],
    *,
    unit: str = "posts",
    name: str = "funnel",
    title: str = "How many posts each step of the funnel kept",
    pending: Sequence[str] = (),
    note: str = "",
) -> Figure:
    """Draws the items before the first step and what each step kept of them.

    Pending steps wait for a round; the note is a caveat about the evidence.
    """
    if not steps:
        return draw_empty(name, title, "the funnel has no step yet")
    below = 24 if note else 0
    frame = Frame(16, 12, 16, 12, _ROW * (len(steps) + len(pending) - 1) + _BAR + 4 + below)
    most = max(step.count for step in steps)
    room = _longest_bar(steps, most, frame.width - _LABEL - 10)
    widths = [room * step.count / most if most else 0.0 for step in steps]
    widths = [max(width, 1.5) if step.count else 0.0 for width, step in zip(widths, steps, strict=True)]
    canvas = Canvas()
    tops = [2.0 + _ROW * at for at in range(len(steps))]
    canvas.areas(
        [
            [(_LABEL, top + _BAR), (_LABEL + width, top + _BAR), (_LABEL + narrower, top + _ROW), (_LABEL, top + _ROW)]
            for top, width, narrower in zip(tops, widths, widths[1:], strict=False)
        ],
        WASH,
    )
    canvas.boxes(
        [
            {"x": _LABEL, "y": top, "x2": _LABEL + width, "y2": top + _BAR, "fill": ACCENT, "stroke": ACCENT}
            for top, width in zip(tops, widths, strict=True)
        ]
    )
    for at, (step, top, width) in enumerate(zip(steps, tops, widths, strict=True)):
        _write_title(canvas, step.title, top + _BAR / 2)
        end, middle = _LABEL + width + 10, top + _BAR / 2
        canvas.text(end, middle - (8 if at else 0), count(step.count), color=INK, size=14, bold=True)
        if at:
            canvas.text(end, middle + 9, _loss(step, steps[at - 1].count), color=MUTED, size=SMALL)
    for at, step_title in enumerate(pending, start=len(steps)):
        top, right = 2.0 + _ROW * at, _LABEL + max(widths[-1], _LEAST_PENDING)
        _write_title(canvas, step_title, top + _BAR / 2)
        corners = [(_LABEL, top), (right, top), (right, top + _BAR), (_LABEL, top + _BAR), (_LABEL, top)]
        canvas.lines([corners], ACCENT, dash=(4, 4))
        canvas.text(right + 10, top + _BAR / 2, "still to be decided", color=MUTED, size=SMALL)
    canvas.text(0, frame.height - 8, shorten(note, frame.width, SMALL), color=MUTED, size=SMALL)
    words = [_describe(steps, unit), *(f"{step_title}: still to be decided." for step_title in pending)]
    return frame.build_figure(name, title, " ".join([*words, *([f"{note}."] if note else [])]), canvas)


def _write_title(canvas: Canvas, title: str, middle: float) -> None:
    lines = wrap_text(title, _LABEL - 18, 3, NORMAL)
    for at, words in enumerate(lines):
        canvas.text(_LABEL - 14, middle + (at - (len(lines) - 1) / 2) * 15, words, align="right")


def _longest_bar(steps: Sequence[FunnelStep], most: int, width: float) -> float:
    """Returns the length of the longest bar that leaves room for the text next to every bar."""
    labels = [text_width(count(steps[0].count), 14, bold=True)]
    labels += [text_width(_loss(step, before.count), SMALL) for before, step in pairwise(steps)]
    return min(
        (width - label) * most / step.count if step.count else width for label, step in zip(labels, steps, strict=True)
    )


def _loss(step: FunnelStep, before: int) -> str:
    if step.note:
        return step.note.partition(";")[0]  # the drawing has room for the counts; the description has all of it
    return f"{percent(step.count / before)} kept, {count(before - step.count)} dropped" if before else "nothing came in"


def _describe(steps: Sequence[FunnelStep], unit: str) -> str:
    sentences = [f"{steps[0].title}: {count(steps[0].count)} {unit}"]
    sentences += [
        f"{step.title}: {count(step.count)} ({step.note or _loss(step, before.count)})"
        for before, step in pairwise(steps)
    ]
    return f"A bar for each of {len(steps)} steps, from widest to narrowest. " + "; ".join(sentences) + "."
