"""The agreement of a study's rounds, shown to those who may see it, beside the threshold fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.state import CLOSED, RoundState
from quaestor.coding.views import require_lead_view
from quaestor.measures.records import Agreement
from quaestor.study.agreement import round_agreement, statistic
from quaestor.study.coding import Coding, Where, open_coding
from quaestor.study.ratings import note_view


@dataclass(frozen=True)
class RoundAgreement:
    """The agreement of one round on one facet, and what was to be reached."""

    round: str
    kind: str
    open: bool
    simulated: bool
    blindness: str
    """Empty where the raters were blind."""
    statistic: str
    threshold: float | None
    passed: bool | None
    agreement: Agreement

    @property
    def title(self) -> str:
        notes = [
            self.kind,
            *(["still open"] if self.open else []),
            *(["simulated raters"] if self.simulated else []),
            *([self.blindness] if self.blindness else []),
        ]
        return f"{self.round} ({', '.join(notes)})"

    @property
    def verdict(self) -> str:
        if self.threshold is None:
            return ""
        return f"{self.statistic} had to reach {self.threshold:g}: {'reached' if self.passed else 'not reached'}"

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
        }


def agreement_of_rounds(
    study: Where,
    name: str | None,
    facets: Sequence[str],
    *,
    version: int | None = None,
    level: str = "",
    against: str = "",
    actor: str | None = None,
) -> list[RoundAgreement]:
    """The agreement of one closed round, or of all of them."""
    with open_coding(study) as coding:
        state = coding.state
        chosen = [state.round(name)] if name else [one for one in state.rounds.values() if one.status == CLOSED]
        if not chosen:
            raise StateError("no round has been closed yet: agreement can be seen when one is")
        found = []
        if against:
            require_lead_view(state, against, actor or coding.lead, coding.lead)
        for one in chosen:
            require_lead_view(state, one.plan.round, actor or coding.lead, coding.lead)
            asked = list(facets) or [
                facet.id for facet in one.plan.facets if facet.kind != "text" and (facet.codes or not level)
            ]
            found += [_one(coding, one, facet, version, level, against) for facet in asked]
        # Agreement comes from others' ratings: once it has been worked out, it is on record who saw it.
        for name_seen in {one.plan.round for one in chosen} | ({against} if against else set()):
            note_view(coding, name_seen, actor or coding.lead)
        return found


def _one(coding: Coding, one: RoundState, facet: str, version: int | None, level: str, against: str) -> RoundAgreement:
    found = round_agreement(coding.state, one.plan.round, facet, version=version, level=level, against=against)
    return beside_threshold(one, found, as_fixed=not (against or level or version is not None))


def beside_threshold(one: RoundState, found: Agreement, *, as_fixed: bool) -> RoundAgreement:
    """An agreement with what the round had to reach, where it is the one that was fixed beforehand."""
    plan = one.plan
    measured = as_fixed and found.facet == plan.measured and plan.threshold is not None and one.status == CLOSED
    value = statistic(found, plan.statistic).value
    return RoundAgreement(
        plan.round,
        plan.kind,
        one.status != CLOSED,
        one.simulated,
        one.blindness,
        plan.statistic,
        plan.threshold if measured else None,
        (value is not None and value >= (plan.threshold or 0)) if measured else None,
        found,
    )
