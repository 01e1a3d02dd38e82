"""Derives threats to validity from the funnel and the rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from quaestor.coding.model.decisions import list_disagreements
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.measures.item_columns import NONE
from quaestor.measures.records import Agreement
from quaestor.publication.results.count_tables import can_be_placed, select_part
from quaestor.publication.results.item_columns import StudyResults
from quaestor.publication.results.values import Computed
from quaestor.render.number_format import decimal, percent, series
from quaestor.study.settings.publication import PublishedTableSettings


@dataclass(frozen=True)
class UnplacedItem:
    """An item whose phrase fits no row of a table."""

    item: str
    label: str
    why: str
    title: str = ""
    link: str = ""


@dataclass(frozen=True)
class Placement:
    """How many items of a table their phrases place in one of its rows."""

    table: str
    items: int
    placed: int
    unplaced: tuple[UnplacedItem, ...] = ()

    @property
    def share(self) -> float | None:
        return self.placed / self.items if self.items else None


def count_placements(computed: Computed) -> tuple[Placement, ...]:
    """Returns one placement for each table that counts unplaced items."""
    results = computed.results
    if results is None:
        return ()
    tables = [table for table in computed.study.settings.tables if table.unplaced]
    return tuple(_placement(results, table) for table in tables)


def _placement(results: StudyResults, settings: PublishedTableSettings) -> Placement:
    part = select_part(results, settings).decided
    part = part.select(part.build_mask(can_be_placed(part, settings)))
    codes = part.get_attribute(settings.rows[-1]).codes
    missing = [item for item, code in zip(part.items, codes, strict=True) if code == NONE]
    placed = len(part) - len(missing)
    return Placement(
        settings.table,
        len(part),
        placed,
        tuple(_describe_unplaced(results, item, _facet(results, settings)) for item in missing),
    )


def _facet(results: StudyResults, settings: PublishedTableSettings) -> str:
    facets = results.coded.book.facets.values()
    return next((facet.id for facet in facets if settings.rows[-1] in facet.levels), "")


def _describe_unplaced(results: StudyResults, item: str, facet: str) -> UnplacedItem:
    coded, known = results.coded.items[item], results.known[item]
    verb, thing = coded.phrase
    label = ", ".join(part for part in (verb, thing, results.coded.book.path_name(coded.code)) if part)
    return UnplacedItem(item, label, coded.whys.get(facet, ""), known.title, known.link)


def list_threats(computed: Computed) -> tuple[str, ...]:
    """Returns the threats derived from the numbers, then those written by the lead."""
    return (
        *_list_selection_threats(computed),
        *_list_rater_threats(computed),
        *_list_result_threats(computed),
        *computed.study.settings.report.threats,
    )


def _list_selection_threats(computed: Computed) -> Iterator[str]:
    if computed.funnel is None or not computed.funnel.steps:
        return
    steps = computed.funnel.steps
    last, entered = steps[-1].kept, steps[0].entered
    not_drawn = sum(step.sampled.not_drawn for step in steps if step.sampled)
    if not entered:
        yield "Selection: the source contains no questions."
    elif not_drawn:
        yield (
            f"Selection: the funnel kept {last:,} of {entered:,} items; {not_drawn:,} were not drawn for a round, so "
            "nobody looked at them; dropped items are listed step by step."
        )
    else:
        yield (
            f"Selection: the funnel kept {last:,} of {entered:,} questions ({percent(last / entered)}) "
            f"in {len(steps)} steps; dropped questions are listed step by step."
        )
    for step in steps:
        if step.sampled:
            yield f"Selection: the step “{step.step}” looked at a sample: {step.describe_sample()}."
    for step, step_settings in zip(steps, computed.study.funnel.steps, strict=False):
        if step_settings.accepted_answer and step.entered:
            yield (
                f"Selection: questions without an accepted answer ({step.dropped:,}, "
                f"{percent(step.dropped / step.entered)} of those that reached this step) are excluded, and with them "
                "perhaps the hardest; their time to an answer is unknown."
            )
        if (step_settings.kind or step_settings.not_kind) and step.entered:
            yield (
                f"Selection: the step “{step.step}” uses text patterns and kept "
                f"{percent(step.kept / step.entered)}; questions with other wordings are missed."
            )
    yield from _describe_coverage(computed, last)
    if computed.funnel.note:
        yield f"Selection: {computed.funnel.note}."


def _describe_coverage(computed: Computed, candidates: int) -> Iterator[str]:
    """Yields how many of the funnel's items the rounds behind the results cover, if those are fewer than all."""
    rounds = computed.state.rounds if computed.state else {}
    names = [value.partition(".")[0] for value in computed.study.settings.results.code]
    coded = len({item for name in names if name in rounds for item in rounds[name].plan.items})
    if not 0 < coded < candidates:
        return
    sentence = f"Selection: {coded:,} of the {candidates:,} items that the funnel kept were coded"
    planned = [settings for settings in computed.study.settings.rounds if settings.round in names]
    if planned and all(not (part.items.kept_by or part.items.again or part.items.where) for part in planned):
        correction = (candidates - coded) / max(candidates - 1, 1)
        margin = NormalDist().inv_cdf(0.975) * math.sqrt(0.25 / coded * correction)
        points = decimal(100 * margin, 1)
        sentence += f", drawn at random: the margin of error of a share is at most {points} percentage points (95 %)"
    yield f"{sentence}."


def _list_rater_threats(computed: Computed) -> Iterator[str]:
    state = computed.state
    if state is None or not state.rounds:
        return
    simulated = [
        name
        for name, round_state in state.rounds.items()
        if any(rating.simulated for rating in round_state.all_ratings())
    ]
    if len(simulated) == len(state.rounds):
        yield "Judgement: all raters were simulated, so the results say nothing about people."
    elif simulated:
        yield f"Judgement: the raters of {series(simulated)} were simulated, so they say nothing about people."
    for note in (*computed.undecided_notes(), *computed.blindness_notes()):
        yield f"Judgement: {note[0].lower()}{note[1:]}"
    for name, round_state in state.rounds.items():
        if round_state.status == CLOSED:
            yield _describe_round(computed, state, name, round_state)
        else:
            yield f"Judgement: the round {name} is still open, so its numbers may change."


def _describe_round(computed: Computed, state: State, name: str, round_state: RoundState) -> str:
    """Describes a closed round: how well its raters agreed, and how many disagreements were settled."""
    sentences = [
        _describe_agreement(agreement, round_state.plan.statistic, len(round_state.items_left()))
        for of, agreement in computed.agreements
        if of == name
    ]
    disputed = list_disagreements(state, name)
    cases = {case.item for case in disputed}
    unsettled = len({case.item for case in disputed if case.decision is None})
    rest = f", {unsettled:,} of them unsettled" if unsettled else ""
    differed = f"; they disagreed on {len(cases):,} of {len(round_state.items_left()):,} items{rest}" if cases else ""
    return f"Judgement: in {name} {len(round_state.slots)} raters reached {series(sentences)}{differed}."


def _describe_agreement(agreement: Agreement, statistic: str, items: int) -> str:
    """Describes an agreement by the statistic that its round reports; Landis and Koch's bands are for kappa only.

    The base is stated if raters did not answer the question for every item of the round.
    """
    value = agreement.estimates[statistic]
    if value.value is None:
        return f"no defined {statistic} on {agreement.facet} ({value.undefined})"
    band = agreement.bands.get(statistic, "")
    bounds = f"95% CI {decimal(value.low)} to {decimal(value.high)}" if value.low is not None else ""
    base = f"over {agreement.n:,} of {items:,} items" if agreement.n < items else ""
    notes = ", ".join(filter(None, (band, bounds, base)))
    article = "an" if statistic[0] in "aeiou" else "a"
    return f"{article} {statistic} of {decimal(value.value)} on {agreement.facet}" + (f" ({notes})" if notes else "")


def _list_result_threats(computed: Computed) -> Iterator[str]:
    results = computed.results
    if results is None:
        return
    yield from _list_left_out(results)
    partly = [
        placement for placement in count_placements(computed) if placement.unplaced and placement.share is not None
    ]
    if partly:
        shares = [f"{percent(placement.share)} of table {placement.table}" for placement in partly]
        yield f"Measurement: phrases place only {series(shares)} in a row; the other items are counted as not placed."


def _list_left_out(results: StudyResults) -> Iterator[str]:
    for why, count in results.coded.left_out.items():
        yield f"Measurement: {count:,} kept items have no final code: {why}."
    if results.coded.rejected:
        yield (
            f"Measurement: {results.coded.rejected:,} items keep their code although the raters rejected the triplet, "
            "because they named no other code."
        )
    if results.coded.excluded:
        yield f"Measurement: {results.coded.excluded:,} coded items are not counted because raters excluded them."
    if results.unknown:
        yield f"Measurement: {results.unknown:,} decided items are missing from the evidence and not counted."
    if results.coded.source:
        yield f"Judgement: codes are those published in {results.coded.source}; the individual ratings are unknown."
