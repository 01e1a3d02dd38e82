"""Stretches that overlap, put side by side: each in a lane of its own, and the text cut where one begins or ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Piece:
    """Words that lie in the same stretches, by their places in the list."""

    words: str
    inside: tuple[int, ...] = ()


def lanes_of(places: Sequence[tuple[int, int]]) -> list[int]:
    """For each stretch the first lane that is free where it begins; no two that overlap share one.

    Longer ones come first, so that what lies within a stretch is drawn beside it.
    """
    lanes = [0] * len(places)
    ends: list[int] = []
    for number in sorted(range(len(places)), key=lambda one: (places[one][0], -places[one][1], one)):
        start, end = places[number]
        lane = next((place for place, taken in enumerate(ends) if taken <= start), len(ends))
        ends[lane : lane + 1] = [end]
        lanes[number] = lane
    return lanes


def pieces_of(text: str, places: Sequence[tuple[int, int]]) -> list[Piece]:
    """The text in pieces, whole and in order, each with the stretches that it lies in."""
    cuts = sorted({0, len(text), *(min(max(cut, 0), len(text)) for place in places for cut in place)})
    return [
        Piece(
            text[low:high],
            tuple(number for number, (start, end) in enumerate(places) if start <= low and end >= high),
        )
        for low, high in pairwise(cuts)
    ]
