"""Computes interrater agreement of rounds and of rating files; `measures` has the statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.names import count_of, join_with_or, sort_by_similarity, suggest
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.base import allowed_choices
from quaestor.coding.model.ratings import ComparedLabel, NotAsked, list_drift_labels, list_labels
from quaestor.coding.model.records import CANNOT_JUDGE, EVIDENCE
from quaestor.coding.model.state import State
from quaestor.evidence.table_rows import read_header, read_rows
from quaestor.measures.agreement import RatingTable, agreement, build_rating_table, build_set_table, to_json
from quaestor.measures.records import Agreement, Estimate, Scale

__all__ = [
    "Agreement",
    "AskedItems",
    "Estimate",
    "FacetScale",
    "RatingTable",
    "RatingsFile",
    "Scale",
    "build_table",
    "compute_agreement",
    "compute_file_agreement",
    "compute_round_agreement",
    "count_asked",
    "find_estimate",
    "find_facet_scale",
    "to_json",
]


@dataclass(frozen=True)
class RatingsFile:
    """A CSV, TSV or XLSX file with one row for each item and rater, and the names of its columns."""

    path: Path
    item: str = "item"
    rater: str = "rater"
    separator: str | None = None
    """Separates the codes in a cell if an item may have several."""


@dataclass(frozen=True)
class _Row:
    item: str
    rater: str
    labels: tuple[str, ...]


def compute_round_agreement(
    state: State,
    name: str,
    facet: str,
    *,
    version: int | None = None,
    level: str = "",
    against: str = "",
    seed: int = 0,
) -> Agreement:
    """Computes the agreement of a round on one facet from its ratings, under any version of the codebook.

    With `against`, it is the agreement of each rater with their own ratings in that earlier round.
    """
    scale = find_facet_scale(state, name, facet, version=version, level=level)
    if against and facet not in [other.id for other in state.round(against).plan.facets]:
        raise InputError(f"the round {against!r} has no facet {facet!r}: it cannot be compared with {name!r}")
    if against:  # the unit is then an item of one rater, not an item of the round
        scale = replace(scale, optional_of=0, asked_by="in both rounds")
    labels = (
        list_drift_labels(state, name, against, facet) if against else list_labels(state, name, facet, version, level)
    )
    return compute_agreement(scale, build_table(scale, labels), count_asked(labels), seed=seed)


@dataclass(frozen=True)
class FacetScale:
    """What computing agreement on a facet needs in addition to the labels."""

    facet: str
    several: bool
    """Whether an item may have several codes."""
    scale: Scale
    order: tuple[str, ...]
    first_used_first: bool = False
    """Whether labels are words that a withdrawal can erase, so that no statistic may depend on their order."""
    optional_of: int = 0
    """For an optional facet of a round: the number of items of the round."""
    condition: str = ""
    """For a facet that is asked under a condition: the condition."""
    asked_by: str = "by all raters"


def find_facet_scale(state: State, name: str, facet: str, *, version: int | None = None, level: str = "") -> FacetScale:
    """Returns the scale of a facet; raises InputError if the round lacks the facet, the version or the level."""
    round_state = state.round(name)
    names = [facet_plan.id for facet_plan in round_state.plan.facets]
    if facet not in names:
        raise InputError(f"the round {name!r} has no facet {facet!r}; choose from: {suggest(facet, names)}")
    facet_plan = round_state.plan.facet(facet)
    kind = find_kind(facet_plan)
    if not kind.is_compared:
        raise InputError(f"{facet!r} is free text, for which agreement is not computed: code it in another round")
    book = state.history.at(round_state.plan.codebook if version is None else version)
    levels = book.facets[facet_plan.codes].levels if facet_plan.codes in book.facets else ()
    if level and level not in levels:
        raise InputError(f"{facet!r} has no level {level!r}; choose from: {suggest(level, levels) or 'none'}")
    order = tuple(allowed_choices(facet_plan, book)) if facet_plan.scale == "ordinal" else ()
    erasable = kind.unifies_words and round_state.plan.origin not in (EVIDENCE, "")
    optional_of = 0 if facet_plan.required else len(round_state.items_left())
    return FacetScale(
        facet, kind.has_several_codes, _parse_scale(facet_plan.scale), order, erasable, optional_of,
        describe_condition(facet_plan.ask_if),
    )  # fmt: skip


@dataclass(frozen=True)
class AskedItems:
    """How many of the items with two or more ratings a facet was asked in all of them."""

    by_all: int
    of: int


def count_asked(labels: Iterable[ComparedLabel]) -> AskedItems:
    was_asked: dict[str, list[bool]] = {}
    for item, _, label in labels:
        was_asked.setdefault(item, []).append(label is not NotAsked.NOT_ASKED)
    shared = [ratings for ratings in was_asked.values() if len(ratings) > 1]
    return AskedItems(sum(map(all, shared)), len(shared))


def build_table(scale: FacetScale, labels: Sequence[ComparedLabel]) -> RatingTable:
    """Builds the table that agreement is computed from; a rater who was not asked has no label."""
    asked_labels = [label for label in labels if label[2] is not NotAsked.NOT_ASKED]
    if scale.several:
        sets = [(item, rater, label if isinstance(label, frozenset) else None) for item, rater, label in asked_labels]
        return build_set_table(sets, cannot_judge=[CANNOT_JUDGE])
    single = [(item, rater, label if isinstance(label, str) else None) for item, rater, label in asked_labels]
    first = scale.first_used_first
    return build_rating_table(single, order=scale.order, cannot_judge=[CANNOT_JUDGE], first_used_first=first)


def compute_agreement(facet_scale: FacetScale, table: RatingTable, asked: AskedItems, *, seed: int = 0) -> Agreement:
    """Computes the agreement on a facet; its first warning states the base if not every item was asked or answered."""
    scale: Scale = "nominal" if facet_scale.several else facet_scale.scale
    result = agreement(table, facet=facet_scale.facet, scale=scale, seed=seed)
    bases = []
    if facet_scale.condition:
        rest = "" if result.n == asked.by_all else f"; agreement is computed from {count_of(result.n, 'item')}"
        bases.append(
            f"The question {facet_scale.facet} is asked only if {facet_scale.condition}: {asked.by_all:,} of "
            f"{count_of(asked.of, 'item')} were asked {facet_scale.asked_by}{rest}."
        )
    elif result.n < facet_scale.optional_of:
        bases.append(
            f"The question {facet_scale.facet} is optional: agreement is computed from the {result.n:,} of "
            f"{facet_scale.optional_of:,} items that two or more raters answered."
        )
    return replace(result, warnings=(*bases, *result.warnings))


def _parse_scale(name: str) -> Scale:
    scales: dict[str, Scale] = {"ordinal": "ordinal", "interval": "interval"}
    return scales.get(name, "nominal")


def find_estimate(agreement: Agreement, name: str) -> Estimate:
    """Returns the estimate of a statistic by its name."""
    return agreement.estimates[name]


def compute_file_agreement(
    file: RatingsFile,
    facets: Sequence[str],
    *,
    scale: Scale = "nominal",
    order: Sequence[str] = (),
    cannot_judge: Sequence[str] = (),
    seed: int = 0,
) -> list[Agreement]:
    """Computes the agreement on each facet in the given order; an empty cell is a missing rating."""
    names = list(dict.fromkeys(facets))
    rows = list(_read_ratings(file, names))
    if not rows:
        raise InputError(f"{file.path} has a header but no ratings: add one row for each item and rater")
    agreements = []
    for number, facet in enumerate(names):
        triples = [(row.item, row.rater, row.labels[number]) for row in rows]
        try:
            table = _build_table(triples, file.separator, order, cannot_judge)
            agreements.append(agreement(table, facet=facet, scale=scale, seed=seed))
        except InputError as error:
            raise InputError(f"{file.path}, facet {facet}: {error}") from None
    return agreements


def _build_table(
    triples: Sequence[tuple[str, str, str]], separator: str | None, order: Sequence[str], cannot_judge: Sequence[str]
) -> RatingTable:
    if separator is None:
        single = ((item, rater, label or None) for item, rater, label in triples)
        return build_rating_table(single, order=order, cannot_judge=cannot_judge)
    if order:
        raise InputError("sets of codes have no order: leave out the order or the separator")
    several = ((item, rater, _split_codes(label, separator)) for item, rater, label in triples)
    return build_set_table(several, cannot_judge=cannot_judge)


def _split_codes(label: str, separator: str) -> frozenset[str] | None:
    return frozenset(code.strip() for code in label.split(separator) if code.strip()) or None


def _read_ratings(file: RatingsFile, facets: Sequence[str]) -> Iterator[_Row]:
    path = file.path
    header = read_header(path)
    item, rater = (
        _require_column(file, header, file.item, "--item-column"),
        _require_column(file, header, file.rater, "--rater-column"),
    )
    if not facets:
        others = [name for name in header if name not in (item, rater)]
        raise InputError(f"no facet is given: name a column of {path} with --facet: {join_with_or(others)}")
    columns = [_require_column(file, header, facet, "--facet") for facet in facets]
    for number, cells in read_rows(path):
        if not cells[item] or not cells[rater]:
            lacking = file.rater if cells[item] else file.item
            raise InputError(f"{path} has no {lacking} in row {number}: fill it in or remove the row")
        yield _Row(cells[item], cells[rater], tuple(cells[column] for column in columns))


def _require_column(file: RatingsFile, header: tuple[str, ...], name: str, option: str) -> str:
    if name in header:
        return name
    options = join_with_or(sort_by_similarity(name, header)[:30])
    raise InputError(f"{file.path} has no column {name!r}: use {option} with {options}")
