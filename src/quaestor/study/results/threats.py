"""Threats to validity that the funnel and the rounds themselves tell."""

from __future__ import annotations

from collections.abc import Iterator

from quaestor.coding.decisions import disagreements
from quaestor.coding.state import CLOSED, RoundState, State
from quaestor.publish.shown import decimal, percent
from quaestor.study.results.decided import Results
from quaestor.study.results.placements import placements_of
from quaestor.study.results.values import Computed

_LOW = 0.6
"""Below it an agreement is at most moderate."""


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
                f"Questions without an accepted answer ({step.dropped:,}, {percent(step.dropped / step.entered)} of "
                "those that came so far) are left out, and with them perhaps the hardest: how long they would take is "
                "unknown."
            )
        if (asked.kind or asked.not_kind) and step.entered:
            yield (
                f"The step “{step.step}” goes by patterns in the wording and kept {percent(step.kept / step.entered)}; "
                "a question worded otherwise is missed."
            )
    if computed.funnel.note:
        yield f"{computed.funnel.note[:1].upper()}{computed.funnel.note[1:]}."


def _of_raters(computed: Computed) -> Iterator[str]:
    state = computed.state
    if state is None:
        return
    for name, one in state.rounds.items():
        if one.status == CLOSED:
            yield from _of_round(computed, state, name, one)
        else:
            yield f"The round {name} is still open: its numbers may change."


def _of_round(computed: Computed, state: State, name: str, one: RoundState) -> Iterator[str]:
    open_cases = disagreements(state, name)
    for found in (found for of, found in computed.agreements if of == name):
        value = found.kappa
        if value.value is None:
            yield f"Agreement in {name} on {found.facet} is not defined: {value.undefined}."
            continue
        bounds = f" (95% CI {decimal(value.low)} to {decimal(value.high)})" if value.low is not None else ""
        words = "subjective judgement weighs here" if value.value < _LOW else "raters mostly judged alike"
        yield (
            f"Subjectivity: in {name}, {len(found.raters)} raters reached a kappa of {decimal(value.value)}{bounds} on "
            f"{found.facet}, {found.band}; {words}."
        )
    unsettled = sum(case.decision is None for case in open_cases)
    if open_cases:
        rest = f", {unsettled} of them not yet settled" if unsettled else ""
        yield f"In {name} the raters differed on {len(open_cases):,} items{rest}."
    if any(rating.simulated for rating in one.all_ratings()):
        yield f"The raters of {name} were simulated: nothing is learnt about people from them."


def _of_results(computed: Computed) -> Iterator[str]:
    results = computed.results
    if results is None:
        return
    yield from _left_out(results)
    for placement in placements_of(computed):
        if placement.unplaced and placement.share is not None:
            yield (
                f"Table {placement.table}: words place {percent(placement.share)} of its items in a line; "
                f"{len(placement.unplaced)} are placed in none."
            )


def _left_out(results: Results) -> Iterator[str]:
    for why, count in results.coded.left_out.items():
        yield f"{count:,} kept items have no final code: {why}."
    if results.coded.rejected:
        yield (
            f"{results.coded.rejected:,} items keep their code although the raters rejected the triplet, because no "
            "other code was named."
        )
    if results.unknown:
        yield f"{results.unknown:,} decided items are not in evidence and not counted."
    if results.coded.source:
        yield f"Codes are those published in {results.coded.source}; who rated how is not known."
