"""The status of the codebook and the rounds of a study, and their next step."""

from __future__ import annotations

from collections.abc import Mapping

from quaestor.base.names import count_of
from quaestor.coding.agreement import Agreement, find_estimate
from quaestor.coding.agreement_cache import find_agreement
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.model.decisions import find_undecided
from quaestor.coding.model.rounds import count_left_by_rater, is_complete
from quaestor.coding.model.state import CLOSED, OPEN, RoundState, State
from quaestor.study.contributions import Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.folder import Study
from quaestor.study.session import Session

Gates = Mapping[str, Agreement | None]
"""By round with a threshold: its agreement, or None while it is being computed."""


def coding_status(request: StatusRequest) -> StatusPart:
    """Returns a status line for the codebook and for each round, and the next step."""
    session = request.session
    if session is None:
        lines, following = build_status(request.study, State(), {})
    else:
        gates = compute_gates(session, wait=request.wait)
        with session.locked_state() as state:
            lines, following = build_status(request.study, state, gates)
    return StatusPart(tuple(lines), following)


def compute_gates(coding: Session[State], *, wait: bool = True) -> dict[str, Agreement | None]:
    """Returns the agreement of each closed round with a threshold; computed without holding the lock."""
    with coding.locked_state() as state:
        plans = [round_state.plan for round_state in state.rounds.values() if _has_gate(round_state)]
    cached = {plan.round: find_agreement(coding, plan.round, plan.measured, wait=wait) for plan in plans}
    return {name: agreement.agreement if agreement else None for name, agreement in cached.items()}


def _has_gate(round_state: RoundState) -> bool:
    return round_state.status == CLOSED and round_state.plan.threshold is not None and not round_state.waived


def build_status(study: Study, state: State, gates: Gates) -> tuple[list[StatusLine], Next | None]:
    """Returns a line for the codebook and for each round, and the next step; nothing if no round is planned."""
    if not study.settings.rounds:
        return [], None
    stages: list[StatusLine] = []
    following: Next | None = None
    needed = any(facet.codes for facet in study.settings.facets.values())
    book = state.history.latest
    if needed:
        known = any(code.active for code in book.codes.values())
        there = f"{CODEBOOK_FILE} exists, not imported yet" if (study.root / CODEBOOK_FILE).exists() else "none yet"
        detail = (
            f"version {book.version}, {count_of(sum(code.active for code in book.codes.values()), 'code')}"
            if known
            else there
        )
        stages.append(StatusLine("codebook", "done" if known else "waiting", detail))
        following = None if known else Next("quaestor codebook import", "Import the codebook", "codebook")
    published_rounds = {reference.partition(".")[0] for reference in study.settings.results.code}
    for settings in study.settings.rounds:
        round_state = state.rounds.get(settings.round)
        if round_state is None:
            stage, then = _describe_unopened(settings.round)
        else:
            published = settings.round in published_rounds
            stage, then = _describe_round(state, round_state, gates, study.settings.study.lead, published=published)
        stages.append(stage)
        following = following or then
    return stages, following


def _describe_unopened(name: str) -> tuple[StatusLine, Next | None]:
    then = Next(f"quaestor round open {name}", f"Open the round {name}", "rounds", name)
    return StatusLine(f"round {name}", "waiting", "not opened yet"), then


def _describe_round(
    state: State, round_state: RoundState, gates: Gates, lead: str, *, published: bool
) -> tuple[StatusLine, Next | None]:
    """Returns the status of an opened round; the disagreements of a pilot count only if its codes are published."""
    name, plan = round_state.plan.round, round_state.plan
    count = f"{count_of(len(round_state.items_left()), 'item')}{', simulated raters' if round_state.simulated else ''}"
    count += f", {round_state.blindness}" if round_state.blindness else ""
    if round_state.status == OPEN:
        return _describe_open(round_state, count)
    if _has_gate(round_state):
        gate = gates.get(name)
        if gate is None:
            return StatusLine(f"round {name}", "waiting", f"closed, {count}, computing its agreement"), None
        value = find_estimate(gate, plan.statistic).value
        if value is None or value < (plan.threshold or 0):
            reached = "undefined" if value is None else f"{value:.2f}"
            detail = f"closed, {count}, {plan.statistic} {reached} below its threshold of {plan.threshold:g}"
            return StatusLine(f"round {name}", "doubtful", detail), _find_step_after_miss(state, round_state, lead)
    if plan.kind == "pilot" and not published:
        return StatusLine(f"round {name}", "done", f"closed, {count}"), None
    return _describe_settling(state, round_state, count)


def _find_step_after_miss(state: State, round_state: RoundState, lead: str) -> Next | None:
    """Returns what to do about a missed threshold; nothing once a later round was opened."""
    name = round_state.plan.round
    if any(other.opened > round_state.closed for other in state.rounds.values()):
        return None
    if lead not in round_state.unblinded:
        text = f"The round {name} missed its threshold: check its agreement"
        return Next(f"quaestor agreement {name}", text, "agreement", name)
    text = f"The round {name} missed its threshold: improve the codebook and repeat it, or waive the threshold"
    return Next(f"quaestor round waive {name} --reason …, or add another round", text, "rounds", name)


def _describe_open(round_state: RoundState, count: str) -> tuple[StatusLine, Next | None]:
    name = round_state.plan.round
    left = count_left_by_rater(round_state)
    missing = sum(left.values())
    sets = f", set {round_state.set} of {len(round_state.sets)}" if round_state.plan.set_size else ""
    stage = StatusLine(f"round {name}", "waiting", f"open, {count}{sets}, {count_of(missing, 'rating')} missing")
    if missing:
        rater = next(name for name, waiting in left.items() if waiting)
        text = f"Wait for {count_of(missing, 'rating')} in the round {name}"
        return stage, Next(f"quaestor ratings next {name} --as {rater}", text, "rounds", name)
    if round_state.set == len(round_state.sets):
        return stage, Next(f"quaestor round close {name}", f"Close the round {name}", "rounds", name)
    text = f"Unify the words of set {round_state.set} of {name}, then go on to the next set"
    return stage, Next(f"quaestor round next-set {name}", text, "phrases", name)


def _describe_settling(state: State, round_state: RoundState, count: str) -> tuple[StatusLine, Next | None]:
    name = round_state.plan.round
    decided = _count_decided(state, round_state)
    if not round_state.final and not is_complete(round_state):
        missing = sum(count_left_by_rater(round_state).values())
        undecided = find_undecided(state, name)
        rest = f", {len(undecided.items):,} undecided ({undecided.describe()})" if undecided else ""
        stage = StatusLine(
            f"round {name}",
            "waiting",
            f"closed, {count}, {decided:,} decided, {count_of(missing, 'rating')} missing{rest}",
        )
        text = f"Reopen the round {name} for its missing ratings, or close it as final"
        return stage, Next(f"quaestor round close {name} --final", text, "rounds", name)
    undecided = find_undecided(state, name)
    if not undecided:
        return StatusLine(f"round {name}", "done", f"settled, {count}, {decided:,} decided"), None
    detail = f"closed, {count}, {decided:,} decided, {len(undecided.items):,} undecided ({undecided.describe()})"
    stage = StatusLine(f"round {name}", "waiting", detail)
    if undecided.agreed:
        text = f"Record the decisions that the raters of {name} agree on"
        return stage, Next(f"quaestor decisions agree {name}", text, "disagreements", name)
    waiting = len(undecided.disagreements | undecided.incomplete)
    if not waiting:  # only unrated items of a final round are left, and nothing can be done about them
        return StatusLine(f"round {name}", "done", detail.replace("closed", "settled", 1)), None
    text = f"Settle {count_of(waiting, 'case')} of the round {name}"
    return stage, Next(f"quaestor decisions list {name} --open", text, "disagreements", name)


def _count_decided(state: State, round_state: RoundState) -> int:
    """Returns the number of items with a decision and nothing left to decide; cached until the next decision."""
    cached = round_state.cache.get("decided")
    if cached is None or cached[0] != round_state.decided_at:
        decided = {item for item, _ in round_state.decisions if item not in round_state.gone}
        undecided = find_undecided(state, round_state.plan.round).items
        cached = round_state.cache["decided"] = round_state.decided_at, len(decided - undecided)
    count: int = cached[1]
    return count
