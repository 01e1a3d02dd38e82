"""What waits for one person: rounds to rate in, ties to break; nothing of what anybody else said."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.coding.decisions import disagreements
from quaestor.coding.state import CLOSED, OPEN
from quaestor.coding.views import rater_view
from quaestor.study.coding import open_coding
from quaestor.study.folder import Study
from quaestor.study.journal import has_journal


@dataclass(frozen=True)
class Waiting:
    """A round in which somebody has something left to do."""

    round: str
    kind: str
    part: str  # rate, break ties
    done: int
    items: int
    deadline: str = ""
    set: int = 0
    sets: int = 0

    @property
    def left(self) -> int:
        return self.items - self.done


def waiting_for(study: Study, name: str) -> list[Waiting]:
    """The rounds in which somebody has something to do, those with the nearest deadline first."""
    if not has_journal(study):
        return []
    found = []
    with open_coding(study) as coding:
        state = coding.state
        for one in state.rounds.values():
            plan = one.plan
            if one.status == OPEN and one.seat_of(name) is not None:
                view = rater_view(state, plan.round, name)
                done = len(view.items) - len(view.left)
                found.append(
                    Waiting(plan.round, plan.kind, "rate", done, len(view.items), view.deadline, view.set, view.sets)
                )
            if one.status == CLOSED and plan.tie_breaker == name and plan.settle in ("tie-breaker", "two-step"):
                cases = disagreements(state, plan.round)
                done = sum(case.decision is not None or case.tie_comment is not None for case in cases)
                found.append(Waiting(plan.round, plan.kind, "break ties", done, len(cases)))
    return sorted((one for one in found if one.left), key=lambda one: (one.deadline or "9", one.round))
