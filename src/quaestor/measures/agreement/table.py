"""Ratings as a matrix of items × raters, and which items are left out of it and why."""

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
"""More different labels are text that somebody wrote, not codes that raters chose among."""

NO_CODE = "(none)"

Label = TypeVar("Label", str, frozenset[str])


@dataclass(frozen=True, eq=False)
class RatingTable:
    """The items that at least two raters rated; `ratings` holds places in `labels`, -1 where one is missing."""

    items: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    ratings: NDArray[np.int64]
    left_out: Mapping[str, str]
    """Item → why it is not in the matrix."""
    isolated_raters: tuple[str, ...] = ()
    """Raters who share no item with another."""
    ordered: bool = False
    """Whether the order of `labels` means something: they are numbers, or their order was given."""
    sets: tuple[frozenset[str], ...] | None = None
    """For facets with several codes an item: the codes behind each label."""

    @property
    def reasons(self) -> dict[str, int]:
        return dict(sorted(Counter(self.left_out.values()).items()))

    def list_values(self) -> NDArray[np.float64]:
        """The labels as numbers, for an interval scale."""
        numbers = [parse_number(label) for label in self.labels]
        for label, number in zip(self.labels, numbers, strict=True):
            if number is None:
                raise InputError(f"an interval scale needs numbers, and {label!r} is none: use ordinal or nominal")
        return np.array(numbers, dtype=np.float64)


def build_rating_table(
    ratings: Iterable[tuple[str, str, str | None]],
    *,
    order: Sequence[str] = (),
    cannot_judge: Collection[str] = (),
    first_used_first: bool = False,
) -> RatingTable:
    """From (item, rater, label) triples, where None is a missing rating; `order` lists all labels, lowest first.

    Without an order labels are sorted, or with `first_used_first` stand as they are met: then nothing depends on what
    they are called.
    """
    given, undecided = _gather(ratings, frozenset(cannot_judge))
    used = _used(given)
    if len(set(order)) < len(order):
        raise InputError(f"the order {', '.join(order)} names a label twice: name each once")
    if unknown := sorted(used.keys() - set(order)) if order else []:
        raise InputError(f"the label {unknown[0]!r} is not in the order {', '.join(order)}: add it there")
    labels = tuple(order) or (tuple(used) if first_used_first else sort_labels(used))
    ordered = bool(order) or all(parse_number(label) is not None for label in labels)
    return replace(_table(given, undecided, labels), labels=labels, ordered=ordered)


def build_set_table(
    ratings: Iterable[tuple[str, str, frozenset[str] | None]], *, cannot_judge: Collection[str] = ()
) -> RatingTable:
    """The same for raters who may give an item several codes; an empty set says that no code applies."""
    given, undecided = _gather(ratings, frozenset(frozenset([label]) for label in cannot_judge))
    sets = tuple(sorted(_used(given), key=lambda codes: (len(codes), sort_labels(codes))))
    labels = tuple("; ".join(sort_labels(codes)) or NO_CODE for codes in sets)
    return replace(_table(given, undecided, sets), labels=labels, sets=sets)


def _gather(
    ratings: Iterable[tuple[str, str, Label | None]], cannot_judge: frozenset[Label]
) -> tuple[dict[str, dict[str, Label]], set[str]]:
    given: dict[str, dict[str, Label]] = {}
    undecided: set[tuple[str, str]] = set()
    for item, rater, label in ratings:
        found = given.setdefault(item, {})
        if label is None:
            continue
        known = found.get(rater)
        if known is None and (item, rater) not in undecided:
            if label in cannot_judge:
                undecided.add((item, rater))
            else:
                found[rater] = label
        elif known != label and not (known is None and label in cannot_judge):
            raise InputError(
                f"rater {rater!r} rates item {item!r} twice, as {_shown(known)} and as {_shown(label)}: keep one"
            )
    return given, {item for item, _ in undecided}


def _shown(label: str | frozenset[str] | None) -> str:
    if label is None:
        return CANNOT_JUDGE
    return repr(label) if isinstance(label, str) else repr("; ".join(sorted(label)))


def _used(given: Mapping[str, Mapping[str, Label]]) -> dict[Label, None]:
    """The labels of the items that two raters rated, each once, in the order in which they are met."""
    return dict.fromkeys(label for found in given.values() if len(found) >= 2 for label in found.values())


def _table(given: Mapping[str, Mapping[str, Label]], undecided: set[str], labels: tuple[Label, ...]) -> RatingTable:
    if len(labels) > MAX_LABELS:
        raise InputError(f"there are {len(labels):,} different labels, as in a column of free text: name a facet")
    kept = {item: found for item, found in given.items() if len(found) >= 2}
    left_out = {item: CANNOT_JUDGE if item in undecided else TOO_FEW_RATERS for item in given if item not in kept}
    everyone = sorted({rater for found in given.values() for rater in found})
    active = {rater for found in kept.values() for rater in found}
    raters = tuple(rater for rater in everyone if rater in active or not active)
    column = {rater: place for place, rater in enumerate(raters)}
    place_of = {label: place for place, label in enumerate(labels)}
    matrix = np.full((len(kept), len(raters)), MISSING, dtype=np.int64)
    for row, found in zip(matrix, kept.values(), strict=True):
        for rater, label in found.items():
            row[column[rater]] = place_of[label]
    lonely = tuple(rater for rater in everyone if active and rater not in active)
    return RatingTable(tuple(kept), raters, (), matrix, left_out, lonely)


def sort_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Numbers by value, words by the alphabet."""
    found = sorted(labels)
    numbers = {label: parse_number(label) for label in found}
    if any(number is None for number in numbers.values()):
        return tuple(found)
    return tuple(sorted(found, key=lambda label: numbers[label] or 0.0))


def parse_number(label: str) -> float | None:
    """The number a label is, if it is a finite one."""
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Each distinct mix of labels once, with the number of items that show it.

    Ten thousand items of two raters fall into at most a few thousand patterns, so whatever is computed
    over patterns hardly grows with the items. Sums go through `einsum` and not through `@`: the products
    are small, and threads of a linear algebra library would wait for each other on a busy machine.
    """

    counts: Floats
    """Patterns × labels: how many raters chose the label."""
    items: Whole

    @property
    def n(self) -> int:
        return int(self.items.sum())

    @cached_property
    def raters(self) -> Floats:
        """How many raters each pattern has."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def shares(self) -> Floats:
        """Of the ratings of an item, the share of each label."""
        return np.asarray(self.counts / self.raters[:, None])

    @cached_property
    def use(self) -> Floats:
        """How much each label is used, every item counting once."""
        return self.total(self.shares) / self.n

    def total(self, values: Floats) -> Floats:
        """The sum over items of what is given for each pattern."""
        return np.asarray(np.einsum("p,p...->...", self.items.astype(np.float64), values))

    def mean(self, values: Floats) -> float:
        """The mean over items of what is given for each pattern."""
        return float(self.total(values)) / self.n

    def agreement(self, weights: Floats | None = None) -> Floats:
        """The share of pairs of raters that agree, for each pattern; partial agreement counts by its weight."""
        near = self.counts if weights is None else self.counts @ weights
        both = np.einsum("pl,pl->p", self.counts, near) - self.raters
        return np.asarray(both / (self.raters * (self.raters - 1)))


def find_patterns(table: RatingTable) -> Patterns:
    """The patterns of a table, in an order that depends on neither items nor raters."""
    rows = np.sort(table.ratings, axis=1)
    base = len(table.labels) + 1
    key = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        key = np.unique(key * base + column + 1, return_inverse=True)[1]
    _, first, items = np.unique(key, return_index=True, return_counts=True)
    counts = np.zeros((len(first), base))
    np.add.at(counts, (np.arange(len(first))[:, None], rows[first]), 1.0)  # missing ones fall into the last column
    return Patterns(np.ascontiguousarray(counts[:, :-1]), items)
