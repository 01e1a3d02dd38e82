"""Decided items as columns: what each was found to be, and the numbers it carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, sort_by_similarity, suggest

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
NONE = -1
"""The code of an item that has no value of an attribute."""
NO_VALUE, ANY_VALUE = "", "*"
"""In a condition: items that have no value, or some value, of an attribute or a measure."""


@dataclass(frozen=True)
class Attribute:
    """One way to tell items apart: a level of the codebook, a framework, a year; values stand in their order."""

    name: str
    keys: tuple[str, ...]
    """How a value is cited, such as `D1`."""
    titles: tuple[str, ...]
    """How a reader sees it, such as `data`."""
    codes: Codes
    """For each item the place of its value, or NONE."""
    parents: tuple[str, ...] = ()
    """Of a level below another: the key of the value above each value."""

    def find_position(self, key: str) -> int:
        if key == NO_VALUE:
            return NONE
        if key not in self.keys:
            raise InputError(f"{self.name} has no {key!r}, allowed: {_some(sort_by_similarity(key, self.keys))}")
        return self.keys.index(key)

    def get_title(self, key: str) -> str:
        return self.titles[self.find_position(key)]

    def list_children(self, parent: str) -> list[str]:
        """The keys of the values below a value of the level above."""
        return [key for key, above in zip(self.keys, self.parents, strict=True) if above == parent]


def _some(names: Sequence[str]) -> str:
    return join_with_or(names) if len(names) <= 6 else f"{', '.join(names[:6])} …"


def build_attribute(name: str, values: Iterable[str | None], order: Sequence[tuple[str, str]] | None = None) -> Attribute:
    """An attribute from one value an item; without an order of (key, title), values stand sorted."""
    given = list(values)
    ordered = order if order is not None else [(key, key) for key in sorted({one for one in given if one is not None})]
    places = {key: place for place, (key, _) in enumerate(ordered)}
    codes = np.fromiter((NONE if one is None else places[one] for one in given), np.int64, len(given))
    return Attribute(name, tuple(key for key, _ in ordered), tuple(title for _, title in ordered), codes)


@dataclass(frozen=True)
class DecidedItems:
    """All decided items of a study, column by column, in one order."""

    items: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    numbers: Mapping[str, Floats]
    """By measure the value of each item, NaN where it has none."""

    def __len__(self) -> int:
        return len(self.items)

    def get_attribute(self, name: str) -> Attribute:
        if name not in self.attributes:
            options = suggest(name, self.attributes) or "none"
            raise InputError(f"items have no attribute {name!r}, allowed: {options}")
        return self.attributes[name]

    def get_numbers(self, name: str) -> Floats:
        if name not in self.numbers:
            raise InputError(f"items have no measure {name!r}, allowed: {suggest(name, self.numbers)}")
        return self.numbers[name]

    def build_mask(self, conditions: Iterable[tuple[str, Sequence[str]]]) -> Flags:
        """Which items have one of the values of every attribute named."""
        chosen = np.ones(len(self.items), bool)
        for name, keys in conditions:
            if tuple(keys) == (ANY_VALUE,):
                chosen &= ~np.isnan(self.numbers[name]) if name in self.numbers else self.get_attribute(name).codes != NONE
                continue
            attribute = self.get_attribute(name)
            places = [attribute.find_position(key) for key in keys]
            chosen &= attribute.codes == places[0] if len(places) == 1 else np.isin(attribute.codes, places)
        return chosen

    def list_matching(self, conditions: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """The items that fulfil conditions."""
        return [item for item, wanted in zip(self.items, self.build_mask(conditions), strict=True) if wanted]

    def select(self, chosen: Flags) -> DecidedItems:
        """The chosen items alone."""
        places = np.flatnonzero(chosen)
        return DecidedItems(
            tuple(self.items[place] for place in places),
            {name: replace(one, codes=one.codes[places]) for name, one in self.attributes.items()},
            {name: values[places] for name, values in self.numbers.items()},
        )
