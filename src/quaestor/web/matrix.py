"""Who may ask for which page: one row a route, by its name; a route without a row is for nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from quaestor.people.roles import Permission

Public = Literal["public"]
PUBLIC: Final[Public] = "public"

MATRIX: Mapping[str, Permission | Public] = {
    "home": Permission.VISIT,
    "drawing": Permission.READ_EVIDENCE,
    "items": Permission.READ_EVIDENCE,
    "rate": Permission.RATE,
    "give": Permission.RATE,
    "ahead": Permission.RATE,
    "mine": Permission.RATE,
    "report": Permission.READ_RESULTS,
    "handbook": Permission.READ_RESULTS,
    "me": Permission.VISIT,
    "sign-out": Permission.VISIT,
    "sign-out-everywhere": Permission.VISIT,
    "sign-in": PUBLIC,
    "join": PUBLIC,
    "health": PUBLIC,
    "tokens": PUBLIC,
    "icon": PUBLIC,
    "static": PUBLIC,
}
