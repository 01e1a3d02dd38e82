"""Themes of interviews: who mentions a code, which codes occur together, and whether saturation is reached."""

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
"""The number of random orders of interviews; if there are at most so many, each is used once."""
_TAIL = 0.025


@dataclass(frozen=True)
class CoOccurrence:
    """How often two codes occur in the same unit, as counts and as a share of the units of either (Jaccard)."""

    counts: Whole
    """Codes × codes; the diagonal counts the units of a code."""
    jaccard: Floats
    """NaN if neither of the two codes occurs."""


@dataclass(frozen=True)
class StoppingRule:
    """A rule for when to stop interviewing.

    Saturation is reached when a run of interviews adds at most a share (the threshold) of the codes of the first
    interviews (the base).
    """

    name: str
    base: int
    run: int
    threshold: float


@dataclass(frozen=True)
class StoppingPoint:
    """When a rule is fulfilled, if it is."""

    rule: StoppingRule
    reached: int | None = None
    """The number of interviews before the first run from which on every run fulfils the rule; None if there is none."""
    lapsed: int | None = None
    """The number of interviews before an earlier run that fulfilled the rule until a later interview added codes."""
    shares: tuple[float, ...] = ()
    """The new codes of each run as a share of the codes of the base; each run starts one interview later."""
    undefined: str = ""


@dataclass(frozen=True)
class Saturation:
    """New codes by interview, and the range that other orders of the same interviews give."""

    new: tuple[int, ...]
    total: tuple[int, ...]
    expected: tuple[float, ...]
    """The mean number of codes after each number of interviews, over all orders."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    """The bounds of 95 % of the orders."""
    stops: tuple[StoppingPoint, ...]


STOPPING_RULES = (
    StoppingRule("Guest et al. 2020, at most 5 % new", 4, 2, 0.05),
    StoppingRule("Guest et al. 2020, nothing new", 4, 2, 0.0),
    StoppingRule("Guest et al. 2020, longer run, at most 5 % new", 4, 3, 0.05),
    StoppingRule("Francis et al. 2010, ten and three", 10, 3, 0.0),
)
"""The rules in common use."""


def participant_shares(mentions: Whole) -> list[Share]:
    """Returns the share of participants who mention each code, from a matrix of codes × participants."""
    if mentions.ndim != 2:
        raise InputError("mentions need a row for each code and a column for each participant")
    return [share(int(row), mentions.shape[1]) for row in (mentions > 0).sum(axis=1)]


def co_occurrence(units: Flags) -> CoOccurrence:
    """Counts codes that occur in the same unit (a turn, an answer, an interview), from a matrix of units × codes."""
    if units.ndim != 2:
        raise InputError("occurrences need a row for each unit and a column for each code")
    ones = units.astype(np.int64)
    return _build_co_occurrence(ones.T @ ones)


def character_overlap(passages: Iterable[tuple[str, int, int, int]], n_codes: int) -> CoOccurrence:
    """Counts the characters that two codes share, from passages as (text, start, end, code)."""
    texts: dict[str, list[tuple[int, int, int]]] = {}
    for text, start, end, code in passages:
        texts.setdefault(text, []).append((start, end, code))
    counts = np.zeros((n_codes, n_codes), np.int64)
    for spans in texts.values():
        edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
        for low, high in pairwise(edges):
            present = sorted({code for start, end, code in spans if start <= low and high <= end})
            counts[np.ix_(present, present)] += high - low
    return _build_co_occurrence(counts)


def _build_co_occurrence(counts: Whole) -> CoOccurrence:
    totals = counts.diagonal()
    either = totals[:, None] + totals[None, :] - counts
    jaccard = np.full(counts.shape, np.nan)
    np.divide(counts, either, out=jaccard, where=either > 0)
    return CoOccurrence(counts, jaccard)


def saturation(occurrences: Flags, seed: int, rules: Sequence[StoppingRule] = STOPPING_RULES) -> Saturation:
    """Computes saturation from a matrix of interviews in their order × codes."""
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


def accumulate_codes(occurrences: Flags) -> Whole:
    """Returns the number of different codes after each interview."""
    return np.asarray(np.logical_or.accumulate(occurrences, axis=0).sum(axis=1), np.int64)


def expected_codes(occurrences: Flags) -> tuple[float, ...]:
    """Returns the mean number of codes in k of n interviews for each k, computed exactly (rarefaction)."""
    n = len(occurrences)
    counts_by_code = occurrences.sum(axis=0).tolist()
    return tuple(
        math.fsum(1 - math.comb(n - times, k) / math.comb(n, k) for times in counts_by_code) for k in range(1, n + 1)
    )


def order_interval(occurrences: Flags, seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the bounds of 95 % of the interviews' orders after each interview; uses all orders if they are few."""
    n = len(occurrences)
    if n == 0:
        return (), ()
    if math.factorial(n) <= REPLICATES:
        drawn = np.array(list(permutations(range(n))))
    else:
        generator = np.random.default_rng([seed, n])
        drawn = generator.permuted(np.tile(np.arange(n), (REPLICATES, 1)), axis=1)
    curves = np.logical_or.accumulate(occurrences[drawn], axis=1).sum(axis=2)
    low, high = np.quantile(curves, (_TAIL, 1 - _TAIL), axis=0)
    return tuple(low.tolist()), tuple(high.tolist())


def apply_rule(occurrences: Flags, rule: StoppingRule) -> StoppingPoint:
    """Finds the first run of interviews that fulfils a rule and is not refuted by a later one."""
    n, first = len(occurrences), rule.base
    if n < first + rule.run:
        return StoppingPoint(rule, undefined=f"it needs {first + rule.run} interviews, but there are {n}")
    total = accumulate_codes(occurrences).tolist()
    known = total[first - 1]
    if known == 0:
        return StoppingPoint(rule, undefined=f"the first {first} interviews have no code")
    ends = range(first + rule.run, n + 1)
    shares = tuple((total[end - 1] - total[end - rule.run - 1]) / known for end in ends)
    fulfilled = [part <= rule.threshold for part in shares]
    first_run = next((number for number, holds in enumerate(fulfilled) if holds), None)
    last_refuted = max((number for number, holds in enumerate(fulfilled) if not holds), default=-1)
    reached = None if last_refuted == len(shares) - 1 else first + last_refuted + 1
    lapsed = None if first_run is None or first_run > last_refuted else first + first_run
    return StoppingPoint(rule, reached, lapsed, shares)
