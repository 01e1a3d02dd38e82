"""Builds the acts that close and reopen rounds."""

from __future__ import annotations

from quaestor.base.errors import StateError
from quaestor.base.names import count_of
from quaestor.coding.model.decisions import build_agreed_act, is_settled_round
from quaestor.coding.model.rounds import list_missing, require_open
from quaestor.coding.model.state import AGREEMENT, CLOSED, OPEN, SINGLE, RoundState, State
from quaestor.store.records import NewAct


def build_close_acts(state: State, name: str, actor: str, incomplete: str = "", *, final: bool = False) -> list[NewAct]:
    """Builds the act that closes a round, and the one that decides what all raters of an item agree on.

    An incomplete round needs a reason. A final round cannot be reopened. One that was closed as incomplete can be
    declared final later.
    """
    round_state = state.round(name)
    if final and round_state.status == CLOSED and not round_state.final:
        return [NewAct("round.close", actor, {"round": name, "final": True}, round_state.plan.codebook)]
    round_state = require_open(state, name)
    left = list_missing(round_state)
    sets = round_state.sets
    if (left or round_state.set < len(sets)) and not incomplete:
        unopened = sum(len(items) for items in sets[round_state.set :])
        problem = (
            f"{count_of(len(left), 'rating')} missing"
            if left
            else f"{count_of(unopened, 'item')} in sets not opened yet"
        )
        raise StateError(f"{name!r} is not complete, {problem}: rate them, or close it with --incomplete and a reason")
    payload: dict[str, object] = {"round": name, "incomplete": incomplete}
    payload |= {"final": True} if final else {}
    close = NewAct("round.close", actor, payload, round_state.plan.codebook)
    agreed = build_agreed_act(state, name, actor, closing=True)
    return [close, agreed] if agreed else [close]


def build_reopen_act(state: State, name: str, actor: str, reason: str, *, not_blind: bool = False) -> NewAct:
    """Builds the act that reopens a closed round, which undoes the decisions by agreement.

    Once anybody has seen ratings of others, or could see the decisions because all is settled, this needs `not_blind`,
    and every result of the round says so.
    """
    round_state = state.round(name)
    if round_state.status == OPEN:
        raise StateError(f"{name!r} is already open")
    if round_state.final:
        raise StateError(f"{name!r} was closed as final: rate its items again in a new round")
    if not reason:
        raise StateError(f"reopening {name!r} needs a reason: give one with --reason")
    by_agreement = all(
        decision.how in (AGREEMENT, SINGLE) for decisions in round_state.decisions.values() for decision in decisions
    )
    if not by_agreement or round_state.comments or round_state.tie_comments or round_state.proposals:
        raise StateError(f"{name!r} has been discussed or decided: rate its items again in a new round")
    items = set(round_state.plan.items)
    for other in state.rounds.values():
        builds_on_it = other.opened > round_state.closed and not items.isdisjoint(other.plan.items)
        if other.plan.after == name or (round_state.decisions and builds_on_it):
            raise StateError(f"{other.plan.round!r} was opened after {name!r}: its ratings can no longer change")
    payload: dict[str, object] = {"round": name, "reason": reason}
    why = _find_why_not_blind(state, round_state) if round_state.plan.blind else ""
    if why and not not_blind:
        raise StateError(
            f"{why}, so {name!r} is no longer blind: rate its items again in a new round, or reopen it with "
            "--not-blind, and all its results will say so"
        )
    payload |= {"not_blind": True} if why else {}
    return NewAct("round.reopen", actor, payload, round_state.plan.codebook)


def _find_why_not_blind(state: State, round_state: RoundState) -> str:
    """Returns who may know ratings of others, as the start of a sentence; empty if nobody does."""
    if round_state.unblinded:
        return f"{', '.join(round_state.unblinded)} saw the ratings"
    if round_state.compared:
        return "its raters saw each other's words"
    # A settled round shows its decisions to every reader, and a decision by agreement is everybody's rating.
    is_shown = round_state.decisions and is_settled_round(state, round_state.plan.round)
    return "everybody can see the decisions by agreement" if is_shown else ""


def can_reopen_blind(state: State, name: str) -> bool:
    """Returns whether a closed round could be reopened with its raters still blind."""
    try:
        act = build_reopen_act(state, name, "", "to see whether it is possible", not_blind=True)
    except StateError:
        return False
    return "not_blind" not in act.payload
