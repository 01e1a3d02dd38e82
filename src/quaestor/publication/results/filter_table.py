"""What the accepted-answer filter does to the results: popularity and answers before and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.evidence.item_facts import read_questions_at_step
from quaestor.measures.descriptive import share, summary
from quaestor.measures.group_comparison import cliffs_delta
from quaestor.measures.item_columns import Flags, Floats
from quaestor.publication.results.median_tables import title_of
from quaestor.render.number_format import ABSENT, decimal, interval, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.study.folder import Study
from quaestor.study.settings.publication import PublishedTableSettings

_DAY = 86_400.0
_SHARES = {"accepted": "Never accepted", "answered": "Never answered"}


@dataclass(frozen=True)
class Population:
    """Questions as they came to the filter, and which of them it let through."""

    step: str
    passed: Flags
    numbers: Mapping[str, Floats]
    accepted: Flags
    answered: Flags


def population_at_filter(study: Study) -> Population:
    """The questions that reached the step which asks for an accepted answer."""
    steps = study.settings.funnel.steps
    number = next((place for place, step in enumerate(steps) if step.accepted_answer), None)
    if number is None:
        raise StateError("no step of the funnel asks for an accepted answer, so there is no filter to compare with")
    columns = read_questions_at_step(study, number)
    created = _moments(columns["creation_date"])
    decimals = study.settings.measures.days_decimals
    accepted = (_moments(columns["accepted_answer_date"]) - created) / _DAY
    first = (_moments(columns["first_answer_date"]) - created) / _DAY
    numbers = {
        "viewcount": _floats(columns["view_count"]),
        "score": _floats(columns["score"]),
        "response_days": accepted if decimals is None else np.round(accepted, decimals),
        "first_answer_days": first if decimals is None else np.round(first, decimals),
    }
    passed = np.asarray(columns["fell_at"].to_numpy()) > number
    return Population(steps[number].step, passed, numbers, ~np.isnan(accepted), ~np.isnan(first))


def _moments(column: object) -> Floats:
    """Seconds, NaN where there is none."""
    times = np.asarray(column.to_numpy(zero_copy_only=False), "datetime64[ms]")  # type: ignore[attr-defined]
    seconds = times.astype(np.float64) / 1000
    seconds[np.isnat(times)] = np.nan
    return seconds


def _floats(column: object) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)  # type: ignore[attr-defined]


def filter_table(study: Study, asked: PublishedTableSettings, seed: int) -> Table:
    """Medians and shares of the questions without the filter, and with it."""
    found = population_at_filter(study)
    sides = (("without", "Without the filter"), ("with", "With the filter"))
    parts = (("n", "n"), ("value", "Value"), ("ci", "95% CI"))
    columns = (
        *(Column(f"{side}_{part}", title, spanner=words) for side, words in sides for part, title in parts),
        Column("delta", "Cliff's δ", spanner="Dropped against kept"),
    )
    rows = []
    for measure in asked.measures:
        if measure not in found.numbers:
            raise InputError(
                f"there is no measure {measure!r}, allowed: {join_with_or(sort_by_similarity(measure, found.numbers))}"
            )
        values = found.numbers[measure]
        cells: list[Cell] = []
        for chosen in (values, values[found.passed]):
            one = summary(chosen, seed)
            cells += [
                Cell((whole(one.n),), (one.n,)),
                Cell((decimal(one.median),), (one.median,)),
                Cell((interval(one.low, one.high),)),
            ]
        delta = cliffs_delta(values[~found.passed], values[found.passed])
        cells.append(Cell((decimal(delta.value),), (delta.value,)))
        rows.append(Row(measure, f"{title_of(measure)}, median", tuple(cells)))
    for name, flags in (("accepted", found.accepted), ("answered", found.answered)):
        cells = []
        for flags_here in (flags, flags[found.passed]):
            one_share = share(int((~flags_here).sum()), len(flags_here))
            bounds = [None if bound is None else 100 * bound for bound in (one_share.low, one_share.high)]
            cells += [
                Cell((whole(len(flags_here)),), (len(flags_here),)),
                Cell((percent(one_share.value),), (one_share.value,)),
                Cell((interval(bounds[0], bounds[1], 1),)),
            ]
        cells.append(Cell((ABSENT,)))
        rows.append(Row(f"never_{name}", _SHARES[name], tuple(cells)))
    notes = (
        f"Base: {len(found.passed)} questions that came to the step “{found.step}”, {int(found.passed.sum())} of which "
        "it kept; raters saw only those, so codes are known of them alone.",
        asked.note,
    )
    group = Group("", tuple(rows))
    return Table(asked.table, asked.title, asked.stub or "measure", columns, (group,), notes=tuple(filter(None, notes)))
