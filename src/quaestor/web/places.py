"""The places of the desk that a visitor may go to, for the bar at the top of each page."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from quaestor.people.roles import Permission
from quaestor.web.access import Visitor, visitor_of
from quaestor.web.matrix import MATRIX, PUBLIC

_PLACES = (
    ("home", "Study"),
    ("evidence", "Evidence"),
    ("rounds", "Rounds"),
    ("codebook", "Codebook"),
    ("surveys", "Surveys"),
    ("interviews", "Interviews"),
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
    """Where the visitor may go; a page that is not for them, or would be empty, is not offered."""
    found = visitor_of(request)
    if found is None:
        return []
    if found.can(Permission.PAY):
        return [Place("claims", "Pay", str(request.url_for("claims").path))]
    offered = []
    for route, label in _PLACES:
        needed = MATRIX.get(route)
        if route == "surveys" and not request.app.state.has_surveys():
            continue
        if route == "interviews" and not request.app.state.has_interviews():
            continue
        if needed is not None and needed != PUBLIC and found.can(needed):
            shown = _home_of(found) if route == "home" else label
            offered.append(Place(route, shown, str(request.url_for(route).path)))
    return offered


def _home_of(visitor: Visitor) -> str:
    """What the start of the desk is to somebody."""
    if visitor.can(Permission.PAY):
        return "Pay"
    if visitor.can(Permission.READ_EVIDENCE):
        return "Study"
    return "My work" if visitor.can(Permission.CONDUCT) else "My rounds"
