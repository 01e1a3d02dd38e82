"""Caches the agreement of rounds; computes large rounds in the background without blocking raters."""

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
    count_asked,
    find_facet_scale,
)
from quaestor.coding.model.ratings import ComparedLabel, list_slot_labels
from quaestor.coding.model.state import CLOSED, RoundState
from quaestor.coding.session import CodingSession

LARGE = 40_000
"""Ratings of a round above which a page does not wait for its agreement."""
_AT_ONCE = 4_000
"""Ratings read per batch while holding the lock."""
_SHARE = 0.02
"""By which share a large open round must grow before its agreement is computed again."""


@dataclass(frozen=True)
class CachedAgreement:
    """The agreement on a facet, its table, and the number of ratings it was computed from."""

    agreement: Agreement
    table: RatingTable
    ratings: int


@dataclass(frozen=True)
class _AgreementRequest:
    """Which agreement to compute, and as of which act."""

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
    """Returns the current agreement of a round.

    Without `wait`, a large round returns the last computed agreement, or None, and is computed in the background.
    """
    with coding.locked_state() as state:
        round_state = state.round(name)
        scale = find_facet_scale(state, name, facet, version=version, level=level)
        request = _AgreementRequest(
            name, facet, version, level, state.head, round_state.rating_count, build_change_stamp(round_state)
        )
        cached = round_state.cache.get(request.key)
        if cached is not None and cached[0] == request.depends:
            return _raise_if_error(cached[1])
        if not wait and round_state.rating_count > LARGE:
            if _is_due(round_state, cached) and ("at work", request.key) not in round_state.cache:
                thread = threading.Thread(target=_compute_in_background, args=(coding, scale, request), daemon=True)
                round_state.cache["at work", request.key] = thread
                thread.start()
            return _raise_if_error(cached[1]) if cached else None
    return _raise_if_error(_compute(coding, scale, request))


def build_change_stamp(round_state: RoundState) -> tuple[Any, ...]:
    """Returns a change stamp: everything that can change the agreement. A recorded rating never changes."""
    slots = tuple((tuple(slot.raters), len(slot.items[0])) for slot in round_state.slots)
    return round_state.rating_count, len(round_state.unifications), slots, round_state.status, round_state.gone


def _is_due(round_state: RoundState, cached: Any) -> bool:
    return cached is None or round_state.status == CLOSED or round_state.rating_count > cached[0][0] * (1 + _SHARE)


def _raise_if_error(result: CachedAgreement | QuaestorError) -> CachedAgreement:
    if isinstance(result, QuaestorError):
        raise result
    return result


def _compute_in_background(coding: CodingSession, scale: FacetScale, request: _AgreementRequest) -> None:
    try:
        _compute(coding, scale, request)
    finally:
        with coding.locked_state() as state:
            state.round(request.round).cache.pop(("at work", request.key), None)


def _compute(coding: CodingSession, scale: FacetScale, request: _AgreementRequest) -> CachedAgreement | QuaestorError:
    """Reads the labels in batches under the lock and computes without it, so that others can go on rating."""
    result: CachedAgreement | QuaestorError
    try:
        labels = _read_labels(coding, request)
        table = build_table(scale, labels)
        result = CachedAgreement(compute_agreement(scale, table, count_asked(labels)), table, request.ratings)
    except QuaestorError as refusal:
        result = refusal
    with coding.locked_state() as state:
        state.round(request.round).cache[request.key] = request.depends, result
    return result


def _read_labels(coding: CodingSession, request: _AgreementRequest) -> list[ComparedLabel]:
    labels: list[ComparedLabel] = []
    number, start = 0, 0
    while True:
        with coding.locked_state() as state:
            round_state = state.round(request.round)
            if number == len(round_state.slots):
                return labels
            slot = round_state.slots[number]
            items = slot.items[0][start : start + _AT_ONCE]
            labels += list_slot_labels(
                state,
                round_state,
                slot,
                request.facet,
                items,
                version=request.version,
                level=request.level,
                until=request.until,
            )
        start += _AT_ONCE
        if start >= len(slot.items[0]):
            number, start = number + 1, 0
