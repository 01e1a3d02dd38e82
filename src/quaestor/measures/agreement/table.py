"""Ratings as a matrix of items × raters, with the items left out of it and the reasons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from quaestor.base.errors import InputError

TOO_FEW_RATERS = "rated by fewer than two raters"
CANNOT_JUDGE = "cannot judge"
MISSING = -1
MAX_LABELS = 2_000
"""A column with more different labels is free text, not a facet."""

NO_CODE = "(none)"

Label = TypeVar("Label", str, frozenset[str])


@dataclass(frozen=True, eq=False)
class RatingTable:
    """The items rated by at least two raters; `ratings` has indexes into `labels`, or -1 for a missing rating."""

    items: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    ratings: NDArray[np.int64]
    left_out: Mapping[str, str]
    """Item → reason why it is left out."""
    isolated_raters: tuple[str, ...] = ()
    """Raters who share no item with another rater."""
    ordered: bool = False
    """Whether `labels` are on an ordinal scale: they are numbers, or their order was passed."""
    sets: tuple[frozenset[str], ...] | None = None
    """For facets with several codes per item: the codes of each label."""

    @property
    def reasons(self) -> dict[str, int]:
        return dict(sorted(Counter(self.left_out.values()).items()))

    def list_values(self) -> NDArray[np.float64]:
        """Returns the labels as numbers, for an interval scale."""
        numbers = [parse_number(label) for label in self.labels]
        for label, number in zip(self.labels, numbers, strict=True):
            if number is None:
                raise InputError(f"an interval scale needs numbers, but {label!r} is not one: use ordinal or nominal")
        return np.array(numbers, dtype=np.float64)


def build_rating_table(
    ratings: Iterable[tuple[str, str, str | None]],
    *,
    order: Sequence[str] = (),
    cannot_judge: Collection[str] = (),
    first_used_first: bool = False,
) -> RatingTable:
    """Builds a table from (item, rater, label), where None is a missing rating; `order` lists labels, lowest first.

    Without an order, labels are sorted, or with `first_used_first` in order of their first use, so that the result does
    not depend on their names.
    """
    ratings_by_item, undecided = _group_by_item(ratings, frozenset(cannot_judge))
    used = _list_used_labels(ratings_by_item)
    if len(set(order)) < len(order):
        raise InputError(f"the order {', '.join(order)} names a label twice: name each once")
    if unknown := sorted(used.keys() - set(order)) if order else []:
        raise InputError(f"the label {unknown[0]!r} is not in the order {', '.join(order)}: add it there")
    labels = tuple(order) or (tuple(used) if first_used_first else sort_labels(used))
    ordered = bool(order) or all(parse_number(label) is not None for label in labels)
    return replace(_build_table(ratings_by_item, undecided, labels), labels=labels, ordered=ordered)


def build_set_table(
    ratings: Iterable[tuple[str, str, frozenset[str] | None]], *, cannot_judge: Collection[str] = ()
) -> RatingTable:
    """Builds a table for raters who may choose several codes per item; an empty set means that no code applies."""
    ratings_by_item, undecided = _group_by_item(ratings, frozenset(frozenset([label]) for label in cannot_judge))
    sets = tuple(sorted(_list_used_labels(ratings_by_item), key=lambda codes: (len(codes), sort_labels(codes))))
    labels = tuple("; ".join(sort_labels(codes)) or NO_CODE for codes in sets)
    return replace(_build_table(ratings_by_item, undecided, sets), labels=labels, sets=sets)


def _group_by_item(
    ratings: Iterable[tuple[str, str, Label | None]], cannot_judge: frozenset[Label]
) -> tuple[dict[str, dict[str, Label]], set[str]]:
    ratings_by_item: dict[str, dict[str, Label]] = {}
    undecided: set[tuple[str, str]] = set()
    for item, rater, label in ratings:
        item_ratings = ratings_by_item.setdefault(item, {})
        if label is None:
            continue
        known = item_ratings.get(rater)
        if known is None and (item, rater) not in undecided:
            if label in cannot_judge:
                undecided.add((item, rater))
            else:
                item_ratings[rater] = label
        elif known != label and not (known is None and label in cannot_judge):
            raise InputError(
                f"rater {rater!r} rates item {item!r} twice, as {_format_label(known)} and as {_format_label(label)}:"
                " keep one"
            )
    return ratings_by_item, {item for item, _ in undecided}


def _format_label(label: str | frozenset[str] | None) -> str:
    if label is None:
        return CANNOT_JUDGE
    return repr(label) if isinstance(label, str) else repr("; ".join(sorted(label)))


def _list_used_labels(ratings_by_item: Mapping[str, Mapping[str, Label]]) -> dict[Label, None]:
    """Returns the labels of the items rated by two raters in order of their first use."""
    return dict.fromkeys(
        label for ratings in ratings_by_item.values() if len(ratings) >= 2 for label in ratings.values()
    )


def _build_table(
    ratings_by_item: Mapping[str, Mapping[str, Label]], undecided: set[str], labels: tuple[Label, ...]
) -> RatingTable:
    if len(labels) > MAX_LABELS:
        raise InputError(f"there are {len(labels):,} different labels, as in free text: choose another facet")
    kept = {item: ratings for item, ratings in ratings_by_item.items() if len(ratings) >= 2}
    left_out = {
        item: CANNOT_JUDGE if item in undecided else TOO_FEW_RATERS for item in ratings_by_item if item not in kept
    }
    everyone = sorted({rater for ratings in ratings_by_item.values() for rater in ratings})
    active = {rater for ratings in kept.values() for rater in ratings}
    raters = tuple(rater for rater in everyone if rater in active or not active)
    columns = {rater: column for column, rater in enumerate(raters)}
    label_indexes = {label: index for index, label in enumerate(labels)}
    matrix = np.full((len(kept), len(raters)), MISSING, dtype=np.int64)
    for row, ratings in zip(matrix, kept.values(), strict=True):
        for rater, label in ratings.items():
            row[columns[rater]] = label_indexes[label]
    isolated = tuple(rater for rater in everyone if active and rater not in active)
    return RatingTable(tuple(kept), raters, (), matrix, left_out, isolated)


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Sorts labels by value if all are numbers, otherwise alphabetically."""
    alphabetical = sorted(labels)
    numbers = {label: parse_number(label) for label in alphabetical}
    if any(number is None for number in numbers.values()):
        return tuple(alphabetical)
    return tuple(sorted(alphabetical, key=lambda label: numbers[label] or 0.0))


def parse_number(label: str) -> float | None:
    """Returns the number that a label is, or None unless it is a finite one."""
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct combinations of labels, each with the number of items that have it.

    Ten thousand items of two raters have at most a few thousand patterns, so that the cost of a statistic hardly grows
    with the number of items. Sums use `einsum` instead of `@`: the products are small, and threads of a linear algebra
    library would wait for each other on a busy machine.
    """

    counts: Floats
    """Patterns × labels: how many raters chose the label."""
    items: Whole

    @property
    def n(self) -> int:
        return int(self.items.sum())

    @cached_property
    def raters(self) -> Floats:
        """The number of raters of each pattern."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def shares(self) -> Floats:
        """The share of each label among the ratings of an item."""
        return np.asarray(self.counts / self.raters[:, None])

    @cached_property
    def use(self) -> Floats:
        """The mean share of each label over the items."""
        return self.total(self.shares) / self.n

    def total(self, values: Floats) -> Floats:
        """Returns the sum over items of the values of their patterns."""
        return np.asarray(np.einsum("p,p...->...", self.items.astype(np.float64), values))

    def mean(self, values: Floats) -> float:
        """Returns the mean over items of the values of their patterns."""
        return float(self.total(values)) / self.n

    def agreement(self, weights: Floats | None = None) -> Floats:
        """Returns the share of agreeing pairs of raters for each pattern; weights count partial agreement."""
        matching = self.counts if weights is None else self.counts @ weights
        both = np.einsum("pl,pl->p", self.counts, matching) - self.raters
        return np.asarray(both / (self.raters * (self.raters - 1)))


def find_patterns(table: RatingTable) -> Patterns:
    """Returns the patterns of a table, in an order that does not depend on the order of items or raters."""
    rows = np.sort(table.ratings, axis=1)
    base = len(table.labels) + 1
    key = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        key = np.unique(key * base + column + 1, return_inverse=True)[1]
    _, first, items = np.unique(key, return_index=True, return_counts=True)
    counts = np.zeros((len(first), base))
    np.add.at(
        counts, (np.arange(len(first))[:, None], rows[first]), 1.0
    )  # index -1 puts missing ratings into the last column
    return Patterns(np.ascontiguousarray(counts[:, :-1]), items)
