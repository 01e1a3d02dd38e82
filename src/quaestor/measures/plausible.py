"""What printed figures allow each other to be: a kappa by its counts, a p-value by its correlation."""

from __future__ import annotations

import math

from scipy.special import stdtr


def kappa_range(items: int, disagreements: int, kept: int | None = None) -> tuple[float, float] | None:
    """The smallest and largest Cohen's kappa of two raters and two answers with so many disagreements.

    `kept` is how many items ended with the first answer: at least those on which both gave it, at most those plus
    every disagreement. None where no such table exists, or where kappa is undefined in all of them.
    """
    if not 0 <= disagreements <= items or items == 0:
        return None
    agreed = items - disagreements
    lowest = 0 if kept is None else max(0, kept - disagreements)
    highest = agreed if kept is None else min(agreed, kept)
    if lowest > highest:
        return None
    found = []
    for both in {lowest, highest, *_near(agreed / 2, lowest, highest)}:
        for one_sided in {0, disagreements, *_near(disagreements / 2, 0, disagreements)}:
            value = _kappa(both, one_sided, disagreements - one_sided, agreed - both)
            if value is not None:
                found.append(value)
    return (min(found), max(found)) if found else None


def _near(middle: float, low: int, high: int) -> set[int]:
    """Kappa is extreme at the ends of a range or around its middle."""
    return {one for one in (math.floor(middle), math.ceil(middle)) if low <= one <= high}


def _kappa(both: int, first: int, second: int, neither: int) -> float | None:
    n = both + first + second + neither
    expected = ((both + first) * (both + second) + (neither + second) * (neither + first)) / n**2
    return None if expected == 1 else ((both + neither) / n - expected) / (1 - expected)


def p_of_correlation(r: float, n: int) -> float | None:
    """The two-sided p-value of Pearson's r over n pairs; None where n allows none."""
    if n < 3:
        return None
    if abs(r) >= 1:
        return 0.0
    t = abs(r) * math.sqrt((n - 2) / (1 - r * r))
    return float(2 * stdtr(n - 2, -t))


def p_range(r: float, decimals: int, n: int) -> tuple[float, float] | None:
    """The p-values that a printed r, rounded to so many decimals, may stand for."""
    half = 0.5 * 10.0**-decimals
    low, high = max(0.0, abs(r) - half), min(1.0, abs(r) + half)
    largest, smallest = p_of_correlation(low, n), p_of_correlation(high, n)
    return None if largest is None or smallest is None else (smallest, largest)
