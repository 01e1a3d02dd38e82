"""Summaries of groups of values, as tests and benchmarks ask for them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from quaestor.measures.arrays import require_same_length, to_codes, to_numbers
from quaestor.measures.descriptive import summary
from quaestor.measures.records import Summary


def grouped_summaries(values: ArrayLike, groups: ArrayLike, n_groups: int, seed: int) -> list[Summary]:
    """The summary of each group by its code, empty groups too; items without a group are left out."""
    found, group = to_numbers(values), to_codes(groups, n_groups)
    require_same_length(found, group, "values and groups")
    narrow = group.astype(np.int16) if n_groups < 2**15 else group  # sorted by radix, several times quicker
    order = np.argsort(narrow, kind="stable")
    ends = np.cumsum(np.bincount(group + 1, minlength=n_groups + 1)).tolist()
    gathered = found[order]
    return [summary(gathered[start:end], seed) for start, end in pairwise(ends)]
