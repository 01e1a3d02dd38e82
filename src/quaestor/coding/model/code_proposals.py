"""Codes that raters propose while rating, and what the lead decides about them.

A rating always has a code of the codebook: the rater chooses the closest one and attaches the proposal to the item. A
proposal therefore counts nowhere. Results say how many are undecided, and no decision changes a rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.coding.model.answers import refuse_unstorable
from quaestor.coding.model.codebook.changes import build_code_id
from quaestor.coding.model.ratings import require_open_item
from quaestor.coding.model.records import ACCEPTED, DECLINED, MERGED, Codebook, CodeProposal, Facet, RoundPlan
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.store.records import NewAct

LONGEST_NAME, LONGEST_DEFINITION = 200, 2_000


@dataclass(frozen=True)
class NewCode:
    """A code to be added to the codebook."""

    name: str
    parent: str = ""
    definition: str = ""
    facet: str = ""
    """The facet of the round that it is proposed for; may be empty if only one has codes."""


@dataclass(frozen=True)
class ProposedCode:
    """A proposed code with all items for which it was proposed under this name in a round."""

    round: str
    facet: str
    proposals: tuple[CodeProposal, ...]
    may_show_items: bool
    """Whether it may be shown where it was proposed; never by whom."""

    @property
    def first(self) -> CodeProposal:
        return self.proposals[0]

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(proposal.item for proposal in self.proposals))


def list_coded_facets(plan: RoundPlan) -> list[Facet]:
    """Returns the facets of a round that are answered with codes of the codebook."""
    return [facet for facet in plan.facets if facet.codes]


def list_parents(book: Codebook, facet: Facet) -> list[tuple[str, str]]:
    """Returns the codes that can have a new code below them: (code, name with the codes above it)."""
    levels = len(book.facets[facet.codes].levels) if facet.codes in book.facets else 0
    return [(code.id, book.path_name(code.id)) for code in book.active(facet.codes) if book.depth(code.id) < levels]


def build_proposal_act(state: State, name: str, rater: str, item: str, new: NewCode, *, now: str, key: str) -> NewAct:
    """Builds the act of a rater who proposes a code for an item that they may rate now."""
    round_state = require_open_item(state, name, rater, item, now)
    facet = _find_coded_facet(round_state.plan, new.facet)
    book, words = state.history.at(round_state.plan.codebook), " ".join(new.name.split())
    definition = new.definition.strip()
    if not words:
        raise InputError("a proposed code needs a name: enter one")
    for text, what, longest in ((words, "name", LONGEST_NAME), (definition, "definition", LONGEST_DEFINITION)):
        refuse_unstorable(text, f"the {what} of a proposed code")
        if len(text) > longest:
            raise InputError(f"the {what} of a proposed code has {len(text):,} characters, at most {longest:,}")
    parents = dict(list_parents(book, facet))
    if new.parent and new.parent not in parents:
        options = join_with_or(sort_by_similarity(new.parent, parents)[:5]) or "none"
        raise InputError(f"no code can be added below {new.parent!r}; choose from: {options}")
    same = [code for code in book.active(facet.codes) if code.name.casefold() == words.casefold()]
    if same:
        raise InputError(f"the codebook has the code {same[0].name!r} already: choose it")
    payload = {"round": name, "item": item, "facet": facet.id, "name": words}
    payload |= {"definition": definition} if definition else {}
    payload |= {"parent": new.parent} if new.parent else {}
    return NewAct("code.propose", rater, payload, round_state.plan.codebook, key)


def _find_coded_facet(plan: RoundPlan, name: str) -> Facet:
    facets = list_coded_facets(plan)
    if not facets:
        raise InputError(f"no facet of {plan.round!r} has codes, so none can be proposed")
    if not name and len(facets) == 1:
        return facets[0]
    match = next((facet for facet in facets if facet.id == name), None)
    if match is None:
        raise InputError(f"name the facet of the proposed code; choose from: {join_with_or(f.id for f in facets)}")
    return match


def list_own_proposals(round_state: RoundState, rater: str) -> list[CodeProposal]:
    """Returns what a rater proposed in a round, and what became of it."""
    return [proposal for proposal in round_state.code_proposals.values() if proposal.actor == rater and proposal.name]


def list_proposed_codes(state: State, actor: str) -> list[ProposedCode]:
    """Returns the proposed codes of all rounds that the lead may see, undecided ones first.

    A lead who rates in a blind round sees the proposals of others once it is closed; where a code was proposed is
    shown once the round is closed.
    """
    found: dict[tuple[str, str, str, str], list[CodeProposal]] = {}
    for name, round_state in state.rounds.items():
        is_open = round_state.status != CLOSED
        is_hidden = is_open and round_state.plan.blind and round_state.slot_of(actor) is not None
        for proposal in round_state.code_proposals.values():
            if proposal.name and proposal.item not in round_state.gone and not (is_hidden and proposal.actor != actor):
                key = (name, proposal.facet, proposal.name.casefold(), proposal.outcome)
                found.setdefault(key, []).append(proposal)
    proposed = [
        ProposedCode(name, facet, tuple(proposals), state.round(name).status == CLOSED)
        for (name, facet, _, _), proposals in found.items()
    ]
    return sorted(proposed, key=lambda each: (bool(each.first.outcome), each.first.number))


def find_proposed_code(state: State, actor: str, number: int) -> ProposedCode:
    """Returns an undecided proposed code by the number of its first proposal."""
    pending = [proposed for proposed in list_proposed_codes(state, actor) if not proposed.first.outcome]
    match = next((proposed for proposed in pending if proposed.first.number == number), None)
    if match is None:
        options = join_with_or(str(proposed.first.number) for proposed in pending) or "none"
        raise StateError(f"there is no undecided proposed code {number}; choose from: {options}")
    return match


def build_settlement_acts(
    state: State, lead: str, number: int, outcome: str, *, code: str = "", new: NewCode | None = None, reason: str = ""
) -> list[NewAct]:
    """Builds the acts that accept a proposed code, merge it into an existing one, or decline it with a reason."""
    proposed = find_proposed_code(state, lead, number)
    facet = state.round(proposed.round).plan.facet(proposed.facet)
    acts: list[NewAct] = []
    if outcome == ACCEPTED:
        first = proposed.first
        acts.append(build_new_code_act(state, facet, new or NewCode(first.name, first.parent, first.definition), lead))
        code = str(acts[0].payload["id"])
    elif outcome == MERGED:
        code = require_active_code(state, facet, code)
    elif outcome == DECLINED:
        if not reason.strip():
            raise InputError("a proposed code is declined with a reason: say why")
        refuse_unstorable(reason, "the reason")
    else:
        raise InputError(f"the decision is {outcome!r}; choose from: {join_with_or((ACCEPTED, MERGED, DECLINED))}")
    payload: dict[str, Any] = {"round": proposed.round, "item": proposed.first.item, "outcome": outcome}
    payload["proposals"] = [proposal.number for proposal in proposed.proposals]
    payload |= {"code": code} if outcome != DECLINED else {}
    payload |= {"reason": reason.strip()} if reason.strip() else {}
    return [*acts, NewAct("code.settle", lead, payload, state.history.latest.version + len(acts))]


def require_active_code(state: State, facet: Facet, code: str) -> str:
    """Returns an active code of a facet; raises InputError with similar ones otherwise."""
    allowed = {candidate.id: candidate.name for candidate in state.history.latest.active(facet.codes)}
    if code not in allowed:
        options = join_with_or(sort_by_similarity(code, allowed)[:5])
        raise InputError(f"the codebook has no active code {code!r}; similar ones: {options} …")
    return code


def build_new_code_act(state: State, facet: Facet, new: NewCode, who: str) -> NewAct:
    """Builds the act that adds a code to the latest codebook."""
    if not new.name.strip():
        raise InputError("a new code needs a name: enter one")
    payload = {
        "id": build_code_id(new.name.strip(), new.parent, state.history.latest),
        "facet": facet.codes,
        "name": new.name.strip(),
        "parent": new.parent,
        "definition": new.definition.strip(),
    }
    return NewAct("codebook.add", who, payload, state.history.preview_change("codebook.add", payload).version)


def list_codes_to_choose(state: State, facets: Sequence[Facet]) -> dict[str, list[tuple[str, str]]]:
    """Returns for each facet the active codes of the latest codebook: (code, name with the codes above it)."""
    book = state.history.latest
    return {
        facet.id: sorted(
            ((code.id, book.path_name(code.id)) for code in book.active(facet.codes)),
            key=lambda pair: pair[1].casefold(),
        )
        for facet in facets
    }
