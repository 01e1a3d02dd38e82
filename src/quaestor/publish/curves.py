"""Two curves over the sets of a constant comparison: raters against each other, and each set against the last ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from quaestor.base.files import write_whole
from quaestor.coding.records import SetCurve

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 320, 56, 16, 44, 44
_STYLE = """
.curves text { font: 13px system-ui, "Segoe UI", "Noto Sans", sans-serif; fill: #5f5b53; }
.curves .title { font-size: 15px; font-weight: 600; fill: #1d1c1a; }
.curves .grid { stroke: #d9d5cb; }
.curves polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
.curves .discrepancy { stroke: #7a1f2b; } .curves text.discrepancy { stroke: none; fill: #7a1f2b; }
.curves .incompatibility { stroke: #2a5b8a; stroke-dasharray: 6 3; }
.curves text.incompatibility { stroke: none; fill: #2a5b8a; }
"""


def draw_curves(
    found: Sequence[SetCurve], name: str, *, simulated: bool = False, blindness: str = "", standalone: bool = True
) -> str:
    """An SVG of both curves; it says so where the raters were simulated. Inside a page its style is the page's."""
    highest = max([0.1, *(max(one.discrepancy, one.incompatibility) for one in found)])
    top = math.ceil(highest * 5) / 5  # so that the lines of the grid stand at round numbers
    last = max([2, *(one.set for one in found)])
    parts = []
    for step in range(5):
        share = top * step / 4
        y = _y(share, top)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    parts += [
        f'<text x="{_x(number, last):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{number}</text>'
        for number in sorted({1, *range(10, last + 1, max(10, last // 10 // 10 * 10)), last})
    ]
    for kind in ("discrepancy", "incompatibility"):
        points = " ".join(f"{_x(one.set, last):.1f},{_y(getattr(one, kind), top):.1f}" for one in found)
        parts.append(f'<polyline class="{kind}" points="{points}"/>')
    notes = [*(["simulated raters"] if simulated else []), *([blindness] if blindness else [])]
    note = f" ({', '.join(notes)})" if notes else ""
    legend = (
        f'<text class="title" x="{_LEFT}" y="18">{escape(name)}: sets of phrases{note}</text>'
        f'<text class="discrepancy" x="{_LEFT}" y="36">— raters differ</text>'
        f'<text class="incompatibility" x="{_LEFT + 130}" y="36">- - does not fit earlier sets</text>'
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">set</text>'
    )
    first, end = (found[0], found[-1]) if found else (None, None)
    words = (
        f"Raters differ in {first.discrepancy:.0%} of the first set and {end.discrepancy:.0%} of the last."
        if first and end
        else "No set is complete yet."
    )
    space = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    style = f"<style>{_STYLE}</style>" if standalone else ""
    return (
        f'<svg{space} viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" class="curves" '
        f'aria-labelledby="curves-title curves-text">{style}'
        f'<title id="curves-title">Sets of {escape(name)}</title><desc id="curves-text">{words}</desc>'
        f"{legend}{''.join(parts)}</svg>\n"
    )


def save_curves(
    found: Sequence[SetCurve], folder: Path, name: str, *, simulated: bool = False, blindness: str = ""
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"curves-{''.join(letter if letter.isalnum() or letter in '-_' else '-' for letter in name)}.svg"
    write_whole(path, draw_curves(found, name, simulated=simulated, blindness=blindness).encode("utf-8"))
    return path


def _x(number: int, last: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (number - 1) / max(last - 1, 1)


def _y(share: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share / top
