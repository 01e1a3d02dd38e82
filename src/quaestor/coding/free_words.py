"""Words that people write about items in their own way, apart from codes and choices: where they stand in an act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from quaestor.coding.records import CANNOT_JUDGE, Facet
from quaestor.coding.state import State
from quaestor.store.records import NewAct

Change = Callable[[str, str], str]
"""What becomes of words about an item."""


def with_words_changed(state: State, act: NewAct, change: Change) -> NewAct:
    """An act with other words in the place of those that somebody wrote in it; empty ones are no words."""
    if act.kind not in _CHANGED:
        return act
    facets = {one.id: one for one in state.round(act.payload["round"]).plan.facets}
    said = _CHANGED[act.kind](facets, act.payload, change)
    return replace(act, payload=said)


def _rating(facets: Mapping[str, Facet], said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    item = said["item"]
    answers = {name: _answer(facets[name], item, one, change) for name, one in said["answers"].items()}
    return {**_text("memo", item, said, change), "answers": answers}


def _comment(facets: Mapping[str, Facet], said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    item, changed = said["item"], _text("text", said["item"], said, change)
    if "answer" in said:
        changed["answer"] = _answer(facets[said["facet"]], item, said["answer"], change)
    return changed


def _decision(facets: Mapping[str, Facet], said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """A reason is given where one item is decided."""
    made = said["decisions"]
    changed = [
        {**one, "answer": _answer(facets[one["facet"]], one["item"], one["answer"], change)}
        if one["facet"] in facets
        else one
        for one in made
    ]
    return {**(_text("reason", made[0]["item"], said, change) if made else said), "decisions": changed}


def _text(name: str, item: str, said: Mapping[str, Any], change: Change) -> dict[str, Any]:
    return {**said, name: change(item, said[name])} if said.get(name) else dict(said)


def _answer(facet: Facet, item: str, answer: Any, change: Change) -> Any:
    if answer == CANNOT_JUDGE:
        return answer
    if facet.kind == "stretches":
        return [_stretch(item, one, change) for one in answer]
    if facet.kind == "text":
        return change(item, answer) if answer else answer
    if facet.kind == "keep" and not facet.reasons:
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
}
WITH_WORDS = frozenset(_CHANGED)
"""The acts in which there may be words."""
