"""What one window changed of a turn's stretches, carried over to what is on record: none undoes what another did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Told = Mapping[str, Any]
"""A stretch as a page tells it, with places in the words that it showed."""
Place = tuple[Any, Any, str]


def with_changes(now: Sequence[Told], before: Sequence[Told], wanted: Sequence[Told]) -> list[Told]:
    """What is on record with what a page made of the stretches that it knew: added, told more about, removed."""
    known, given = _placed(before), _placed(wanted)
    changed = {place: one for place, one in given.items() if known.get(place) != one}
    gone = known.keys() - given.keys()
    stays = [one for one in now if place_of(one) not in gone and place_of(one) not in changed]
    return [*stays, *changed.values()]


def holds_changes(recorded: Sequence[Told], before: Sequence[Told], wanted: Sequence[Told]) -> bool:
    """Whether what was recorded has what a page added and nothing of what it removed."""
    known, given, there = set(_placed(before)), set(_placed(wanted)), set(_placed(recorded))
    return given - known <= there and not (known - given) & there


def place_of(one: Told) -> Place:
    """Where a stretch lies and what its words are about: all that makes two of a turn the same."""
    return one.get("start"), one.get("end"), str(one.get("code", ""))


def _placed(stretches: Sequence[Told]) -> dict[Place, Told]:
    return {place_of(one): one for one in stretches}
