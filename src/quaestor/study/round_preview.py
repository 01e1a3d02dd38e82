"""What a round would be if it opened now: how many items, for whom, under which codebook, and how long it may take."""

from __future__ import annotations

import statistics
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice

from quaestor.base.errors import QuaestorError, StateError
from quaestor.coding.assignment import assigned
from quaestor.coding.records import Plan
from quaestor.coding.rounds import open_round
from quaestor.coding.settings import RoundSettings
from quaestor.coding.state import CLOSED, State
from quaestor.study.coding import Coding, open_coding
from quaestor.study.folder import Study
from quaestor.study.journal import has_journal
from quaestor.study.rounds import chosen_items, known_items, planned, settings_of

_RECENT = 200
"""Ratings of a rater that say how long one takes."""


@dataclass(frozen=True)
class Share:
    """The part of a round that falls to one rater; `hours` where earlier rounds tell how long an item takes."""

    rater: str
    items: int
    hours: float | None = None


@dataclass(frozen=True)
class Preview:
    """A plan before it is fixed; `hindrance` says why it cannot open yet, in a sentence."""

    items: int = 0
    shares: tuple[Share, ...] = ()
    shared: int = 0
    """Items that more than one rater gets."""
    sets: int = 1
    codebook: int = 0
    pace: float | None = None
    """Seconds an item took in earlier rounds, in the middle."""
    like: tuple[str, ...] = ()
    """The rounds that tell the pace."""
    hindrance: str = ""


def preview_round(study: Study, coding: Coding | None, one: RoundSettings) -> Preview:
    """Look ahead; nothing is fixed and nothing is written."""
    with coding.looking() if coding else nullcontext(State()) as state:
        version = state.history.latest.version
        pace, like = _pace(state, one)
        try:
            known = known_items(state, one)
            _require_closed(state, one)
        except StateError as refusal:
            return Preview(codebook=version, pace=pace, like=like, hindrance=str(refusal))
    try:
        plan = planned(study, one, chosen_items(study, one, known), version)
    except QuaestorError as refusal:
        return Preview(codebook=version, pace=pace, like=like, hindrance=str(refusal))
    with coding.looking() if coding else nullcontext(State()) as state:
        hindrance = _hindrance(state, plan, study.settings.study.lead)
    own = assigned(plan)
    shares = tuple(
        Share(rater, len(items), None if pace is None else len(items) * pace / 3600)
        for rater, items in zip(plan.raters, own, strict=True)
    )
    everybody = set(plan.items).intersection(*map(set, own)) if len(own) > 1 else set()
    return Preview(len(plan.items), shares, len(everybody), len(plan.sets()), version, pace, like, hindrance)


def preview_of_study(study: Study, name: str) -> Preview:
    """Look ahead at a round of a study whose journal is not open here; none is made where there is none."""
    one = settings_of(study, name)
    if not has_journal(study):
        return preview_round(study, None, one)
    with open_coding(study) as coding:
        return preview_round(study, coding, one)


def _require_closed(state: State, one: RoundSettings) -> None:
    for name in one.confirms:
        if state.round(name).status != CLOSED:
            raise StateError(f"{one.round!r} confirms what {name!r} decides, which is still open: close that first")


def _hindrance(state: State, plan: Plan, lead: str) -> str:
    """Why the round could not open now; whether a pilot reached its threshold is worked out when it does."""
    try:
        open_round(state, plan, lead, passed=True)
    except QuaestorError as refusal:
        return str(refusal)
    return ""


def _pace(state: State, wanted: RoundSettings) -> tuple[float | None, tuple[str, ...]]:
    """How long an item took in rounds that asked one of the same facets, or else in any."""
    spent: dict[str, list[float]] = {}
    for name, one in state.rounds.items():
        latest = [given[-1] for items in one.ratings.values() for given in islice(reversed(items.values()), _RECENT)]
        found = [rating.seconds for rating in latest if rating.seconds > 0 and not rating.simulated]
        if found:
            spent[name] = found
    alike = {
        name: found
        for name, found in spent.items()
        if {facet.id for facet in state.rounds[name].plan.facets} & set(wanted.facets)
    }
    chosen = alike or spent
    every = [seconds for found in chosen.values() for seconds in found]
    return (statistics.median(every) if every else None), tuple(chosen)
