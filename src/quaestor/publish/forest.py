"""Agreement as a forest plot for a page: a point with its interval a row, legible on a phone, coloured by the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from quaestor.publish.figures.look import count, fitted
from quaestor.publish.figures.records import Estimate

_WIDTH, _ROW, _TOP, _BOTTOM, _SIDE = 440, 46, 12, 30, 12
_SIZE, _WORDS = 14, 250
_STEP = 0.2
"""Between the lines, which part the usual bands of κ."""


def draw_estimates(rows: Sequence[Estimate], *, name: str, title: str, threshold: float | None = None) -> str:
    """An SVG without styles of its own: lines part the usual bands, a threshold is a marked line of its own."""
    least = _least(rows)
    height = _TOP + _ROW * len(rows) + _BOTTOM
    lines = [round(least + _STEP * place, 1) for place in range(round((1 - least) / _STEP) + 1)]
    parts = [_line(value, least, height, "grid") for value in lines]
    parts += [
        f'<text class="tick" x="{_x(value, least):.1f}" y="{height - 8}" text-anchor="middle">{value:g}</text>'
        for value in lines
    ]
    if threshold is not None:
        parts.append(_line(threshold, least, height, "needed"))
    parts += [_row(place, row, least) for place, row in enumerate(rows)]
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" class="forest" aria-labelledby="{name}-title {name}-text">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-text">{escape(_words(rows, threshold))}</desc>{"".join(parts)}</svg>\n'
    )


def _least(rows: Sequence[Estimate]) -> float:
    known = [value for row in rows for value in (row.estimate, row.low) if value is not None]
    return min(0.0, max(-1.0, math.floor(min(known, default=0.0) / _STEP) * _STEP))


def _x(value: float, least: float) -> float:
    inside = min(max(value, least), 1.0)
    return _SIDE + (_WIDTH - 2 * _SIDE) * (inside - least) / (1 - least)


def _line(value: float, least: float, height: int, kind: str) -> str:
    x = _x(value, least)
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{height - _BOTTOM + 4}"/>'


def _row(place: int, row: Estimate, least: float) -> str:
    top = _TOP + _ROW * place
    label = f'<text x="{_SIDE}" y="{top + 13}">{escape(fitted(row.label, _WORDS, _SIZE))}</text>'
    if row.estimate is None:
        return f'{label}<text class="value" x="{_WIDTH - _SIDE}" y="{top + 13}" text-anchor="end">undefined</text>'
    y = top + 25
    marks = f'<circle class="point" cx="{_x(row.estimate, least):.1f}" cy="{y}" r="5"/>'
    if row.low is not None and row.high is not None:
        low, high = _x(row.low, least), _x(row.high, least)
        marks = f'<line class="interval" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>{marks}'
    value = f'<text class="value" x="{_WIDTH - _SIDE}" y="{top + 13}" text-anchor="end">{row.estimate:.2f}'
    return f"{label}{value}</text>{marks}"


def _words(rows: Sequence[Estimate], threshold: float | None) -> str:
    told = []
    for row in rows:
        if row.estimate is None:
            told.append(f"{row.label}: undefined{', ' + row.reason if row.reason else ''}")
            continue
        between = f", 95 % interval {row.low:.2f} to {row.high:.2f}" if None not in (row.low, row.high) else ""
        told.append(f"{row.label}: {row.estimate:.2f}{between} ({count(row.n)} items)")
    needed = f" A dashed line marks the {threshold:g} that was needed." if threshold is not None else ""
    return "; ".join(told) + f".{needed}"
