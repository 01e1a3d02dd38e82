"""Where the codebook and the rounds of a study stand, and what comes next in them."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.coding.decisions import decided, disagreements
from quaestor.coding.rounds import missing
from quaestor.coding.state import OPEN, RoundState, State
from quaestor.study.agreement import round_agreement, statistic
from quaestor.study.codebook import CODEBOOK_FILE
from quaestor.study.coding import open_coding
from quaestor.study.folder import Study
from quaestor.study.journal import has_journal


@dataclass(frozen=True)
class Stage:
    """One part of the study's way: its state in a word, and in a sentence."""

    name: str
    state: str  # done, doubtful, stale, waiting, none
    detail: str


def coding_stages(study: Study) -> tuple[list[Stage], str]:
    """A stage for the codebook and for each round, and the next thing to do; nothing where no round is planned."""
    if not study.settings.rounds:
        return [], ""
    state = State()
    if has_journal(study):
        with open_coding(study) as coding:
            state = coding.state
    stages, following = [], ""
    needed = any(facet.codes for facet in study.settings.facets.values())
    book = state.history.latest
    if needed:
        known = book.version > 0
        there = f"{CODEBOOK_FILE} is there, not imported yet" if (study.root / CODEBOOK_FILE).exists() else "none yet"
        detail = f"version {book.version}, {sum(code.active for code in book.codes.values())} codes" if known else there
        stages.append(Stage("codebook", "done" if known else "waiting", detail))
        following = "" if known else "quaestor codebook import"
    for settings in study.settings.rounds:
        one = state.rounds.get(settings.round)
        stage, then = _round(state, one) if one else _unopened(settings.round)
        stages.append(stage)
        following = following or then
    return stages, following


def _unopened(name: str) -> tuple[Stage, str]:
    return Stage(f"round {name}", "waiting", "not opened yet"), f"quaestor round open {name}"


def _round(state: State, one: RoundState) -> tuple[Stage, str]:
    name = one.plan.round
    note = ", simulated raters" if any(rating.simulated for rating in one.all_ratings()) else ""
    count = f"{len(one.plan.items):,} items{note}"
    if one.status == OPEN:
        left = missing(one)
        sets = f", set {one.set} of {len(one.sets)}" if one.plan.set_size else ""
        stage = Stage(f"round {name}", "waiting", f"open, {count}{sets}, {len(left):,} ratings missing")
        if left:
            return stage, f"quaestor ratings next {name} --as {left[0][0]}"
        last = one.set == len(one.sets)
        return stage, f"quaestor round close {name}" if last else f"quaestor round next-set {name}"
    if one.plan.threshold is not None and not one.waived:
        value = statistic(round_agreement(state, name, one.plan.measured), one.plan.statistic).value
        if value is None or value < one.plan.threshold:
            reached = "undefined" if value is None else f"{value:.2f}"
            words = f"closed, {count}, {one.plan.statistic} {reached} misses its {one.plan.threshold:g}"
            return Stage(f"round {name}", "doubtful", words), f"quaestor agreement --round {name}"
    if one.plan.kind == "pilot":
        return Stage(f"round {name}", "done", f"closed, {count}"), ""
    waiting = sum(found.decision is None for found in disagreements(state, name))
    made = max((len(decided(state, name, facet.id)) for facet in one.plan.facets), default=0)
    if waiting or not made:
        more = f", {waiting:,} disagreements open" if made else ""
        detail = f"closed, {count}, {made:,} decided{more}"
        then = f"quaestor decisions list {name} --open" if made else f"quaestor decisions agree {name}"
        return Stage(f"round {name}", "waiting", detail), then
    return Stage(f"round {name}", "done", f"settled, {count}, {made:,} decided"), ""
