"""Items counted by their codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from quaestor.measures.arrays import Whole, codes, same_length
from quaestor.measures.records import Crosstab


def group_counts(groups: ArrayLike, n_groups: int) -> Whole:
    """How many items have each code."""
    found = codes(groups, n_groups)
    return np.bincount(found + 1, minlength=n_groups + 1)[1:]


def cross_counts(rows: ArrayLike, n_rows: int, columns: ArrayLike, n_columns: int) -> Whole:
    """How many items have each pair of codes; items without one of them are not counted."""
    first, second = codes(rows, n_rows, "rows"), codes(columns, n_columns, "columns")
    same_length(first, second, "rows and columns")
    # One more row and column take the items without a code, which saves making a mask and two copies.
    cells = (first + 1) * (n_columns + 1) + (second + 1)
    counts = np.bincount(cells, minlength=(n_rows + 1) * (n_columns + 1))
    return np.ascontiguousarray(counts.reshape(n_rows + 1, n_columns + 1)[1:, 1:])


def crosstab(rows: ArrayLike, n_rows: int, columns: ArrayLike, n_columns: int) -> Crosstab:
    """The same as a record, which also says how many items had no place in it."""
    counts = cross_counts(rows, n_rows, columns, n_columns)
    return Crosstab(tuple(map(tuple, counts.tolist())), left_out=np.asarray(rows).size - int(counts.sum()))
