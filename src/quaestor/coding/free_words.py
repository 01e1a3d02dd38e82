"""Words that people write about items in their own way, apart from codes and choices: where they stand in an act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from quaestor.coding.records import CANNOT_JUDGE, Facet
from quaestor.coding.state import State, plan_from
from quaestor.coding.stretches import is_stretches
from quaestor.store.records import NewAct

Change = Callable[[str, str], str]
"""What becomes of words about an item."""
Facets = Mapping[str, Facet]


def with_words_changed(state: State, act: NewAct, change: Change) -> NewAct:
    """An act with other words in the place of those that somebody wrote in it; empty ones are no words."""
    if act.kind not in _CHANGED:
        return act
    return replace(act, payload=_CHANGED[act.kind](state, act.payload, change))


def items_of(said: Mapping[str, Any]) -> list[str]:
    """The items that an act with words is about."""
    if "item" in said:
        return [said["item"]]
    told = said["plan"]["practice"] if "plan" in said else said.get("decisions", ())
    return [one["item"] for one in told]


def _rating(state: State, said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    return _text("memo", said["item"], {**said, **_answered(_facets(state, said), said, change)}, change)


def _answered(facets: Facets, said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    answers = {name: _answer(facets.get(name), said["item"], one, change) for name, one in said["answers"].items()}
    return {"answers": answers}


def _comment(state: State, said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    changed = _text("text", said["item"], said, change)
    return changed | (_decided(_facets(state, said), changed, change) if "answer" in said else {})


def _decision(state: State, said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """A reason is given where one item is decided. What was published elsewhere belongs to no round."""
    facets = _facets(state, said) if "round" in said else {}
    made = [_decided(facets, one, change) for one in said["decisions"]]
    return {**(_text("reason", made[0]["item"], said, change) if made else said), "decisions": made}


def _decided(facets: Facets, one: Mapping[str, Any], change: Change) -> dict[str, Any]:
    return {**one, "answer": _answer(facets.get(one["facet"]), one["item"], one["answer"], change)}


def _opening(state: State, said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """What is said about practice items."""
    facets = {one.id: one for one in plan_from(said["plan"]).facets}
    practice = [
        {**_text("feedback", one["item"], one, change), **_answered(facets, one, change)}
        for one in said["plan"]["practice"]
    ]
    return {**said, "plan": {**said["plan"], "practice": practice}}


def _facets(state: State, said: Mapping[str, Any]) -> Facets:
    return {one.id: one for one in state.round(said["round"]).plan.facets}


def _text(name: str, item: str, said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    return {**said, name: change(item, said[name])} if said.get(name) else dict(said)


def _answer(facet: Facet | None, item: str, answer: Any, change: Change) -> Any:
    """Of a facet that nobody knows any text is words, and so are stretches as one cell of a table has them."""
    if not answer or answer == CANNOT_JUDGE:
        return answer
    if is_stretches(answer):
        return [_stretch(item, one, change) for one in answer]
    if isinstance(answer, str):
        return change(item, answer) if facet is None or facet.kind in ("text", "stretches") else answer
    if facet is not None and facet.kind == "keep" and not facet.reasons:
        return _text("reason", item, answer, change)
    return answer


def _stretch(item: str, one: Mapping[str, Any], change: Change) -> dict[str, Any]:
    changed = _text("memo", item, one, change)
    if one.get("fields"):
        changed["fields"] = {name: change(item, words) if words else words for name, words in one["fields"].items()}
    return changed


_CHANGED = {
    "rating": _rating,
    "practice": _rating,
    "comment": _comment,
    "tie.comment": _comment,
    "decision": _decision,
    "decision.import": _decision,
    "round.open": _opening,
}
WITH_WORDS = frozenset(_CHANGED)
"""The acts in which there may be words."""
