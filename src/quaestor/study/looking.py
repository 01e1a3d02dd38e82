"""Looking at the agreement of a round: who may, who is asked first, and what is on record of it.

What may be seen is decided in `coding.views`; looking at a blind round is an act, so a page never does it by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quaestor.base.errors import StateError
from quaestor.coding.state import CLOSED, RoundState, State
from quaestor.coding.views import asks_first, require_lead_view
from quaestor.study.coding import Coding
from quaestor.study.ratings import note_view
from quaestor.study.round_agreement import RoundAgreement, beside_threshold
from quaestor.study.worked_out import WorkedOut, agreement_now


@dataclass(frozen=True)
class Look:
    """Whether somebody sees the agreement of a round: now, once they say that they look, or not yet."""

    may: Literal["now", "ask", "not yet"]
    words: str = ""


def look_at(state: State, name: str, actor: str, lead: str) -> Look:
    """How somebody stands to a round; asking this opens nobody's eyes."""
    try:
        one = require_lead_view(state, name, actor, lead)
    except StateError as refusal:
        return Look("not yet", _why_not(state.round(name), actor, str(refusal)))
    if not asks_first(state, name, actor):
        return Look("now")
    if one.status == CLOSED:
        return Look("ask", "Your look goes on record. The round can then be reopened only as not blind.")
    return Look("ask", "This round is open and blind. Who looks is on record and can take no seat in it any more.")


def _why_not(one: RoundState, actor: str, refusal: str) -> str:
    if one.seat_of(actor):
        return "You rate in this round: agreement can be seen when it is closed."
    if actor == one.plan.tie_breaker:
        return "You break the ties of this round: agreement can be seen when all of them are settled."
    return refusal


def note_look(coding: Coding, name: str, actor: str) -> None:
    """Put on record that somebody now sees the agreement of a round; refuses those who may not."""
    with coding.looking() as state:
        require_lead_view(state, name, actor, coding.lead)
    note_view(coding, name, actor)


def require_look(coding: Coding, name: str, actor: str) -> RoundState:
    """The round, for those who may see its agreement, and who are on record from now on."""
    with coding.looking() as state:
        one = require_lead_view(state, name, actor, coding.lead)
        if asks_first(state, name, actor):
            raise StateError(f"the agreement of {name!r} is seen by those who say so: open its page and look")
    note_view(coding, name, actor)
    return one


def facets_compared(one: RoundState, level: str = "") -> list[str]:
    """The facets of a round that raters can agree on."""
    return [facet.id for facet in one.plan.facets if facet.kind != "text" and (facet.codes or not level)]


def seen(
    coding: Coding,
    name: str,
    actor: str,
    facet: str,
    *,
    version: int | None = None,
    level: str = "",
    wait: bool = True,
) -> tuple[RoundAgreement, WorkedOut] | None:
    """The agreement on one facet beside its threshold; None where it is still being worked out."""
    require_look(coding, name, actor)
    found = agreement_now(coding, name, facet, version=version, level=level, wait=wait)
    if found is None:
        return None
    with coding.looking() as state:
        one = state.round(name)
        return beside_threshold(one, found.agreement, as_fixed=not level and version is None), found


def all_seen(
    coding: Coding, name: str, actor: str, facets: Sequence[str] = (), *, version: int | None = None, level: str = ""
) -> list[RoundAgreement]:
    """What `quaestor agreement --round` says, for those who have looked already."""
    wanted = list(facets) or facets_compared(require_look(coding, name, actor), level)
    each = (seen(coding, name, actor, facet, version=version, level=level) for facet in wanted)
    return [found[0] for found in each if found is not None]
