"""The funnel in print: a bar a step on one linear scale, the counts written out, the shares kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from quaestor.publish.figures.canvas import Canvas, Frame, nothing
from quaestor.publish.figures.look import ACCENT, INK, MUTED, NORMAL, SMALL, WASH, count, percent, text_width, wrapped
from quaestor.publish.figures.records import Figure, Kept

_LABEL, _ROW, _BAR = 200, 58, 30


def draw_funnel(
    steps: Sequence[Kept],
    *,
    unit: str = "posts",
    name: str = "funnel",
    title: str = "How many posts each step of the funnel kept",
) -> Figure:
    """The first step is what there was; each further one says what it kept of the one before."""
    if not steps:
        return nothing(name, title, "the funnel has no step yet")
    frame = Frame(16, 12, 16, 12, _ROW * (len(steps) - 1) + _BAR + 4)
    most = max(step.count for step in steps)
    room = _room(steps, most, frame.width - _LABEL - 10)
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
        rows = wrapped(step.title, _LABEL - 18, 3, NORMAL)
        for line, words in enumerate(rows):
            canvas.text(_LABEL - 14, top + _BAR / 2 + (line - (len(rows) - 1) / 2) * 15, words, align="right")
        end, middle = _LABEL + width + 10, top + _BAR / 2
        canvas.text(end, middle - (8 if at else 0), count(step.count), color=INK, size=14, bold=True)
        if at:
            canvas.text(end, middle + 9, _loss(step.count, steps[at - 1].count), color=MUTED, size=SMALL)
    return frame.figure(name, title, _words(steps, unit), canvas)


def _room(steps: Sequence[Kept], most: int, width: float) -> float:
    """How long the longest bar can be so that the words beside every bar still fit."""
    beside = [text_width(count(steps[0].count), 14, bold=True)]
    beside += [text_width(_loss(step.count, before.count), SMALL) for before, step in pairwise(steps)]
    return min(
        (width - words) * most / step.count if step.count else width for words, step in zip(beside, steps, strict=True)
    )


def _loss(kept: int, before: int) -> str:
    return f"{percent(kept / before)} kept, {count(before - kept)} left out" if before else "nothing came in"


def _words(steps: Sequence[Kept], unit: str) -> str:
    told = [f"{steps[0].title}: {count(steps[0].count)} {unit}"]
    told += [
        f"{step.title}: {count(step.count)} ({_loss(step.count, before.count)})" for before, step in pairwise(steps)
    ]
    return f"A bar for each of {len(steps)} steps, from widest to narrowest. " + "; ".join(told) + "."
