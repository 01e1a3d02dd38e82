"""The overview of a study's people: joined, invited, and named in the study file but not invited yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from quaestor.base.clock import Clock, exact_now
from quaestor.people.directory import AccountInvitation
from quaestor.people.membership import open_directory
from quaestor.people.roles import Role
from quaestor.study.folder import Study

Work = tuple[int, tuple[tuple[str, int], ...]]
"""The number of ratings of a person, and the open rounds in which items are left to rate, with their number."""


@dataclass(frozen=True)
class Person:
    """A person who has joined; `ratings` stay when they are removed, the items in `left` remain unrated."""

    name: str
    role: Role
    joined: datetime
    seen: datetime | None
    rounds: tuple[str, ...]
    ratings: int
    left: tuple[tuple[str, int], ...]
    """Open rounds with the number of items left to rate."""
    roles: tuple[Role, ...]
    """Other roles that the person could get."""


@dataclass(frozen=True)
class ExpectedPerson:
    """A person named in the study file who has neither an account nor an invitation."""

    name: str
    role: Role
    rounds: tuple[str, ...]


@dataclass(frozen=True)
class PeopleOverview:
    """Everyone who takes part in a study."""

    joined: tuple[Person, ...]
    invited: tuple[AccountInvitation, ...]
    expected: tuple[ExpectedPerson, ...]


def build_people_overview(study: Study, count_work: Callable[[str], Work], clock: Clock = exact_now) -> PeopleOverview:
    """Returns the people of a study; `count_work` returns what a person has rated and has left to rate."""
    with open_directory(study) as directory:
        accounts, seen, invitations = (
            directory.list_accounts(),
            directory.read_last_seen(),
            directory.list_invitations(clock()),
        )
    known = {account.name for account in accounts} | {invitation.name for invitation in invitations}
    round_roles = _list_round_roles(study)
    joined = []
    for account in accounts:
        ratings, left = count_work(account.name)
        joined.append(
            Person(
                name=account.name,
                role=account.role,
                joined=account.created,
                seen=seen.get(account.name),
                rounds=tuple(dict.fromkeys(name for _, name in round_roles.get(account.name, ()))),
                ratings=ratings,
                left=left,
                roles=_list_other_roles(study, round_roles, account.name, account.role),
            )
        )
    return PeopleOverview(
        joined=tuple(joined),
        invited=tuple(invitations),
        expected=tuple(
            ExpectedPerson(name, roles[0][0], tuple(dict.fromkeys(round_name for _, round_name in roles)))
            for name, roles in round_roles.items()
            if name not in known and name != study.settings.study.lead
        ),
    )


def _list_round_roles(study: Study) -> dict[str, list[tuple[Role, str]]]:
    """Returns, by person, the roles in rounds that the study file names, with the round."""
    round_roles: dict[str, list[tuple[Role, str]]] = {}
    for settings in study.settings.rounds:
        for rater in settings.raters:
            round_roles.setdefault(rater, []).append((Role.RATER, settings.round))
        if settings.tie_breaker:
            round_roles.setdefault(settings.tie_breaker, []).append((Role.TIE_BREAKER, settings.round))
    return round_roles


def _list_other_roles(
    study: Study, round_roles: dict[str, list[tuple[Role, str]]], name: str, current: Role
) -> tuple[Role, ...]:
    if current is Role.LEAD or name == study.settings.study.lead:
        return ()
    fitting = {role for role, _ in round_roles.get(name, ())} or {Role.RATER, Role.TIE_BREAKER, Role.VIEWER}
    if Role.TIE_BREAKER not in {role for role, _ in round_roles.get(name, ())}:
        fitting.add(Role.INTERVIEWER)
    return tuple(role for role in Role if role in fitting and role is not current)
