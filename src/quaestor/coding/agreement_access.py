"""Access to the agreement of a round: who may see it, who must consent first, and what is recorded.

`coding.model.views` decides what may be seen. Seeing a blind round is an act, so a page never does it by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from quaestor.base.errors import StateError
from quaestor.coding.agreement import compute_round_agreement, find_estimate
from quaestor.coding.agreement_cache import CachedAgreement, find_agreement
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.coding.model.views import needs_consent, require_lead_view
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding
from quaestor.measures.records import Agreement


@dataclass(frozen=True)
class RoundAgreement:
    """The agreement of a round on one facet and its threshold."""

    round: str
    kind: str
    open: bool
    simulated: bool
    blindness: str
    """Empty if the raters were blind."""
    statistic: str
    threshold: float | None
    passed: bool | None
    agreement: Agreement
    pending_codes: str = ""
    """A note on proposed codes that are not decided."""

    @property
    def title(self) -> str:
        notes = [
            self.kind,
            *(["still open"] if self.open else []),
            *(["simulated raters"] if self.simulated else []),
            *([self.blindness] if self.blindness else []),
            *([self.pending_codes] if self.pending_codes else []),
        ]
        return f"{self.round} ({', '.join(notes)})"

    @property
    def verdict(self) -> str:
        if self.threshold is None:
            return ""
        return f"threshold of {self.threshold:g} for {self.statistic} {'reached' if self.passed else 'not reached'}"

    @property
    def about(self) -> dict[str, Any]:
        return {
            "round": self.round,
            "kind": self.kind,
            "open": self.open,
            "simulated": self.simulated,
            "blindness": self.blindness,
            "statistic": self.statistic,
            "threshold": self.threshold,
            "passed": self.passed,
            **({"pending_codes": self.pending_codes} if self.pending_codes else {}),
        }


def compute_rounds_agreement(
    study: StudyOrSession,
    name: str | None,
    facets: Sequence[str],
    *,
    version: int | None = None,
    level: str = "",
    against: str = "",
    actor: str | None = None,
) -> list[RoundAgreement]:
    """Computes the agreement of one round, or of all closed rounds, and records the view."""
    with open_coding(study) as coding:
        state = coding.state
        chosen = (
            [state.round(name)]
            if name
            else [round_state for round_state in state.rounds.values() if round_state.status == CLOSED]
        )
        if not chosen:
            raise StateError("no round has been closed yet: close one to see its agreement")
        agreements = []
        if against:
            require_lead_view(state, against, actor or coding.lead, coding.lead)
        for round_state in chosen:
            require_lead_view(state, round_state.plan.round, actor or coding.lead, coding.lead)
            names = list(facets) or list_comparable_facets(round_state, level)
            agreements += [_compute_one(coding, round_state, facet, version, level, against) for facet in names]
        # Agreement reveals others' ratings, so seeing it is recorded.
        for name_seen in {round_state.plan.round for round_state in chosen} | ({against} if against else set()):
            record_view(coding, name_seen, actor or coding.lead)
        return agreements


def _compute_one(
    coding: CodingSession, round_state: RoundState, facet: str, version: int | None, level: str, against: str
) -> RoundAgreement:
    agreement = compute_round_agreement(
        coding.state, round_state.plan.round, facet, version=version, level=level, against=against
    )
    return compare_to_threshold(round_state, agreement, as_fixed=not (against or level or version is not None))


def compare_to_threshold(round_state: RoundState, agreement: Agreement, *, as_fixed: bool) -> RoundAgreement:
    """Adds the threshold of the round if this is the agreement that its plan names."""
    plan = round_state.plan
    measured = (
        as_fixed and agreement.facet == plan.measured and plan.threshold is not None and round_state.status == CLOSED
    )
    value = find_estimate(agreement, plan.statistic).value
    return RoundAgreement(
        plan.round,
        plan.kind,
        round_state.status != CLOSED,
        round_state.simulated,
        round_state.blindness,
        plan.statistic,
        plan.threshold if measured else None,
        (value is not None and value >= (plan.threshold or 0)) if measured else None,
        agreement,
        round_state.pending_codes_note,
    )


@dataclass(frozen=True)
class AgreementAccess:
    """Whether somebody may see the agreement of a round: now, after consent, or not yet."""

    may: Literal["now", "ask", "not yet"]
    message: str = ""


def find_access(state: State, name: str, actor: str, lead: str) -> AgreementAccess:
    """Returns somebody's access to the agreement of a round; records nothing."""
    try:
        round_state = require_lead_view(state, name, actor, lead)
    except StateError as refusal:
        return AgreementAccess("not yet", _why_not(state.round(name), actor, str(refusal)))
    if not needs_consent(state, name, actor):
        return AgreementAccess("now")
    if round_state.status == CLOSED:
        return AgreementAccess("ask", "Your view is recorded. The round can then be reopened only as not blind.")
    return AgreementAccess(
        "ask", "This round is open and blind. Your view is recorded, and you can no longer rate in it."
    )


def _why_not(round_state: RoundState, actor: str, refusal: str) -> str:
    if round_state.slot_of(actor):
        return "You rate in this round: agreement is shown once it is closed."
    if actor == round_state.plan.tie_breaker:
        return "You are the tie-breaker of this round: agreement is shown once all disagreements are settled."
    return refusal


def record_agreement_view(coding: CodingSession, name: str, actor: str) -> None:
    """Records that somebody sees the agreement of a round; raises StateError if they may not."""
    with coding.locked_state() as state:
        require_lead_view(state, name, actor, coding.lead)
    record_view(coding, name, actor)


def require_agreement_access(coding: CodingSession, name: str, actor: str) -> RoundState:
    """Returns the round and records the view; raises StateError without access or before consent."""
    with coding.locked_state() as state:
        round_state = require_lead_view(state, name, actor, coding.lead)
        if needs_consent(state, name, actor):
            raise StateError(f"seeing the agreement of {name!r} is recorded: confirm that on its page first")
    record_view(coding, name, actor)
    return round_state


def list_comparable_facets(round_state: RoundState, level: str = "") -> list[str]:
    """Returns the facets of a round that raters can agree on."""
    return [
        facet.id for facet in round_state.plan.facets if find_kind(facet).is_compared and (facet.codes or not level)
    ]


def find_visible_agreement(
    coding: CodingSession,
    name: str,
    actor: str,
    facet: str,
    *,
    version: int | None = None,
    level: str = "",
    wait: bool = True,
) -> tuple[RoundAgreement, CachedAgreement] | None:
    """Returns the agreement on one facet with its threshold; None while it is being computed."""
    require_agreement_access(coding, name, actor)
    cached = find_agreement(coding, name, facet, version=version, level=level, wait=wait)
    if cached is None:
        return None
    with coding.locked_state() as state:
        round_state = state.round(name)
        return compare_to_threshold(round_state, cached.agreement, as_fixed=not level and version is None), cached


def list_visible_agreements(
    coding: CodingSession,
    name: str,
    actor: str,
    facets: Sequence[str] = (),
    *,
    version: int | None = None,
    level: str = "",
) -> list[RoundAgreement]:
    """Returns the agreement on several facets, by default all, for a viewer with access."""
    names = list(facets) or list_comparable_facets(require_agreement_access(coding, name, actor), level)
    results = (find_visible_agreement(coding, name, actor, facet, version=version, level=level) for facet in names)
    return [result[0] for result in results if result is not None]
