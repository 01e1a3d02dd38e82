"""Values and codes as every measure takes them: NaN is a missing value, −1 is no code, anything else odd is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quaestor.base.errors import InputError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

NO_CODE = -1

MAX_VALUE = 1e300
"""Beyond it, infinity included, a sum or a difference would have no number."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks from 1 on, equal values sharing the mean of theirs, and how much the ties take off the spread of ranks."""

    ranks: Floats
    ties: int
    """The sum of t³ − t over the runs of t equal values."""

    @property
    def spread(self) -> float:
        """The sum of squared distances of the ranks from their mean."""
        n = len(self.ranks)
        return (n**3 - n - self.ties) / 12


def to_numbers(values: ArrayLike, name: str = "values") -> Floats:
    """Values as an array of floats, missing ones as NaN."""
    found = np.asarray(values, dtype=np.float64)
    _flat(found, name)
    beyond = np.abs(found) > MAX_VALUE
    if beyond.any():
        place = int(np.flatnonzero(beyond)[0])
        raise InputError(f"{name} have {found[place]} at place {place}: leave it out, or give it as missing (NaN)")
    return found


def to_codes(groups: ArrayLike, n_groups: int, name: str = "groups") -> Whole:
    """Codes as an array of whole numbers from 0 to below `n_groups`, −1 for items without one."""
    found = np.asarray(groups)
    if not found.size:
        found = found.astype(np.int64)
    _flat(found, name)
    if found.dtype.kind not in "iu":
        raise InputError(f"{name} are {found.dtype}, not whole numbers: give each item the number of its code, or -1")
    if found.size and (found.min() < NO_CODE or found.max() >= n_groups):
        raise InputError(
            f"{name} have codes from {found.min()} to {found.max()} where {n_groups} are known: "
            f"number them from 0 to {n_groups - 1}, with -1 for none"
        )
    return found.astype(np.int64, copy=False)


def require_same_length(first: NDArray[Any], second: NDArray[Any], names: str) -> None:
    """Refuses arrays that cannot belong to the same items."""
    if len(first) != len(second):
        raise InputError(f"{names} have {len(first)} and {len(second)} entries: give one of each for every item")


def rank(values: Floats) -> Ranking:
    """Average ranks of values, none of them missing."""
    order = np.argsort(values)
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(values) else order
    lengths = np.diff(np.append(starts, len(values)))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(starts + (lengths + 1) / 2, lengths)
    tied = lengths[lengths > 1].tolist()
    return Ranking(ranks, sum(length**3 - length for length in tied))


def _flat(values: NDArray[Any], name: str) -> None:
    if values.ndim != 1:
        raise InputError(f"{name} have {values.ndim} dimensions: give a plain list, one entry for each item")
