"""The places of the desk that a visitor may go to, for the bar at the top of each page."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from quaestor.people.roles import Permission
from quaestor.web.access import visitor_of
from quaestor.web.matrix import MATRIX, PUBLIC

_PLACES = (
    ("home", "Study"),
    ("evidence", "Evidence"),
    ("rounds", "Rounds"),
    ("codebook", "Codebook"),
    ("results", "Results"),
    ("people", "People"),
)


@dataclass(frozen=True)
class Place:
    """One entry of the bar."""

    route: str
    label: str
    path: str


def places(request: Request) -> list[Place]:
    """Where the visitor may go; a page that is not for them is not offered."""
    found = visitor_of(request)
    if found is None:
        return []
    offered = []
    for route, label in _PLACES:
        needed = MATRIX.get(route)
        if needed is not None and needed != PUBLIC and found.can(needed):
            shown = "My rounds" if route == "home" and not found.can(Permission.READ_EVIDENCE) else label
            offered.append(Place(route, shown, str(request.url_for(route).path)))
    return offered
