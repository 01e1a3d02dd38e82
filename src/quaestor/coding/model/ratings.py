"""Builds the acts of ratings and practice, and lists the labels that agreement is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, suggest
from quaestor.coding.model.answers import build_label, check_answer, check_answers, refuse_unstorable
from quaestor.coding.model.conditions import find_asked
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.base import Label
from quaestor.coding.model.phrases import find_words_before
from quaestor.coding.model.records import CANNOT_JUDGE, Facet, Practice, Rating, read_passages
from quaestor.coding.model.state import OPEN, RaterSlot, RoundState, State
from quaestor.store.records import NewAct, new_key

_TOO_LONG = 7 * 24 * 3600


class NotAsked(Enum):
    """The label of a rating whose rater was not asked about a facet, because its condition did not hold."""

    NOT_ASKED = "not asked"


ComparedLabel = tuple[str, str, Label | NotAsked | None]
"""An item, a rater, and the label; None if an answer cannot be compared."""


def build_rating_act(
    state: State,
    name: str,
    rater: str,
    item: str,
    answers: Mapping[str, Any],
    *,
    now: str,
    unsure: tuple[str, ...] = (),
    memo: str = "",
    seconds: float = 0.0,
    simulated: bool = False,
    imported: bool = False,
    time: str = "",
    key: str = "",
) -> NewAct:
    """Builds the act of a rating; a second rating of an item supersedes the first, and both are kept."""
    round_state = require_open_item(state, name, rater, item, now)
    if not (simulated or imported):
        require_practice(round_state, rater)
    if not 0 <= seconds < _TOO_LONG:
        raise InputError(f"the time spent on {item!r} is {seconds:g} seconds: give what it took, less than a week")
    refuse_unstorable(memo, f"the memo on {item!r}")
    payload: dict[str, Any] = {
        "round": name,
        "item": item,
        "answers": check_answers(round_state.plan, state.history.at(round_state.plan.codebook), answers),
    }
    plan = round_state.plan
    for facet_id in unsure:
        names = [facet.id for facet in plan.facets if find_asked(plan, facet, payload["answers"])]
        if facet_id not in names:
            raise InputError(f"unsure of {facet_id!r}; choose from: {suggest(facet_id, names)}")
    more = {
        "unsure": sorted(unsure),
        "memo": memo,
        "seconds": seconds,
        "simulated": simulated,
        "imported": imported,
        "time": time,
    }
    payload |= {name: value for name, value in more.items() if value}
    return NewAct("rating", rater, payload, round_state.plan.codebook, key or new_key())


def require_practice(round_state: RoundState, rater: str) -> None:
    """Raises StateError if a rater has practice items left."""
    if untried := len(list_untried_practice(round_state, rater)):
        name = round_state.plan.round
        raise StateError(
            f"{rater!r} must finish {untried} practice item{'' if untried == 1 else 's'} of {name!r} first: "
            f"run `quaestor ratings next {name} --as {rater}`"
        )


def require_open_round(state: State, name: str, now: str) -> RoundState:
    """Returns the round if it takes ratings now; raises with the reason otherwise."""
    round_state = state.round(name)
    if round_state.status != OPEN:
        raise StateError(f"the round {name!r} is closed: its ratings can no longer change")
    if round_state.deadline and now > round_state.deadline:
        raise StateError(f"the deadline of {name!r} was {round_state.deadline}: ask the lead for a later one")
    return round_state


def require_open_item(state: State, name: str, rater: str, item: str, now: str) -> RoundState:
    """Returns the round if a rater may rate an item in it now; raises with the reason otherwise."""
    round_state = require_open_round(state, name, now)
    slot = round_state.slot_of(rater)
    if slot is None:
        raters = [slot.rater for slot in round_state.slots]
        raise StateError(f"{rater!r} does not rate in {name!r}; choose from: {suggest(rater, raters)}")
    if slot.rater != rater:
        raise StateError(f"{rater!r} was replaced by {slot.rater!r} in {name!r}: their earlier ratings are kept")
    if not slot.has(rater, item):
        raise InputError(f"the item {item!r} is not assigned to {rater!r} in {name!r}: see `quaestor round items`")
    if round_state.plan.set_size and item not in round_state.open_items():
        raise StateError(f"the item {item!r} is not in set {round_state.set}, the set being rated now")
    rated_before = round_state.current(rater, item)
    if (
        round_state.plan.set_size
        and round_state.set in round_state.compared
        and rated_before
        and round_state.is_rated(slot, item)
    ):
        raise StateError(
            f"set {round_state.set} of {name!r} has been compared: ask for {item!r} to be read again first"
        )
    return round_state


def list_untried_practice(round_state: RoundState, rater: str) -> list[Practice]:
    """Returns the practice items that a rater has not tried yet."""
    tried = round_state.practised.get(rater, ())
    return [practice for practice in round_state.plan.practice if practice.item not in tried]


def build_practice_act(
    state: State, name: str, rater: str, item: str, answers: Mapping[str, Any]
) -> tuple[NewAct, dict[str, bool], str]:
    """Returns the act of a practice answer, which facets were right, and the feedback; practice never counts.

    A facet that this rater was not asked, because of a wrong answer to another one, is neither right nor wrong.
    """
    round_state = state.round(name)
    if round_state.slot_of(rater) is None:
        raise StateError(f"{rater!r} does not rate in {name!r}")
    practice = next((exercise for exercise in round_state.plan.practice if exercise.item == item), None)
    if practice is None:
        items = join_with_or(exercise.item for exercise in round_state.plan.practice) or "none"
        raise InputError(f"{item!r} is not a practice item of {name!r}; choose from: {items}")
    book = state.history.at(round_state.plan.codebook)
    checked = check_answers(round_state.plan, book, answers)
    right = {
        facet.id: build_label(facet, checked.get(facet.id))
        == build_label(facet, check_answer(facet, book, practice.answers[facet.id]))
        for facet in round_state.plan.facets
        if facet.id in practice.answers and find_asked(round_state.plan, facet, checked)
    }
    payload = {"round": name, "item": item, "answers": checked}
    return NewAct("practice", rater, payload, round_state.plan.codebook), right, practice.feedback


def list_labels(
    state: State, name: str, facet: str, version: int | None = None, level: str = ""
) -> list[ComparedLabel]:
    """Returns (item, rater, label) for one facet; the label is None if an answer cannot be compared.

    Uses ratings alone, so that later decisions do not change the result; removed items are left out. Ratings can be
    read under any version of the codebook and at any level of it.
    """
    round_state = state.round(name)
    return [
        label
        for slot in round_state.slots
        for label in list_slot_labels(state, round_state, slot, facet, slot.items[0], version=version, level=level)
    ]


def list_slot_labels(
    state: State,
    round_state: RoundState,
    slot: RaterSlot,
    facet: str,
    items: Sequence[str],
    *,
    version: int | None = None,
    level: str = "",
    until: int | None = None,
) -> list[ComparedLabel]:
    """Returns the labels of one slot for some of its items as of the act `until`.

    A large round can thus be read in batches while others go on rating, and the result still reflects one moment.
    """
    facet_plan = round_state.plan.facet(facet)
    labels: list[ComparedLabel] = []
    for item in items:
        if item in round_state.gone:
            continue
        rating = round_state.rating_in_slot(slot, item)
        if rating is not None and until is not None and rating.number > until:
            rating = _find_rating_until(round_state, slot, item, until)
        if rating is not None:
            labels.append((item, slot.label, _label(state, facet_plan, rating, version, level)))
    return labels


def _find_rating_until(round_state: RoundState, slot: RaterSlot, item: str, until: int) -> Rating | None:
    candidates = (round_state.ratings.get(rater, {}).get(item, ()) for rater in reversed(slot.raters))
    return next((rating for ratings in candidates for rating in reversed(ratings) if rating.number <= until), None)


def list_rated_passages(
    state: State, name: str, facet: str, version: int | None = None
) -> list[tuple[str, str, list[tuple[int, int, str]] | None]]:
    """Returns (item, rater, passages) for a facet that codes passages, each passage as (start, end, code).

    In-vivo passages have no code and are left out, as in the labels. The passages are None if the rater could not
    judge, or if a code cannot be read under this version of the codebook.
    """
    round_state = state.round(name)
    rated = []
    for slot in round_state.slots:
        for item in slot.items[0]:
            rating = None if item in round_state.gone else round_state.rating_in_slot(slot, item)
            if rating is not None:
                rated.append((item, slot.label, _list_passages(state, rating, facet, version)))
    return rated


def _list_passages(state: State, rating: Rating, facet: str, version: int | None) -> list[tuple[int, int, str]] | None:
    answer = rating.answers.get(facet)
    if answer is None or answer == CANNOT_JUDGE:
        return None
    passages = []
    for passage in read_passages(answer):
        code = _read(state, rating, passage.code, version, "") if passage.code else ""
        if code is None:
            return None
        if code:
            passages.append((passage.start, passage.end, code))
    return passages


def list_drift_labels(state: State, name: str, earlier: str, facet: str) -> list[ComparedLabel]:
    """Returns (item and rater, round, label) of both rounds under the current codebook, to compare raters over time.

    Agreement over these labels shows whether raters still use the codes as before.
    """
    now, then = state.round(name), state.round(earlier)
    version = now.plan.codebook
    labels: list[ComparedLabel] = []
    for rater, items in now.ratings.items():
        for item, ratings in items.items():
            before = then.current(rater, item)
            if before is None or item in now.gone:
                continue
            for round_name, rating in ((earlier, before), (name, ratings[-1])):
                facet_plan = state.round(round_name).plan.facet(facet)
                labels.append((f"{item} ({rater})", round_name, _label(state, facet_plan, rating, version, "")))
    return labels


def _label(state: State, facet: Facet, rating: Rating, version: int | None, level: str) -> Label | NotAsked | None:
    kind, answer = find_kind(facet), rating.answers.get(facet.id)
    if facet.ask_if and not find_asked(state.round(rating.round).plan, facet, rating.answers):
        return NotAsked.NOT_ASKED
    if answer == CANNOT_JUDGE:
        return frozenset([CANNOT_JUDGE]) if kind.has_several_codes else CANNOT_JUDGE
    if kind.unifies_words and answer is not None:
        round_state = state.round(rating.round)
        answer = kind.unify(answer, find_words_before(round_state, round_state.set_of(rating.item)))
    label = build_label(facet, answer)
    if label is None or not facet.codes:
        return label
    read = [_read(state, rating, code, version, level) for code in ([label] if isinstance(label, str) else label)]
    codes = [code for code in read if code is not None]
    if len(codes) < len(read):
        return None
    return codes[0] if isinstance(label, str) else frozenset(codes)


def _read(state: State, rating: Rating, code: str, version: int | None, level: str) -> str | None:
    number = rating.codebook if version is None else version
    reading = state.history.find_code(code, number, rating.item, rating.answers).code
    return state.history.at(number).at_level(reading, level) if reading and level else reading


def count_hours(round_state: RoundState) -> dict[str, float]:
    """Returns the working hours by rater, including superseded ratings."""
    return {rater: seconds / 3600 for rater, seconds in round_state.seconds.items()}


def count_work(state: State, rater: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Returns how many items a rater has rated, and how many are left in each open round."""
    left = []
    for round_state in state.rounds.values():
        slot = round_state.slot_of(rater)
        if round_state.status == OPEN and slot is not None and slot.rater == rater:
            progress = round_state.progress(slot, rater)
            if missing := len(progress) - progress.done:
                left.append((round_state.plan.round, missing))
    return sum(len(round_state.ratings.get(rater, {})) for round_state in state.rounds.values()), tuple(left)
