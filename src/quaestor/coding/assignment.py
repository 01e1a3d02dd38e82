"""Who rates what, and in which order: settled by the plan and its seed alone."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from quaestor.coding.records import Plan


def assigned(plan: Plan) -> list[tuple[str, ...]]:
    """The items of each seat. With partial overlap all seats share a seeded part, and the rest is dealt out."""
    if plan.overlap >= 1 or len(plan.raters) == 1:
        return [plan.items for _ in plan.raters]
    dice = random.Random(f"{plan.seed}/{plan.round}/overlap")
    items = list(plan.items)
    shared = set(dice.sample(items, round(plan.overlap * len(items))))
    rest = [item for item in items if item not in shared]
    dice.shuffle(rest)
    own = [set(rest[seat :: len(plan.raters)]) for seat in range(len(plan.raters))]
    return [tuple(item for item in items if item in shared or item in own[seat]) for seat in range(len(plan.raters))]


def in_order(plan: Plan, rater: str, items: Sequence[str]) -> tuple[str, ...]:
    """The items in the order in which a rater meets them: another one for each, the same each time."""
    return tuple(sorted(items, key=lambda item: _place(plan, rater, item)))


def _place(plan: Plan, who: str, item: str) -> bytes:
    return hashlib.sha256(f"{plan.seed}/{plan.round}/{who}/{item}".encode("utf-8", "surrogatepass")).digest()


def without_order(plan: Plan, item: str, answers: Sequence[object]) -> tuple[object, ...]:
    """Answers in an order that says nothing about who gave them."""
    return tuple(sorted(answers, key=lambda answer: _place(plan, repr(answer), item)))
