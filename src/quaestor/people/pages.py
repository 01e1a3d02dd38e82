"""The people of a study at a glance: who has joined, whose link is open, and who is named but was never asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quaestor.base.clock import Clock
from quaestor.coding.state import OPEN, State
from quaestor.people.records import Invitation
from quaestor.people.roles import Role
from quaestor.store.moments import exact_now
from quaestor.study.folder import Study
from quaestor.study.people import open_directory


@dataclass(frozen=True)
class Person:
    """Somebody who has joined; `ratings` and `left` say what stays and what waits when they go."""

    name: str
    role: Role
    joined: datetime
    seen: datetime | None
    rounds: tuple[str, ...]
    ratings: int
    left: tuple[tuple[str, int], ...]
    """Open rounds in which they still have items."""
    roles: tuple[Role, ...]
    """The roles they could have instead."""


@dataclass(frozen=True)
class Expected:
    """Somebody the study file names who has neither an account nor a link."""

    name: str
    role: Role
    rounds: tuple[str, ...]


@dataclass(frozen=True)
class Gathering:
    """Everybody."""

    joined: tuple[Person, ...]
    invited: tuple[Invitation, ...]
    expected: tuple[Expected, ...]


def gathering(study: Study, state: State, clock: Clock = exact_now) -> Gathering:
    with open_directory(study) as directory:
        accounts, seen, open_links = directory.accounts(), directory.seen(), directory.invitations(clock())
    known = {one.name for one in accounts} | {one.name for one in open_links}
    parts = _parts(study)
    return Gathering(
        joined=tuple(
            Person(
                name=one.name,
                role=one.role,
                joined=one.made,
                seen=seen.get(one.name),
                rounds=tuple(dict.fromkeys(name for _, name in parts.get(one.name, ()))),
                ratings=sum(len(each.ratings.get(one.name, {})) for each in state.rounds.values()),
                left=_left(state, one.name),
                roles=_other_roles(study, parts, one.name, one.role),
            )
            for one in accounts
        ),
        invited=tuple(open_links),
        expected=tuple(
            Expected(name, found[0][0], tuple(dict.fromkeys(one for _, one in found)))
            for name, found in parts.items()
            if name not in known and name != study.settings.study.lead
        ),
    )


def _parts(study: Study) -> dict[str, list[tuple[Role, str]]]:
    """Who is named in which round, and as what."""
    found: dict[str, list[tuple[Role, str]]] = {}
    for one in study.settings.rounds:
        for rater in one.raters:
            found.setdefault(rater, []).append((Role.RATER, one.round))
        if one.tie_breaker:
            found.setdefault(one.tie_breaker, []).append((Role.TIE_BREAKER, one.round))
    return found


def _other_roles(study: Study, parts: dict[str, list[tuple[Role, str]]], name: str, role: Role) -> tuple[Role, ...]:
    if role is Role.LEAD or name == study.settings.study.lead:
        return ()
    fitting = {part for part, _ in parts.get(name, ())} or {Role.VIEWER}
    if Role.TIE_BREAKER not in fitting:
        fitting.add(Role.INTERVIEWER)
    return tuple(one for one in Role if one in fitting and one is not role)


def _left(state: State, name: str) -> tuple[tuple[str, int], ...]:
    found = []
    for one in state.rounds.values():
        seat = one.seat_of(name)
        if one.status == OPEN and seat is not None and seat.rater == name:
            progress = one.progress(seat, name)
            if left := len(progress) - progress.done:
                found.append((one.plan.round, left))
    return tuple(found)
