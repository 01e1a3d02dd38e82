"""Plans the figures of a report: which ones, and with which numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quaestor.coding.model.phrases import build_curves
from quaestor.measures.descriptive import count_pairs, summary
from quaestor.measures.item_columns import NONE
from quaestor.measures.trends import trend, yearly_shares
from quaestor.publication.results.item_columns import YEAR, StudyResults
from quaestor.publication.results.values import Computed
from quaestor.render.figures.records import (
    FigurePlan,
    ForestEstimate,
    FunnelStep,
    ProcessStage,
    ProcessStep,
    ShareColumn,
    TaxonomyPart,
    TaxonomyPoint,
    TrendLine,
    YearPoint,
    YearSeries,
)

_DAYS, _VIEWS = "response_days", "viewcount"


def _plan(kind: str, *arguments: object, **keywords: object) -> FigurePlan:
    return FigurePlan(kind, arguments, keywords)


def process_figure(computed: Computed) -> FigurePlan:
    """Draws the steps of the study with their counts: collect, code, measure."""
    stages = []
    if computed.funnel is not None:
        steps = [ProcessStep(step.step, step.kept, "posts") for step in computed.funnel.steps]
        first = computed.funnel.steps[0].entered if computed.funnel.steps else None
        stages.append(ProcessStage("Collect", (ProcessStep("all questions of the source", first, "posts"), *steps)))
    rounds = _round_steps(computed)
    if rounds:
        stages.append(ProcessStage("Code", tuple(rounds)))
    if computed.results is not None:
        stages.append(ProcessStage("Measure", tuple(_measure_steps(computed, computed.results))))
    return _plan("process", stages)


def _round_steps(computed: Computed) -> list[ProcessStep]:
    state = computed.state
    if state is None:
        return []
    steps = [
        ProcessStep(f"{name}, {len(round_state.slots)} raters", len(round_state.items_left()), "items")
        for name, round_state in state.rounds.items()
    ]
    for name, decisions in state.published.items():
        steps.append(ProcessStep(f"published decisions: {name}", len({item for item, _ in decisions}), "items"))
    return steps


def _measure_steps(computed: Computed, results: StudyResults) -> Iterator[ProcessStep]:
    yield ProcessStep("decided items", len(results.decided), "items")
    tree = results.coded.book.facets[computed.study.settings.results.tree]
    for level in tree.levels:
        codes = results.decided.get_attribute(level).codes
        yield ProcessStep(f"{level} codes in use", len(np.unique(codes[codes != NONE])), "codes")
    yield ProcessStep("tables", len(computed.study.settings.tables), "")
    if computed.study.settings.findings:
        yield ProcessStep("findings", len(computed.study.settings.findings), "")


def funnel_figure(computed: Computed) -> FigurePlan | None:
    if computed.funnel is None or not computed.funnel.steps:
        return None
    steps = computed.funnel.steps
    return _plan(
        "funnel",
        [
            FunnelStep("all questions", steps[0].entered),
            *(FunnelStep(step.step, step.kept, step.describe_sample()) for step in steps),
        ],
    )


def forest_figure(computed: Computed) -> FigurePlan | None:
    """Draws the interrater agreement of every closed round on every facet."""
    rows = [
        ForestEstimate(
            f"{name}: {agreement.facet}",
            agreement.kappa.value, agreement.kappa.low, agreement.kappa.high,
            agreement.n, agreement.band, agreement.kappa.undefined,
        )
        for name, agreement in computed.agreements
    ]  # fmt: skip
    return _plan("forest", rows) if rows else None


def discrepancy_figure(computed: Computed) -> FigurePlan | None:
    state = computed.state
    phrase = computed.study.settings.results.phrase
    name = phrase.partition(".")[0] if phrase else ""
    if state is None or name not in state.rounds:
        return None
    set_curves = build_curves(state.rounds[name])
    return _plan("discrepancy", set_curves) if set_curves else None


def by_year_figure(computed: Computed, results: StudyResults) -> FigurePlan | None:
    name = computed.study.settings.report.by_year
    if name is None:
        return None
    attribute, years = results.decided.get_attribute(name), results.decided.get_attribute(YEAR)
    counts = count_pairs(attribute.codes, len(attribute.keys), years.codes, len(years.keys))
    series = [YearSeries(title, tuple(row.tolist())) for title, row in zip(attribute.titles, counts, strict=True)]
    return _plan("by_year", [int(year) for year in years.keys], series, title=f"Posts by year and {name}")


def treemap_figure(computed: Computed, results: StudyResults) -> FigurePlan | None:
    levels = results.coded.book.facets[computed.study.settings.results.tree].levels
    if len(levels) < 2:
        return None
    return _plan(
        "treemap",
        [
            TaxonomyPart(phase, name, posts, days)
            for phase, name, posts, _, days in _objects(computed, results, levels[0], levels[1])
            if posts
        ],
    )


def _objects(
    computed: Computed, results: StudyResults, above: str, level: str
) -> Iterator[tuple[str, str, int, float | None, float | None]]:
    """Yields (phase, object, posts, median views, median days) of every object."""
    decided = results.decided
    attribute, phases = decided.get_attribute(level), decided.get_attribute(above)
    seed = computed.study.settings.study.seed
    for place, (title, parent) in enumerate(zip(attribute.titles, attribute.parents, strict=True)):
        mine = attribute.codes == place
        views, days = (summary(decided.get_numbers(name)[mine], seed).median for name in (_VIEWS, _DAYS))
        yield phases.get_title(parent), title, int(mine.sum()), views, days


def heat_map_figure(computed: Computed, results: StudyResults) -> FigurePlan | None:
    heat_map = computed.study.settings.report.heat_map
    if heat_map is None:
        return None
    rows, columns = (results.decided.get_attribute(name) for name in heat_map)
    counts = count_pairs(rows.codes, len(rows.keys), columns.codes, len(columns.keys))
    bases = counts.sum(axis=0)
    points = [
        ShareColumn(title, int(base), tuple(count / base if base else None for count in column.tolist()))
        for title, base, column in zip(columns.titles, bases.tolist(), counts.T, strict=True)
    ]
    return _plan(
        "heat_map", rows.titles, points, title=f"Share of each {heat_map[0]} among the posts of a {heat_map[1]}"
    )


def popularity_figure(computed: Computed, results: StudyResults) -> FigurePlan | None:
    levels = results.coded.book.facets[computed.study.settings.results.tree].levels
    if len(levels) < 2:
        return None
    seed = computed.study.settings.study.seed
    places = [TaxonomyPoint(*values) for values in _objects(computed, results, levels[0], levels[1]) if values[2]]
    views, days = (summary(results.decided.get_numbers(name), seed).median for name in (_VIEWS, _DAYS))
    return _plan("popularity_difficulty", places, median_views=views, median_days=days)


def trend_figure(computed: Computed, results: StudyResults) -> FigurePlan | None:
    """Draws the share of each first-level value by year."""
    level = results.coded.book.facets[computed.study.settings.results.tree].levels[0]
    attribute, years = results.decided.get_attribute(level), results.decided.get_attribute(YEAR)
    dated = years.codes != NONE
    if not years.keys:
        return None
    when = np.array([int(key) for key in years.keys], np.float64)[years.codes[dated]]
    trends = []
    for place, title in enumerate(attribute.titles):
        shares = yearly_shares(when, (attribute.codes == place)[dated])
        trend_test = trend(shares)
        points = tuple(
            YearPoint(share.year, share.share, share.low, share.high, share.of)
            for share in shares
            if share.share is not None and share.low is not None and share.high is not None
        )
        trends.append(TrendLine(title, points, trend_test.direction))
    return _plan("trend", trends, title=f"Share of each {level} by year with 95% intervals")
