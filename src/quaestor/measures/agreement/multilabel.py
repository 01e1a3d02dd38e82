"""Distances between sets of codes, for facets on which a rater may give an item several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quaestor.measures.agreement.patterns import Floats


def membership(sets: Sequence[frozenset[str]], codes: Sequence[str]) -> Floats:
    """Sets × codes: 1 where the set holds the code."""
    place = {code: number for number, code in enumerate(codes)}
    held = np.zeros((len(sets), len(codes)))
    for row, members in enumerate(sets):
        held[row, [place[code] for code in members]] = 1.0
    return held


def jaccard_distance(held: Floats) -> Floats:
    """1 − shared ÷ all codes of the two sets; two empty sets are the same."""
    shared = held @ held.T
    sizes = held.sum(axis=1)
    union = sizes[:, None] + sizes - shared
    return np.asarray(1 - np.divide(shared, union, out=np.ones_like(shared), where=union > 0))


def masi_distance(held: Floats) -> Floats:
    """Passonneau's (2006) distance: Jaccard, lessened where one set holds the other, more than where they overlap."""
    shared = held @ held.T
    sizes = held.sum(axis=1)
    larger, smaller = np.maximum(sizes[:, None], sizes), np.minimum(sizes[:, None], sizes)
    monotonic = np.where(shared > 0, 1 / 3, 0.0)
    monotonic[shared == smaller] = 2 / 3
    monotonic[(shared == smaller) & (larger == smaller)] = 1.0
    return np.asarray(1 - (1 - jaccard_distance(held)) * monotonic)
