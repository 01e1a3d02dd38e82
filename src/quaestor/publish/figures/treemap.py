"""The layout of a treemap: a rectangle cut into parts as large as their weights and as square as can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from quaestor.base.errors import InputError


@dataclass(frozen=True)
class Rectangle:
    """A place in a drawing, from its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        return self.width * self.height

    def inset(self, left: float, top: float, right: float, bottom: float) -> Rectangle:
        """The same place without its margins; never less than nothing."""
        width, height = max(self.width - left - right, 0.0), max(self.height - top - bottom, 0.0)
        return Rectangle(self.x + min(left, self.width), self.y + min(top, self.height), width, height)


def squarify(weights: Sequence[float], x: float, y: float, width: float, height: float) -> list[Rectangle]:
    """One rectangle a weight, in the order given: areas in proportion, the largest at the upper left.

    A weight of nothing gets a rectangle without an area, so that the answer can be zipped with its input.
    """
    if any(weight < 0 or not math.isfinite(weight) for weight in weights):
        raise InputError("a treemap has a weight below zero or without a number: give each part its count")
    if min(width, height) < 0:
        raise InputError(f"a treemap of {width} by {height} has no room: give it a width and a height of at least zero")
    placed = [Rectangle(x, y, 0.0, 0.0)] * len(weights)
    largest = max(weights, default=0)  # weights are scaled by it first: a sum of huge ones would be infinite
    scaled = [weight / largest if largest else 0.0 for weight in weights]
    order = sorted((index for index, share in enumerate(scaled) if share > 0), key=lambda index: -scaled[index])
    shares = [scaled[index] for index in order]
    room = Rectangle(x, y, float(width), float(height))
    start = 0
    while start < len(order):
        left = math.fsum(shares[start:])
        end = _row_end(shares, start, room, left)
        row, room = _lay(shares[start:end], room, left, last=end == len(order))
        for index, rectangle in zip(order[start:end], row, strict=True):
            placed[index] = rectangle
        start = end
    return placed


def _row_end(shares: Sequence[float], start: int, room: Rectangle, left: float) -> int:
    """Where the row that begins at `start` is full: one more part would make its worst part more oblong."""
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


def _lay(shares: Sequence[float], room: Rectangle, left: float, *, last: bool) -> tuple[list[Rectangle], Rectangle]:
    """The parts of a row along the shorter side of the room, and the room that is left for the others."""
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
