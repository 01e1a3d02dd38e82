"""Draws rows by columns as a heat map: each cell is the share of a row in the posts of a column."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from quaestor.render.figures.canvas import Canvas, Frame, chart, draw_empty
from quaestor.render.figures.records import Figure, ShareColumn
from quaestor.render.figures.style import (
    INK,
    MUTED,
    PAPER,
    SMALL,
    choose_ink,
    count,
    percent,
    shade,
    shorten,
    text_width,
    wrap_text,
)

_ROW, _HEAD, _MOST_LABEL = 38, 62, 220


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
    left = min(round(max(map(text_width, rows))) + 30, _MOST_LABEL)
    frame = Frame(left, _HEAD, 16, 14, _ROW * len(rows))
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
            canvas.text(middle, _ROW * (row + 0.5), words, color=choose_ink(fill), align="center")
    for row, label in enumerate(rows):
        canvas.text(-14, _ROW * (row + 0.5), shorten(label, left - 26), color=INK, align="right")
    cells = (
        chart(values)
        .mark_rect(stroke=PAPER, strokeWidth=2)
        .encode(
            x=alt.X("column:O", axis=None, scale=alt.Scale(padding=0)),
            y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0)),
            fill=alt.Fill("fill:N", scale=None),
        )
    )
    return frame.build_figure(name, title, _describe(rows, columns), canvas, [cells])


def _describe(rows: Sequence[str], columns: Sequence[ShareColumn]) -> str:
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
