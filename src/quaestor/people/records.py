"""People as values: who has an account, who was asked to join, who is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quaestor.people.roles import Role


@dataclass(frozen=True)
class Account:
    """Somebody who joined; the name is the actor in the journal."""

    name: str
    role: Role
    made: datetime


@dataclass(frozen=True)
class Invitation:
    """A link somebody was given; the link itself is not known any more."""

    number: int
    name: str
    role: Role
    made: datetime
    expires: datetime

    @property
    def is_the_access(self) -> bool:
        """A reviewer has no account: the link opens the study as often as it is followed, until it expires."""
        return self.role is Role.REVIEWER


@dataclass(frozen=True)
class Session:
    """Somebody who is signed in: by an account, or by a reviewer's invitation."""

    name: str
    role: Role
    expires: datetime
    invitation: int | None = None
