"""Assigns items to raters and orders them; the plan and its seed alone determine the result."""

from __future__ import annotations

import hashlib
import random
from array import array
from collections.abc import Iterator, Mapping, Sequence

from quaestor.coding.model.records import RoundPlan


def assign_items(plan: RoundPlan) -> list[tuple[str, ...]]:
    """Returns the items of each slot. With partial overlap all slots share a random part and divide up the rest."""
    if plan.overlap >= 1 or len(plan.raters) == 1:
        return [plan.items for _ in plan.raters]
    generator = random.Random(f"{plan.seed}/{plan.round}/overlap")
    items = list(plan.items)
    shared = set(generator.sample(items, round(plan.overlap * len(items))))
    rest = [item for item in items if item not in shared]
    generator.shuffle(rest)
    own = [set(rest[slot :: len(plan.raters)]) for slot in range(len(plan.raters))]
    return [tuple(item for item in items if item in shared or item in own[slot]) for slot in range(len(plan.raters))]


def order_items(plan: RoundPlan, rater: str, items: Sequence[str]) -> tuple[str, ...]:
    """Returns the items in a rater's own order: different for each rater, the same each time."""
    return tuple(sorted(items, key=lambda item: _sort_key(plan, rater, item)))


def _sort_key(plan: RoundPlan, name: str, item: str) -> bytes:
    return hashlib.sha256(f"{plan.seed}/{plan.round}/{name}/{item}".encode("utf-8", "surrogatepass")).digest()


def shuffle_answers(plan: RoundPlan, item: str, answers: Sequence[object]) -> tuple[object, ...]:
    """Returns answers in an order that does not reveal their raters."""
    return tuple(sorted(answers, key=lambda answer: _sort_key(plan, repr(answer), item)))


_WAITS = 1


class ItemQueue:
    """A rater's items in the rater's own order, and which of them are unrated.

    Items are stored as indexes into the plan to save memory: twenty raters may have a hundred thousand items each.
    """

    def __init__(self, items: Sequence[str], places: Mapping[str, int], order: Sequence[str]) -> None:
        self._items = items
        self._places = places
        self._order = array("L", (places[item] for item in order))
        self._turns = array("l", [-1]) * len(items)
        for turn, place in enumerate(self._order):
            self._turns[place] = turn
        self._waiting = bytearray([_WAITS]) * len(self._order)
        self.done = 0

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[str]:
        return (self._items[place] for place in self._order)

    def item(self, turn: int) -> str:
        return self._items[self._order[turn]]

    def turn_of(self, item: str) -> int:
        """Returns the position of an item in the rater's order; -1 if it is not assigned to the rater."""
        place = self._places.get(item, -1)
        return -1 if place < 0 else self._turns[place]

    def mark_rated(self, item: str) -> None:
        turn = self.turn_of(item)
        if turn >= 0:
            self.done += self._waiting[turn] == _WAITS
            self._waiting[turn] = 0

    def is_rated(self, item: str) -> bool:
        turn = self.turn_of(item)
        return turn >= 0 and self._waiting[turn] != _WAITS

    def iterate_waiting(self, turn: int) -> Iterator[str]:
        """Yields the unrated items from a position on, then those skipped before it."""
        for start, end in ((turn, len(self._order)), (0, turn)):
            position = self._waiting.find(_WAITS, start, end)
            while position >= 0:
                yield self.item(position)
                position = self._waiting.find(_WAITS, position + 1, end)

    def list_from(self, turn: int, most: int) -> list[str]:
        """Returns the items from a position on, rated or not."""
        return [self._items[place] for place in self._order[turn : turn + most]]
