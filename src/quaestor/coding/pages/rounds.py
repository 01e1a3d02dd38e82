"""The rounds as their lead sees them: where each stands, who is how far, and what can be done now."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.base.names import fits_an_address
from quaestor.coding.rounds import is_complete, reopen_round
from quaestor.coding.settings import RoundSettings
from quaestor.coding.state import CLOSED, OPEN, RoundState, Seat, State
from quaestor.study.folder import Study
from quaestor.study.moments import in_utc
from quaestor.study.round_setup import can_be_changed
from quaestor.study.rounds import settings_of

NOT_OPENED = "not opened"


@dataclass(frozen=True)
class SeatProgress:
    """One place at the table: who sits there, and how much of what may be rated now is rated."""

    rater: str
    label: str
    done: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True)
class RoundOverview:
    """A round in what was fixed about it and in counts; nothing of what anybody said."""

    round: str
    kind: str
    status: str  # not opened, open, closed
    items: int
    facets: tuple[str, ...]
    seats: tuple[SeatProgress, ...]
    acts: tuple[str, ...]
    """What the lead can do now: open, change, close, next set, deadline, replace, waive, reopen (as not blind), make
    final."""
    set: int = 0
    sets: int = 0
    complete: bool = False
    """Whether it can be closed without a reason."""
    codebook: int = 0
    overlap: float = 1.0
    blind: bool = True
    statistic: str = ""
    measured: str = ""
    threshold: float | None = None
    after: str = ""
    tie_breaker: str = ""
    settle: str = ""
    instructions: str = ""
    practice: int = 0
    deadline: str = ""
    opened: str = ""
    closed: str = ""
    waived: str = ""
    incomplete: str = ""
    final: bool = False
    blindness: str = ""
    """Empty where its raters were blind."""
    simulated: bool = False
    phrases: bool = False
    stretches: bool = False
    """Whether transcripts are coded in it."""
    has_page: bool = True
    """Not so for one that was opened before names had to fit an address."""

    @property
    def missing(self) -> int:
        return sum(seat.left for seat in self.seats)


def rounds_overview(study: Study, state: State) -> list[RoundOverview]:
    """The rounds of the study file in its order, then those the journal alone knows."""
    named = [one.round for one in study.settings.rounds]
    return [round_overview(study, state, name) for name in [*named, *(set(state.rounds) - set(named))]]


def round_overview(study: Study, state: State, name: str) -> RoundOverview:
    one = state.rounds.get(name)
    return _unopened(study, settings_of(study, name)) if one is None else _opened(study, state, one)


def _unopened(study: Study, one: RoundSettings) -> RoundOverview:
    return RoundOverview(
        round=one.round,
        kind=one.kind,
        status=NOT_OPENED,
        items=0,
        facets=one.facets,
        seats=tuple(SeatProgress(rater, rater, 0, 0) for rater in one.raters),
        acts=("open", "change") if can_be_changed(study, one.round) else ("open",),
        overlap=one.overlap,
        blind=one.blind,
        statistic=one.statistic,
        measured=one.measured or one.facets[0],
        threshold=one.threshold,
        after=one.after or "",
        tie_breaker=one.tie_breaker or "",
        settle=one.settle,
        instructions=one.instructions,
        practice=len(one.practice),
        deadline=in_utc(one.deadline.isoformat()) if one.deadline else "",
        phrases=any(study.settings.facets[facet].kind == "phrase" for facet in one.facets),
        stretches=any(study.settings.facets[facet].kind == "stretches" for facet in one.facets),
    )


def _opened(study: Study, state: State, one: RoundState) -> RoundOverview:
    plan, lead = one.plan, study.settings.study.lead
    seats = tuple(_seat(one, seat) for seat in one.seats)
    rated = not any(seat.left for seat in seats)
    return RoundOverview(
        round=plan.round,
        kind=plan.kind,
        status=one.status,
        items=len(plan.items),
        facets=tuple(facet.id for facet in plan.facets),
        seats=seats,
        acts=_acts(state, one, lead, rated),
        set=one.set,
        sets=len(one.sets),
        complete=rated and one.set == len(one.sets),
        codebook=plan.codebook,
        overlap=plan.overlap,
        blind=plan.blind,
        statistic=plan.statistic,
        measured=plan.measured,
        threshold=plan.threshold,
        after=plan.after,
        tie_breaker=plan.tie_breaker,
        settle=plan.settle,
        instructions=plan.instructions,
        practice=len(plan.practice),
        deadline=one.deadline,
        opened=one.opened,
        closed=one.closed,
        waived=one.waived,
        incomplete=one.incomplete,
        final=one.final,
        blindness=one.blindness,
        simulated=_is_simulated(one),
        phrases=any(facet.kind == "phrase" for facet in plan.facets),
        stretches=any(facet.kind == "stretches" for facet in plan.facets),
        has_page=fits_an_address(plan.round),
    )


def _acts(state: State, one: RoundState, lead: str, rated: bool) -> tuple[str, ...]:
    if one.status == OPEN:
        further = ("next set",) if rated and one.set < len(one.sets) else ()
        return (*further, "close", "deadline", "replace")
    found = []
    if one.plan.threshold is not None and not one.waived:
        found.append("waive")
    try:
        act = reopen_round(state, one.plan.round, lead, "asked whether it could be", not_blind=True)
        found.append("reopen as not blind" if act.payload.get("not_blind") else "reopen")
    except StateError:
        pass
    if not one.final and not is_complete(one):
        found.append("make final")
    return tuple(found)


def _seat(one: RoundState, seat: Seat) -> SeatProgress:
    """Counted from what is kept up rating by rating: a round may hold very many."""
    if one.status == CLOSED:
        total = len(seat.items[0])
        done = min(total, sum(len(one.ratings.get(rater, {})) for rater in seat.raters))
        return SeatProgress(seat.rater, seat.label, done, total)
    whole = len(one.sets) == 1
    total = len(seat.items[0]) if whole else sum(seat.has(seat.raters[0], item) for item in one.open_items())
    own = one.progress(seat, seat.rater)
    return SeatProgress(seat.rater, seat.label, total - (len(own) - own.done), total)


def _is_simulated(one: RoundState) -> bool:
    """Whether somebody who rates here is simulated: their first rating says so as well as their last."""
    return any(next(iter(given.values()))[-1].simulated for given in one.ratings.values() if given)
