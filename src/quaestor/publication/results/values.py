"""Computes the single values of findings and printed figures."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.coding.model.decisions import Undecided, list_disagreements, list_excluded
from quaestor.coding.model.decisions import list_kept as kept_items
from quaestor.coding.model.rounds import list_round_notes
from quaestor.coding.model.state import CLOSED, State
from quaestor.coding.session import CodingSession
from quaestor.evidence.item_facts import read_post_counts
from quaestor.evidence.records import FunnelResult
from quaestor.measures.association import pearson, spearman
from quaestor.measures.item_columns import ANY_VALUE
from quaestor.measures.records import Agreement
from quaestor.publication.results.item_columns import StudyResults
from quaestor.render.number_format import decimal, percent, series
from quaestor.render.table_model import Finding, Selection, Value
from quaestor.study.folder import Study
from quaestor.study.settings.publication import FindingSettings, PublishedTableSettings, ValueSettings

SIGNIFICANT = 0.05
SHARE, DAYS, NAMES = "share", "days", "names"


@dataclass(frozen=True)
class Computed:
    """The inputs of all values; None where a study lacks one."""

    study: Study
    results: StudyResults | None = None
    coding: CodingSession | None = None
    funnel: FunnelResult | None = None
    agreements: tuple[tuple[str, Agreement], ...] = ()
    """By closed round: the agreement on each of its facets."""
    undecided: tuple[Undecided, ...] = ()
    """What the rounds behind the results have not decided."""
    with_excluded: StudyResults | None = None
    """The results with excluded items, if a table counts them."""
    warnings: tuple[str, ...] = ()
    has_stale_funnel: bool = False
    """Whether the evidence, the settings or the rounds changed since the funnel ran."""

    @property
    def state(self) -> State | None:
        return self.coding.state if self.coding is not None else None

    def results_for(self, table: PublishedTableSettings) -> StudyResults:
        """Returns the items that a table counts."""
        results = self.with_excluded if table.excluded else self.results
        if results is None:
            raise StateError("nothing has been decided yet")
        return results

    def undecided_notes(self) -> list[str]:
        """Returns a sentence for each round that is not fully decided."""
        return [
            f"In the round {undecided.round} {len(undecided.items):,} "
            f"{'item is' if len(undecided.items) == 1 else 'items are'} undecided and left out: {undecided.describe()}."
            for undecided in self.undecided
        ]

    def funnel_notes(self) -> list[str]:
        """Returns a sentence if the counts of the funnel are out of date."""
        stale = "The funnel is older than the evidence, the settings or the rounds: run `quaestor funnel` again."
        return [stale] if self.has_stale_funnel else []

    def blindness_notes(self) -> list[str]:
        return list_round_notes(self.coding.state.rounds.values()) if self.coding is not None else []


def compute_value(computed: Computed, settings: ValueSettings) -> Value:
    """Computes a value and whether it supports its sentence."""
    try:
        value = _KINDS[settings.kind](computed, settings)
    except (_Missing, StateError) as error:
        value = _unknown(settings, str(error))
    except InputError as error:
        what = settings.claim or settings.name
        raise InputError(f"{computed.study.file}: the value {what!r} of a finding or quantity: {error}") from None
    if not value.known:
        return replace(value, holds=False)
    expectation = (
        computed.results.decided.get_attribute(settings.of or "")
        if settings.are and computed.results is not None
        else None
    )
    return _check_condition(
        value,
        settings,
        tuple(expectation.get_title(key) for key in settings.are) if expectation is not None else settings.are,
    )


def _unknown(settings: ValueSettings, why: str) -> Value:
    return Value(settings.name, settings.claim, "unknown", why=why)


def _conditions(where: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, tuple(keys)) for name, keys in where.items())


def _results(computed: Computed) -> StudyResults:
    if computed.results is None:
        raise _Missing("nothing has been decided yet")
    return computed.results


class _Missing(QuaestorError):
    """The study lacks an input of a value."""


def _share(computed: Computed, settings: ValueSettings) -> Value:
    decided = _results(computed).decided
    among, where = _conditions(settings.among), _conditions(settings.where)
    base, count = int(decided.build_mask(among).sum()), int(decided.build_mask((*among, *where)).sum())
    if not base:
        return _unknown(settings, "the base contains no items")
    selection = Selection((*among, *where))
    return Value(settings.name, settings.claim, percent(count / base), count / base, unit=SHARE, selection=selection)


def _count(computed: Computed, settings: ValueSettings) -> Value:
    where = (*_conditions(settings.among), *_conditions(settings.where))
    count = int(_results(computed).decided.build_mask(where).sum())
    return Value(settings.name, settings.claim, str(count), count, selection=Selection(where))


def _count_distinct(computed: Computed, settings: ValueSettings) -> Value:
    decided = _results(computed).decided
    where = (*_conditions(settings.among), *_conditions(settings.where))
    codes = decided.get_attribute(settings.of or "").codes[decided.build_mask(where)]
    count = len(np.unique(codes[codes >= 0]))
    return Value(settings.name, settings.claim, str(count), count, selection=Selection(where))


def _rank(computed: Computed, settings: ValueSettings) -> Value:
    """Ranks the values of an attribute by count, or by the median of a measure."""
    decided = _results(computed).decided
    attribute = decided.get_attribute(settings.of or "")
    chosen = decided.build_mask((*_conditions(settings.among), *_conditions(settings.where)))
    sizes: dict[str, float] = {}
    for place, key in enumerate(attribute.keys):
        mine = chosen & (attribute.codes == place)
        if settings.measure is None:
            sizes[key] = float(mine.sum())
            continue
        values = decided.get_numbers(settings.measure)[mine]
        values = values[~np.isnan(values)]
        if len(values):
            sizes[key] = float(np.median(values))
    if not sizes or not chosen.any():
        return _unknown(settings, f"no such item has a {settings.measure or settings.of}")
    order = sorted(sizes, key=lambda key: sizes[key], reverse=not settings.lowest)
    ranked = order[: settings.top]
    titles = [attribute.get_title(key) for key in ranked]
    conditions = (*_conditions(settings.among), *_conditions(settings.where), (attribute.name, tuple(ranked)))
    value = Value(settings.name, settings.claim, series(titles), names=tuple(ranked), unit=NAMES,
                  selection=Selection(conditions))  # fmt: skip
    compared = order[: settings.top + 1] if settings.in_order else order[settings.top - 1 : settings.top + 1]
    tie = next(((first, two) for first, two in pairwise(compared) if sizes[first] == sizes[two]), None)
    if tie is not None and settings.are:
        names = series([attribute.get_title(key) for key in tie])
        return replace(value, holds=False, why=f"{names} are tied, so their order is undefined")
    return value


def _median(computed: Computed, settings: ValueSettings) -> Value:
    decided = _results(computed).decided
    where = (*_conditions(settings.among), *_conditions(settings.where))
    values = decided.get_numbers(settings.measure or "")[decided.build_mask(where)]
    values = values[~np.isnan(values)]
    if not len(values):
        return _unknown(settings, f"no such item has a {settings.measure}")
    number = float(np.median(values))
    unit = DAYS if str(settings.measure).endswith("_days") else ""
    selection = Selection((*where, (settings.measure or "", (ANY_VALUE,))))
    return Value(settings.name, settings.claim, decimal(number), number, unit=unit, selection=selection)


def _correlation(computed: Computed, settings: ValueSettings) -> Value:
    decided = _results(computed).decided
    where = (*_conditions(settings.among), *_conditions(settings.where))
    chosen = decided.build_mask(where)
    printed = computed.study.settings.measures.correlation
    measure = pearson if printed == "pearson" else spearman
    correlation = measure(
        decided.get_numbers(settings.measure or "")[chosen], decided.get_numbers(settings.against or "")[chosen]
    )
    if correlation.value is None:
        return _unknown(settings, correlation.undefined)
    both = ((settings.measure or "", (ANY_VALUE,)), (settings.against or "", (ANY_VALUE,)))
    value = Value(
        settings.name,
        settings.claim,
        decimal(correlation.value),
        correlation.value,
        selection=Selection((*where, *both)),
    )
    if settings.significant and (correlation.p is None or correlation.p >= SIGNIFICANT):
        return replace(value, holds=False, why=f"p is {decimal(correlation.p, 3)}, not below {SIGNIFICANT}")
    return value


def _agreement(computed: Computed, settings: ValueSettings) -> Value:
    coding, name = _round(computed, settings)
    facet = settings.facet or coding.state.rounds[name].plan.measured
    agreement = next(
        (candidate for of, candidate in computed.agreements if of == name and candidate.facet == facet), None
    )
    if agreement is None or agreement.kappa.value is None:
        return _unknown(settings, f"the agreement of {name} is undefined")
    return Value(settings.name, settings.claim, decimal(agreement.kappa.value), agreement.kappa.value)


def _round(computed: Computed, settings: ValueSettings) -> tuple[CodingSession, str]:
    name = settings.round or ""
    state = computed.state
    if computed.coding is None or state is None or name not in state.rounds:
        raise _Missing(f"the round {name} has not been opened")
    if state.rounds[name].status != CLOSED:
        raise _Missing(f"the round {name} is still open")
    return computed.coding, name


def _count_in_round(count: Callable[[State, str], int]) -> Callable[[Computed, ValueSettings], Value]:
    def value(computed: Computed, settings: ValueSettings) -> Value:
        coding, name = _round(computed, settings)
        number = count(coding.state, name)
        return Value(settings.name, settings.claim, str(number), number)

    return value


def _count_kept(state: State, name: str) -> int:
    chosen = kept_items(state, name)
    if chosen is None:
        raise _Missing(f"the round {name} is not settled")
    return len(chosen)


def _count_excluded(state: State, name: str) -> int:
    """Counts the items that the round decided to exclude; items that nobody rated are not among them."""
    _count_kept(state, name)
    return len(list_excluded(state.rounds[name]))


def _step(computed: Computed, settings: ValueSettings) -> Value:
    steps = computed.funnel.steps if computed.funnel is not None else ()
    kept = next((step.kept for step in steps if step.step == settings.step), None)
    if kept is None:
        raise _Missing(f"the funnel has no result for the step {settings.step!r}")
    return Value(settings.name, settings.claim, str(kept), kept)


def _posts(key: str) -> Callable[[Computed, ValueSettings], Value]:
    def value(computed: Computed, settings: ValueSettings) -> Value:
        number = read_post_counts(computed.study, key)
        if number is None:
            raise _Missing("no dump has been read")
        return Value(settings.name, settings.claim, str(number), number)

    return value


_KINDS: Mapping[str, Callable[[Computed, ValueSettings], Value]] = {
    "share": _share,
    "count": _count,
    "distinct": _count_distinct,
    "rank": _rank,
    "median": _median,
    "correlation": _correlation,
    "agreement": _agreement,
    "disagreements": _count_in_round(
        lambda state, name: len({disagreement.item for disagreement in list_disagreements(state, name)})
    ),
    "round_items": _count_in_round(lambda state, name: len(state.rounds[name].items_left())),
    "sets": _count_in_round(lambda state, name: len(state.rounds[name].sets)),
    "set_size": _count_in_round(lambda state, name: state.rounds[name].plan.set_size),
    "kept": _count_in_round(_count_kept),
    "excluded": _count_in_round(_count_excluded),
    "step": _step,
    "questions": _posts("questions"),
    "answers": _posts("answers"),
}


def _check_condition(value: Value, settings: ValueSettings, titles: tuple[str, ...]) -> Value:
    """Checks a value against its condition and, if it fails, adds the expected value."""
    if not value.holds:
        return value
    if settings.are:
        same = value.names == settings.are if settings.in_order else set(value.names) == set(settings.are)
        order = " in this order" if settings.in_order else ""
        return value if same else replace(value, holds=False, why=f"expected {series(list(titles))}{order}")
    number = value.number if value.number is not None else 0.0
    tests = (
        (settings.equals, operator.eq, "equal to"),
        (settings.at_least, operator.ge, "at least"),
        (settings.at_most, operator.le, "at most"),
        (settings.more_than, operator.gt, "more than"),
        (settings.less_than, operator.lt, "less than"),
    )
    for bound, holds, words in tests:
        if bound is not None and not holds(number, bound):
            shown = percent(bound) if value.unit == SHARE else f"{bound:g}"
            return replace(value, holds=False, why=f"expected {words} {shown}")
    return value


def compute_findings(computed: Computed) -> tuple[Finding, ...]:
    """Computes every declared finding with its current values."""
    return tuple(_finding(computed, finding) for finding in computed.study.settings.findings)


def _finding(computed: Computed, settings: FindingSettings) -> Finding:
    values = tuple(compute_value(computed, value) for value in settings.values)
    sentence = settings.sentence.format(**{value.name: value.shown for value in values})
    return Finding(settings.finding, sentence, values)


def list_failures(findings: tuple[Finding, ...]) -> list[str]:
    """Returns one sentence for each value that does not support its finding."""
    return [
        f"finding {finding.finding}: {value.claim or value.name} is {value.shown}: {value.why}"
        for finding in findings
        for value in finding.values
        if not value.holds
    ]
