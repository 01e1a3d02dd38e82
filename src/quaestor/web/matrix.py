"""Who may ask for which page: one row a route, by its name; a route without a row is for nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from quaestor.people.roles import Permission

Public = Literal["public"]
PUBLIC: Final[Public] = "public"

MATRIX: Mapping[str, Permission | Public] = {
    "home": Permission.VISIT,
    "funnel": Permission.READ_EVIDENCE,
    "drawing": Permission.READ_EVIDENCE,
    "items": Permission.READ_EVIDENCE,
    "evidence": Permission.READ_EVIDENCE,
    "item": Permission.READ_EVIDENCE,
    "evidence-csv": Permission.READ_EVIDENCE,
    "filters": Permission.READ_EVIDENCE,
    "rate": Permission.RATE,
    "give": Permission.RATE,
    "ahead": Permission.RATE,
    "mine": Permission.RATE,
    "agreement": Permission.RATE,
    "look": Permission.RATE,
    "confused": Permission.RATE,
    "agreement-json": Permission.RATE,
    "agreement-csv": Permission.RATE,
    "confusion-csv": Permission.RATE,
    "disagreements": Permission.RATE,
    "comment": Permission.RATE,
    "decide": Permission.RATE,
    "settle-agreed": Permission.LEAD,
    "ties": Permission.BREAK_TIES,
    "rounds": Permission.LEAD,
    "round-new": Permission.LEAD,
    "round": Permission.LEAD,
    "round-act": Permission.LEAD,
    "ratings-file": Permission.RATE,
    "decisions-file": Permission.RATE,
    "phrases": Permission.RATE,
    "phrases-act": Permission.RATE,
    "people": Permission.LEAD,
    "people-act": Permission.LEAD,
    "codebook": Permission.VISIT,
    "code": Permission.VISIT,
    "codebook-history": Permission.VISIT,
    "codebook-diff": Permission.VISIT,
    "codebook-file": Permission.VISIT,
    "codebook-change": Permission.LEAD,
    "codebook-preview": Permission.LEAD,
    "codebook-act": Permission.LEAD,
    "results": Permission.READ_RESULTS,
    "results-make": Permission.LEAD,
    "results-zip": Permission.READ_RESULTS,
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
