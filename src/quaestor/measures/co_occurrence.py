"""What interviews say together: who mentions what, what is mentioned together, and whether new ones still add to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from quaestor.base.errors import InputError
from quaestor.measures.arrays import Floats, Whole
from quaestor.measures.descriptive import share
from quaestor.measures.records import Share

Flags = NDArray[np.bool_]
REPLICATES = 2_000
"""Orders of interviews that are drawn; where there are no more in all, each is taken once."""
_TAIL = 0.025


@dataclass(frozen=True)
class CoOccurrence:
    """How often each two codes occur in the same unit, and how much of the units of either that is (Jaccard)."""

    counts: Whole
    """By code and code; on the diagonal how often a code occurs at all."""
    jaccard: Floats
    """NaN where neither of two codes occurs."""


@dataclass(frozen=True)
class StoppingRule:
    """When to stop: so many interviews first, then a run of them that adds at most a share of what the first gave."""

    name: str
    base: int
    run: int
    threshold: float


@dataclass(frozen=True)
class StoppingPoint:
    """Whether a rule says that interviews no longer add to what is known."""

    rule: StoppingRule
    reached: int | None = None
    """After which interview, the run that shows it not counted; none where it never happens."""
    shares: tuple[float, ...] = ()
    """What each run adds, as a share of the codes of the base; runs begin one interview after another."""
    undefined: str = ""


@dataclass(frozen=True)
class Saturation:
    """New codes interview by interview, and what another order of the same interviews would have given."""

    new: tuple[int, ...]
    total: tuple[int, ...]
    expected: tuple[float, ...]
    """Codes that so many interviews give on average over all orders."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    """Between which 95 % of the orders lie."""
    stops: tuple[StoppingPoint, ...]


STOPPING_RULES = (
    StoppingRule("Guest et al. 2020, at most 5 % new", 4, 2, 0.05),
    StoppingRule("Guest et al. 2020, nothing new", 4, 2, 0.0),
    StoppingRule("Guest et al. 2020, longer run, at most 5 % new", 4, 3, 0.05),
    StoppingRule("Francis et al. 2010, ten and three", 10, 3, 0.0),
)
"""The usual ones."""


def participant_shares(mentions: Whole) -> list[Share]:
    """Of a matrix of codes by participants: the share of participants who mention each code at all."""
    if mentions.ndim != 2:
        raise InputError("mentions need a row for each code and a column for each participant")
    return [share(int(row), mentions.shape[1]) for row in (mentions > 0).sum(axis=1)]


def co_occurrence(units: Flags) -> CoOccurrence:
    """Codes that occur in the same unit (a turn, an answer, an interview): a row for each unit, a column for each."""
    if units.ndim != 2:
        raise InputError("occurrences need a row for each unit and a column for each code")
    ones = units.astype(np.int64)
    return _together(ones.T @ ones)


def character_overlap(stretches: Iterable[tuple[str, int, int, int]], n_codes: int) -> CoOccurrence:
    """Codes on the same words: stretches are (text, start, end, code), and what is counted are their characters."""
    texts: dict[str, list[tuple[int, int, int]]] = {}
    for text, start, end, code in stretches:
        texts.setdefault(text, []).append((start, end, code))
    counts = np.zeros((n_codes, n_codes), np.int64)
    for places in texts.values():
        edges = sorted({edge for start, end, _ in places for edge in (start, end)})
        for low, high in pairwise(edges):
            here = sorted({code for start, end, code in places if start <= low and high <= end})
            counts[np.ix_(here, here)] += high - low
    return _together(counts)


def _together(counts: Whole) -> CoOccurrence:
    own = counts.diagonal()
    either = own[:, None] + own[None, :] - counts
    jaccard = np.full(counts.shape, np.nan)
    np.divide(counts, either, out=jaccard, where=either > 0)
    return CoOccurrence(counts, jaccard)


def saturation(occurrences: Flags, seed: int, rules: Sequence[StoppingRule] = STOPPING_RULES) -> Saturation:
    """Of interviews in their order (rows) and the codes in each (columns)."""
    if occurrences.ndim != 2:
        raise InputError("saturation needs a row for each interview and a column for each code")
    total = accumulate_codes(occurrences)
    new = np.diff(total, prepend=0)
    low, high = order_interval(occurrences, seed)
    return Saturation(
        tuple(new.tolist()),
        tuple(total.tolist()),
        expected_codes(occurrences),
        low,
        high,
        tuple(apply_rule(occurrences, rule) for rule in rules),
    )


def accumulate_codes(found: Flags) -> Whole:
    """How many different codes there are after each interview."""
    return np.asarray(np.logical_or.accumulate(found, axis=0).sum(axis=1), np.int64)


def expected_codes(found: Flags) -> tuple[float, ...]:
    """How many codes k of n interviews give on average: each is there unless all k miss it (rarefaction, exact)."""
    n = len(found)
    often = found.sum(axis=0).tolist()
    return tuple(math.fsum(1 - math.comb(n - times, k) / math.comb(n, k) for times in often) for k in range(1, n + 1))


def order_interval(found: Flags, seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Between how many codes 95 % of the orders of the interviews lie after each; few have all their orders taken."""
    n = len(found)
    if n == 0:
        return (), ()
    if math.factorial(n) <= REPLICATES:
        drawn = np.array(list(permutations(range(n))))
    else:
        generator = np.random.default_rng([seed, n])
        drawn = generator.permuted(np.tile(np.arange(n), (REPLICATES, 1)), axis=1)
    curves = np.logical_or.accumulate(found[drawn], axis=1).sum(axis=2)
    low, high = np.quantile(curves, (_TAIL, 1 - _TAIL), axis=0)
    return tuple(low.tolist()), tuple(high.tolist())


def apply_rule(found: Flags, rule: StoppingRule) -> StoppingPoint:
    """Whether a rule is fulfilled: what a run adds is compared with the codes of the first interviews, the base."""
    n, first = len(found), rule.base
    if n < first + rule.run:
        return StoppingPoint(rule, undefined=f"it needs {first + rule.run} interviews, and there are {n}")
    total = accumulate_codes(found).tolist()
    known = total[first - 1]
    if known == 0:
        return StoppingPoint(rule, undefined=f"the first {first} interviews have no code")
    ends = range(first + rule.run, n + 1)
    shares = tuple((total[end - 1] - total[end - rule.run - 1]) / known for end in ends)
    place = next((at for at, part in enumerate(shares) if part <= rule.threshold), None)
    return StoppingPoint(rule, None if place is None else first + place, shares)
