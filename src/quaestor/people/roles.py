"""Who somebody is in a study, and what each role may do: one table, and nothing that is not in it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first


class Role(StrEnum):
    """What a person is in a study."""

    LEAD = "lead"
    RATER = "rater"
    TIE_BREAKER = "tie-breaker"
    VIEWER = "viewer"
    REVIEWER = "reviewer"


class Permission(StrEnum):
    """What a page or an act can ask for."""

    VISIT = "visit"
    """One's own pages: the start, one's account, signing out."""
    RATE = "rate"
    BREAK_TIES = "break ties"
    READ_EVIDENCE = "read evidence"
    READ_RESULTS = "read results"
    SEE_NAMES = "see names"
    """Names of raters and accounts, where a round lets them be seen at all."""
    LEAD = "lead"
    """Rounds, codebook and people."""


_READER = frozenset({Permission.VISIT, Permission.READ_EVIDENCE, Permission.READ_RESULTS})
_RATER = frozenset({Permission.VISIT, Permission.RATE})

# A tie-breaker of one round may rate in another; which rounds somebody has a part in, the rounds themselves say.
PERMISSIONS: Mapping[Role, frozenset[Permission]] = {
    Role.LEAD: frozenset(Permission),
    Role.RATER: _RATER,
    Role.TIE_BREAKER: _RATER | {Permission.BREAK_TIES},
    Role.VIEWER: _READER | {Permission.SEE_NAMES},
    Role.REVIEWER: _READER,
}


def can(role: Role, permission: Permission) -> bool:
    return permission in PERMISSIONS[role]


def role_named(text: str) -> Role:
    """The role a person named; an unknown one is answered with those there are."""
    try:
        return Role(text)
    except ValueError:
        raise InputError(f"there is no role {text!r}, allowed: {listed(nearest_first(text, Role))}") from None
