"""The funnel as a drawing: one bar a step, the dropped part beside it, numbers in words that line up."""

from __future__ import annotations

from html import escape
from pathlib import Path

from quaestor.base.files import write_whole
from quaestor.corpus.records import FunnelResult, StepResult

_WIDTH, _ROW, _TOP = 760, 74, 16
_BAR_LEFT, _BAR_WIDTH = 8, 744
_LEAST = 2.0
_NO_NOTE, _NOTE = 16, 24  # the first bar has no line below it; a note about the evidence takes one

# Colours stand on white in a file; a page overrides them with its own through the classes.
_STYLE = """
.funnel text { font: 15px system-ui, "Segoe UI", "Noto Sans", sans-serif; fill: #1d1c1a; }
.funnel .count { font-weight: 600; font-variant-numeric: tabular-nums; text-anchor: end; }
.funnel .dropped { font-size: 13px; fill: #5f5b53; }
.funnel .track { fill: #eeebe4; }
.funnel .bar { fill: #7a1f2b; }
.funnel .pending { fill: none; stroke: #7a1f2b; stroke-dasharray: 4 4; }
"""


def draw_funnel(result: FunnelResult, *, standalone: bool = True) -> str:
    """An SVG of the funnel; inside a page its style comes from the page."""
    rows = len(result.steps) + 1 + len(result.pending)
    height = _TOP * 2 + _ROW * rows - _NO_NOTE + (_NOTE if result.note else 0)
    widest = result.steps[0].entered if result.steps else 0
    parts = [_bar(0, f"everything in {result.source}", widest, widest, "")]
    parts += [_bar(n, s.step, s.kept, widest, _dropped(s)) for n, s in enumerate(result.steps, start=1)]
    if result.note:
        parts.append(f'<text class="dropped" x="{_BAR_LEFT}" y="{height - _TOP}">{escape(result.note)}</text>')
    first = len(result.steps) + 1
    parts += [_pending(first + number, name) for number, name in enumerate(result.pending)]
    summary = "; ".join([*(f"{step.step}: {step.kept:,} of {step.entered:,}" for step in result.steps), result.note])
    attributes = f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="funnel-title funnel-text" class="funnel"'
    style = f"<style>{_STYLE}</style>" if standalone else ""
    space = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    return (
        f"<svg{space} {attributes}>{style}"
        f'<title id="funnel-title">The funnel of {escape(result.source)}</title>'
        f'<desc id="funnel-text">{escape(summary)}</desc>{"".join(parts)}</svg>\n'
    )


def _top(row: int) -> int:
    return _TOP + row * _ROW - (_NO_NOTE if row else 0)


def _dropped(step: StepResult) -> str:
    share = f", {step.kept / step.entered:.1%} of {step.entered:,} kept" if step.entered else ""
    return f"{step.dropped:,} dropped{share}"


def _bar(row: int, name: str, count: int, widest: int, note: str) -> str:
    top = _top(row)
    width = max(_BAR_WIDTH * count / widest, _LEAST if count else 0) if widest else 0
    beside = f'<text class="dropped" x="{_BAR_LEFT}" y="{top + 54}">{escape(note)}</text>' if note else ""
    return (
        f'<text x="{_BAR_LEFT}" y="{top + 14}">{escape(name)}</text>'
        f'<text class="count" x="{_BAR_LEFT + _BAR_WIDTH}" y="{top + 14}">{count:,}</text>'
        f'<rect class="track" x="{_BAR_LEFT}" y="{top + 22}" width="{_BAR_WIDTH}" height="16" rx="3"/>'
        f'<rect class="bar" x="{_BAR_LEFT}" y="{top + 22}" width="{width:.2f}" height="16" rx="3"/>{beside}'
    )


def _pending(row: int, name: str) -> str:
    top = _top(row)
    return (
        f'<text x="{_BAR_LEFT}" y="{top + 14}">{escape(name)}</text>'
        f'<text class="dropped" x="{_BAR_LEFT + _BAR_WIDTH}" y="{top + 14}" text-anchor="end">'
        "still to be decided</text>"
        f'<rect class="pending" x="{_BAR_LEFT}" y="{top + 22}" width="{_BAR_WIDTH}" height="16" rx="3"/>'
    )


def save_funnel(result: FunnelResult, folder: Path) -> Path:
    """The drawing as a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "funnel.svg"
    write_whole(path, draw_funnel(result).encode("utf-8"))
    return path
