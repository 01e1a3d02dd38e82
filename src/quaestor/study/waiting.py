"""What waits for one person: rounds to rate in, ties to break, disagreements to discuss; nothing of what was said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quaestor.base.clock import Clock, now
from quaestor.base.names import fits_an_address
from quaestor.coding.decisions import disagreements
from quaestor.coding.state import CLOSED, OPEN, RoundState, State
from quaestor.coding.views import rater_place, unblinding

RATE, BREAK_TIES, DISCUSS = "rate", "break ties", "discuss"


@dataclass(frozen=True)
class Waiting:
    """A round in which somebody has something left to do."""

    round: str
    kind: str
    part: str  # rate, break ties, discuss
    done: int
    items: int
    deadline: str = ""
    set: int = 0
    sets: int = 0
    until: str = ""
    """The deadline as one says it."""
    is_late: bool = False
    looked: bool = True
    """Of a discussion: whether this rater has seen what the others said; before that, no number is told either."""

    @property
    def left(self) -> int:
        return self.items - self.done


def waiting_for(state: State, name: str, clock: Clock = now) -> list[Waiting]:
    """The rounds in which somebody has something to do, those with the nearest deadline first."""
    moment = clock()
    found = []
    for one in state.rounds.values():
        plan = one.plan
        if not fits_an_address(plan.round):  # opened before names had to, and without pages
            continue
        if one.status == OPEN and one.seat_of(name) is not None:
            place = rater_place(state, plan.round, name)
            done, total = place.progress.done, len(place.progress)
            until, is_late = in_time(one.deadline, moment)
            found.append(
                Waiting(
                    plan.round, plan.kind, RATE, done, total, one.deadline, place.set, place.sets, until, is_late
                )
            )  # fmt: skip
        if one.status == CLOSED and plan.tie_breaker == name and plan.settle in ("tie-breaker", "two-step"):
            cases = disagreements(state, plan.round)
            done = sum(case.decision is not None or case.tie_comment is not None for case in cases)
            found.append(Waiting(plan.round, plan.kind, BREAK_TIES, done, len(cases)))
        if one.status == CLOSED and one.seat_of(name) is not None and plan.settle != "tie-breaker":
            found.append(_discussion(state, one, name))
    waits = (one for one in found if one.left or not one.looked)
    return sorted(waits, key=lambda one: (one.deadline or "9", (RATE, BREAK_TIES, DISCUSS).index(one.part), one.round))


def _discussion(state: State, one: RoundState, name: str) -> Waiting:
    """How many cases there are would tell a rater of a round that may still open again how others rated."""
    plan = one.plan
    if unblinding(state, plan.round, name) is not None:
        return Waiting(plan.round, plan.kind, DISCUSS, 0, 0, looked=False)
    cases = disagreements(state, plan.round)
    return Waiting(plan.round, plan.kind, DISCUSS, sum(case.decision is not None for case in cases), len(cases))


def in_time(deadline: str, moment: datetime) -> tuple[str, bool]:
    """A deadline as one says it, and whether it is over."""
    if not deadline:
        return "", False
    end = datetime.fromisoformat(deadline)
    left = end - moment
    day = f"{end:%A} {end.day} {end:%B}" + (f" {end.year}" if end.year != moment.year else "")
    if left.total_seconds() < 0:
        return f"was due on {day}", True
    days = (end.date() - moment.date()).days
    near = {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
    return f"until {day}, {end:%H:%M} UTC, {near}", False
