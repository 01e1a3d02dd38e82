"""The decided items of a study as columns: their attributes (codes, years, frameworks) and measures."""

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
"""Keys of a condition that match items without a value, or with any value."""


@dataclass(frozen=True)
class Attribute:
    """A categorical column of items with its ordered values, such as a codebook level, a framework or a year."""

    name: str
    keys: tuple[str, ...]
    """The ids of the values, such as `D1`."""
    titles: tuple[str, ...]
    """The titles of the values, such as `data`."""
    codes: Codes
    """For each item the index of its value, or NONE."""
    parents: tuple[str, ...] = ()
    """For a level below another one: the key of each value's parent."""

    def find_position(self, key: str) -> int:
        if key == NO_VALUE:
            return NONE
        if key not in self.keys:
            raise InputError(
                f"{self.name} has no {key!r}; choose from: {_shorten_list(sort_by_similarity(key, self.keys))}"
            )
        return self.keys.index(key)

    def get_title(self, key: str) -> str:
        return self.titles[self.find_position(key)]

    def list_children(self, parent: str) -> list[str]:
        """Returns the keys of the values below a value of the level above."""
        return [key for key, above in zip(self.keys, self.parents, strict=True) if above == parent]


def _shorten_list(names: Sequence[str]) -> str:
    return join_with_or(names) if len(names) <= 6 else f"{', '.join(names[:6])} …"


def build_attribute(
    name: str, values: Iterable[str | None], order: Sequence[tuple[str, str]] | None = None
) -> Attribute:
    """Builds an attribute from a value for each item; sorts the values unless their order as (key, title) is passed."""
    keys = list(values)
    ordered = order if order is not None else [(key, key) for key in sorted({key for key in keys if key is not None})]
    positions = {key: position for position, (key, _) in enumerate(ordered)}
    codes = np.fromiter((NONE if key is None else positions[key] for key in keys), np.int64, len(keys))
    return Attribute(name, tuple(key for key, _ in ordered), tuple(title for _, title in ordered), codes)


@dataclass(frozen=True)
class DecidedItems:
    """All decided items of a study; every column has them in the same order."""

    items: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    numbers: Mapping[str, Floats]
    """The values of the items by measure, with NaN for missing ones."""

    def __len__(self) -> int:
        return len(self.items)

    def get_attribute(self, name: str) -> Attribute:
        if name not in self.attributes:
            options = suggest(name, self.attributes) or "none"
            raise InputError(f"items have no attribute {name!r}; choose from: {options}")
        return self.attributes[name]

    def get_numbers(self, name: str) -> Floats:
        if name not in self.numbers:
            raise InputError(f"items have no measure {name!r}; choose from: {suggest(name, self.numbers)}")
        return self.numbers[name]

    def build_mask(self, conditions: Iterable[tuple[str, Sequence[str]]]) -> Flags:
        """Marks the items that have one of the allowed values of every attribute in the conditions."""
        chosen = np.ones(len(self.items), bool)
        for name, keys in conditions:
            if tuple(keys) == (ANY_VALUE,):
                chosen &= (
                    ~np.isnan(self.numbers[name]) if name in self.numbers else self.get_attribute(name).codes != NONE
                )
                continue
            attribute = self.get_attribute(name)
            positions = [attribute.find_position(key) for key in keys]
            chosen &= attribute.codes == positions[0] if len(positions) == 1 else np.isin(attribute.codes, positions)
        return chosen

    def list_matching(self, conditions: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """Returns the items that match all conditions."""
        return [item for item, matches in zip(self.items, self.build_mask(conditions), strict=True) if matches]

    def select(self, chosen: Flags) -> DecidedItems:
        """Returns only the chosen items."""
        rows = np.flatnonzero(chosen)
        return DecidedItems(
            tuple(self.items[row] for row in rows),
            {name: replace(attribute, codes=attribute.codes[rows]) for name, attribute in self.attributes.items()},
            {name: values[rows] for name, values in self.numbers.items()},
        )
