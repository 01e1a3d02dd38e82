"""What each person may see of a round: blindness is kept here, whatever page or command asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from quaestor.base.errors import StateError
from quaestor.coding.model.assignment import Progress, in_order, without_order
from quaestor.coding.model.decisions import disagreements, settled
from quaestor.coding.model.phrases import words_before
from quaestor.coding.model.records import Codebook, Disagreement, RoundPlan, Practice, RaterView, Rating, TieCase
from quaestor.coding.model.rounds import can_reopen_blind
from quaestor.coding.model.state import CLOSED, RoundState, RaterSlot, State
from quaestor.store.records import NewAct


def rater_view(state: State, name: str, rater: str) -> RaterView:
    """A rater's own part of a round: the plan, their items and their ratings, and nothing that comes from others.

    In a round that goes set by set, the words that were unified after earlier sets are common knowledge.
    """
    one = state.round(name)
    seat = _own_seat(one, rater)
    plan = one.plan
    own = {item: rating[-1] for item, rating in one.ratings.get(rater, {}).items()}
    now = set(one.open_items())
    items = in_order(plan, rater, [item for item in seat.items_of(rater) if item in now])
    return RaterView(
        round=name,
        kind=plan.kind,
        rater=rater,
        instructions=plan.instructions,
        facets=plan.facets,
        codebook=state.history.at(plan.codebook),
        practice=tuple(Practice(one.item, {}) for one in plan.practice),
        deadline=one.deadline,
        set=one.set,
        sets=len(one.sets),
        items=items,
        ratings=own,
        proposals={item: plan.proposals[item] for item in items if item in plan.proposals},
        words=words_before(one, one.set) if plan.set_size else {},
        status=one.status,
        again=tuple(item for item in items if item in own and not one.is_rated(seat, item)),
    )


@dataclass(frozen=True)
class RaterPlace:
    """A rater's place at an open round: all that a page asks for with each item, at a cost that does not grow with it.

    It goes on with the round; what a rater may see is the same as in `rater_view`.
    """

    plan: RoundPlan
    rater: str
    codebook: Codebook
    progress: Progress
    set: int
    sets: int
    opened: str
    _own: dict[str, list[Rating]]

    def rating(self, item: str) -> Rating | None:
        """What this rater said about an item."""
        given = self._own.get(item)
        return given[-1] if given else None

    def recent(self, most: int) -> list[Rating]:
        """What this rater said of the items rated first most recently, the newest first."""
        return [given[-1] for given in islice(reversed(self._own.values()), most)]

    def proposals(self, item: str) -> Mapping[str, str]:
        return self.plan.proposals.get(item, {}) if self.progress.turn_of(item) >= 0 else {}


def rater_place(state: State, name: str, rater: str) -> RaterPlace:
    one = state.round(name)
    seat = _own_seat(one, rater)
    return RaterPlace(
        plan=one.plan,
        rater=rater,
        codebook=state.history.at(one.plan.codebook),
        progress=one.progress(seat, rater),
        set=one.set,
        sets=len(one.sets),
        opened=one.opened,
        _own=one.ratings.get(rater, {}),
    )


def _own_seat(round_state: RoundState, rater: str) -> RaterSlot:
    seat = round_state.slot_of(rater)
    if seat is None:
        raise StateError(f"{rater!r} does not rate in {round_state.plan.round!r}")
    return seat


def require_lead_view(state: State, name: str, actor: str, lead: str) -> RoundState:
    """The whole round: for its lead, and for those with a part in it when it is over.

    A lead who rates in a round loses the lead's view of it until it closes; one who breaks its ties sees names only
    after the last of them is settled.
    """
    one = state.round(name)
    if actor not in (lead, one.plan.tie_breaker) and one.slot_of(actor) is None:
        raise StateError(f"{actor!r} has no part in {name!r} and sees nothing of it")
    if actor == one.plan.tie_breaker and not (one.status == CLOSED and settled(state, name)):
        raise StateError(f"{actor!r} breaks the ties of {name!r} and sees who said what when all are settled")
    if one.plan.blind and one.slot_of(actor) and one.status != CLOSED:
        raise StateError(f"{actor!r} rates in {name!r} and sees the others' ratings when it is closed")
    return one


def unblinding(state: State, name: str, actor: str) -> NewAct | None:
    """The act that records that somebody now sees others' ratings of a blind round; None where it is on record.

    Anybody who has looked can take no seat in the round any more, and it can no longer be reopened as a blind one.
    """
    one = state.round(name)
    if actor in one.unblinded or not one.plan.blind:
        return None
    return NewAct("round.unblind", actor, {"round": name}, one.plan.codebook)


def asks_first(state: State, name: str, actor: str) -> bool:
    """Whether a first look at others' ratings has a consequence, so that the viewer has to agree to it beforehand.

    A rater's look ends their blindness; a look at a round that can still be reopened blind ends that. A look of
    anybody else is recorded without a question.
    """
    one = state.round(name)
    if unblinding(state, name, actor) is None:
        return False
    return one.status != CLOSED or one.slot_of(actor) is not None or can_reopen_blind(state, name)


def disagreements_for(state: State, name: str, actor: str, lead: str) -> list[Disagreement]:
    """The disagreements of a closed round with who said what."""
    require_lead_view(state, name, actor, lead)
    if state.round(name).status != CLOSED:
        raise StateError(f"the round {name!r} is open: its disagreements can be seen when it is closed")
    return disagreements(state, name)


def tie_view(state: State, name: str, actor: str) -> list[TieCase]:
    """What a tie-breaker may see: the items in dispute and what was said, in an order that tells nothing."""
    one = state.round(name)
    if actor != one.plan.tie_breaker:
        raise StateError(f"{actor!r} does not break the ties of {name!r}")
    if one.status != CLOSED:
        raise StateError(f"the round {name!r} is open: its ties can be broken when it is closed")
    cases = []
    for disagreement in disagreements(state, name):
        answers = without_order(one.plan, disagreement.item, [answer for _, answer in disagreement.answers])
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
