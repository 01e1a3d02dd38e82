"""Survey answers: shares of respondents, means with their interval, and differences between groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chndtr

from quaestor.base.errors import InputError
from quaestor.measures.agreement.estimates import QUANTILE, bootstrap_estimate
from quaestor.measures.arrays import Floats, to_numbers
from quaestor.measures.association import association
from quaestor.measures.descriptive import count_groups, share
from quaestor.measures.group_comparison import holm
from quaestor.measures.records import Association, Band, Estimate, Share
from quaestor.measures.weighting import weighted_mean, weighted_share

REPLICATES = 2_000
MAX_RESAMPLED, MAX_DISTINCT = 10_000, 1_000
"""Up to this many values, and distinct ones, a mean is bootstrapped; beyond that the normal interval is as good."""
MIN_GROUP_SIZE = 10
"""A test of a group with fewer answers carries a caution."""
_TAIL = 0.025
_SMALLEST, _LARGEST = 1e-290, 1e290
"""Ranges narrower or wider than this have no round numbers in floating point."""
_COHEN: tuple[tuple[float, Band], ...] = ((0.1, "negligible"), (0.3, "small"), (0.5, "medium"))

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class OptionRank:
    """An option of a ranking: its mean rank and its share of first ranks."""

    placed: int
    """The number of respondents who ranked it."""
    mean: Estimate
    first: Share
    weighted_mean: Estimate | None = None


@dataclass(frozen=True)
class Strength:
    """Cramér's V with its 95 % interval and its size in words."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    band: Band = ""
    undefined: str = ""


@dataclass(frozen=True)
class GroupDifference:
    """Whether groups answer differently: the test, its strength, and cautions about it."""

    association: Association
    strength: Strength
    adjusted: float | None = None
    """The p-value adjusted by Holm's method, if a question has several rows or options."""
    doubts: tuple[str, ...] = ()


def single_shares(codes: NDArray[np.integer], n_options: int, weights: Floats | None = None) -> list[Share]:
    """Returns the share of each option among respondents who chose one; −1 means that there was no answer."""
    counts = count_groups(codes, n_options).tolist()
    shares = [share(count, sum(counts)) for count in counts]
    if weights is None:
        return shares
    known = codes >= 0
    return [
        replace(unweighted, weighted=weighted_share(codes[known] == option, weights[known]))
        for option, unweighted in enumerate(shares)
    ]


def multiple_shares(chosen: Flags, answered: Flags, weights: Floats | None = None) -> list[Share]:
    """Returns the share of respondents who chose each option; the shares may add up to more than 1."""
    if chosen.ndim != 2 or chosen.shape[0] != len(answered):
        raise InputError("choices need a row for each respondent and a column for each option")
    return [share_among(column, answered, weights) for column in chosen.T]


def share_among(chosen: Flags, among: Flags, weights: Floats | None = None) -> Share:
    """Returns the share of respondents who chose something, and the weighted share if there are weights."""
    unweighted = share(int((chosen & among).sum()), int(among.sum()))
    if weights is None:
        return unweighted
    return replace(unweighted, weighted=weighted_share(chosen[among], weights[among]))


def mean(values: ArrayLike, seed: int) -> Estimate:
    """Returns the mean with a bootstrap interval, which depends on the values and the seed but not on their order.

    Draws how often each distinct value occurs in a sample, so that the cost depends on the number of distinct values
    only.
    """
    numbers = to_numbers(values)
    numbers = numbers[~np.isnan(numbers)]
    n = len(numbers)
    if n == 0:
        return Estimate(undefined="undefined, because no item has a value")
    value = math.fsum(numbers.tolist()) / n
    if n == 1:
        return Estimate(value, undefined="the interval is undefined, because one item has no spread")
    distinct, times = np.unique(numbers, return_counts=True)
    if n > MAX_RESAMPLED or len(distinct) > MAX_DISTINCT:
        se = float(numbers.std(ddof=1)) / math.sqrt(n)
        return Estimate(value, se, value - QUANTILE * se, value + QUANTILE * se, "analytic")
    drawn = np.random.default_rng([seed, n]).multinomial(n, times / n, REPLICATES)
    # Deviations from the mean, so that large values lose no precision.
    return bootstrap_estimate(value, value + drawn @ (distinct - value) / n)


def distribution(values: ArrayLike, max_groups: int) -> list[tuple[str, Share]]:
    """Returns the share of each number; with more than `max_groups` numbers, of equal ranges with round bounds."""
    numbers = to_numbers(values)
    numbers = numbers[~np.isnan(numbers)]
    distinct, times = np.unique(numbers, return_counts=True)
    if len(distinct) <= max_groups:
        labels = [f"{value:.15g}" for value in distinct.tolist()]
    else:
        edges = _compute_round_edges(float(distinct[0]), float(distinct[-1]), max_groups)
        times = np.histogram(numbers, edges)[0]
        labels = [f"{low:.15g} to under {high:.15g}" for low, high in pairwise(edges)]
        labels[-1] = f"{edges[-2]:.15g} to {edges[-1]:.15g}"
    return [(label, share(count, len(numbers))) for label, count in zip(labels, times.tolist(), strict=True)]


def rankings(
    ranks: NDArray[np.integer], seed: int, offered: Flags | None = None, weights: Floats | None = None
) -> list[OptionRank]:
    """Returns each option's mean rank where it was ranked, and its first ranks among all rankings; 0 means unranked.

    With `offered`, by respondent and option, first ranks are among the rankings that could contain the option.
    """
    if ranks.ndim != 2:
        raise InputError("ranks need a row for each respondent and a column for each option")
    has_ranks = (ranks > 0).any(axis=1)
    ranked = ranks[has_ranks]
    could_rank = np.ones_like(ranked, np.bool_) if offered is None else offered[has_ranks] | (ranked > 0)
    weights = None if weights is None else weights[has_ranks]
    options = []
    for column, could in zip(ranked.T, could_rank.T, strict=True):
        placed = column[column > 0].astype(np.float64)
        weighted = None if weights is None else _limit(weighted_mean(placed, weights[column > 0]), ranks.shape[1])
        first = share_among(column == 1, could, weights)
        options.append(OptionRank(len(placed), mean(placed, seed), first, weighted))
    return options


def _limit(estimate: Estimate, last: int) -> Estimate:
    """Returns the mean of ranks with its interval limited to the ranks that exist."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(estimate.low, 1.0), high=min(estimate.high, float(last)))


def cramers_v(test: Association, rows: int, columns: int) -> Strength:
    """Returns V with an interval from the noncentral chi-square distribution; it contains 0 if the test finds nothing.

    Groups that are more alike than expected by chance would get an upper bound near 0, as if few answers could prove
    that there is no difference; the bound is therefore never below that of an average table by chance (Cowan et al.
    2011, power constrained limits). `rows` and `columns` count the non-empty ones; the bands are Cohen's (1988).
    """
    if test.cramers_v is None:
        return Strength(undefined=test.undefined)
    smaller_df = min(rows, columns) - 1
    df = (rows - 1) * (columns - 1)
    statistic = test.cramers_v**2 * test.n * smaller_df
    lowest, highest = (
        _find_noncentrality(statistic, df, 1 - _TAIL),
        _find_noncentrality(max(statistic, float(df)), df, _TAIL),
    )
    low, high = (math.sqrt(bound / (test.n * smaller_df)) for bound in (lowest, highest))
    scaled = test.cramers_v * math.sqrt(smaller_df)
    band: Band = next((name for limit, name in _COHEN if scaled < limit), "large")
    return Strength(test.cramers_v, min(low, 1.0), min(high, 1.0), band)


def compare_groups(counts: ArrayLike, seed: int) -> GroupDifference:
    """Compares the answers of groups, from a table of answers × groups."""
    table = np.asarray(counts)
    test = association(table, seed)
    rows, columns = int((table.sum(axis=1) > 0).sum()), int((table.sum(axis=0) > 0).sum())
    return GroupDifference(test, cramers_v(test, rows, columns), doubts=_list_doubts(test, table))


def adjust_p_values(differences: Sequence[GroupDifference]) -> list[GroupDifference]:
    """Adjusts the p-values of several tests of one question by Holm's method."""
    known = [difference.association.p for difference in differences if difference.association.p is not None]
    stepped = iter(holm(known).tolist()) if len(known) > 1 else iter(known)
    return [
        replace(difference, adjusted=None if difference.association.p is None else next(stepped))
        for difference in differences
    ]


def add_doubt(difference: GroupDifference, doubt: str) -> GroupDifference:
    """Returns a comparison with a further caution, unless there is no test."""
    return difference if difference.association.undefined else replace(difference, doubts=(*difference.doubts, doubt))


def list_size_doubts(sizes: Sequence[int]) -> tuple[str, ...]:
    """Returns cautions about a test of groups with so many answers; groups without answers are not tested."""
    least = min((size for size in sizes if size), default=MIN_GROUP_SIZE)
    if least >= MIN_GROUP_SIZE:
        return ()
    few = "one answer" if least == 1 else f"{least} answers"
    return (f"the smallest group has {few}, too few for reliable conclusions",)


def _list_doubts(test: Association, table: NDArray[np.int64]) -> tuple[str, ...]:
    if test.undefined:
        return ()
    doubts = [*list_size_doubts(table.sum(axis=0).tolist())]
    if test.test == "chi-square, permuted":
        doubts.append("many cells expect fewer than 5 answers: p comes from permutations, and V tends to be too large")
    return tuple(doubts)


def _compute_round_edges(least: float, most: float, parts: int) -> list[float]:
    """Returns multiples of 1, 2 or 5 times a power of ten, each parsed from its digits so that it prints exactly."""
    raw = most / parts - least / parts
    exponent = math.floor(math.log10(raw)) if raw > 0 else 0
    if not _SMALLEST < raw < _LARGEST:
        return [least, most]  # there are no round numbers in between
    factor = next((digit for digit in (1, 2, 5) if float(f"{digit}e{exponent}") >= raw), 10)
    step = float(f"{factor}e{exponent}")
    first, last = math.floor(least / step), math.ceil(most / step)
    while float(f"{first * factor}e{exponent}") > least:
        first -= 1
    while last == first or float(f"{last * factor}e{exponent}") < most:
        last += 1
    return [float(f"{multiple * factor}e{exponent}") for multiple in range(first, last + 1)]


def _find_noncentrality(statistic: float, df: int, tail: float) -> float:
    """Returns the noncentrality for which the statistic is the quantile `tail`; 0 if there is none."""
    if chndtr(statistic, df, 0.0) <= tail:
        return 0.0
    low, high = 0.0, max(statistic, 1.0)
    while chndtr(statistic, df, high) > tail:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if chndtr(statistic, df, middle) > tail else (low, middle)
    return (low + high) / 2
