"""Threats to validity that the funnel and the rounds themselves tell."""

from __future__ import annotations

from collections.abc import Iterator

from quaestor.coding.decisions import disagreements
from quaestor.coding.state import CLOSED, RoundState, State
from quaestor.measures.records import Agreement
from quaestor.publish.shown import decimal, percent, series
from quaestor.study.results.decided import Results
from quaestor.study.results.placements import placements_of
from quaestor.study.results.values import Computed


def threats_of(computed: Computed) -> tuple[str, ...]:
    """What the study's own numbers warn of, then what the lead wrote."""
    return (
        *_of_selection(computed),
        *_of_raters(computed),
        *_of_results(computed),
        *computed.study.settings.report.threats,
    )


def _of_selection(computed: Computed) -> Iterator[str]:
    if computed.funnel is None or not computed.funnel.steps:
        return
    steps = computed.funnel.steps
    last = steps[-1].kept
    yield (
        f"Selection: the funnel kept {last:,} of {steps[0].entered:,} questions ({percent(last / steps[0].entered)}) "
        f"in {len(steps)} steps; what it dropped is listed step by step."
        if steps[0].entered
        else "Selection: the source holds no question."
    )
    for step, asked in zip(steps, computed.study.settings.funnel.steps, strict=False):
        if asked.accepted_answer and step.entered:
            yield (
                f"Selection: questions without an accepted answer ({step.dropped:,}, "
                f"{percent(step.dropped / step.entered)} of those that came so far) are left out, and with them "
                "perhaps the hardest: how long they would take is unknown."
            )
        if (asked.kind or asked.not_kind) and step.entered:
            yield (
                f"Selection: the step “{step.step}” goes by patterns in the wording and kept "
                f"{percent(step.kept / step.entered)}; a question worded otherwise is missed."
            )
    if computed.funnel.note:
        yield f"Selection: {computed.funnel.note}."


def _of_raters(computed: Computed) -> Iterator[str]:
    state = computed.state
    if state is None or not state.rounds:
        return
    simulated = [name for name, one in state.rounds.items() if any(rating.simulated for rating in one.all_ratings())]
    if len(simulated) == len(state.rounds):
        yield "Judgement: all raters were simulated, so nothing is learnt about people from them."
    elif simulated:
        yield f"Judgement: the raters of {series(simulated)} were simulated: nothing is learnt about people from them."
    for note in computed.blindness_notes():
        yield f"Judgement: {note[0].lower()}{note[1:]}"
    for name, one in state.rounds.items():
        if one.status == CLOSED:
            yield _of_round(computed, state, name, one)
        else:
            yield f"Judgement: the round {name} is still open, its numbers may change."


def _of_round(computed: Computed, state: State, name: str, one: RoundState) -> str:
    """One sentence on a closed round: how alike its raters judged, and what became of their differences."""
    said = [_alike(found) for of, found in computed.agreements if of == name]
    found = disagreements(state, name)
    cases = {case.item for case in found}
    unsettled = len({case.item for case in found if case.decision is None})
    rest = f", {unsettled:,} of them not settled" if unsettled else ""
    differed = f"; they differed on {len(cases):,} of {len(one.plan.items):,} items{rest}" if cases else ""
    return f"Judgement: in {name} {len(one.seats)} raters reached {series(said)}{differed}."


def _alike(found: Agreement) -> str:
    value = found.kappa
    if value.value is None:
        return f"no defined kappa on {found.facet} ({value.undefined})"
    bounds = f", 95% CI {decimal(value.low)} to {decimal(value.high)}" if value.low is not None else ""
    return f"a kappa of {decimal(value.value)} on {found.facet} ({found.band}{bounds})"


def _of_results(computed: Computed) -> Iterator[str]:
    results = computed.results
    if results is None:
        return
    yield from _left_out(results)
    partly = [one for one in placements_of(computed) if one.unplaced and one.share is not None]
    if partly:
        told = [f"{percent(one.share)} of table {one.table}" for one in partly]
        yield f"Measurement: words place only {series(told)} in a line; the others are counted as placed by no words."


def _left_out(results: Results) -> Iterator[str]:
    for why, count in results.coded.left_out.items():
        yield f"Measurement: {count:,} kept items have no final code: {why}."
    if results.coded.rejected:
        yield (
            f"Measurement: {results.coded.rejected:,} items keep their code although the raters rejected the triplet, "
            "because no other code was named."
        )
    if results.unknown:
        yield f"Measurement: {results.unknown:,} decided items are not in evidence and not counted."
    if results.coded.source:
        yield f"Judgement: codes are those published in {results.coded.source}; who rated how is not known."
