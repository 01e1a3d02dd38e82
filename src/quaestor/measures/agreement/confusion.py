"""Confused codes, agreement by code, and the prevalence and bias of codes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from quaestor.measures.agreement.chance_corrected import Contingency
from quaestor.measures.agreement.estimates import analytic_estimate, check_item_count, undefined_estimate
from quaestor.measures.agreement.table import Floats, Patterns, RatingTable
from quaestor.measures.records import CodeAgreement, ConfusedPair, Confusion, Estimate

MAX_CONFUSED = 10


def build_confusion(labels: tuple[str, ...], contingency: Contingency) -> Confusion:
    """Returns the non-empty cells of the contingency table of two raters."""
    rows, columns = np.nonzero(contingency.counts)
    numbers = contingency.counts[rows, columns].astype(np.int64).tolist()
    cells = zip(rows.tolist(), columns.tolist(), numbers, strict=True)
    named = tuple((labels[row], labels[column], number) for row, column, number in cells)
    return Confusion(contingency.first, contingency.second, labels, named)


def list_confused_pairs(table: RatingTable, limit: int = MAX_CONFUSED) -> tuple[ConfusedPair, ...]:
    """Returns the pairs of codes that raters most often disagree between, counted over pairs of raters."""
    labels = len(table.labels)
    keys = [np.empty(0, dtype=np.int64)]
    for left, right in combinations(table.ratings.T, 2):
        differ = (left >= 0) & (right >= 0) & (left != right)
        keys.append(np.minimum(left, right)[differ] * labels + np.maximum(left, right)[differ])
    pairs, counts = np.unique(np.concatenate(keys), return_counts=True)
    top = np.lexsort((pairs, -counts))[:limit]
    return tuple(
        ConfusedPair((table.labels[pair // labels], table.labels[pair % labels]), int(number))
        for pair, number in zip(pairs[top], counts[top], strict=True)
    )


def find_confused_items(table: RatingTable, first: str, second: str, *, either: bool = False) -> tuple[str, ...]:
    """Returns the items of a cell of the confusion table: the first rater chose `first`, the second `second`.

    With `either`, returns the items on which any two raters chose the two codes, in either order.
    """
    if first not in table.labels or second not in table.labels:
        return ()
    left, right = table.labels.index(first), table.labels.index(second)
    if either:
        matches = (table.ratings == left).any(axis=1) & (table.ratings == right).any(axis=1)
    elif len(table.raters) == 2:
        matches = (table.ratings[:, 0] == left) & (table.ratings[:, 1] == right)
    else:
        return ()
    return tuple(table.items[row] for row in np.flatnonzero(matches).tolist())


def prevalence_index(patterns: Patterns) -> float | None:
    """Returns 0 for equally frequent codes up to 1 for a single one; for two codes that of Byrt et al. (1993)."""
    if not patterns.n:
        return None
    labels = len(patterns.use)
    return 1.0 if labels < 2 else float((labels * patterns.use.max() - 1) / (labels - 1))


def bias_index(table: RatingTable) -> float | None:
    """Returns half the summed difference in code use of the two raters who differ most.

    For two codes this is the index of Byrt et al. (1993).
    """
    if not len(table.ratings):
        return None
    labels = len(table.labels)
    uses = [np.bincount(column[column >= 0], minlength=labels) for column in table.ratings.T]
    shares = [counts / counts.sum() for counts in uses]
    return max(float(np.abs(left - right).sum() / 2) for left, right in combinations(shares, 2))


def compare_codes_of_two(
    codes: Sequence[str], counts: Floats, membership: Floats | None = None
) -> tuple[CodeAgreement, ...]:
    """Returns Cohen's κ by code from a contingency table; `membership` says which codes a label contains."""
    n = float(counts.sum())
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    if membership is None:
        first, second, both = rows, columns, np.diag(counts)
    else:
        first, second, both = rows @ membership, columns @ membership, ((counts @ membership) * membership).sum(axis=0)
    if (problem := check_item_count(int(n))) is not None:
        estimates = [problem] * len(codes)
        percent = np.full(len(codes), np.nan)
    else:
        left, right, shared = first / n, second / n, both / n
        percent = 1 - left - right + 2 * shared
        estimates = _build_estimates(codes, *_compute_cohen(left, right, shared, n))
    return _build_agreements(codes, estimates, percent, first + second, both * 2, first + second - both, both)


def _compute_cohen(left: Floats, right: Floats, shared: Floats, n: float) -> tuple[Floats, Floats]:
    """Returns κ and its variance for 2 × 2 tables, from their margins and the share of items with the code by both."""
    not_left, not_right = 1 - left, 1 - right
    chance = left * right + not_left * not_right
    beyond_chance = 1 - chance
    kappa = np.full(len(left), np.nan)
    varied = beyond_chance > 1e-12
    np.divide(1 - left - right + 2 * shared - chance, beyond_chance, out=kappa, where=varied)
    missed = 1 - kappa
    spread = (
        shared * (1 - (left + right) * missed) ** 2
        + (1 - left - right + shared) * (1 - (not_left + not_right) * missed) ** 2
        + (left - shared) * (right + not_left) ** 2 * missed**2
        + (right - shared) * (left + not_right) ** 2 * missed**2
        - (kappa - chance * missed) ** 2
    )
    return kappa, np.divide(spread, n * beyond_chance**2, out=np.zeros(len(left)), where=varied)


def compare_codes_of_many(
    codes: Sequence[str], patterns: Patterns, membership: Floats | None = None
) -> tuple[CodeAgreement, ...]:
    """Returns Fleiss' κ by code, for any number of raters."""
    uses = patterns.counts if membership is None else patterns.counts @ membership
    raters, items, n = patterns.raters[:, None], patterns.items, patterns.n
    total_uses, weights = (items @ uses if n else np.zeros(len(codes))), patterns.items.astype(np.float64)
    n_any, n_all = weights @ (uses > 0), weights @ (uses == raters)
    if (problem := check_item_count(n)) is not None:
        estimates = [problem] * len(codes)
        percent = np.full(len(codes), np.nan)
    else:
        observed_by_pattern = 1 - 2 * uses * (raters - uses) / (raters * (raters - 1))
        percent = items @ observed_by_pattern / n
        estimates = _build_estimates(codes, *_compute_fleiss(observed_by_pattern, uses / raters, items, n))
    agreeing = weights @ (uses * (uses - 1) / (raters - 1)) if n else total_uses
    return _build_agreements(codes, estimates, percent, total_uses, agreeing, n_any, n_all)


def _compute_fleiss(observed_by_pattern: Floats, shares: Floats, items: np.ndarray, n: int) -> tuple[Floats, Floats]:
    use = items @ shares / n
    chance = use**2 + (1 - use) ** 2
    beyond_chance = 1 - chance
    varied = beyond_chance > 1e-12
    observed = items @ observed_by_pattern / n
    kappa = np.full(len(use), np.nan)
    np.divide(observed - chance, beyond_chance, out=kappa, where=varied)
    chance_by_pattern = shares * use + (1 - shares) * (1 - use)
    offset = observed_by_pattern - chance - 2 * (1 - kappa) * (chance_by_pattern - chance)
    contribution = np.divide(offset, beyond_chance, out=np.zeros_like(offset), where=varied)
    return kappa, np.where(varied, items @ (contribution - kappa) ** 2 / (n * (n - 1)), 0.0)


def _build_estimates(codes: Sequence[str], kappa: Floats, variance: Floats) -> list[Estimate]:
    return [
        undefined_estimate(f"the code {code} was given to every item or to none")
        if np.isnan(value)
        else analytic_estimate(float(value), float(spread))
        for code, value, spread in zip(codes, kappa, variance, strict=True)
    ]


def _build_agreements(
    codes: Sequence[str],
    estimates: Sequence[Estimate],
    percent: Floats,
    total_uses: Floats,
    agreeing: Floats,
    n_any: Floats,
    n_all: Floats,
) -> tuple[CodeAgreement, ...]:
    return tuple(
        CodeAgreement(
            code=code,
            kappa=estimate,
            percent=None if np.isnan(percent[position]) else float(percent[position]),
            specific=float(agreeing[position] / total_uses[position]) if total_uses[position] else None,
            n_any=round(float(n_any[position])),
            n_all=round(float(n_all[position])),
        )
        for position, (code, estimate) in enumerate(zip(codes, estimates, strict=True))
    )
