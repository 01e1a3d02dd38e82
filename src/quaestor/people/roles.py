"""The roles of a study's people, and the only table of what each role may do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from quaestor.base.errors import InputError
from quaestor.base.names import suggest


class Role(StrEnum):
    """The role of a person in a study."""

    LEAD = "lead"
    RATER = "rater"
    TIE_BREAKER = "tie-breaker"
    VIEWER = "viewer"
    REVIEWER = "reviewer"
    PAYER = "payer"
    """Pays respondents and sees nothing else of the study."""
    INTERVIEWER = "interviewer"
    """Interviews participants, who appear only by pseudonym."""


class Permission(StrEnum):
    """A permission that a page or an act can require."""

    VISIT = "visit"
    """The start page, the own account, signing out."""
    RATE = "rate"
    BREAK_TIES = "break ties"
    READ_EVIDENCE = "read evidence"
    READ_RESULTS = "read results"
    READ_CODEBOOK = "read codebook"
    SEE_NAMES = "see names"
    """The names of raters and accounts, if the round shows them at all."""
    LEAD = "lead"
    """Rounds, codebook, surveys and people."""
    SEE_PAY = "see pay"
    """The number of respondents to pay, and the cost."""
    PAY = "pay"
    """The address for each payment; not for the lead, because a reader of answers must not see addresses."""
    CONDUCT = "conduct interviews"
    """Participants by pseudonym, guides, notes and transcripts; only the lead sees contact details."""


_MEMBER = frozenset({Permission.VISIT, Permission.READ_CODEBOOK})
_READER = _MEMBER | {Permission.READ_EVIDENCE, Permission.READ_RESULTS}
_RATER = _MEMBER | {Permission.RATE}

# A tie-breaker of one round may rate in another, and so may an interviewer; the rounds check who belongs to them.
PERMISSIONS: Mapping[Role, frozenset[Permission]] = {
    Role.LEAD: frozenset(Permission) - {Permission.PAY},
    Role.RATER: _RATER,
    Role.TIE_BREAKER: _RATER | {Permission.BREAK_TIES},
    Role.VIEWER: _READER | {Permission.SEE_NAMES},
    Role.REVIEWER: _READER,
    Role.PAYER: frozenset({Permission.VISIT, Permission.SEE_PAY, Permission.PAY}),
    Role.INTERVIEWER: _RATER | {Permission.CONDUCT},
}


def can(role: Role, permission: Permission) -> bool:
    return permission in PERMISSIONS[role]


def parse_role(text: str) -> Role:
    """Returns the role with this name; raises InputError with the allowed names for an unknown one."""
    try:
        return Role(text)
    except ValueError:
        raise InputError(f"there is no role {text!r}; choose from: {suggest(text, Role)}") from None
