"""The shares of each code in several strands, with their intervals, on one axis."""

from __future__ import annotations

from collections.abc import Sequence

from quaestor.render.figures.canvas import Canvas, Frame, draw_empty
from quaestor.render.figures.records import Figure, StrandShare
from quaestor.render.figures.style import (
    GRID,
    INK,
    MUTED,
    NARROW,
    SERIES,
    SHAPES,
    SMALL,
    WIDTH,
    percent,
    shorten,
    text_width,
)  # fmt: skip

_LINE, _GAP, _MOST_LABEL, _RIGHT = 16, 14, 260, 120
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw_joint_display(
    strands: Sequence[str],
    rows: Sequence[tuple[str, Sequence[StrandShare]]],
    *,
    name: str = "joint-display",
    title: str = "How often each strand mentions a code, with 95% intervals",
    narrow: bool = False,
) -> Figure:
    """Draws one line per strand under each code; a strand without data is named instead of drawn."""
    if not rows or not strands:
        return draw_empty(name, title, "no strand has a decided code yet", NARROW if narrow else WIDTH)
    width = NARROW if narrow else WIDTH
    left = 12 if narrow else min(round(max(text_width(label) for label, _ in rows)) + 26, _MOST_LABEL)
    row_height = _LINE * len(strands) + _GAP + (_LINE if narrow else 0)
    frame = Frame(left, 16 + 18 * len(strands), 64 if narrow else _RIGHT, 34, row_height * len(rows), width)
    canvas = Canvas()
    canvas.lines([[(frame.width * tick, 0), (frame.width * tick, frame.height)] for tick in _TICKS], GRID)
    for tick in _TICKS:
        canvas.text(frame.width * tick, frame.height + 16, f"{tick:.0%}", color=MUTED, size=SMALL, align="center")
    for place, strand in enumerate(strands):
        y = -14.0 - 18 * (len(strands) - 1 - place)
        canvas.symbols([{"x": 4, "y": y, "shape": SHAPES[place], "fill": SERIES[place]}])
        canvas.text(16, y, shorten(strand, frame.width - 20), size=SMALL)
    for number, (label, shares) in enumerate(rows):
        top = row_height * number
        if number:
            canvas.lines([[(-frame.left + 6, top), (frame.width, top)]], GRID)
        if narrow:
            canvas.text(0, top + _LINE * 0.8, shorten(label, width - 24), bold=True)
        else:
            canvas.text(-14, top + row_height / 2, shorten(label, frame.left - 24), align="right")
        for place, share in enumerate(shares):
            y = top + _GAP / 2 + _LINE * (place + 0.5) + (_LINE if narrow else 0)
            _draw_share(canvas, frame, y, place, share, narrow=narrow)
    return frame.build_figure(name, title, _describe(strands, rows), canvas, [])


def _draw_share(canvas: Canvas, frame: Frame, y: float, place: int, share: StrandShare, *, narrow: bool) -> None:
    end = frame.width + 10
    if share.share is None or share.low is None or share.high is None:
        canvas.text(end, y, "no data", color=MUTED, size=SMALL)
        return
    canvas.lines([[(frame.width * share.low, y), (frame.width * share.high, y)]], SERIES[place], width=2)
    canvas.symbols([{"x": frame.width * share.share, "y": y, "shape": SHAPES[place], "fill": SERIES[place]}])
    counts = f"{share.count:,}/{share.base:,}"
    canvas.text(end, y, counts if narrow else f"{percent(share.share)} ({counts})", color=INK, size=SMALL)


def _describe(strands: Sequence[str], rows: Sequence[tuple[str, Sequence[StrandShare]]]) -> str:
    sentences = []
    for label, shares in rows:
        parts = [
            f"{strand} no data" if share.share is None else f"{strand} {share.count} of {share.base}"
            for strand, share in zip(strands, shares, strict=True)
        ]
        sentences.append(f"{label}: {', '.join(parts)}")
    return f"Shares of {len(rows)} codes in {len(strands)} strands. {'; '.join(sentences)}."
