"""Inviting people to a study, changing their roles and removing them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from quaestor.base.clock import Clock, exact_now
from quaestor.base.errors import InputError, StateError
from quaestor.people.directory import INVITATION_LIFETIME, Account, AccountInvitation, Directory
from quaestor.people.roles import Role
from quaestor.study.folder import Study

PEOPLE_FILE = "people.db"


@dataclass(frozen=True)
class People:
    """The accounts and the open invitations of a study."""

    accounts: tuple[Account, ...]
    invitations: tuple[AccountInvitation, ...]


def people_path(study: Study) -> Path:
    return study.root / PEOPLE_FILE


def open_directory(study: Study) -> Directory:
    """Opens the study's people.db, which is created if it does not exist."""
    return Directory(people_path(study))


def invite(
    study: Study, name: str, role: Role, lifetime: timedelta = INVITATION_LIFETIME, clock: Clock = exact_now
) -> tuple[str, AccountInvitation]:
    """Invites a person under the name used in the study file and returns the token; replaces an open invitation."""
    _require_role_fits(study, name, role)
    with open_directory(study) as directory:
        return directory.invite(name, role, clock(), lifetime)


def list_people(study: Study, clock: Clock = exact_now) -> People:
    if not people_path(study).exists():
        return People((), ())
    with open_directory(study) as directory:
        return People(tuple(directory.list_accounts()), tuple(directory.list_invitations(clock())))


def remove_person(study: Study, name: str, actor: str = "") -> None:
    """Erases an account and its open invitations; the person's acts stay in the journal."""
    if actor == name:
        raise StateError("you cannot remove yourself here: run `quaestor people remove` on the server")
    with open_directory(study) as directory:
        if not directory.remove(name):
            accounts = _format_known(account.name for account in directory.list_accounts())
            raise StateError(f"nobody is called {name!r}: {accounts}")


def revoke_invitation(study: Study, name: str, clock: Clock = exact_now) -> None:
    """Revokes an open invitation; an account of the same name stays."""
    with open_directory(study) as directory:
        if not directory.revoke(name):
            invitations = _format_known(invitation.name for invitation in directory.list_invitations(clock()))
            raise StateError(f"no invitation for {name!r} is open: {invitations}")


def change_role(study: Study, name: str, role: Role) -> None:
    """Changes the role of an account, unless the study file names the person in another one."""
    if role is Role.REVIEWER:
        raise InputError(f"a reviewer has no account: remove {name!r} and invite a reviewer instead")
    if role is Role.LEAD:
        raise InputError("the lead is set in study.toml as `lead` under [study]: change it there")
    _require_role_fits(study, name, role)
    with open_directory(study) as directory:
        if not directory.change_role(name, role):
            accounts = _format_known(account.name for account in directory.list_accounts())
            raise StateError(f"nobody is called {name!r}: {accounts}")


def create_lead_token(study: Study, clock: Clock = exact_now) -> str | None:
    """Returns a one-time token for a lead who has not joined yet, replacing an earlier one; None after that."""
    lead = study.settings.study.lead
    with open_directory(study) as directory:
        if any(account.name == lead and account.role is Role.LEAD for account in directory.list_accounts()):
            return None
        return directory.invite(lead, Role.LEAD, clock())[0]


def describe_missing_round(study: Study, name: str, role: Role) -> str:
    """Says that no round names a rater or tie-breaker yet, and which names rounds have; empty if one does."""
    names = _list_round_names(study).get(role)
    if names is None or name in names:
        return ""
    known = f" Rounds name {', '.join(names)}." if names else ""
    return f"No round names {name} as {role} yet: {name} has nothing to do until one does.{known}"


def _list_round_names(study: Study) -> dict[Role, list[str]]:
    """Returns the raters and the tie-breakers that rounds name."""
    rounds = study.settings.rounds
    raters = dict.fromkeys(rater for settings in rounds for rater in settings.raters)
    tie_breakers = dict.fromkeys(settings.tie_breaker for settings in rounds if settings.tie_breaker)
    return {Role.RATER: list(raters), Role.TIE_BREAKER: list(tie_breakers)}


def _require_role_fits(study: Study, name: str, role: Role) -> None:
    """Raises an error if the study file names the person only in other roles."""
    if role is Role.LEAD:
        raise InputError("the lead is not invited: `quaestor serve` prints a link until the lead has joined")
    names = _list_round_names(study)
    if name in names.get(role, ()):
        return
    if role is Role.INTERVIEWER:  # may also be a rater
        del names[Role.RATER]
    if name == study.settings.study.lead or any(name in others for others in names.values()):
        raise InputError(f"{name!r} has another role in this study and cannot be a {role} too: use another name")


def _format_known(names: Iterable[str]) -> str:
    known = sorted(names)
    return f"there are {', '.join(known)}" if known else "there is nobody yet"
