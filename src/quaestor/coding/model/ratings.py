"""Ratings: when one is accepted, and what agreement is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, suggest
from quaestor.coding.model.answers import checked_answer, checked_answers, label_of, refuse_unstorable
from quaestor.coding.model.facet_kinds import kind_of
from quaestor.coding.model.facet_kinds.base import Label
from quaestor.coding.model.phrases import words_before
from quaestor.coding.model.records import CANNOT_JUDGE, Facet, Practice, Rating
from quaestor.coding.model.state import OPEN, RoundState, RaterSlot, State
from quaestor.store.records import NewAct, new_key

_TOO_LONG = 7 * 24 * 3600


def give_rating(
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
    """A rating of one's own item in an open round; a second one supersedes the first, and both are kept."""
    one = _open_to(state, name, rater, item, now)
    if to_practise(one, rater) and not (simulated or imported):
        raise StateError(
            f"{rater!r} has still to practise ({len(to_practise(one, rater))} left) before {name!r} counts: "
            f"`quaestor ratings next {name} --as {rater}` shows what on"
        )
    if not 0 <= seconds < _TOO_LONG:
        raise InputError(f"the time spent on {item!r} is {seconds:g} seconds: give what it took, less than a week")
    refuse_unstorable(memo, f"the memo on {item!r}")
    payload: dict[str, Any] = {
        "round": name,
        "item": item,
        "answers": checked_answers(one.plan, state.history.at(one.plan.codebook), answers),
    }
    names = [facet.id for facet in one.plan.facets]
    for facet in unsure:
        if facet not in names:
            raise InputError(f"unsure of {facet!r}, allowed: {suggest(facet, names)}")
    more = {
        "unsure": sorted(unsure),
        "memo": memo,
        "seconds": seconds,
        "simulated": simulated,
        "imported": imported,
        "time": time,
    }
    payload |= {name: value for name, value in more.items() if value}
    return NewAct("rating", rater, payload, one.plan.codebook, key or new_key())


def _open_to(state: State, name: str, rater: str, item: str, now: str) -> RoundState:
    """The round in which somebody may rate an item now; refuses whoever may not, in a sentence."""
    one = state.round(name)
    if one.status != OPEN:
        raise StateError(f"the round {name!r} is closed: its ratings stand as they are")
    if one.deadline and now > one.deadline:
        raise StateError(f"the deadline of {name!r} was {one.deadline}: ask the lead for a later one")
    seat = one.slot_of(rater)
    if seat is None:
        raters = [seat.rater for seat in one.slots]
        raise StateError(f"{rater!r} does not rate in {name!r}, allowed: {suggest(rater, raters)}")
    if seat.rater != rater:
        raise StateError(f"{rater!r} was replaced by {seat.rater!r} in {name!r}: their earlier ratings are kept")
    if not seat.has(rater, item):
        raise InputError(f"the item {item!r} is not among those of {rater!r} in {name!r}: see `quaestor round items`")
    if one.plan.set_size and item not in one.open_items():
        raise StateError(f"the item {item!r} is not in set {one.set}, which is the one being rated")
    rated_before = one.current(rater, item)
    if one.plan.set_size and one.set in one.compared and rated_before and one.is_rated(seat, item):
        raise StateError(f"set {one.set} of {name!r} has been compared: ask for {item!r} to be read again first")
    return one


def to_practise(round_state: RoundState, rater: str) -> list[Practice]:
    """The practice items that a rater has not tried yet."""
    tried = round_state.practised.get(rater, ())
    return [practice for practice in round_state.plan.practice if practice.item not in tried]


def practise(
    state: State, name: str, rater: str, item: str, answers: Mapping[str, Any]
) -> tuple[NewAct, dict[str, bool], str]:
    """Try a practice item: the act, which facets were right, and what is said about it. It counts for nothing."""
    one = state.round(name)
    if one.slot_of(rater) is None:
        raise StateError(f"{rater!r} does not rate in {name!r}")
    found = next((practice for practice in one.plan.practice if practice.item == item), None)
    if found is None:
        items = join_with_or(practice.item for practice in one.plan.practice) or "none"
        raise InputError(f"{item!r} is no practice item of {name!r}, allowed: {items}")
    book = state.history.at(one.plan.codebook)
    given = checked_answers(one.plan, book, answers)
    right = {
        facet.id: label_of(facet, given.get(facet.id))
        == label_of(facet, checked_answer(facet, book, found.answers[facet.id]))
        for facet in one.plan.facets
        if facet.id in found.answers
    }
    payload = {"round": name, "item": item, "answers": given}
    return NewAct("practice", rater, payload, one.plan.codebook), right, found.feedback


def labels(
    state: State, name: str, facet: str, version: int | None = None, level: str = ""
) -> list[tuple[str, str, Label | None]]:
    """(item, rater, label) of a round for one facet; None where a rater has not said anything that can be compared.

    Made from ratings alone: nothing that is decided later changes it. A rating can be read under any version of
    the codebook, and at any level of it.
    """
    one = state.round(name)
    return [
        label
        for seat in one.slots
        for label in labels_of_seat(state, one, seat, facet, seat.items[0], version=version, level=level)
    ]


def labels_of_seat(
    state: State,
    round_state: RoundState,
    seat: RaterSlot,
    facet: str,
    items: Sequence[str],
    *,
    version: int | None = None,
    level: str = "",
    until: int | None = None,
) -> list[tuple[str, str, Label | None]]:
    """The labels of one seat for some of its items, as they stood after the act `until`.

    So a large round can be read piece by piece while others go on rating, and is still the round of one moment.
    """
    asked = round_state.plan.facet(facet)
    found: list[tuple[str, str, Label | None]] = []
    for item in items:
        rating = round_state.rating_in_slot(seat, item)
        if rating is not None and until is not None and rating.number > until:
            rating = _as_it_stood(round_state, seat, item, until)
        if rating is not None:
            found.append((item, seat.label, _label(state, asked, rating, version, level)))
    return found


def _as_it_stood(round_state: RoundState, seat: RaterSlot, item: str, until: int) -> Rating | None:
    given = (round_state.ratings.get(rater, {}).get(item, ()) for rater in reversed(seat.raters))
    return next((rating for ratings in given for rating in reversed(ratings) if rating.number <= until), None)


def drift_labels(state: State, name: str, earlier: str, facet: str) -> list[tuple[str, str, Label | None]]:
    """(item and rater, round, label): what each rater said then and says now, under the codebook of now.

    Agreement over these tells whether raters still use the codes as they did.
    """
    now, then = state.round(name), state.round(earlier)
    version = now.plan.codebook
    found: list[tuple[str, str, Label | None]] = []
    for rater, items in now.ratings.items():
        for item, given in items.items():
            before = then.current(rater, item)
            if before is None:
                continue
            for which, rating in ((earlier, before), (name, given[-1])):
                asked = state.round(which).plan.facet(facet)
                found.append((f"{item} ({rater})", which, _label(state, asked, rating, version, "")))
    return found


def _label(state: State, facet: Facet, rating: Rating, version: int | None, level: str) -> Label | None:
    kind, answer = kind_of(facet), rating.answers.get(facet.id)
    if answer == CANNOT_JUDGE:
        return frozenset([CANNOT_JUDGE]) if kind.has_several_codes else CANNOT_JUDGE
    if kind.unifies_words and answer is not None:
        round_state = state.round(rating.round)
        answer = kind.unify(answer, words_before(round_state, round_state.set_of(rating.item)))
    label = label_of(facet, answer)
    if label is None or not facet.codes:
        return label
    read = [_read(state, rating, code, version, level) for code in ([label] if isinstance(label, str) else label)]
    codes = [code for code in read if code is not None]
    if len(codes) < len(read):
        return None
    return codes[0] if isinstance(label, str) else frozenset(codes)


def _read(state: State, rating: Rating, code: str, version: int | None, level: str) -> str | None:
    number = rating.codebook if version is None else version
    reading = state.history.read(code, number, rating.item, rating.answers).code
    return state.history.at(number).at_level(reading, level) if reading and level else reading


def hours(round_state: RoundState) -> dict[str, float]:
    """How long each rater worked, in hours; a rating that was superseded took its time too."""
    return {rater: seconds / 3600 for rater, seconds in round_state.seconds.items()}


def work_of(state: State, rater: str) -> tuple[int, tuple[tuple[str, int], ...]]:
    """How many ratings somebody gave, and the open rounds in which they still have items, with how many."""
    left = []
    for round_state in state.rounds.values():
        seat = round_state.slot_of(rater)
        if round_state.status == OPEN and seat is not None and seat.rater == rater:
            progress = round_state.progress(seat, rater)
            if missing := len(progress) - progress.done:
                left.append((round_state.plan.round, missing))
    return sum(len(round_state.ratings.get(rater, {})) for round_state in state.rounds.values()), tuple(left)
