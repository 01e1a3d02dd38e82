"""What somebody may see of a codebook: numbers and new codes suggest an answer to those who still have to give one."""

from __future__ import annotations

from quaestor.base.errors import StateError
from quaestor.coding.decisions import settled
from quaestor.coding.records import Codebook
from quaestor.coding.state import CLOSED, OPEN, RoundState
from quaestor.people.roles import Role
from quaestor.study.sight import Sight


def why_no_counts(sight: Sight) -> str:
    """Why a viewer sees no counts at all; empty where they do.

    A lead who rates sees those of the rounds that `counted` names, since a codebook cannot be kept without them.
    """
    if sight.viewer.role is Role.LEAD:
        return ""
    for one in sight.state.rounds.values():
        if _rates(one, sight.viewer.name):
            return f"you rate in {one.plan.round}: how often each code was chosen is shown when that round is closed"
        if one.plan.tie_breaker == sight.viewer.name and not (
            one.status == CLOSED and settled(sight.state, one.plan.round)
        ):
            return f"you break the ties of {one.plan.round}: counts are shown when all of them are settled"
    return ""


def counted(sight: Sight) -> list[str]:
    """The rounds, and the published decisions, whose final answers a viewer sees counted."""
    if why_no_counts(sight):
        return []
    state = sight.state
    if sight.viewer.role in (Role.RATER, Role.TIE_BREAKER):
        closed = [one.plan.round for one in state.rounds.values() if one.status == CLOSED]
        return [*(name for name in closed if settled(state, name)), *state.published]
    return [name for name in (*state.rounds, *state.published) if not sight.why_no_decisions(name)]


def last_version(sight: Sight) -> int:
    """The last version a viewer may see: raters keep to that of their open rounds, so that no new code reaches them."""
    latest = sight.state.history.latest.version
    if sight.viewer.role is Role.LEAD:
        return latest
    frozen = [one.plan.codebook for one in sight.state.rounds.values() if _rates(one, sight.viewer.name)]
    return max(frozen) if frozen else latest


def book_seen(sight: Sight, version: int | None = None) -> Codebook:
    """A version of the codebook, by default the last one the viewer may see."""
    last = last_version(sight)
    if version is not None and last < version < len(sight.state.history.versions):
        raise StateError(
            f"you rate under version {last} of the codebook: later ones are shown when the round is closed"
        )
    return sight.state.history.at(last if version is None else version)


def _rates(one: RoundState, name: str) -> bool:
    return one.status == OPEN and one.seat_of(name) is not None
