"""Builds every kind of table, including the effect of the accepted-answer filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, sort_by_similarity, suggest
from quaestor.evidence.facts_cache import find_arrays
from quaestor.evidence.funnel import dropped_at_file
from quaestor.evidence.item_facts import read_questions_at_step
from quaestor.measures.descriptive import share, summary
from quaestor.measures.group_comparison import cliffs_delta
from quaestor.measures.item_columns import Flags, Floats
from quaestor.publication.results.count_tables import base_note, counts_table, order_values, select_part, stub_title
from quaestor.publication.results.item_columns import StudyResults
from quaestor.publication.results.median_tables import measure_title, medians_table, summaries_table
from quaestor.publication.results.relation_tables import (
    association_table,
    comparison_table,
    correlations_table,
    measures_table,
    trends_table,
)
from quaestor.render.number_format import ABSENT, decimal, interval, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.study.folder import Study
from quaestor.study.session import Session
from quaestor.study.settings.publication import PublishedTableSettings

TABLE_KINDS: dict[str, Callable[[Study, StudyResults, PublishedTableSettings, Session[Any] | None], Table]] = {
    "counts": lambda study, results, settings, session: counts_table(results, settings),
    "codes": lambda study, results, settings, session: codes_table(results, settings),
    "medians": lambda study, results, settings, session: medians_table(results, settings, study.settings.study.seed),
    "summaries": lambda study, results, settings, session: summaries_table(
        results, settings, study.settings.study.seed
    ),
    "correlations": lambda study, results, settings, session: correlations_table(
        results, settings, study.settings.measures.correlation
    ),
    "measures": lambda study, results, settings, session: measures_table(results, settings),
    "comparison": lambda study, results, settings, session: comparison_table(results, settings),
    "association": lambda study, results, settings, session: association_table(
        results, settings, study.settings.study.seed
    ),
    "trends": lambda study, results, settings, session: trends_table(results, settings),
    "filter": lambda study, results, settings, session: filter_table(study, settings, session),
}
"""Builder for each kind of table."""


def make_table(
    study: Study, results: StudyResults, settings: PublishedTableSettings, session: Session[Any] | None = None
) -> Table:
    """Builds one table; raises StateError if the study lacks what it needs. A session saves reading the journal."""
    try:
        return TABLE_KINDS[settings.kind](study, results, settings, session)
    except InputError as error:
        raise InputError(f"{study.file}: table {settings.table}: {error}") from None


def codes_table(results: StudyResults, settings: PublishedTableSettings) -> Table:
    """Lists the codes of a level with their definitions."""
    part = select_part(results, settings)
    attribute = part.decided.get_attribute(settings.rows[-1])
    book = results.coded.book
    codes = {cited: book.codes[code] for code, cited in results.keys.items()}
    codes = {**book.codes, **codes}  # codes of other facets are cited by their ids
    if not all(key in codes for key in attribute.keys):
        levels = join_with_or(level for facet in book.facets.values() for level in facet.levels)
        raise InputError(f"{attribute.name} is not a level of the codebook; choose from: {levels}")
    rows = []
    for key in order_values(part, settings, attribute):
        selection = part.selection.narrow(attribute.name, key)
        count = int(part.decided.build_mask(((attribute.name, (key,)),)).sum())
        cells = (Cell((codes[key].definition,)), Cell((whole(count),), (count,), selection))
        rows.append(Row(key, codes[key].name, cells))
    columns = (Column("definition", "Definition", numeric=False), Column("posts", "Posts"))
    notes = tuple(note for note in (base_note(part, results), settings.note) if note)
    return Table(settings.table, settings.title, stub_title(settings), columns, (Group("", tuple(rows)),), notes=notes)


def items_of_cell(study: Study, results: StudyResults, cell: str) -> tuple[list[str], Selection]:
    """Returns the items behind `TABLE:ROW:COLUMN` and the selection that finds them."""
    table_id, _, rest = cell.partition(":")
    settings = {table_settings.table: table_settings for table_settings in study.settings.tables}
    table = make_table(study, results, settings[table_id]) if table_id in settings else None
    columns = [table_column.key for table_column in table.columns] if table is not None else []
    # Row and column keys may contain colons, so the split is where the rest is a column of the table.
    column = next((key for key in columns if rest.endswith(f":{key}")), rest.rpartition(":")[2])
    row = rest[: -len(column) - 1]
    if not row or not column:
        raise InputError(
            f"{cell!r} is not a cell: write TABLE:ROW:COLUMN, as the addresses of numbers in the report do"
        )
    if table is None:
        raise InputError(f"there is no table {table_id!r}; choose from: {suggest(table_id, settings)}")
    rows = [table_row.key for table_row in table.rows()]
    for what, key, allowed in (("row", row, rows), ("column", column, columns)):
        if key not in allowed:
            options = sort_by_similarity(key, allowed)
            shown = join_with_or(options[:6]) + (" …" if len(options) > 6 else "")
            raise InputError(f"table {table_id} has no {what} {key!r}; choose from: {shown}")
    counted = table.cell(row, column)
    if counted is None or counted.selection is None:
        raise StateError(f"the cell {cell} is not a count of decided items, so no items can be listed")
    return results.decided.list_matching(counted.selection.conditions), counted.selection


_DAY = 86_400.0
_SHARES = {"accepted": "Never accepted", "answered": "Never answered"}


@dataclass(frozen=True)
class Population:
    """Questions that reached the filter, and which of them it kept."""

    step: str
    passed: Flags
    numbers: Mapping[str, Floats]
    accepted: Flags
    answered: Flags


def population_at_filter(study: Study, session: Session[Any] | None = None) -> Population:
    """Returns the questions that reached the step that requires an accepted answer."""
    steps = study.funnel.steps
    number = next((place for place, step in enumerate(steps) if step.accepted_answer), None)
    if number is None:
        raise StateError("no step of the funnel requires an accepted answer, so there is nothing to compare")

    def read() -> dict[str, Floats]:
        columns = read_questions_at_step(study, number, session)
        created = _moments(columns["creation_date"])
        return {
            "viewcount": _floats(columns["view_count"]),
            "score": _floats(columns["score"]),
            "response_days": (_moments(columns["accepted_answer_date"]) - created) / _DAY,
            "first_answer_days": (_moments(columns["first_answer_date"]) - created) / _DAY,
            "dropped_at": _floats(columns["fell_at"]),
        }

    numbers = dict(find_arrays(study, "questions-at-filter", lambda: dropped_at_file(study, session), number, read))
    passed = numbers.pop("dropped_at") > number
    accepted, first = (~np.isnan(numbers[name]) for name in ("response_days", "first_answer_days"))
    decimals = study.settings.measures.days_decimals
    if decimals is not None:
        rounded = {name: np.round(values, decimals) for name, values in numbers.items() if name.endswith("_days")}
        numbers |= rounded
    return Population(steps[number].step, passed, numbers, accepted, first)


def _moments(column: object) -> Floats:
    """Converts times to seconds, NaN where missing."""
    times = np.asarray(column.to_numpy(zero_copy_only=False), "datetime64[ms]")  # type: ignore[attr-defined]
    seconds = times.astype(np.float64) / 1000
    seconds[np.isnat(times)] = np.nan
    return seconds


def _floats(column: object) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)  # type: ignore[attr-defined]


def filter_table(study: Study, settings: PublishedTableSettings, session: Session[Any] | None = None) -> Table:
    """Compares medians and shares of the questions without and with the filter."""
    population, seed = population_at_filter(study, session), study.settings.study.seed
    sides = (("without", "Without the filter"), ("with", "With the filter"))
    parts = (("n", "n"), ("value", "Value"), ("ci", "95% CI"))
    columns = (
        *(Column(f"{side}_{part}", title, spanner=words) for side, words in sides for part, title in parts),
        Column("delta", "Cliff's δ", spanner="Dropped vs. kept"),
    )
    rows = []
    for measure in settings.measures:
        if measure not in population.numbers:
            raise InputError(f"there is no measure {measure!r}; choose from: {suggest(measure, population.numbers)}")
        values = population.numbers[measure]
        cells: list[Cell] = []
        for chosen in (values, values[population.passed]):
            numbers = summary(chosen, seed)
            cells += [
                Cell((whole(numbers.n),), (numbers.n,)),
                Cell((decimal(numbers.median),), (numbers.median,)),
                Cell((interval(numbers.low, numbers.high),)),
            ]
        delta = cliffs_delta(values[~population.passed], values[population.passed])
        cells.append(Cell((decimal(delta.value),), (delta.value,)))
        rows.append(Row(measure, f"{measure_title(measure)}, median", tuple(cells)))
    for name, flags in (("accepted", population.accepted), ("answered", population.answered)):
        cells = []
        for flags_here in (flags, flags[population.passed]):
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
        f"Base: {len(population.passed)} questions that reached the step “{population.step}”; it kept "
        f"{int(population.passed.sum())} of them; raters saw only those, so only they have codes.",
        settings.note,
    )
    group = Group("", tuple(rows))
    return Table(
        settings.table, settings.title, settings.stub or "measure", columns, (group,), notes=tuple(filter(None, notes))
    )
