"""Rules of a split that transcripts go by: a turn has no other answers than the codes of its stretches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.records import Codebook, Plan
from quaestor.coding.state import State
from quaestor.coding.stretches import KIND


def refuse_rules_that_fit_nothing(state: State, kind: str, payload: Mapping[str, Any]) -> None:
    """Refuse a split of a code that transcripts are coded with by a rule that no rating of any round can fit."""
    book = state.history.latest
    if kind != "codebook.split" or payload["code"] not in book.codes:
        return
    tree = book.codes[payload["code"]].facet
    plans = [one.plan for one in state.rounds.values() if any(facet.codes == tree for facet in one.plan.facets)]
    spoken = [facet.id for plan in plans for facet in plan.facets if facet.kind == KIND and facet.codes == tree]
    for rule in payload.get("rules", ()) if spoken else ():
        if not any(_can_fit(plan, book, rule["facet"], rule["answer"]) for plan in plans):
            raise StateError(
                f"the rule {rule['facet']}={rule['answer']} fits no turn of a transcript: name {spoken[0]} and one of "
                "its codes, which another stretch of the same turn may have"
            )


def _can_fit(plan: Plan, book: Codebook, name: str, answer: str) -> bool:
    """Whether an answer to a facet may stand in a rating of a round; to stretches it is one of their codes."""
    asked = next((facet for facet in plan.facets if facet.id == name), None)
    if asked is None or asked.kind != KIND:
        return asked is not None
    return answer in book.codes and book.codes[answer].facet == asked.codes
