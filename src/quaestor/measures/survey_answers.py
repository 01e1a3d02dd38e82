"""Answers counted: shares of those who answered, means with their uncertainty, and whether groups differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chndtr

from quaestor.base.errors import InputError
from quaestor.measures.agreement.estimates import QUANTILE, bootstrap_estimate
from quaestor.measures.arrays import to_numbers
from quaestor.measures.association import association
from quaestor.measures.descriptive import count_groups, share
from quaestor.measures.group_comparison import holm
from quaestor.measures.records import Association, Band, Estimate, Share

REPLICATES = 2_000
MAX_RESAMPLED, MAX_DISTINCT = 10_000, 1_000
"""Values, and distinct ones, up to which a mean is resampled; with more the normal interval hardly differs from it."""
MIN_GROUP_SIZE = 10
"""Answers in a group below which its shares say little."""
_TAIL = 0.025
_SMALLEST, _LARGEST = 1e-290, 1e290
"""Widths of a range between which floating point has round numbers."""
_COHEN: tuple[tuple[float, Band], ...] = ((0.1, "negligible"), (0.3, "small"), (0.5, "medium"))

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class OptionRank:
    """One option of a ranking: its mean place and how often it came first."""

    placed: int
    """How many gave it a place."""
    mean: Estimate
    first: Share


@dataclass(frozen=True)
class Strength:
    """Cramér's V with its 95 % interval and the word for its size."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    band: Band = ""
    undefined: str = ""


@dataclass(frozen=True)
class GroupDifference:
    """Whether groups answer differently: the test, how strongly, and why not to lean on it where there is a reason."""

    association: Association
    strength: Strength
    adjusted: float | None = None
    """The p-value by Holm's method, where one question asks several things at once."""
    doubts: tuple[str, ...] = ()


def single_shares(codes: ArrayLike, n_options: int) -> list[Share]:
    """The share of each option among those who chose one; −1 is no answer."""
    counted = count_groups(codes, n_options).tolist()
    return [share(count, sum(counted)) for count in counted]


def multiple_shares(chosen: Flags, answered: Flags) -> list[Share]:
    """The share of respondents who chose each option, among those who answered; together they may exceed the whole."""
    if chosen.ndim != 2 or chosen.shape[0] != len(answered):
        raise InputError("choices need a row for each respondent and a column for each option")
    base = int(answered.sum())
    return [share(count, base) for count in chosen[answered].sum(axis=0).tolist()]


def mean(values: ArrayLike, seed: int) -> Estimate:
    """The mean with a bootstrap interval that depends on the values and the seed alone, not on their order.

    Drawing n values with replacement is drawing how often each distinct one comes, which costs as much as there are
    distinct values, however many answered.
    """
    found = to_numbers(values)
    found = found[~np.isnan(found)]
    n = len(found)
    if n == 0:
        return Estimate(undefined="undefined, because no item has a value")
    value = math.fsum(found.tolist()) / n
    if n == 1:
        return Estimate(value, undefined="the interval is undefined, because one item has no spread")
    distinct, times = np.unique(found, return_counts=True)
    if n > MAX_RESAMPLED or len(distinct) > MAX_DISTINCT:
        se = float(found.std(ddof=1)) / math.sqrt(n)
        return Estimate(value, se, value - QUANTILE * se, value + QUANTILE * se, "analytic")
    drawn = np.random.default_rng([seed, n]).multinomial(n, times / n, REPLICATES)
    # About the mean, so that large values lose no digits.
    return bootstrap_estimate(value, value + drawn @ (distinct - value) / n)


def distribution(values: ArrayLike, max_groups: int) -> list[tuple[str, Share]]:
    """How often each number was given; where there are more than `most` different ones, in equal and round ranges."""
    found = to_numbers(values)
    found = found[~np.isnan(found)]
    distinct, times = np.unique(found, return_counts=True)
    if len(distinct) <= max_groups:
        labels = [f"{value:.15g}" for value in distinct.tolist()]
    else:
        edges = _round_edges(float(distinct[0]), float(distinct[-1]), max_groups)
        times = np.histogram(found, edges)[0]
        labels = [f"{low:.15g} to under {high:.15g}" for low, high in pairwise(edges)]
        labels[-1] = f"{edges[-2]:.15g} to {edges[-1]:.15g}"
    return [(label, share(count, len(found))) for label, count in zip(labels, times.tolist(), strict=True)]


def rankings(places: NDArray[np.integer], seed: int) -> list[OptionRank]:
    """Each option's mean place among those who placed it, and its first places among all who ranked; 0 is no place."""
    if places.ndim != 2:
        raise InputError("places need a row for each respondent and a column for each option")
    ranked = places[(places > 0).any(axis=1)]
    found = []
    for column in ranked.T:
        placed = column[column > 0]
        first = share(int((column == 1).sum()), len(ranked))
        found.append(OptionRank(len(placed), mean(placed.astype(np.float64), seed), first))
    return found


def cramers_v(found: Association, rows: int, columns: int) -> Strength:
    """V with the interval of the noncentral chi-square distribution: it holds 0 where the chi-square test sees nothing.

    Groups that are more alike than chance makes them would get an upper bound near 0, as if few answers could prove
    that there is no difference: it is never below the one of a table as chance makes it (Cowan et al. 2011, power
    constrained limits). `rows` and `columns` are those of the table that have a count; bands are Cohen's (1988).
    """
    if found.cramers_v is None:
        return Strength(undefined=found.undefined)
    less = min(rows, columns) - 1
    df = (rows - 1) * (columns - 1)
    statistic = found.cramers_v**2 * found.n * less
    least, most = _noncentrality(statistic, df, 1 - _TAIL), _noncentrality(max(statistic, float(df)), df, _TAIL)
    low, high = (math.sqrt(bound / (found.n * less)) for bound in (least, most))
    scaled = found.cramers_v * math.sqrt(less)
    band: Band = next((name for limit, name in _COHEN if scaled < limit), "large")
    return Strength(found.cramers_v, min(low, 1.0), min(high, 1.0), band)


def compare_groups(counts: ArrayLike, seed: int) -> GroupDifference:
    """Answers by groups: the test that fits the table, the strength, and what to doubt."""
    table = np.asarray(counts)
    found = association(table, seed)
    rows, columns = int((table.sum(axis=1) > 0).sum()), int((table.sum(axis=0) > 0).sum())
    return GroupDifference(found, cramers_v(found, rows, columns), doubts=_doubts(found, table))


def adjust_p_values(several: Sequence[GroupDifference]) -> list[GroupDifference]:
    """Several tests of one question with p-values by Holm's method, since one of many is soon small by chance."""
    known = [one.association.p for one in several if one.association.p is not None]
    stepped = iter(holm(known).tolist()) if len(known) > 1 else iter(known)
    return [
        GroupDifference(one.association, one.strength, None if one.association.p is None else next(stepped), one.doubts)
        for one in several
    ]


def list_size_doubts(sizes: Sequence[int]) -> tuple[str, ...]:
    """What speaks against leaning on a test of groups with so many answers; a group without any is in no test."""
    least = min((size for size in sizes if size), default=MIN_GROUP_SIZE)
    if least >= MIN_GROUP_SIZE:
        return ()
    few = "one answer" if least == 1 else f"{least} answers"
    return (f"the smallest group has {few}, too few to say much about it",)


def _doubts(found: Association, table: NDArray[np.int64]) -> tuple[str, ...]:
    if found.undefined:
        return ()
    doubts = [*list_size_doubts(table.sum(axis=0).tolist())]
    if found.test == "chi-square, permuted":
        doubts.append("many cells expect fewer than 5 answers: p comes from permutations, and V tends to be too large")
    return tuple(doubts)


def _round_edges(least: float, most: float, wanted: int) -> list[float]:
    """Multiples of 1, 2 or 5 with some power of ten, each the very number that its digits say, however small."""
    raw = most / wanted - least / wanted
    exponent = math.floor(math.log10(raw)) if raw > 0 else 0
    if not _SMALLEST < raw < _LARGEST:
        return [least, most]  # nothing rounds there
    factor = next((one for one in (1, 2, 5) if float(f"{one}e{exponent}") >= raw), 10)
    step = float(f"{factor}e{exponent}")
    first, last = math.floor(least / step), math.ceil(most / step)
    while float(f"{first * factor}e{exponent}") > least:
        first -= 1
    while last == first or float(f"{last * factor}e{exponent}") < most:
        last += 1
    return [float(f"{place * factor}e{exponent}") for place in range(first, last + 1)]


def _noncentrality(statistic: float, df: int, tail: float) -> float:
    """The noncentrality under which the chance of a chi-square up to this one is `tail`; 0 where none is so large."""
    if chndtr(statistic, df, 0.0) <= tail:
        return 0.0
    low, high = 0.0, max(statistic, 1.0)
    while chndtr(statistic, df, high) > tail:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if chndtr(statistic, df, middle) > tail else (low, middle)
    return (low + high) / 2
