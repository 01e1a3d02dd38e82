"""The ways into a demo: a link for the visitor, who rates, and one for the lead."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.base.clock import Clock
from quaestor.people.roles import Role
from quaestor.store.moments import exact_now
from quaestor.study.folder import Study
from quaestor.study.people import invite, lead_link, open_directory

VISITOR = "visitor"


@dataclass(frozen=True)
class Doors:
    """The one-time links into the demo, as tokens; none where a link has been used."""

    visitor: str | None
    lead: str | None


def make_doors(study: Study, clock: Clock = exact_now) -> Doors:
    """New links for the visitor and the lead; earlier ones end."""
    return Doors(invite(study, VISITOR, Role.RATER, clock=clock)[0], lead_link(study, clock))


def doors_left(study: Study, doors: Doors, clock: Clock = exact_now) -> Doors:
    """The links that can still be used."""
    return Doors(*(door_left(study, token, clock) for token in (doors.visitor, doors.lead)))


def door_left(study: Study, token: str | None, clock: Clock = exact_now) -> str | None:
    """A link that can still be used; none where it has been."""
    if token is None:
        return None
    with open_directory(study) as directory:
        return token if directory.invitation(token, clock()) is not None else None
