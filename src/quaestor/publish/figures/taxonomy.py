"""The taxonomy as a treemap: objects in their phases, as large as their posts, darker the longer an answer takes."""

from __future__ import annotations

from collections.abc import Sequence

from quaestor.publish.figures.canvas import Canvas, Frame, Values, nothing
from quaestor.publish.figures.look import (
    LINE,
    MUTED,
    PAPER,
    SMALL,
    TINY,
    count,
    fitted,
    ink_on,
    quantity,
    text_width,
    wrapped,
)
from quaestor.publish.figures.records import Figure, Part
from quaestor.publish.figures.shades import Shades
from quaestor.publish.figures.treemap import Rectangle, squarify

_HEIGHT, _HEAD = 500, 19


def draw_treemap(
    parts: Sequence[Part],
    *,
    measure: str = "median days to the accepted answer",
    unit: str = "posts",
    name: str = "treemap",
    title: str = "The taxonomy of issues by posts and difficulty",
) -> Figure:
    """Names stand only where they fit; the words of the figure name the largest of every phase."""
    phases: dict[str, list[Part]] = {}
    for part in parts:
        if part.posts > 0:
            phases.setdefault(part.phase, []).append(part)
    if not phases:
        return nothing(name, title, f"no {unit} have been placed in the taxonomy yet")
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
    return frame.figure(name, title, _words(phases, measure, unit), canvas)


def _box(tile: Rectangle, fill: str) -> dict[str, object]:
    tile = tile.inset(1, 1, 1, 1) if fill == PAPER else tile  # its rim would lie on its neighbours
    right, bottom = tile.x + tile.width, tile.y + tile.height
    box = {"x": tile.x, "y": tile.y, "x2": right, "y2": bottom}
    stroke = LINE if fill == PAPER else PAPER
    return {**{key: round(place, 2) for key, place in box.items()}, "fill": fill, "stroke": stroke}


def _head(canvas: Canvas, phase: str, total: int, room: Rectangle) -> None:
    number = count(total)
    width = room.width - 8
    words = fitted(phase, width, SMALL, bold=True)
    canvas.text(room.x + 3, room.y + _HEAD / 2 + 1, words, size=SMALL, bold=True)
    # A page's own letters may be a fifth wider than those measured here.
    if 1.2 * text_width(words, SMALL, bold=True) + text_width(number, SMALL) + 8 > width:
        return
    end = room.x + room.width - 3
    canvas.text(end, room.y + _HEAD / 2 + 1, number, size=SMALL, color=MUTED, align="right")


def _label(canvas: Canvas, part: Part, tile: Rectangle, fill: str) -> None:
    """The name in up to three lines and the count below it, or what of it fits without cutting a word."""
    for size, margin in ((SMALL, 5), (TINY, 3)):
        room = tile.inset(margin, margin - 1, margin - 1, margin - 2)
        rows = wrapped(part.name, room.width, 3, size)
        line = size + 3
        if len(rows) * line > room.height or any(row.endswith("…") for row in rows):
            continue
        if (len(rows) + 1) * line <= room.height and text_width(count(part.posts), size) <= room.width:
            rows = (*rows, count(part.posts))
        for at, row in enumerate(rows):
            canvas.text(room.x, room.y + line * (at + 0.5), row, color=ink_on(fill), size=size)
        return


def _words(phases: dict[str, list[Part]], measure: str, unit: str) -> str:
    total = sum(part.posts for of_phase in phases.values() for part in of_phase)
    told = []
    for phase, of_phase in phases.items():
        largest = max(of_phase, key=lambda part: part.posts)
        words = f"{phase} {count(sum(part.posts for part in of_phase))}, the largest object {largest.name}"
        told.append(f"{words} ({count(largest.posts)})")
    known = [(part.value, part) for of_phase in phases.values() for part in of_phase if part.value is not None]
    hardest = max(known, key=lambda pair: pair[0], default=None)
    ending = f" Darkest by {measure}: {hardest[1].name} ({quantity(hardest[0])})." if hardest else ""
    return f"A map of {count(total)} {unit} in {len(phases)} phases: " + "; ".join(told) + "." + ending
