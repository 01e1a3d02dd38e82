"""The people of a study: who is invited under which name, who has joined, who is gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from quaestor.base.clock import Clock, exact_now
from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.names import listed, nearest_first
from quaestor.people.directory import INVITED_FOR, Account, Directory, Invitation
from quaestor.people.roles import Role
from quaestor.study.folder import Study

PEOPLE_FILE = "people.db"


@dataclass(frozen=True)
class People:
    """Who has joined, and whose link is still open."""

    accounts: tuple[Account, ...]
    invitations: tuple[Invitation, ...]


def people_file(study: Study) -> Path:
    return study.root / PEOPLE_FILE


def open_directory(study: Study) -> Directory:
    """The study's people, made where there are none yet."""
    return Directory(people_file(study))


def invite(
    study: Study, name: str, role: Role, lasting: timedelta = INVITED_FOR, clock: Clock = exact_now
) -> tuple[str, Invitation]:
    """A link for somebody, under the name the study file knows them by; an open one under that name ends."""
    _require_fitting(study, name, role)
    with open_directory(study) as directory:
        return directory.invite(name, role, clock(), lasting)


def list_people(study: Study, clock: Clock = exact_now) -> People:
    if not people_file(study).exists():
        return People((), ())
    with open_directory(study) as directory:
        return People(tuple(directory.accounts()), tuple(directory.invitations(clock())))


def remove_person(study: Study, name: str, by: str = "") -> None:
    """Erase an account and its open links; what was done under the name stays in the journal."""
    if by == name:
        raise StateError("you cannot remove yourself here: `quaestor people remove` can, where the desk is served")
    with open_directory(study) as directory:
        if not directory.remove(name):
            raise StateError(f"nobody is called {name!r}: {_known(account.name for account in directory.accounts())}")


def revoke_invitation(study: Study, name: str, clock: Clock = exact_now) -> None:
    """Take back an open link; an account stays."""
    with open_directory(study) as directory:
        if not directory.revoke(name):
            still = _known(one.name for one in directory.invitations(clock()))
            raise StateError(f"no invitation for {name!r} is open: {still}")


def change_role(study: Study, name: str, role: Role) -> None:
    """Give somebody who has joined another role, where the study file knows them as such."""
    if role is Role.REVIEWER:
        raise InputError(f"a reviewer has no account: remove {name!r} and invite a reviewer by a link")
    if role is Role.LEAD:
        raise InputError("who leads is named in study.toml as `lead` under [study]: change it there")
    _require_fitting(study, name, role)
    with open_directory(study) as directory:
        if not directory.change_role(name, role):
            raise StateError(f"nobody is called {name!r}: {_known(account.name for account in directory.accounts())}")


def lead_link(study: Study, clock: Clock = exact_now) -> str | None:
    """A one-time token for the lead where the lead has not joined yet; an earlier one ends with it."""
    lead = study.settings.study.lead
    with open_directory(study) as directory:
        if any(one.name == lead and one.role is Role.LEAD for one in directory.accounts()):
            return None
        return directory.invite(lead, Role.LEAD, clock())[0]


def _require_fitting(study: Study, name: str, role: Role) -> None:
    raters = {rater: None for one in study.settings.rounds for rater in one.raters}
    breakers = {one.tie_breaker: None for one in study.settings.rounds if one.tie_breaker}
    if role is Role.LEAD:
        raise InputError("the lead is not invited: `quaestor serve` prints a link where the lead has not joined yet")
    for wanted, names in ((Role.RATER, raters), (Role.TIE_BREAKER, breakers)):
        if role is wanted and name not in names:
            options = listed(nearest_first(name, names)) or f"none, add a {wanted} to a round first"
            raise SettingsError(f"{study.file}: no round has a {wanted} {name!r}, allowed: {options}")
    acting = (*raters, *breakers, study.settings.study.lead)
    if role is Role.INTERVIEWER:
        acting = (*breakers, study.settings.study.lead)
    if role not in (Role.RATER, Role.TIE_BREAKER) and name in acting:
        raise InputError(f"{name!r} acts in this study and cannot be a {role} too: take another name")


def _known(names: Iterable[str]) -> str:
    found = sorted(names)
    return f"there are {', '.join(found)}" if found else "there is nobody yet"
