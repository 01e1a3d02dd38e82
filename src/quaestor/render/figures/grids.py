"""Draws grids of shaded numbers: codes by participants, codes by codes, and phases by frameworks."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from quaestor.base.names import join_with_and
from quaestor.render.figures.canvas import Canvas, Frame, chart, draw_empty
from quaestor.render.figures.records import CodeCounts, Figure, ShareColumn
from quaestor.render.figures.style import (
    INK,
    MUTED,
    PAPER,
    SMALL,
    WASH,
    choose_ink,
    count,
    percent,
    shade,
    shorten,
    text_width,
    wrap_text,
)

_ROW, _HEADING, _MOST_LABEL, _GAP = 24, 28, 230, 1
_WIDEST = 64
_SLANTED = 130
_DARKEST = 4
"""The smallest count with the darkest shade, so that a study with few mentions is light."""


def draw_code_map(
    columns: Sequence[str],
    rows: Sequence[CodeCounts],
    *,
    name: str = "code-map",
    title: str = "Mentions of each code by participant",
) -> Figure:
    """Draws the mentions of each code by participant, grouped by theme; no mention is an empty cell."""
    if not rows or not columns:
        return draw_empty(name, title, "no interview has been coded yet")
    groups = list(dict.fromkeys(row.group for row in rows))
    left = min(round(max(text_width(row.name) for row in rows)) + 26, _MOST_LABEL)
    frame = Frame(left, 34, 16, 12, _ROW * len(rows) + _HEADING * len(groups))
    width = min(frame.width / len(columns), _WIDEST)
    canvas = Canvas()
    for at, column in enumerate(columns):
        words = shorten(column, width - 2, SMALL, bold=True)
        canvas.text(width * (at + 0.5), -12, words, size=SMALL, bold=True, align="center")
    most = max((number for row in rows for number in row.counts), default=0)
    boxes = []
    y = 0.0
    for group in groups:
        canvas.text(
            12 - left, y + _HEADING - 10, shorten(group, left + width * len(columns) - 20, bold=True), bold=True
        )
        y += _HEADING
        for row in (row for row in rows if row.group == group):
            canvas.text(-12, y + _ROW / 2, shorten(row.name, left - 22), color=INK, align="right")
            for at, number in enumerate(row.counts):
                boxes.append(_cell(canvas, width * at, y, width, number, most))
            y += _ROW
    canvas.boxes(boxes)
    return frame.build_figure(name, title, _describe_map(columns, rows), canvas)


def _cell(canvas: Canvas, x: float, y: float, width: float, number: int, most: int) -> dict[str, object]:
    fill, ink = choose_shade(number / max(most, _DARKEST)) if number else (WASH, INK)
    if number:
        canvas.text(x + width / 2, y + _ROW / 2, count(number), color=ink, size=SMALL, align="center")
    return {"x": x + _GAP, "y": y + _GAP, "x2": x + width - _GAP, "y2": y + _ROW - _GAP, "fill": fill, "stroke": PAPER}


def choose_shade(part: float) -> tuple[str, str]:
    """Returns the fill and the text colour of a cell, from light to dark as `part` goes from 0 to 1.

    Medium shades are not used: a dark page inverts the drawing, and no text colour is legible on them there.
    """
    return (shade(0.14 + 0.28 * part), INK) if part < 0.5 else (shade(0.56 + 0.88 * (part - 0.5)), PAPER)


def draw_co_occurrence(
    codes: Sequence[str],
    counts: Sequence[Sequence[int]],
    *,
    name: str = "together",
    title: str = "Turns in which two codes occur together",
) -> Figure:
    """Draws the lower triangle of the co-occurrence matrix, with the names on its diagonal."""
    if len(codes) < 2 or not any(counts[at][to] for at in range(len(codes)) for to in range(at)):
        return draw_empty(name, title, "no two codes occur in the same turn yet")
    left = min(round(max(text_width(code) for code in codes)) + 26, _MOST_LABEL)
    frame = Frame(left, 20, _SLANTED, 14, _ROW * len(codes))
    width = frame.width / len(codes)
    most = max(counts[at][to] for at in range(len(codes)) for to in range(at))
    canvas = Canvas()
    boxes = []
    for at, code in enumerate(codes):
        y = _ROW * at
        canvas.text(-12, y + _ROW / 2, shorten(code, left - 22) if at else "", align="right")
        boxes += [_cell(canvas, width * to, y, width, counts[at][to], most) for to in range(at)]
        room = frame.width + _SLANTED - width * at - 10
        canvas.text(width * at + 8, y + _ROW / 2, wrap_text(code, room, 1, SMALL)[0], size=SMALL)
    canvas.boxes(boxes)
    return frame.build_figure(name, title, _describe_co_occurrence(codes, counts), canvas)


def _describe_map(columns: Sequence[str], rows: Sequence[CodeCounts]) -> str:
    ranked = sorted(rows, key=lambda row: -sum(number > 0 for number in row.counts))[:5]
    sentences = [f"{row.name} by {sum(number > 0 for number in row.counts)}" for row in ranked]
    return (
        f"A grid of {len(rows)} codes by {len(columns)} participants, darker where a code is mentioned more often. "
        f"Mentioned by most participants: {join_with_and(sentences)}."
    )


def _describe_co_occurrence(codes: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    pairs = [(counts[at][to], codes[to], codes[at]) for at in range(len(codes)) for to in range(at) if counts[at][to]]
    ranked = sorted(pairs, key=lambda pair: -pair[0])[:5]
    sentences = [f"{first} and {second} in {count(number)}" for number, first, second in ranked]
    return f"Half a square of {len(codes)} codes. In the same turns most often: {join_with_and(sentences)}."


_SHARE_ROW, _SHARE_HEAD, _SHARE_LABEL = 38, 62, 220


def draw_heat_map(
    rows: Sequence[str],
    columns: Sequence[ShareColumn],
    *,
    name: str = "heat-map",
    title: str = "Share of each row in a column",
) -> Figure:
    """Draws the heat map; an unknown share is a dash on white, not a zero."""
    if not rows or not columns:
        return draw_empty(name, title, "there is no share to compare yet")
    left = min(round(max(map(text_width, rows))) + 30, _SHARE_LABEL)
    frame = Frame(left, _SHARE_HEAD, 16, 14, _SHARE_ROW * len(rows))
    most = max((share for column in columns for share in column.shares if share is not None), default=0.0)
    width = frame.width / len(columns)
    canvas = Canvas()
    values = []
    for at, column in enumerate(columns):
        middle = width * (at + 0.5)
        heading = wrap_text(column.name, width - 6, 2, SMALL, bold=True)
        for line, words in enumerate(heading):
            canvas.text(middle, -26 - 14 * (len(heading) - 1 - line), words, size=SMALL, bold=True, align="center")
        base = shorten(f"n = {count(column.base)}", width - 2, SMALL)
        canvas.text(middle, -11, base, color=MUTED, size=SMALL, align="center")
        for row, share in enumerate(column.shares):
            fill = PAPER if share is None else shade(share / most if most else 0.0)
            words = "–" if share is None else percent(share)
            values.append({"row name": rows[row], "column name": column.name, "column": at, "row": row, "fill": fill})
            canvas.text(middle, _SHARE_ROW * (row + 0.5), words, color=choose_ink(fill), align="center")
    for row, label in enumerate(rows):
        canvas.text(-14, _SHARE_ROW * (row + 0.5), shorten(label, left - 26), color=INK, align="right")
    cells = (
        chart(values)
        .mark_rect(stroke=PAPER, strokeWidth=2)
        .encode(
            x=alt.X("column:O", axis=None, scale=alt.Scale(padding=0)),
            y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0)),
            fill=alt.Fill("fill:N", scale=None),
        )
    )
    return frame.build_figure(name, title, _describe_shares(rows, columns), canvas, [cells])


def _describe_shares(rows: Sequence[str], columns: Sequence[ShareColumn]) -> str:
    sentences = []
    for column in columns:
        known = [(share, row) for row, share in zip(rows, column.shares, strict=True) if share is not None]
        ranked = sorted(known, key=lambda pair: -pair[0])[:3]
        shares = ", ".join(f"{row} {percent(share)}" for share, row in ranked) or "no share is known"
        sentences.append(f"{column.name} (n = {count(column.base)}): {shares}")
    return (
        f"A grid of {len(rows)} rows by {len(columns)} columns, darker where the share is larger. "
        "The largest shares: " + "; ".join(sentences) + "."
    )
