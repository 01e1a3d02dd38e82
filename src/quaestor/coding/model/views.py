"""What each person may see of a round; enforces blindness for all pages and commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from quaestor.base.errors import StateError
from quaestor.coding.model.assignment import ItemQueue, shuffle_answers
from quaestor.coding.model.closing import can_reopen_blind
from quaestor.coding.model.decisions import (
    is_settled_round,
    list_dependent_cases,
    list_disagreements,
    list_incomplete_cases,
)
from quaestor.coding.model.phrases import find_words_before
from quaestor.coding.model.records import (
    Codebook,
    CodeProposal,
    Disagreement,
    Practice,
    ProposedDecision,
    RaterView,
    Rating,
    RoundPlan,
    TieCase,
)
from quaestor.coding.model.settlement import TOGETHER
from quaestor.coding.model.state import CLOSED, RaterSlot, RoundState, State
from quaestor.store.records import NewAct


def build_rater_view(state: State, name: str, rater: str) -> RaterView:
    """Returns a rater's own part of a round: the plan, their items and their ratings, and nothing of other raters.

    In a round with sets, all raters see the words that were unified after earlier sets.
    """
    round_state = state.round(name)
    slot = _require_slot(round_state, rater)
    plan = round_state.plan
    own = {item: rating[-1] for item, rating in round_state.ratings.get(rater, {}).items()}
    now = set(round_state.open_items())
    items = round_state.order_items(rater, [item for item in slot.items_of(rater) if item in now])
    return RaterView(
        round=name,
        kind=plan.kind,
        rater=rater,
        instructions=plan.instructions,
        facets=plan.facets,
        codebook=state.history.at(plan.codebook),
        practice=tuple(Practice(round_state.item, {}) for round_state in plan.practice),
        deadline=round_state.deadline,
        set=round_state.set,
        sets=len(round_state.sets),
        items=items,
        ratings=own,
        proposals={item: plan.proposals[item] for item in items if item in plan.proposals},
        words=find_words_before(round_state, round_state.set) if plan.set_size else {},
        status=round_state.status,
        again=tuple(item for item in items if item in own and not round_state.is_rated(slot, item)),
    )


@dataclass(frozen=True)
class RaterPosition:
    """A rater's position in an open round: what a page needs for each item, at a cost independent of the round's size.

    It shares the state of the round; a rater may see the same as in `build_rater_view`.
    """

    plan: RoundPlan
    rater: str
    codebook: Codebook
    progress: ItemQueue
    set: int
    sets: int
    opened: str
    first_name: str
    """The rater's name when the round was opened; the browser keeps unsaved ratings under it."""
    _own: dict[str, list[Rating]]
    own_proposals: tuple[CodeProposal, ...] = ()
    """The codes that this rater proposed in the round."""

    def rating(self, item: str) -> Rating | None:
        """Returns this rater's current rating of an item."""
        ratings = self._own.get(item)
        return ratings[-1] if ratings else None

    def recent(self, most: int) -> list[Rating]:
        """Returns this rater's ratings of the items most recently rated for the first time, newest first."""
        return [ratings[-1] for ratings in islice(reversed(self._own.values()), most)]

    def proposals(self, item: str) -> Mapping[str, str]:
        return self.plan.proposals.get(item, {}) if self.progress.turn_of(item) >= 0 else {}


def build_rater_position(state: State, name: str, rater: str) -> RaterPosition:
    round_state = state.round(name)
    slot = _require_slot(round_state, rater)
    return RaterPosition(
        plan=round_state.plan,
        rater=rater,
        codebook=state.history.at(round_state.plan.codebook),
        progress=round_state.progress(slot, rater),
        set=round_state.set,
        sets=len(round_state.sets),
        opened=round_state.opened,
        first_name=round_state.first_names.get(rater, rater),
        _own=round_state.ratings.get(rater, {}),
        own_proposals=tuple(each for each in round_state.code_proposals.values() if each.actor == rater and each.name),
    )


def _require_slot(round_state: RoundState, rater: str) -> RaterSlot:
    slot = round_state.slot_of(rater)
    if slot is None:
        raise StateError(f"{rater!r} does not rate in {round_state.plan.round!r}")
    return slot


def require_lead_view(state: State, name: str, actor: str, lead: str) -> RoundState:
    """Returns the whole round for its lead, and for its raters and tie-breaker when it is closed; raises otherwise.

    A lead who rates in a blind round loses the lead's view until it closes; a lead who is the tie-breaker sees names
    only after the last disagreement is settled.
    """
    round_state = state.round(name)
    if actor not in (lead, round_state.plan.tie_breaker) and round_state.slot_of(actor) is None:
        raise StateError(f"{actor!r} has no role in {name!r} and cannot see it")
    if actor == round_state.plan.tie_breaker and not (round_state.status == CLOSED and is_settled_round(state, name)):
        raise StateError(
            f"{actor!r} is the tie-breaker of {name!r}: names are shown once all disagreements are settled"
        )
    if round_state.plan.blind and round_state.slot_of(actor) and round_state.status != CLOSED:
        raise StateError(f"{actor!r} rates in {name!r}: the ratings of others are shown once it is closed")
    return round_state


def build_unblind_act(state: State, name: str, actor: str) -> NewAct | None:
    """Builds the act that records that somebody saw others' ratings of a blind round; None if it is already recorded.

    Afterwards this person can no longer become a rater of the round, and it can no longer be reopened as blind.
    """
    round_state = state.round(name)
    if actor in round_state.unblinded or not round_state.plan.blind:
        return None
    return NewAct("round.unblind", actor, {"round": name}, round_state.plan.codebook)


def needs_consent(state: State, name: str, actor: str) -> bool:
    """Returns whether seeing others' ratings for the first time has a consequence that the viewer must agree to.

    It ends a rater's blindness, and a round that could be reopened as blind no longer can. Any other view is recorded
    without asking.
    """
    round_state = state.round(name)
    if build_unblind_act(state, name, actor) is None:
        return False
    return round_state.status != CLOSED or round_state.slot_of(actor) is not None or can_reopen_blind(state, name)


def list_visible_cases(state: State, name: str, actor: str, lead: str) -> list[Disagreement]:
    """Returns what a closed round has to settle, with the names of the raters.

    These are the disagreements, then the answers that fewer raters gave than planned.
    """
    require_lead_view(state, name, actor, lead)
    if state.round(name).status != CLOSED:
        raise StateError(f"the round {name!r} is open: its disagreements are shown once it is closed")
    return [*list_disagreements(state, name), *list_incomplete_cases(state, name)]


def list_tie_cases(state: State, name: str, actor: str) -> list[TieCase]:
    """Returns the cases as the tie-breaker may see them: answers in an order that does not reveal the raters."""
    round_state = state.round(name)
    if actor != round_state.plan.tie_breaker:
        raise StateError(f"{actor!r} is not the tie-breaker of {name!r}")
    if round_state.status != CLOSED:
        raise StateError(f"the round {name!r} is open: close it before breaking ties")
    cases = []
    for disagreement in [*list_disagreements(state, name), *list_dependent_cases(state, name)]:
        answers = shuffle_answers(round_state.plan, disagreement.item, [answer for _, answer in disagreement.answers])
        cases.append(
            TieCase(
                disagreement.item,
                disagreement.facet,
                answers,
                disagreement.tie_comment,
                disagreement.decision is not None,
                _find_waiting_proposal(disagreement, actor),
            )
        )
    return cases


def _find_waiting_proposal(disagreement: Disagreement, tie_breaker: str) -> ProposedDecision | None:
    proposal = disagreement.proposal
    waits = proposal is not None and proposal.how == TOGETHER and tie_breaker not in proposal.assents
    return proposal if waits else None
