"""The people of a study at a glance: who has joined, whose link is open, and who is named but was never asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from quaestor.base.clock import Clock, exact_now
from quaestor.people.directory import Invitation
from quaestor.people.membership import open_directory
from quaestor.people.roles import Role
from quaestor.study.folder import Study

Work = tuple[int, tuple[tuple[str, int], ...]]
"""How many ratings somebody gave, and the open rounds in which they still have items, with how many."""


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


def gathering(study: Study, work_of: Callable[[str], Work], clock: Clock = exact_now) -> Gathering:
    """Everybody, with what `work_of` says that somebody has rated and still has to rate."""
    with open_directory(study) as directory:
        accounts, seen, open_links = directory.accounts(), directory.seen(), directory.invitations(clock())
    known = {one.name for one in accounts} | {one.name for one in open_links}
    parts = _parts(study)
    joined = []
    for account in accounts:
        ratings, left = work_of(account.name)
        joined.append(
            Person(
                name=account.name,
                role=account.role,
                joined=account.made,
                seen=seen.get(account.name),
                rounds=tuple(dict.fromkeys(name for _, name in parts.get(account.name, ()))),
                ratings=ratings,
                left=left,
                roles=_other_roles(study, parts, account.name, account.role),
            )
        )
    return Gathering(
        joined=tuple(joined),
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
