"""Builds the acts that open rounds, replace raters and go on to the next set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import count_of
from quaestor.coding.model.answers import check_answer
from quaestor.coding.model.conditions import describe_condition, find_asked
from quaestor.coding.model.facet_kinds.base import read_choice
from quaestor.coding.model.records import Facet, RoundPlan
from quaestor.coding.model.state import CLOSED, OPEN, RoundState, State, write_plan
from quaestor.store.records import NewAct


def build_open_act(state: State, plan: RoundPlan, actor: str, passed: bool | None = None) -> NewAct:
    """Builds the act that opens a round; `passed` is whether the previous round reached its threshold, if known."""
    if plan.round in state.rounds:
        hint = "use another name, and items.without to leave out the items of earlier rounds"
        raise StateError(f"the round {plan.round!r} has already been opened: {hint}")
    for person in (*plan.raters, plan.tie_breaker):
        if person in state.new_names:
            raise StateError(f"{person!r} is called {state.current_name(person)!r} now: correct the name in study.toml")
    if not plan.items:
        raise StateError(f"the round {plan.round!r} has no items: check where its items come from")
    if plan.tie_breaker in plan.raters:
        raise StateError(
            f"{plan.tie_breaker!r} rates in {plan.round!r} and cannot be its tie-breaker: name somebody else"
        )
    for facet in plan.facets:
        if facet.codes and not state.history.latest.active(facet.codes, facet.level or None):
            level = f" at the level {facet.level!r}" if facet.level else ""
            raise StateError(
                f"the codebook has no codes in the facet {facet.codes!r}{level}: "
                "write them in codebook.toml and run `quaestor codebook import`"
            )
    plan = _check_conditions(state, plan)
    _check_practice(state, plan)
    if plan.after:
        _check_gate(state, plan, passed)
    return NewAct("round.open", actor, {"plan": write_plan(plan)}, plan.codebook)


def _check_conditions(state: State, plan: RoundPlan) -> RoundPlan:
    """Returns the plan with the ids of the codes that its conditions name; raises StateError if one can never hold."""
    book, earlier = state.history.at(plan.codebook), dict[str, Facet]()
    facets = []
    for facet in plan.facets:
        conditions = []
        for name, answers in facet.ask_if:
            if name not in earlier:
                raise StateError(
                    f"{plan.round!r} asks {facet.id!r} only if {name!r} has a certain answer: "
                    f"list {name!r} before it in the facets of the round"
                )
            try:
                codes = earlier[name].codes and tuple(read_choice(earlier[name], book, answer) for answer in answers)
            except InputError as error:
                raise StateError(f"ask_if of {facet.id!r} in {plan.round!r}: {error}") from None
            conditions.append((name, codes or answers))
        earlier[facet.id] = replace(facet, ask_if=tuple(conditions))
        facets.append(earlier[facet.id])
    return replace(plan, facets=tuple(facets))


def _check_practice(state: State, plan: RoundPlan) -> None:
    """Raises StateError if a practice item has an invalid answer, which would lock out every rater."""
    book = state.history.at(plan.codebook)
    for practice in plan.practice:
        if practice.item in plan.items:
            raise StateError(f"{practice.item!r} is an item of {plan.round!r} and cannot also be a practice item")
        known: dict[str, Any] = {}
        for name, answer in practice.answers.items():
            facet = next((facet for facet in plan.facets if facet.id == name), None)
            if facet is None:
                raise StateError(
                    f"{plan.round!r} has no facet {name!r}: its practice item {practice.item!r} answers it"
                )
            try:
                known[name] = check_answer(facet, book, answer)
            except InputError as error:
                raise StateError(f"the practice item {practice.item!r} of {plan.round!r}: {error}") from None
        for facet in plan.facets:
            if facet.id in known and not find_asked(plan, facet, known):
                raise StateError(
                    f"the practice item {practice.item!r} of {plan.round!r} answers {facet.id!r}, which is asked only "
                    f"if {describe_condition(facet.ask_if)}: remove that answer, or add the others"
                )


def _check_gate(state: State, plan: RoundPlan, passed: bool | None) -> None:
    before = state.rounds.get(plan.after)
    if before is None or before.status != CLOSED:
        has, do = ("has not been opened", "open and close") if before is None else ("is still open", "close")
        raise StateError(f"{plan.round!r} comes after {plan.after!r}, which {has}: {do} that round first")
    if before.plan.threshold is not None and not passed and not before.waived:
        raise StateError(
            f"{plan.after!r} did not reach its {before.plan.statistic} of {before.plan.threshold:g}: repeat it with a "
            f"better codebook, or waive it on the record with `quaestor round waive {plan.after} --reason …`"
        )


def list_missing(round_state: RoundState) -> list[tuple[str, str]]:
    """Returns (rater, item) for each missing rating of the sets opened so far."""
    opened = {item for items in round_state.sets[: round_state.set] for item in items}
    return [
        (slot.rater, item)
        for slot in round_state.slots
        for item in slot.items[0]
        if item in opened and not round_state.is_rated(slot, item)
    ]


def count_left_by_rater(round_state: RoundState) -> dict[str, int]:
    """Returns how many ratings each rater still has to give; from counts alone where these suffice."""
    if len(round_state.sets) == 1 and not round_state.reread:
        return {slot.rater: len(slot.items[0]) - round_state.rated_by(slot) for slot in round_state.slots}
    key = (
        round_state.rating_count,
        round_state.set,
        len(round_state.slots),
        max(round_state.reread.values(), default=0),
    )
    known = round_state.cache.get("left by seat")
    if known is None or known[0] != key:
        counted = Counter(rater for rater, _ in list_missing(round_state))
        known = round_state.cache["left by seat"] = (
            key,
            {slot.rater: counted[slot.rater] for slot in round_state.slots},
        )
    left: dict[str, int] = known[1]
    return left


def is_complete(round_state: RoundState) -> bool:
    """Returns whether every planned rating exists, in all sets."""
    return round_state.set >= len(round_state.sets) and not any(count_left_by_rater(round_state).values())


def list_round_notes(rounds: Iterable[RoundState]) -> list[str]:
    """Returns what every result based on these rounds must say: raters who were not blind, and undecided codes."""
    notes = []
    for round_state in rounds:
        if round_state.blindness:
            notes.append(f"The round {round_state.plan.round} is {round_state.blindness}.")
        if note := round_state.pending_codes_note:
            notes.append(f"In the round {round_state.plan.round}, {note}.")
    return notes


def build_waive_act(state: State, name: str, actor: str, reason: str) -> NewAct:
    """Builds the act that lets later rounds open although this round missed its threshold."""
    round_state = state.round(name)
    if round_state.status != CLOSED:
        raise StateError(f"{name!r} is still open: close it before waiving its threshold")
    if not reason:
        raise StateError(f"waiving the threshold of {name!r} needs a reason: give one with --reason")
    return NewAct("round.waive", actor, {"round": name, "reason": reason}, round_state.plan.codebook)


def build_replace_act(state: State, name: str, actor: str, rater: str, by: str, reason: str = "") -> NewAct:
    """Builds the act that assigns a rater's unrated items to somebody else; existing ratings are kept."""
    round_state = require_open(state, name)
    slot = round_state.slot_of(rater)
    if slot is None or slot.rater != rater:
        raise StateError(
            f"{rater!r} does not rate in {name!r}; choose from: {', '.join(slot.rater for slot in round_state.slots)}"
        )
    if not by.strip():
        raise StateError(f"no replacement for {rater!r} was named: name somebody")
    if by == round_state.plan.tie_breaker or round_state.slot_of(by):
        raise StateError(f"{by!r} already rates or breaks ties in {name!r}: name somebody else")
    if by in round_state.unblinded:
        raise StateError(f"{by!r} has seen the ratings of {name!r} and would not rate blind: name somebody else")
    left = [item for item in slot.items_of(rater) if round_state.rating_in_slot(slot, item) is None]
    payload = {"round": name, "rater": rater, "by": by, "items": left, "reason": reason}
    return NewAct("round.replace", actor, payload, round_state.plan.codebook)


def build_deadline_act(state: State, name: str, actor: str, deadline: str) -> NewAct:
    round_state = require_open(state, name)
    return NewAct("round.deadline", actor, {"round": name, "deadline": deadline}, round_state.plan.codebook)


def build_next_set_act(state: State, name: str, actor: str, *, simulated: bool = False) -> NewAct:
    """Builds the act that opens the next set; refused while ratings of this set are missing."""
    round_state = require_open(state, name)
    sets = round_state.sets
    if round_state.set >= len(sets):
        raise StateError(f"{name!r} has no set after {round_state.set}: close the round")
    left = list_missing(round_state)
    if left:
        raise StateError(
            f"set {round_state.set} of {name!r} is not complete, {count_of(len(left), 'rating')} missing: "
            "rate all items first"
        )
    payload: dict[str, object] = {"round": name, "set": round_state.set + 1}
    payload |= {"simulated": True} if simulated else {}
    return NewAct("round.set", actor, payload, round_state.plan.codebook)


def require_open(state: State, name: str) -> RoundState:
    """Returns an open round; raises StateError for a closed one."""
    round_state = state.round(name)
    if round_state.status != OPEN:
        raise StateError(f"the round {name!r} is closed: reopen it with `quaestor round reopen {name}`")
    return round_state
