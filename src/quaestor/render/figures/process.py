"""Draws the process of a study: stages next to each other, steps from top to bottom, counts on the arrows."""

from __future__ import annotations

from collections.abc import Sequence

from quaestor.render.figures.canvas import Canvas, Frame, draw_empty
from quaestor.render.figures.records import Figure, ProcessStage, ProcessStep
from quaestor.render.figures.style import ACCENT, LINE, MUTED, NORMAL, WASH, count, shorten, wrap_text

_ACROSS, _GUTTER, _MARGIN = 3, 44, 16
_HEAD, _PAD, _ROW, _ARROW, _BELOW, _STEM = 26, 10, 16, 30, 52, 26


def draw_process(
    stages: Sequence[ProcessStage],
    *,
    name: str = "process",
    title: str = "The steps of the study and what came out of each",
) -> Figure:
    """Draws boxes for steps and arrows with counts; a step without a count has a plain arrow."""
    stages = [stage for stage in stages if stage.steps]
    if not stages:
        return draw_empty(name, title, "no step has been declared yet")
    across = min(len(stages), _ACROSS)
    frame = Frame(_MARGIN, 14, _MARGIN, 14, 0)
    width = (frame.width - _GUTTER * (across - 1)) / across
    canvas = Canvas()
    top = 0.0
    for start in range(0, len(stages), across):
        row = stages[start : start + across]
        last = start + across >= len(stages)
        first = top + _HEAD + 17 * max(len(_heading(stage, width)) for stage in row)
        bottoms = []
        for at, stage in enumerate(row):
            x = at * (width + _GUTTER)
            _head(canvas, stage, start + at + 1, x, top, first, width)
            bottoms.append(_column(canvas, stage, x, first, width))
            if at:
                _draw_arrow_to_next(canvas, stage, x, width, first, bottoms[at - 1])
        end = (len(row) - 1) * (width + _GUTTER) + _STEM
        _arrow(canvas, [(end, bottoms[-1]), (end, bottoms[-1] + _ARROW - 4)])
        top = max(bottoms) + (_ARROW + 4 if last else _BELOW)
    frame = Frame(_MARGIN, 14, _MARGIN, 14, round(top))
    return frame.build_figure(name, title, _describe(stages), canvas)


def _heading(stage: ProcessStage, width: float) -> tuple[str, ...]:
    return wrap_text(stage.title, width - 22, 2, 14, bold=True)


def _head(canvas: Canvas, stage: ProcessStage, number: int, x: float, top: float, first: float, width: float) -> None:
    canvas.text(x, top + 8, f"{number}", color=ACCENT, size=15, bold=True)
    for at, words in enumerate(_heading(stage, width)):
        canvas.text(x + 18, top + 8 + at * 17, words, size=14, bold=True)
    canvas.lines([[(x, first - 14), (x + width, first - 14)]], ACCENT, width=1.5)


def _column(canvas: Canvas, stage: ProcessStage, x: float, y: float, width: float) -> float:
    """Draws the boxes of one stage from `y` on and returns where the last one ends."""
    for at, step in enumerate(stage.steps):
        rows = _rows(step, width)
        height = len(rows) * _ROW + 2 * _PAD
        box = {"x": x, "y": y, "x2": x + width, "y2": y + height, "fill": WASH, "stroke": LINE}
        canvas.boxes([box], corner=3)
        for line, words in enumerate(rows):
            canvas.text(x + 12, y + _PAD + _ROW * (line + 0.5), words)
        y += height
        if at < len(stage.steps) - 1:
            _arrow(canvas, [(x + _STEM, y), (x + _STEM, y + _ARROW)])
            _outcome(canvas, step, x, y, width)
            y += _ARROW
    _outcome(canvas, stage.steps[-1], x, y, width)
    return y


def _rows(step: ProcessStep, width: float) -> tuple[str, ...]:
    return wrap_text(step.text, width - 24, 4, NORMAL)


def _outcome(canvas: Canvas, step: ProcessStep, x: float, y: float, width: float) -> None:
    if step.count is not None:
        words = shorten(f"{count(step.count)} {step.unit}".strip(), width - _STEM - 10, bold=True)
        canvas.text(x + _STEM + 10, y + _ARROW / 2 - 1, words, color=ACCENT, bold=True)


def _draw_arrow_to_next(
    canvas: Canvas, following: ProcessStage, x: float, width: float, first: float, bottom: float
) -> None:
    """Draws the arrow from the last box of a stage to the first box of the next."""
    start, corner = x - _GUTTER - width + _STEM, x - _GUTTER / 2
    entry = first + (len(_rows(following.steps[0], width)) * _ROW + 2 * _PAD) / 2
    _arrow(canvas, [(start, bottom), (start, bottom + _ARROW), (corner, bottom + _ARROW), (corner, entry), (x, entry)])


def _arrow(canvas: Canvas, path: list[tuple[float, float]]) -> None:
    before, (x, y) = path[-2:]
    canvas.lines([path], MUTED, width=1.25)
    if before[0] == x:
        head = [(x - 4.5, y - 8), (x + 4.5, y - 8), (x, y)]
    else:
        head = [(x - 8, y - 4.5), (x - 8, y + 4.5), (x, y)]
    canvas.areas([head], MUTED)


def _describe(stages: Sequence[ProcessStage]) -> str:
    descriptions = []
    for number, stage in enumerate(stages, start=1):
        steps = [
            step.text if step.count is None else f"{step.text} ({count(step.count)} {step.unit}".strip() + ")"
            for step in stage.steps
        ]
        descriptions.append(f"{number}. {stage.title}: {'; then '.join(steps)}.")
    return f"A flow of {len(stages)} {'stage' if len(stages) == 1 else 'stages'}. " + " ".join(descriptions)
