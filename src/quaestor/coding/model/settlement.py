"""Builds the acts that settle disagreements: comments, ties, proposals, assents and decisions; no rating changes.

A decision by discussion needs the assent of each rater of the item. Until the last one assents it is a proposal.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.model.answers import check_answer
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.decisions import all_agree, compare_item, differ_in_words, list_answers, require_closed
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.phrases import find_all_words
from quaestor.coding.model.records import CANNOT_JUDGE, Facet, RoundPlan
from quaestor.coding.model.state import RoundState, State
from quaestor.store.records import NewAct

DISCUSSION, ONE_PERSON, TIE_BREAKER, TOGETHER = "discussion", "one-person", "tie-breaker", "together"
_METHODS = {
    "agreement": (DISCUSSION, ONE_PERSON),
    "discussion": (DISCUSSION, ONE_PERSON, TIE_BREAKER, TOGETHER),
    "tie-breaker": (TIE_BREAKER,),
    "two-step": (DISCUSSION, ONE_PERSON, TOGETHER),
}
WORD_METHODS = (DISCUSSION, ONE_PERSON)
"""How differences in the fields of passages are settled when raters agree on the codes."""


def list_settlement_methods(plan: RoundPlan) -> tuple[str, ...]:
    """Returns how the disagreements of a round may be settled."""
    return _METHODS[plan.settle]


def list_needed_assents(round_state: RoundState, item: str, how: str) -> tuple[str, ...]:
    """Returns the people who must assent to a decision: the raters of the item, and for `together` the tie-breaker."""
    raters = tuple(slot.rater for slot in round_state.slots if slot.has(slot.raters[0], item))
    return (*raters, round_state.plan.tie_breaker) if how == TOGETHER else raters


def build_comment_act(
    state: State, name: str, actor: str, item: str, facet: str, text: str, *, lead: str = ""
) -> NewAct:
    """Builds the act that comments on a disagreement."""
    round_state = require_closed(state, name)
    _require_part(round_state, actor, lead)
    if actor == round_state.plan.tie_breaker and (item, facet) not in round_state.decisions:
        raise StateError(f"{actor!r} is the tie-breaker: record the independent comment with `quaestor decisions tie`")
    if not text.strip():
        raise InputError("the comment is empty: write something")
    _require_dispute(round_state, item, facet)
    payload = {"round": name, "item": item, "facet": facet, "text": text}
    return NewAct("comment", actor, payload, round_state.plan.codebook)


def build_tie_act(
    state: State,
    name: str,
    actor: str,
    item: str,
    facet: str,
    answer: Any,
    text: str = "",
    *,
    simulated: bool = False,
) -> NewAct:
    """Builds the act of the tie-breaker's own answer, given without knowing who answered what."""
    round_state = require_closed(state, name)
    if actor != round_state.plan.tie_breaker:
        tie_breaker = repr(round_state.plan.tie_breaker) if round_state.plan.tie_breaker else "nobody"
        raise StateError(f"{actor!r} is not the tie-breaker of {name!r}: {tie_breaker} is")
    _require_dispute(round_state, item, facet, words_too=False)
    if (item, facet) in round_state.decisions:
        raise StateError(f"{item!r} is already settled: a comment would no longer be independent")
    if (item, facet) in round_state.tie_comments:
        raise StateError(f"the comment on {item!r} is already recorded and cannot be changed")
    value = check_answer(round_state.plan.facet(facet), state.history.at(round_state.plan.codebook), answer)
    payload = {"round": name, "item": item, "facet": facet, "answer": value, "text": text}
    payload |= {"simulated": True} if simulated else {}
    return NewAct("tie.comment", actor, payload, round_state.plan.codebook)


def build_settling_acts(
    state: State,
    name: str,
    actor: str,
    item: str,
    facet: str,
    answer: Any,
    how: str,
    reason: str = "",
    *,
    lead: str = "",
    simulated: bool = False,
) -> list[NewAct]:
    """Builds the acts that settle a disagreement by a method that the round allows.

    By discussion, or together with the tie-breaker, this is a proposal, followed by the decision if nobody else has to
    assent. Only raters, the tie-breaker and the lead may settle. If raters agree on the codes and differ in the fields,
    the fields can be settled at any time.
    """
    round_state = require_closed(state, name)
    _require_part(round_state, actor, lead)
    words_only = _require_dispute(round_state, item, facet)
    methods = WORD_METHODS if words_only else list_settlement_methods(round_state.plan)
    if how not in methods:
        settled_by = "discussion of its fields" if words_only else round_state.plan.settle
        raise InputError(f"{name!r} is settled by {settled_by}; choose from: {join_with_or(methods)}")
    _check_method(round_state, actor, item, facet, how)
    facet_plan = round_state.plan.facet(facet)
    value = check_answer(facet_plan, state.history.at(round_state.plan.codebook), answer)
    if value == CANNOT_JUDGE:
        raise InputError(f"{item!r} cannot be settled with {CANNOT_JUDGE!r}: decide what it is, or exclude it")
    answers = [answer for _, answer in list_answers(round_state, item, facet)]
    if words_only and not all_agree(round_state, facet_plan, [value, answers[0]]):
        raise StateError(f"the raters agree on the codes of {item!r}: settle the fields and leave the codes unchanged")
    if not reason.strip():
        _require_no_reason(round_state, facet_plan, item, value, answers, how)
    payload: dict[str, Any] = {"round": name, "item": item, "facet": facet, "answer": value, "how": how}
    payload |= {"reason": reason} if reason else {}
    payload |= {"simulated": True} if simulated else {}
    if how not in (DISCUSSION, TOGETHER):
        return [_build_decision(round_state, actor, payload)]
    proposal = NewAct("decision.propose", actor, payload, round_state.plan.codebook)
    if set(list_needed_assents(round_state, item, how)) <= {actor}:
        return [proposal, _build_decision(round_state, actor, payload, [actor])]
    return [proposal]


def build_assent_acts(
    state: State, name: str, actor: str, item: str, facet: str, proposal: int | None = None, *, simulated: bool = False
) -> list[NewAct]:
    """Builds the act of an assent to a proposal, followed by the decision if it is the last one needed.

    `proposal` is the number of the proposal that the person has read; a newer one must be read first.
    """
    round_state = require_closed(state, name)
    proposed = round_state.proposals.get((item, facet))
    if proposed is None:
        raise StateError(f"nobody has proposed a decision on {item!r} in {name!r}: propose one by settling it")
    if proposal is not None and proposal != proposed.number:
        raise StateError(f"the proposal for {item!r} changed in the meantime: read the new one first")
    needed = list_needed_assents(round_state, item, proposed.how)
    if actor not in needed:
        raise StateError(f"{actor!r} does not rate {item!r} in {name!r}: it needs the assent of {', '.join(needed)}")
    if actor in proposed.assents:
        raise StateError(f"{actor!r} has already assented to the proposal for {item!r}")
    _require_asked(round_state, item, round_state.plan.facet(facet))
    payload: dict[str, Any] = {"round": name, "item": item, "facet": facet, "proposal": proposed.number}
    payload |= {"simulated": True} if simulated else {}
    acts = [NewAct("decision.assent", actor, payload, round_state.plan.codebook)]
    if set(needed) <= {*proposed.assents, actor}:
        decided: dict[str, Any] = {"item": item, "facet": facet, "answer": proposed.answer, "how": proposed.how}
        decided |= {"reason": proposed.reason} if proposed.reason else {}
        decided |= {"simulated": True} if simulated or proposed.simulated else {}
        assents = [person for person in needed if person in {*proposed.assents, actor}]
        acts.append(_build_decision(round_state, actor, decided, assents))
    return acts


def _build_decision(
    round_state: RoundState, actor: str, settled: dict[str, Any], assents: list[str] | None = None
) -> NewAct:
    entry = {key: settled[key] for key in ("item", "facet", "answer", "how")}
    payload: dict[str, Any] = {"round": round_state.plan.round, "decisions": [entry]}
    payload |= {key: settled[key] for key in ("reason", "simulated") if key in settled}
    payload |= {"assents": assents} if assents else {}
    return NewAct("decision", actor, payload, round_state.plan.codebook)


def _check_method(round_state: RoundState, actor: str, item: str, facet: str, how: str) -> None:
    """Raises StateError if this person may not settle this item by this method now."""
    tie_breaker = round_state.plan.tie_breaker
    if how == TIE_BREAKER:
        if actor != tie_breaker:
            raise StateError(
                f"only {tie_breaker or 'a tie-breaker'} may decide alone in {round_state.plan.round!r}: "
                "settle it by discussion"
            )
    elif actor == tie_breaker and how != TOGETHER:
        raise StateError(f"{actor!r} is the tie-breaker and takes no part in the discussion of {item!r}")
    if how == TOGETHER and (item, facet) not in round_state.tie_comments:
        raise StateError(f"the tie-breaker has not commented on {item!r} yet: wait for the independent comment")


def _require_no_reason(
    round_state: RoundState, facet: Facet, item: str, value: Any, answers: list[Any], how: str
) -> None:
    """Raises InputError if one person decides alone, or a decision overrules a majority or the tie-breaker."""
    if how == ONE_PERSON:
        raise InputError(f"one person decides {item!r} alone: say why with a reason, or settle it by discussion")
    kind, words = find_kind(facet), find_all_words(round_state)

    def key(answer: Any) -> object:
        return CANNOT_JUDGE if answer == CANNOT_JUDGE else kind.comparison_key(facet, answer, words)

    most, count = next(iter(Counter(map(key, answers)).most_common(1)), (None, 0))
    if len(answers) > 1 and count * 2 > len(answers) and most not in (CANNOT_JUDGE, key(value)):
        raise InputError(f"this overrules {count} of {len(answers)} raters of {item!r}: say why with a reason")
    tie_comment, decisions = (
        round_state.tie_comments.get((item, facet.id)),
        round_state.decisions.get((item, facet.id), ()),
    )
    by_tie_breaker = [decision.answer for decision in decisions if decision.how == TIE_BREAKER][-1:]
    by_tie_breaker += [tie_comment.answer] if tie_comment is not None else []
    if any(key(value) != key(answer) for answer in by_tie_breaker):
        raise InputError(f"this overrules the tie-breaker on {item!r}: say why with a reason")


def _require_dispute(round_state: RoundState, item: str, facet: str, *, words_too: bool = True) -> bool:
    """Raises unless an item needs settling; returns whether raters differ only in the fields of passages."""
    name = round_state.plan.round
    names = [facet_plan.id for facet_plan in round_state.plan.facets]
    if facet not in names:
        raise InputError(f"the round {name!r} has no facet {facet!r}; choose from: {join_with_or(names)}")
    answers = [answer for _, answer in list_answers(round_state, item, facet)]
    facet_plan = round_state.plan.facet(facet)
    _require_asked(round_state, item, facet_plan)
    if not answers and not (facet_plan.ask_if and _is_rated(round_state, item)):
        raise InputError(f"the item {item!r} has no ratings in {name!r}")
    if words_too and differ_in_words(round_state, item, facet_plan, answers):
        return True
    is_complete = len(answers) >= sum(slot.has(slot.raters[0], item) for slot in round_state.slots)
    if is_complete and all_agree(round_state, facet_plan, answers):
        raise StateError(f"the raters agree on {item!r}: there is nothing to settle")
    return False


def _require_asked(round_state: RoundState, item: str, facet: Facet) -> None:
    """Raises StateError if a facet has a condition that the decisions on other facets of an item do not fulfil."""
    is_asked = not facet.ask_if or compare_item(round_state, item).find_asked(round_state.plan, facet)
    if not is_asked:
        problem = "which is not decided yet: settle that first" if is_asked is None else "which is decided otherwise"
        raise StateError(f"{facet.id!r} is asked about {item!r} only if {describe_condition(facet.ask_if)}, {problem}")


def _is_rated(round_state: RoundState, item: str) -> bool:
    return any(round_state.rating_in_slot(slot, item) for slot in round_state.slots)


def _require_part(round_state: RoundState, actor: str, lead: str) -> None:
    if round_state.slot_of(actor) is None and actor not in (round_state.plan.tie_breaker, lead):
        people = join_with_or(rater for slot in round_state.slots for rater in slot.raters)
        raise StateError(f"{actor!r} does not rate in {round_state.plan.round!r}: its raters are {people}")
