"""Agreement of rounds that pages ask for again and again: worked out beside those who rate, and kept."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import QuaestorError
from quaestor.coding.agreement import (
    Agreement,
    FacetScale,
    RatingTable,
    build_table,
    compute_agreement,
    find_facet_scale,
)
from quaestor.coding.model.facet_kinds.base import Label
from quaestor.coding.model.ratings import list_slot_labels
from quaestor.coding.model.state import CLOSED, RoundState
from quaestor.coding.session import CodingSession

LARGE = 40_000
"""Ratings of a round above which a page does not wait for its agreement."""
_AT_ONCE = 4_000
"""Ratings that are read while nobody else can act."""
_SHARE = 0.02
"""By how much a large open round has to grow before its agreement is worked out again."""


@dataclass(frozen=True)
class CachedAgreement:
    """The agreement on a facet, the table it comes from, and how many ratings the round had then."""

    agreement: Agreement
    table: RatingTable
    ratings: int


@dataclass(frozen=True)
class _AgreementRequest:
    """What is to be worked out, and of which moment of the round."""

    round: str
    facet: str
    version: int | None
    level: str
    until: int
    ratings: int
    depends: tuple[Any, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        return ("agreement", self.facet, self.version, self.level)


def find_agreement(
    coding: CodingSession, name: str, facet: str, *, version: int | None = None, level: str = "", wait: bool = True
) -> CachedAgreement | None:
    """The agreement of a round as it stands.

    Who does not wait gets what was worked out last of a large round, or None, and it is worked out meanwhile.
    """
    with coding.locked_state() as state:
        one = state.round(name)
        asked = find_facet_scale(state, name, facet, version=version, level=level)
        wanted = _AgreementRequest(name, facet, version, level, state.head, one.rating_count, _build_stamp(one))
        known = one.cache.get(wanted.key)
        if known is not None and known[0] == wanted.depends:
            return _raise_if_error(known[1])
        if not wait and one.rating_count > LARGE:
            if _is_due(one, known) and ("at work", wanted.key) not in one.cache:
                work = threading.Thread(target=_compute_in_background, args=(coding, asked, wanted), daemon=True)
                one.cache["at work", wanted.key] = work
                work.start()
            return _raise_if_error(known[1]) if known else None
    return _raise_if_error(_compute(coding, asked, wanted))


def _build_stamp(round_state: RoundState) -> tuple[Any, ...]:
    """All that can change what was worked out; a rating that is on record never does."""
    seats = tuple((len(seat.raters), len(seat.items[0])) for seat in round_state.slots)
    return round_state.rating_count, len(round_state.unifications), seats, round_state.status


def _is_due(round_state: RoundState, known: Any) -> bool:
    return known is None or round_state.status == CLOSED or round_state.rating_count > known[0][0] * (1 + _SHARE)


def _raise_if_error(found: CachedAgreement | QuaestorError) -> CachedAgreement:
    if isinstance(found, QuaestorError):
        raise found
    return found


def _compute_in_background(coding: CodingSession, asked: FacetScale, wanted: _AgreementRequest) -> None:
    try:
        _compute(coding, asked, wanted)
    finally:
        with coding.locked_state() as state:
            state.round(wanted.round).cache.pop(("at work", wanted.key), None)


def _compute(coding: CodingSession, asked: FacetScale, wanted: _AgreementRequest) -> CachedAgreement | QuaestorError:
    """Read under the lock, a piece at a time; compute without it."""
    worked_out: CachedAgreement | QuaestorError
    try:
        table = build_table(asked, _read_labels(coding, wanted))
        worked_out = CachedAgreement(compute_agreement(asked, table), table, wanted.ratings)
    except QuaestorError as refusal:
        worked_out = refusal
    with coding.locked_state() as state:
        state.round(wanted.round).cache[wanted.key] = wanted.depends, worked_out
    return worked_out


def _read_labels(coding: CodingSession, wanted: _AgreementRequest) -> list[tuple[str, str, Label | None]]:
    found: list[tuple[str, str, Label | None]] = []
    place, start = 0, 0
    while True:
        with coding.locked_state() as state:
            one = state.round(wanted.round)
            if place == len(one.slots):
                return found
            seat = one.slots[place]
            items = seat.items[0][start : start + _AT_ONCE]
            found += list_slot_labels(
                state, one, seat, wanted.facet, items, version=wanted.version, level=wanted.level, until=wanted.until
            )
        start += _AT_ONCE
        if start >= len(seat.items[0]):
            place, start = place + 1, 0
