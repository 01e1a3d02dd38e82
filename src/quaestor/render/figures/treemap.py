"""Draws the taxonomy as a treemap, whose tiles have areas in proportion to their posts and are nearly square."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from quaestor.base.errors import InputError
from quaestor.render.figures.canvas import Canvas, Frame, Values, draw_empty
from quaestor.render.figures.records import Figure, TaxonomyPart
from quaestor.render.figures.style import (
    LINE,
    MUTED,
    PAPER,
    SMALL,
    TINY,
    WASH,
    choose_ink,
    count,
    quantity,
    shade,
    shorten,
    text_width,
    wrap_text,
)


@dataclass(frozen=True)
class Rectangle:
    """A rectangle in a drawing, from its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        return self.width * self.height

    def inset(self, left: float, top: float, right: float, bottom: float) -> Rectangle:
        """Returns the rectangle without its margins, never with a negative size."""
        width, height = max(self.width - left - right, 0.0), max(self.height - top - bottom, 0.0)
        return Rectangle(self.x + min(left, self.width), self.y + min(top, self.height), width, height)


def squarify(weights: Sequence[float], x: float, y: float, width: float, height: float) -> list[Rectangle]:
    """Returns one rectangle per weight, in the same order, with areas in proportion and the largest at the upper left.

    A weight of zero gets a rectangle without area, so that the result can be zipped with its input.
    """
    if any(weight < 0 or not math.isfinite(weight) for weight in weights):
        raise InputError("a treemap weight is negative or not a number: give each part its count")
    if min(width, height) < 0:
        raise InputError(f"a treemap of {width} by {height} has no room: give it a width and a height of at least zero")
    placed = [Rectangle(x, y, 0.0, 0.0)] * len(weights)
    largest = max(weights, default=0)  # scaled by the largest, since the sum of huge weights could be infinite
    scaled = [weight / largest if largest else 0.0 for weight in weights]
    order = sorted((index for index, share in enumerate(scaled) if share > 0), key=lambda index: -scaled[index])
    shares = [scaled[index] for index in order]
    room = Rectangle(x, y, float(width), float(height))
    start = 0
    while start < len(order):
        left = math.fsum(shares[start:])
        end = _row_end(shares, start, room, left)
        row, room = _lay_out_row(shares[start:end], room, left, last=end == len(order))
        for index, rectangle in zip(order[start:end], row, strict=True):
            placed[index] = rectangle
        start = end
    return placed


def _row_end(shares: Sequence[float], start: int, room: Rectangle, left: float) -> int:
    """Returns the end of the row that begins at `start`, before the part that would make its worst part more oblong."""
    side = min(room.width, room.height)
    scale = room.area / left
    if side <= 0 or scale <= 0:
        return len(shares)
    total, worst = 0.0, math.inf
    for end in range(start, len(shares)):
        total += shares[end] * scale
        # The first part of a row is its largest, the last its smallest: one of the two is the most oblong.
        large, small = shares[start] * scale, shares[end] * scale
        thickness = total / side
        oblong = max(large / thickness**2, thickness**2 / small if small else math.inf)
        if end > start and oblong > worst:
            return end
        worst = oblong
    return len(shares)


def _lay_out_row(
    shares: Sequence[float], room: Rectangle, left: float, *, last: bool
) -> tuple[list[Rectangle], Rectangle]:
    """Returns the rectangles of a row along the shorter side of the room, and the remaining room."""
    total = math.fsum(shares)
    part = 1.0 if last else total / left
    upright = room.width >= room.height
    length = room.height if upright else room.width
    thickness = part * (room.width if upright else room.height)
    edges = [length * min(sum_so_far / total, 1.0) for sum_so_far in accumulate(shares, initial=0.0)]
    row = []
    for near, far in pairwise(edges):
        if upright:
            row.append(Rectangle(room.x, room.y + near, thickness, far - near))
        else:
            row.append(Rectangle(room.x + near, room.y, far - near, thickness))
    if upright:
        rest = Rectangle(room.x + thickness, room.y, room.width - thickness, room.height)
    else:
        rest = Rectangle(room.x, room.y + thickness, room.width, room.height - thickness)
    return row, rest


_WIDTH, _SWATCHES, _LIGHTEST = 220, 44, 0.06


@dataclass(frozen=True)
class Shades:
    """A logarithmic scale of shades; zero is as light as the smallest value, an unknown value is white."""

    low: float
    high: float
    known: bool
    missing: bool
    zeros: bool

    @classmethod
    def over(cls, values: Sequence[float | None]) -> Shades:
        known = [value for value in values if value is not None]
        logs = [math.log10(value) for value in known if value > 0]
        low, high = min(logs, default=0.0), max(logs, default=0.0)
        return cls(low, high, bool(known), len(known) < len(values), any(value <= 0 for value in known))

    def color(self, value: float | None) -> str:
        if value is None:
            return PAPER if self.known else WASH
        return shade(_LIGHTEST + (1 - _LIGHTEST) * self._part(value))

    def draw_key(self, canvas: Canvas, words: str) -> None:
        """Draws the legend in the 50 pixels above the plot: the meaning of the shades and round values on the scale."""
        canvas.text(0, -40, words, size=SMALL)
        step = _WIDTH / _SWATCHES
        swatches = []
        for at in range(_SWATCHES if self.high > self.low else 4):
            fill = (
                shade(_LIGHTEST + (1 - _LIGHTEST) * at / (_SWATCHES - 1)) if self.high > self.low else shade(_LIGHTEST)
            )
            swatches.append({"x": step * at, "x2": step * (at + 1), "y": -30, "y2": -20, "fill": fill, "stroke": fill})
        canvas.boxes(swatches)
        for x, label in self._marks():
            canvas.text(x, -10, label, color=MUTED, size=SMALL, align="center" if x > 10 else "left")
        if self.missing:
            canvas.boxes([{"x": 262, "x2": 276, "y": -30, "y2": -20, "fill": PAPER, "stroke": LINE}])
            canvas.text(282, -25, "not known", color=MUTED, size=SMALL)

    def _part(self, value: float) -> float:
        if value <= 0 or self.high <= self.low:
            return 0.0
        return min(max((math.log10(value) - self.low) / (self.high - self.low), 0.0), 1.0)

    def _marks(self) -> list[tuple[float, str]]:
        """Returns both ends, and the powers of ten between them that are far enough from earlier ones."""
        least = f"{10**self.low:.3g}"
        marks = [(0.0, f"≤ {least}" if self.zeros and self.low else "0" if self.zeros else least)]
        if self.high > self.low:
            marks.append((float(_WIDTH), f"{10**self.high:.3g}"))
        for power in range(math.ceil(self.low), math.floor(self.high) + 1):
            x = _WIDTH * self._part(10.0**power)
            if all(abs(x - other) > 38 for other, _ in marks):
                marks.append((x, f"{10.0**power:.3g}"))
        return marks


_HEIGHT, _HEAD = 500, 19


def draw_treemap(
    parts: Sequence[TaxonomyPart],
    *,
    measure: str = "median days to the accepted answer",
    unit: str = "posts",
    name: str = "treemap",
    title: str = "The taxonomy of issues by posts and difficulty",
) -> Figure:
    """Draws the taxonomy; names appear only where they fit, the text alternative names the largest of every phase."""
    phases: dict[str, list[TaxonomyPart]] = {}
    for part in parts:
        if part.posts > 0:
            phases.setdefault(part.phase, []).append(part)
    if not phases:
        return draw_empty(name, title, f"no {unit} have been placed in the taxonomy yet")
    scale = Shades.over([part.value for of_phase in phases.values() for part in of_phase])
    frame = Frame(16, 52 if scale.known else 14, 16, 14, _HEIGHT)
    canvas = Canvas()
    totals = [sum(part.posts for part in of_phase) for of_phase in phases.values()]
    rooms = squarify(totals, 0, 0, frame.width, frame.height)
    boxes: Values = []
    for (phase, of_phase), total, room in zip(phases.items(), totals, rooms, strict=True):
        head = _HEAD if room.height > 3 * _HEAD and room.width > 40 else 0
        inner = room.inset(1.5, head + 1.5, 1.5, 1.5)
        if head:
            _head(canvas, phase, total, room)
        tiles = squarify([part.posts for part in of_phase], inner.x, inner.y, inner.width, inner.height)
        for part, tile in zip(of_phase, tiles, strict=True):
            fill = scale.color(part.value)
            boxes.append(_box(tile, fill))
            _label(canvas, part, tile, fill)
    canvas.boxes(boxes)
    if scale.known:
        scale.draw_key(canvas, f"area: {unit} · shade: {measure}")
    return frame.build_figure(name, title, _describe(phases, measure, unit), canvas)


def _box(tile: Rectangle, fill: str) -> dict[str, object]:
    tile = tile.inset(1, 1, 1, 1) if fill == PAPER else tile  # its border would cover its neighbours
    right, bottom = tile.x + tile.width, tile.y + tile.height
    box = {"x": tile.x, "y": tile.y, "x2": right, "y2": bottom}
    stroke = LINE if fill == PAPER else PAPER
    return {**{key: round(value, 2) for key, value in box.items()}, "fill": fill, "stroke": stroke}


def _head(canvas: Canvas, phase: str, total: int, room: Rectangle) -> None:
    number = count(total)
    width = room.width - 8
    words = shorten(phase, width, SMALL, bold=True)
    canvas.text(room.x + 3, room.y + _HEAD / 2 + 1, words, size=SMALL, bold=True)
    # The font of a page may be a fifth wider than the one measured here.
    if 1.2 * text_width(words, SMALL, bold=True) + text_width(number, SMALL) + 8 > width:
        return
    end = room.x + room.width - 3
    canvas.text(end, room.y + _HEAD / 2 + 1, number, size=SMALL, color=MUTED, align="right")


def _label(canvas: Canvas, part: TaxonomyPart, tile: Rectangle, fill: str) -> None:
    """Writes the name in up to three lines and the count below it, as far as they fit without cutting a word."""
    for size, margin in ((SMALL, 5), (TINY, 3)):
        room = tile.inset(margin, margin - 1, margin - 1, margin - 2)
        rows = wrap_text(part.name, room.width, 3, size)
        line = size + 3
        if len(rows) * line > room.height or any(row.endswith("…") for row in rows):
            continue
        if (len(rows) + 1) * line <= room.height and text_width(count(part.posts), size) <= room.width:
            rows = (*rows, count(part.posts))
        for at, row in enumerate(rows):
            canvas.text(room.x, room.y + line * (at + 0.5), row, color=choose_ink(fill), size=size)
        return


def _describe(phases: dict[str, list[TaxonomyPart]], measure: str, unit: str) -> str:
    total = sum(part.posts for of_phase in phases.values() for part in of_phase)
    sentences = []
    for phase, of_phase in phases.items():
        largest = max(of_phase, key=lambda part: part.posts)
        description = f"{phase} {count(sum(part.posts for part in of_phase))}, the largest part {largest.name}"
        sentences.append(f"{description} ({count(largest.posts)})")
    known = [(part.value, part) for of_phase in phases.values() for part in of_phase if part.value is not None]
    hardest = max(known, key=lambda pair: pair[0], default=None)
    ending = f" Darkest by {measure}: {hardest[1].name} ({quantity(hardest[0])})." if hardest else ""
    return f"A map of {count(total)} {unit} in {len(phases)} groups: " + "; ".join(sentences) + "." + ending
