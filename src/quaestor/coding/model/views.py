"""What each person may see of a round: blindness is kept here, whatever page or command asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from quaestor.base.errors import StateError
from quaestor.coding.model.assignment import RaterProgress, order_items, shuffle_answers
from quaestor.coding.model.decisions import is_settled_round, list_disagreements
from quaestor.coding.model.phrases import find_words_before
from quaestor.coding.model.records import Codebook, Disagreement, Practice, RaterView, Rating, RoundPlan, TieCase
from quaestor.coding.model.rounds import can_reopen_blind
from quaestor.coding.model.state import CLOSED, RaterSlot, RoundState, State
from quaestor.store.records import NewAct


def build_rater_view(state: State, name: str, rater: str) -> RaterView:
    """A rater's own part of a round: the plan, their items and their ratings, and nothing that comes from others.

    In a round that goes set by set, the words that were unified after earlier sets are common knowledge.
    """
    round_state = state.round(name)
    slot = _require_slot(round_state, rater)
    plan = round_state.plan
    own = {item: rating[-1] for item, rating in round_state.ratings.get(rater, {}).items()}
    now = set(round_state.open_items())
    items = order_items(plan, rater, [item for item in slot.items_of(rater) if item in now])
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
    """A rater's place at an open round: all that a page asks for with each item, at a cost that does not grow with it.

    It goes on with the round; what a rater may see is the same as in `rater_view`.
    """

    plan: RoundPlan
    rater: str
    codebook: Codebook
    progress: RaterProgress
    set: int
    sets: int
    opened: str
    _own: dict[str, list[Rating]]

    def rating(self, item: str) -> Rating | None:
        """What this rater said about an item."""
        ratings = self._own.get(item)
        return ratings[-1] if ratings else None

    def recent(self, most: int) -> list[Rating]:
        """What this rater said of the items rated first most recently, the newest first."""
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
        _own=round_state.ratings.get(rater, {}),
    )


def _require_slot(round_state: RoundState, rater: str) -> RaterSlot:
    slot = round_state.slot_of(rater)
    if slot is None:
        raise StateError(f"{rater!r} does not rate in {round_state.plan.round!r}")
    return slot


def require_lead_view(state: State, name: str, actor: str, lead: str) -> RoundState:
    """The whole round: for its lead, and for those with a part in it when it is over.

    A lead who rates in a round loses the lead's view of it until it closes; one who breaks its ties sees names only
    after the last of them is settled.
    """
    round_state = state.round(name)
    if actor not in (lead, round_state.plan.tie_breaker) and round_state.slot_of(actor) is None:
        raise StateError(f"{actor!r} has no part in {name!r} and sees nothing of it")
    if actor == round_state.plan.tie_breaker and not (round_state.status == CLOSED and is_settled_round(state, name)):
        raise StateError(f"{actor!r} breaks the ties of {name!r} and sees who said what when all are settled")
    if round_state.plan.blind and round_state.slot_of(actor) and round_state.status != CLOSED:
        raise StateError(f"{actor!r} rates in {name!r} and sees the others' ratings when it is closed")
    return round_state


def build_unblind_act(state: State, name: str, actor: str) -> NewAct | None:
    """The act that records that somebody now sees others' ratings of a blind round; None where it is on record.

    Anybody who has looked can take no seat in the round any more, and it can no longer be reopened as a blind one.
    """
    round_state = state.round(name)
    if actor in round_state.unblinded or not round_state.plan.blind:
        return None
    return NewAct("round.unblind", actor, {"round": name}, round_state.plan.codebook)


def needs_consent(state: State, name: str, actor: str) -> bool:
    """Whether a first look at others' ratings has a consequence, so that the viewer has to agree to it beforehand.

    A rater's look ends their blindness; a look at a round that can still be reopened blind ends that. A look of
    anybody else is recorded without a question.
    """
    round_state = state.round(name)
    if build_unblind_act(state, name, actor) is None:
        return False
    return round_state.status != CLOSED or round_state.slot_of(actor) is not None or can_reopen_blind(state, name)


def list_visible_disagreements(state: State, name: str, actor: str, lead: str) -> list[Disagreement]:
    """The disagreements of a closed round with who said what."""
    require_lead_view(state, name, actor, lead)
    if state.round(name).status != CLOSED:
        raise StateError(f"the round {name!r} is open: its disagreements can be seen when it is closed")
    return list_disagreements(state, name)


def list_tie_cases(state: State, name: str, actor: str) -> list[TieCase]:
    """What a tie-breaker may see: the items in dispute and what was said, in an order that tells nothing."""
    round_state = state.round(name)
    if actor != round_state.plan.tie_breaker:
        raise StateError(f"{actor!r} does not break the ties of {name!r}")
    if round_state.status != CLOSED:
        raise StateError(f"the round {name!r} is open: its ties can be broken when it is closed")
    cases = []
    for disagreement in list_disagreements(state, name):
        answers = shuffle_answers(round_state.plan, disagreement.item, [answer for _, answer in disagreement.answers])
        cases.append(
            TieCase(
                disagreement.item,
                disagreement.facet,
                answers,
                disagreement.tie_comment,
                disagreement.decision is not None,
            )
        )
    return cases
