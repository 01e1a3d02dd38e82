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
    PAYER = "payer"
    """Sends respondents what they were promised, and sees nothing of the study."""
    INTERVIEWER = "interviewer"
    """Talks with participants, whom they know by pseudonym alone."""


class Permission(StrEnum):
    """What a page or an act can ask for."""

    VISIT = "visit"
    """One's own pages: the start, one's account, signing out."""
    RATE = "rate"
    BREAK_TIES = "break ties"
    READ_EVIDENCE = "read evidence"
    READ_RESULTS = "read results"
    READ_CODEBOOK = "read codebook"
    SEE_NAMES = "see names"
    """Names of raters and accounts, where a round lets them be seen at all."""
    LEAD = "lead"
    """Rounds, codebook, surveys and people."""
    SEE_PAY = "see pay"
    """How many respondents are to be paid, and what it costs."""
    PAY = "pay"
    """Where each card is to be sent. Not the lead's: who can read answers reads no addresses on a page."""
    CONDUCT = "conduct interviews"
    """Participants by pseudonym, guides, notes and transcripts; how to reach somebody is the lead's alone."""


_MEMBER = frozenset({Permission.VISIT, Permission.READ_CODEBOOK})
_READER = _MEMBER | {Permission.READ_EVIDENCE, Permission.READ_RESULTS}
_RATER = _MEMBER | {Permission.RATE}

# A tie-breaker of one round may rate in another, and so may an interviewer; which rounds somebody has a part in, the
# rounds themselves say.
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


def role_named(text: str) -> Role:
    """The role a person named; an unknown one is answered with those there are."""
    try:
        return Role(text)
    except ValueError:
        raise InputError(f"there is no role {text!r}, allowed: {listed(nearest_first(text, Role))}") from None
