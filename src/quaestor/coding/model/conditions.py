"""Decides which facets are asked about an item: those whose condition holds for the answers to earlier facets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quaestor.base.names import join_with_or
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.records import CANNOT_JUDGE, Facet, RoundPlan


def has_conditions(plan: RoundPlan) -> bool:
    """Returns whether a round asks some of its facets only under a condition."""
    return any(facet.ask_if for facet in plan.facets)


def find_asked(plan: RoundPlan, facet: Facet, answers: Mapping[str, Any]) -> bool | None:
    """Returns whether a facet is asked, given the answers to earlier facets; None if one that matters is missing.

    The answer None means that a facet stays without an answer.
    """
    is_known = True
    for name, accepted in facet.ask_if:
        earlier = plan.facet(name)
        is_asked = find_asked(plan, earlier, answers)
        if is_asked is False or (name in answers and not matches_condition(earlier, answers[name], accepted)):
            return False
        is_known = is_known and is_asked is True and name in answers
    return True if is_known else None


def matches_condition(facet: Facet, answer: Any, accepted: tuple[str, ...]) -> bool:
    """Returns whether an answer is one of those that a condition names; several codes match if one of them does."""
    if answer is None or answer == CANNOT_JUDGE:
        return False
    label = find_kind(facet).label(facet, answer)
    return any(code in accepted for code in ([label] if isinstance(label, str) else label or ()))


def describe_condition(ask_if: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Returns the condition of a facet as the end of a sentence, such as "relevance is keep"; empty if it has none."""
    return " and ".join(f"{name} is {join_with_or(answers)}" for name, answers in ask_if)
