"""Finds and replaces the free texts in the payload of an act; codes and choices are not free text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.passages import is_passages, replace_passage_texts
from quaestor.coding.model.phrases import list_phrases
from quaestor.coding.model.records import CANNOT_JUDGE, Facet
from quaestor.coding.model.state import State, read_plan

Change = Callable[[Sequence[str], str, bool], str]
"""Gets the items that a text is about, the text, and whether it is a label; returns the replacement."""
Payload = Mapping[str, Any]
Walk = Callable[[State, Payload, Change], dict[str, Any]]
"""Returns a payload with each text replaced by a `Change`, always in the same order."""


def list_items(state: State, payload: Payload) -> list[str]:
    """Returns the items that an act with free text is about; for unified words, the first item of the round."""
    if "item" in payload:
        return [payload["item"]]
    if "plan" in payload:
        return [entry["item"] for entry in payload["plan"]["practice"]]
    if "words" in payload:
        return list(state.round(payload["round"]).plan.items[:1])
    return [entry["item"] for entry in payload.get("decisions", ())]


def find_origin(state: State, payload: Payload) -> str:
    """Returns the origin of an act's items; empty for a round or act that was recorded before origins were."""
    if "plan" in payload:
        return str(payload["plan"].get("origin", ""))
    if "round" in payload:
        return state.rounds[payload["round"]].plan.origin
    return str(payload.get("origin", ""))


def _rating(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    facets = _facets(state, payload)
    return _text("memo", payload["item"], {**payload, **_replace_answers(state, facets, payload, change)}, change)


def _replace_answers(state: State, facets: Mapping[str, Facet], payload: Payload, change: Change) -> dict[str, Any]:
    item = payload["item"]
    answers = {
        name: _answer(state, facets.get(name), item, answer, change) for name, answer in payload["answers"].items()
    }
    return {"answers": answers}


def _comment(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    changed = _text("text", payload["item"], payload, change)
    return changed | (_replace_decision(state, _facets(state, payload), changed, change) if "answer" in payload else {})


def _decision(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    """Replaces the texts of decisions; only an act with one decision has a reason, and published ones have no round."""
    facets = _facets(state, payload) if "round" in payload else {}
    decisions = [_replace_decision(state, facets, decision, change) for decision in payload["decisions"]]
    with_reason = _text("reason", decisions[0]["item"], payload, change) if decisions else payload
    return {**with_reason, "decisions": decisions}


def _replace_decision(state: State, facets: Mapping[str, Facet], payload: Payload, change: Change) -> dict[str, Any]:
    return {
        **payload,
        "answer": _answer(state, facets.get(payload["facet"]), payload["item"], payload["answer"], change),
    }


def _opening(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    """Replaces the texts of practice items and of the proposals that raters confirm."""
    plan = payload["plan"]
    facets = {facet.id: facet for facet in read_plan(plan).facets}
    practice = [
        {**_text("feedback", entry["item"], entry, change), **_replace_answers(state, facets, entry, change)}
        for entry in plan["practice"]
    ]
    proposals = {
        item: {name: change([item], words, False) if words else words for name, words in proposed.items()}
        for item, proposed in plan["proposals"].items()
    }
    return {**payload, "plan": {**plan, "practice": practice, "proposals": proposals}}


def _unification(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    """Replaces unified words; a word is about the items whose phrases contain it, a hypernym about all of them."""
    round_state, part = state.round(payload["round"]), payload["part"]
    using: dict[str, list[str]] = {}
    for item, phrases in list_phrases(round_state, round_state.plan.items).items():
        for word in dict.fromkeys(phrase[part] for phrase in phrases):
            using.setdefault(word, []).append(item)
    about = list(dict.fromkeys(item for word in payload["words"] for item in using.get(word, ())))
    changed = {
        **payload,
        "words": [change(using.get(word, ()), word, True) for word in payload["words"]],
        "to": change(using.get(payload["to"], about), payload["to"], True),
    }
    return changed | ({"reason": change(about, payload["reason"], False)} if payload.get("reason") else {})


def _facets(state: State, payload: Payload) -> Mapping[str, Facet]:
    return {facet.id: facet for facet in state.round(payload["round"]).plan.facets}


def _text(name: str, item: str, payload: Payload, change: Change) -> dict[str, Any]:
    return {**payload, name: change([item], payload[name], False)} if payload.get(name) else dict(payload)


def _answer(state: State, facet: Facet | None, item: str, answer: Any, change: Change) -> Any:
    """Replaces the texts of an answer; for an unknown facet, any text that is not a code counts as free text."""
    if not answer or answer == CANNOT_JUDGE:
        return answer

    def replace(text: str, is_label: bool) -> str:
        return change([item], text, is_label)

    if facet is not None:
        return find_kind(facet).replace_free_text(facet, answer, replace)
    if is_passages(answer):
        return replace_passage_texts(answer, replace)
    return replace(answer, False) if isinstance(answer, str) and not _is_code(state, answer) else answer


def _is_code(state: State, answer: str) -> bool:
    return all(part.strip() in state.history.latest.codes for part in answer.split(";"))


def _proposal(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    changed = _text("reason", payload["item"], payload, change)
    return _replace_decision(state, _facets(state, payload), changed, change)


def _code_proposal(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    changed = _text("name", payload["item"], payload, change)
    return _text("definition", payload["item"], changed, change)


def _code_settlement(state: State, payload: Payload, change: Change) -> dict[str, Any]:
    return _text("reason", payload["item"], payload, change)


WALKS: Mapping[str, Walk] = {
    "rating": _rating,
    "practice": _rating,
    "comment": _comment,
    "tie.comment": _comment,
    "decision": _decision,
    "decision.propose": _proposal,
    "decision.import": _decision,
    "code.propose": _code_proposal,
    "code.settle": _code_settlement,
    "round.open": _opening,
    "words.unify": _unification,
}
"""By kind of act, for those that take free text about items."""
