"""The permissions of each role, written down a second time."""

from __future__ import annotations

import pytest

from quaestor.base.errors import InputError
from quaestor.people.roles import Permission, Role, can, parse_role

EXPECTED = {
    Role.LEAD: {
        "visit",
        "read codebook",
        "rate",
        "break ties",
        "read evidence",
        "read results",
        "see names",
        "lead",
        "see pay",
        "conduct interviews",
    },
    Role.RATER: {"visit", "read codebook", "rate"},
    Role.TIE_BREAKER: {"visit", "read codebook", "rate", "break ties"},
    Role.VIEWER: {"visit", "read codebook", "read evidence", "read results", "see names"},
    Role.REVIEWER: {"visit", "read codebook", "read evidence", "read results"},
    Role.PAYER: {"visit", "see pay", "pay"},
    Role.INTERVIEWER: {"visit", "read codebook", "rate", "conduct interviews"},
}


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("permission", Permission)
def test_a_role_has_exactly_the_expected_permissions(role: Role, permission: Permission) -> None:
    assert can(role, permission) == (permission.value in EXPECTED[role])


def test_an_unknown_role_is_refused_with_the_allowed_ones() -> None:
    assert parse_role("tie-breaker") is Role.TIE_BREAKER
    with pytest.raises(InputError, match=r"there is no role 'ratter'; choose from: rater, .*lead"):
        parse_role("ratter")
