"""Which codes are taken for one another, and how unequal the use of codes is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from quaestor.measures.agreement.chance_corrected import Contingency
from quaestor.measures.agreement.estimates import analytic_estimate, check_item_count, undefined_estimate
from quaestor.measures.agreement.table import Floats, Patterns, RatingTable
from quaestor.measures.records import CodeAgreement, ConfusedPair, Confusion, Estimate

MAX_CONFUSED = 10


def build_confusion(labels: tuple[str, ...], found: Contingency) -> Confusion:
    """The contingency table of two raters as its cells that are not empty."""
    rows, columns = np.nonzero(found.counts)
    numbers = found.counts[rows, columns].astype(np.int64).tolist()
    cells = zip(rows.tolist(), columns.tolist(), numbers, strict=True)
    named = tuple((labels[row], labels[column], number) for row, column, number in cells)
    return Confusion(found.first, found.second, labels, named)


def confused_pairs(table: RatingTable, limit: int = MAX_CONFUSED) -> tuple[ConfusedPair, ...]:
    """The pairs of codes that stand against each other most often, counted in pairs of raters."""
    labels = len(table.labels)
    found = [np.empty(0, dtype=np.int64)]
    for one, other in combinations(table.ratings.T, 2):
        torn = (one >= 0) & (other >= 0) & (one != other)
        found.append(np.minimum(one, other)[torn] * labels + np.maximum(one, other)[torn])
    pairs, often = np.unique(np.concatenate(found), return_counts=True)
    first = np.lexsort((pairs, -often))[:limit]
    return tuple(
        ConfusedPair((table.labels[pair // labels], table.labels[pair % labels]), int(number))
        for pair, number in zip(pairs[first], often[first], strict=True)
    )


def find_confused_items(table: RatingTable, first: str, second: str, *, either: bool = False) -> tuple[str, ...]:
    """The items behind a cell of the table of two raters: the first said the one, the second the other.

    With `either`, those on which any two raters stand so, whoever said which: the items of a confused pair.
    """
    if first not in table.labels or second not in table.labels:
        return ()
    one, other = table.labels.index(first), table.labels.index(second)
    if either:
        found = (table.ratings == one).any(axis=1) & (table.ratings == other).any(axis=1)
    elif len(table.raters) == 2:
        found = (table.ratings[:, 0] == one) & (table.ratings[:, 1] == other)
    else:
        return ()
    return tuple(table.items[row] for row in np.flatnonzero(found).tolist())


def prevalence_index(patterns: Patterns) -> float | None:
    """0 where all codes are used alike, 1 where one has everything; for two codes that of Byrt et al. (1993)."""
    if not patterns.n:
        return None
    labels = len(patterns.use)
    return 1.0 if labels < 2 else float((labels * patterns.use.max() - 1) / (labels - 1))


def bias_index(table: RatingTable) -> float | None:
    """Half the summed difference in how two raters use the codes, of the two who differ most.

    For two codes that of Byrt et al. (1993).
    """
    if not len(table.ratings):
        return None
    labels = len(table.labels)
    each = [np.bincount(column[column >= 0], minlength=labels) for column in table.ratings.T]
    shares = [counts / counts.sum() for counts in each]
    return max(float(np.abs(one - other).sum() / 2) for one, other in combinations(shares, 2))


def compare_codes_of_two(codes: Sequence[str], counts: Floats, held: Floats | None = None) -> tuple[CodeAgreement, ...]:
    """Cohen's κ per code from the one contingency table; `held` tells which codes a label holds, else its own."""
    n = float(counts.sum())
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    if held is None:
        first, second, both = rows, columns, np.diag(counts)
    else:
        first, second, both = rows @ held, columns @ held, ((counts @ held) * held).sum(axis=0)
    if (why := check_item_count(int(n))) is not None:
        estimates = [why] * len(codes)
        percent = np.full(len(codes), np.nan)
    else:
        one, other, shared = first / n, second / n, both / n
        percent = 1 - one - other + 2 * shared
        estimates = _estimates(codes, *_cohen(one, other, shared, n))
    return _gathered(codes, estimates, percent, first + second, both * 2, first + second - both, both)


def _cohen(one: Floats, other: Floats, shared: Floats, n: float) -> tuple[Floats, Floats]:
    """κ and its variance for 2 × 2 tables given by their margins and the share of items both gave the code."""
    not_one, not_other = 1 - one, 1 - other
    chance = one * other + not_one * not_other
    room = 1 - chance
    kappa = np.full(len(one), np.nan)
    varied = room > 1e-12
    np.divide(1 - one - other + 2 * shared - chance, room, out=kappa, where=varied)
    missed = 1 - kappa
    spread = (
        shared * (1 - (one + other) * missed) ** 2
        + (1 - one - other + shared) * (1 - (not_one + not_other) * missed) ** 2
        + (one - shared) * (other + not_one) ** 2 * missed**2
        + (other - shared) * (one + not_other) ** 2 * missed**2
        - (kappa - chance * missed) ** 2
    )
    return kappa, np.divide(spread, n * room**2, out=np.zeros(len(one)), where=varied)


def compare_codes_of_many(codes: Sequence[str], patterns: Patterns, held: Floats | None = None) -> tuple[CodeAgreement, ...]:
    """Fleiss' κ per code, for any number of raters."""
    uses = patterns.counts if held is None else patterns.counts @ held
    raters, items, n = patterns.raters[:, None], patterns.items, patterns.n
    given, kept = (items @ uses if n else np.zeros(len(codes))), patterns.items.astype(np.float64)
    n_any, n_all = kept @ (uses > 0), kept @ (uses == raters)
    if (why := check_item_count(n)) is not None:
        estimates = [why] * len(codes)
        percent = np.full(len(codes), np.nan)
    else:
        each = 1 - 2 * uses * (raters - uses) / (raters * (raters - 1))
        percent = items @ each / n
        estimates = _estimates(codes, *_fleiss(each, uses / raters, items, n))
    agreeing = kept @ (uses * (uses - 1) / (raters - 1)) if n else given
    return _gathered(codes, estimates, percent, given, agreeing, n_any, n_all)


def _fleiss(each: Floats, shares: Floats, items: np.ndarray, n: int) -> tuple[Floats, Floats]:
    use = items @ shares / n
    chance = use**2 + (1 - use) ** 2
    room = 1 - chance
    varied = room > 1e-12
    observed = items @ each / n
    kappa = np.full(len(use), np.nan)
    np.divide(observed - chance, room, out=kappa, where=varied)
    chance_of_each = shares * use + (1 - shares) * (1 - use)
    offset = each - chance - 2 * (1 - kappa) * (chance_of_each - chance)
    contribution = np.divide(offset, room, out=np.zeros_like(offset), where=varied)
    return kappa, np.where(varied, items @ (contribution - kappa) ** 2 / (n * (n - 1)), 0.0)


def _estimates(codes: Sequence[str], kappa: Floats, variance: Floats) -> list[Estimate]:
    return [
        undefined_estimate(f"the code {code} was given to every item or to none")
        if np.isnan(value)
        else analytic_estimate(float(value), float(spread))
        for code, value, spread in zip(codes, kappa, variance, strict=True)
    ]


def _gathered(
    codes: Sequence[str],
    estimates: Sequence[Estimate],
    percent: Floats,
    given: Floats,
    agreeing: Floats,
    n_any: Floats,
    n_all: Floats,
) -> tuple[CodeAgreement, ...]:
    return tuple(
        CodeAgreement(
            code=code,
            kappa=estimate,
            percent=None if np.isnan(percent[place]) else float(percent[place]),
            specific=float(agreeing[place] / given[place]) if given[place] else None,
            n_any=round(float(n_any[place])),
            n_all=round(float(n_all[place])),
        )
        for place, (code, estimate) in enumerate(zip(codes, estimates, strict=True))
    )
