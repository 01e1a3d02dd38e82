"""Adopts in vivo codes into the codebook once a round is closed; from then on they count as codes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.code_proposals import check_new_code
from quaestor.coding.model.code_proposals import (
    NewCode,
    build_new_code_act,
    list_codes_to_choose,
    require_active_code,
)
from quaestor.coding.model.facet_kinds.passages import list_in_vivo, require_passage_facet
from quaestor.coding.model.state import CLOSED, State
from quaestor.coding.session import CodingSession, require_lead
from quaestor.interviews.coding.decided_passages import ADOPT_ACT, CodedPassage, read_adoptions, read_coded_passages
from quaestor.interviews.repository import Interviews
from quaestor.store.records import NewAct
from quaestor.study.contributions import NoNames
from quaestor.study.features import open_known_names


@dataclass(frozen=True)
class InVivo:
    """An in vivo passage that a round decided on, and the code that it was adopted as."""

    passage: CodedPassage
    name: str
    """The name of that code; empty until it is adopted."""


def list_in_vivo_passages(interviews: Interviews, name: str, actor: str | None = None) -> list[InVivo]:
    """Returns all in vivo passages of a closed round, in the order of the interviews."""
    coded = read_coded_passages(interviews, [name], actor)
    book = interviews.coding.state.history.latest
    return [
        InVivo(passage, book.path_name(passage.code) if passage.code in book.codes else "") for passage in coded.in_vivo
    ]


def list_adoptable_codes(coding: CodingSession, name: str) -> list[tuple[str, str]]:
    """Lists the codes that in vivo passages can be adopted as: (code, name with the themes above it)."""
    with coding.locked_state() as state:
        facet = require_passage_facet(state.round(name).plan)
        return list_codes_to_choose(state, [facet])[facet.id]


def adopt(
    coding: CodingSession, name: str, item: str, start: int, end: int, code: str | NewCode, actor: str | None = None
) -> str:
    """Adopts an in vivo passage as an existing or new code and returns its id; an empty code undoes the adoption."""
    who = require_lead(coding, actor, "adopt in vivo codes")
    chosen: list[str] = []

    def decide(state: State) -> list[NewAct]:
        chosen.clear()
        _require_in_vivo(state, name, item, start, end)
        acts = []
        if isinstance(code, NewCode):
            acts.append(build_new_code_act(state, require_passage_facet(state.round(name).plan), code, who))
            check_new_code(coding, state, acts[0], names)
            chosen.append(str(acts[0].payload["id"]))
        else:
            facet = require_passage_facet(state.round(name).plan)
            chosen.append(require_active_code(state, facet, code) if code else "")
        if read_adoptions(state).get((name, item, start, end), "") == chosen[0]:
            return acts
        payload = {"round": name, "item": item, "start": start, "end": end, "code": chosen[0]}
        return [*acts, NewAct(ADOPT_ACT, who, payload, state.history.latest.version + len(acts))]

    with open_known_names(coding) if isinstance(code, NewCode) else nullcontext(NoNames()) as names:
        coding.act(decide)
    return chosen[0]


def _require_in_vivo(state: State, name: str, item: str, start: int, end: int) -> None:
    round_state = state.round(name)
    if round_state.status != CLOSED:
        raise StateError(f"the round {name!r} is open: close it and settle its disagreements first")
    decision = round_state.last_decisions(require_passage_facet(round_state.plan).id).get(item)
    if decision is None:
        raise StateError(f"nothing is decided about {item!r} in {name!r} yet: settle it first")
    places = [(passage.start, passage.end) for passage in list_in_vivo(decision.answer)]
    if (start, end) not in places:
        there = join_with_or(f"{low} to {high}" for low, high in places) or "none"
        raise InputError(f"{item!r} has no in vivo passage from {start} to {end}; there are: {there}")
