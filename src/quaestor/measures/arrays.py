"""The arrays that all measures take: NaN means missing, −1 means no code, other invalid values are refused."""

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
"""Sums and differences of larger values could overflow."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks from 1, equal values sharing their mean rank, and the tie correction."""

    ranks: Floats
    ties: int
    """The sum of t³ − t over the runs of t equal values."""

    @property
    def spread(self) -> float:
        """The sum of squared deviations of the ranks from their mean."""
        n = len(self.ranks)
        return (n**3 - n - self.ties) / 12


def to_numbers(values: ArrayLike, name: str = "values") -> Floats:
    """Returns values as an array of floats, with NaN for missing ones."""
    array = np.asarray(values, dtype=np.float64)
    _require_flat(array, name)
    too_large = np.abs(array) > MAX_VALUE
    if too_large.any():
        position = int(np.flatnonzero(too_large)[0])
        raise InputError(
            f"{name} have {array[position]} at position {position}: leave it out, or pass it as missing (NaN)"
        )
    return array


def to_codes(groups: ArrayLike, n_groups: int, name: str = "groups") -> Whole:
    """Returns codes as an array of integers below `n_groups`, with −1 for items without a code."""
    array = np.asarray(groups)
    if not array.size:
        array = array.astype(np.int64)
    _require_flat(array, name)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} are {array.dtype}, not whole numbers: pass the number of each item's code, or -1")
    if array.size and (array.min() < NO_CODE or array.max() >= n_groups):
        raise InputError(
            f"{name} have codes from {array.min()} to {array.max()}, but there are {n_groups} codes: "
            f"number them from 0 to {n_groups - 1}, with -1 for none"
        )
    return array.astype(np.int64, copy=False)


def require_same_length(first: NDArray[Any], second: NDArray[Any], names: str) -> None:
    """Raises InputError for arrays that cannot belong to the same items."""
    if len(first) != len(second):
        raise InputError(f"{names} have {len(first)} and {len(second)} entries: pass one of each for every item")


def rank(values: Floats) -> Ranking:
    """Returns the average ranks of values without missing ones."""
    order = np.argsort(values)
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(values) else order
    lengths = np.diff(np.append(starts, len(values)))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(starts + (lengths + 1) / 2, lengths)
    tied = lengths[lengths > 1].tolist()
    return Ranking(ranks, sum(length**3 - length for length in tied))


def _require_flat(values: NDArray[Any], name: str) -> None:
    if values.ndim != 1:
        raise InputError(f"{name} have {values.ndim} dimensions: pass a flat list with one entry for each item")
