"""Names beside points without a collision: each takes the first free place around its point, or none."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.publish.figures.treemap import Rectangle


@dataclass(frozen=True)
class Label:
    """A text of a known width beside a point with a radius."""

    text: str
    x: float
    y: float
    radius: float
    width: float


@dataclass(frozen=True)
class Spot:
    """Where a label stands: the middle of its line, and the side of it that `x` is."""

    text: str
    x: float
    y: float
    align: str
    leader: tuple[tuple[float, float], ...] = ()
    """A line from the point to a text that stands away from it."""


def place_labels(
    labels: Sequence[Label], taken: Sequence[Rectangle], room: Rectangle, *, height: float = 13.0
) -> list[Spot]:
    """The most important first: a later label gives way, and is left out where no place is free."""
    occupied = list(taken)
    spots = []
    for label in labels:
        for spot, box in _candidates(label, height):
            if _inside(box, room) and not any(_overlap(box, other) for other in occupied):
                occupied.append(box)
                spots.append(spot)
                break
    return spots


def _candidates(label: Label, height: float) -> list[tuple[Spot, Rectangle]]:
    """Beside the point first, then above and below it, then at its corners, then further away at the end of a line."""
    found = []
    away, slant = label.radius + 3, label.radius * 0.7 + 2
    for align, x, y in (
        ("left", label.x + away, label.y),
        ("right", label.x - away, label.y),
        ("center", label.x, label.y - label.radius - height / 2 - 1),
        ("center", label.x, label.y + label.radius + height / 2 + 1),
        ("left", label.x + slant, label.y - slant - height / 3),
        ("left", label.x + slant, label.y + slant + height / 3),
        ("right", label.x - slant, label.y - slant - height / 3),
        ("right", label.x - slant, label.y + slant + height / 3),
    ):
        left = {"left": x, "right": x - label.width, "center": x - label.width / 2}[align]
        found.append((Spot(label.text, x, y, align), Rectangle(left, y - height / 2, label.width, height)))
    for distance, across, down in itertools.product((24, 44), (1, -1), (-1, 1)):
        x, y = label.x + across * (slant + distance), label.y + down * (slant + distance * 0.8)
        start = (label.x + across * label.radius * 0.7, label.y + down * label.radius * 0.7)
        box = Rectangle(x + 3 if across > 0 else x - 3 - label.width, y - height / 2, label.width, height)
        spot = Spot(label.text, x + 3 * across, y, "left" if across > 0 else "right", (start, (x, y)))
        found.append((spot, box))
    return found


def _inside(box: Rectangle, room: Rectangle) -> bool:
    across = room.x <= box.x and box.x + box.width <= room.x + room.width
    return across and room.y <= box.y and box.y + box.height <= room.y + room.height


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    return across > 0 and min(one.y + one.height, other.y + other.height) - max(one.y, other.y) > 0
