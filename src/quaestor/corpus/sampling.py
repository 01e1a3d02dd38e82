"""Seeded samples, and how large a sample must be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np

from quaestor.base.errors import InputError


def sample_size(population: int, confidence: float, margin: float, share: float = 0.5) -> int:
    """How many of a population to look at so that a share is known within ± margin (Cochran's formula).

    The share 0.5 is the most demanding one; the correction for finite populations is applied.
    """
    if not (0 < confidence < 1 and 0 < margin < 1 and 0 < share < 1):
        raise InputError("confidence, margin and share must lie between 0 and 1, for example 0.95, 0.05 and 0.5")
    if population <= 0:
        return 0
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    unlimited = quantile**2 * share * (1 - share) / margin**2
    return min(population, math.ceil(unlimited / (1 + (unlimited - 1) / population)))


def simple_sample(items: Sequence[str], size: int, seed: int) -> list[str]:
    """`size` items, each as likely as any other; the same items, size and seed give the same sample."""
    if size > len(items):
        raise InputError(f"a sample of {size} cannot be drawn from {len(items)} items: ask for fewer")
    ordered = sorted(items)
    chosen = np.random.default_rng(seed).choice(len(ordered), size=size, replace=False)
    return [ordered[number] for number in np.sort(chosen)]


def stratified_sample(strata: Mapping[str, Sequence[str]], size: int, seed: int) -> dict[str, list[str]]:
    """A sample in which each stratum has its share of the whole, to within one item."""
    shares = allot(size, {name: len(items) for name, items in strata.items()})
    return {
        name: simple_sample(strata[name], shares[name], seed + number) for number, name in enumerate(sorted(strata))
    }


def allot(size: int, counts: Mapping[str, int]) -> dict[str, int]:
    """Places for each stratum in proportion to its count, by largest remainder; never more than it has."""
    total = sum(counts.values())
    if size > total:
        raise InputError(f"a sample of {size} cannot be drawn from {total} items: ask for fewer")
    if not total:
        return dict.fromkeys(counts, 0)
    exact = {name: size * count / total for name, count in counts.items()}
    places = {name: math.floor(value) for name, value in exact.items()}
    by_remainder = sorted(counts, key=lambda name: (places[name] - exact[name], name))
    for name in by_remainder[: size - sum(places.values())]:
        places[name] += 1
    return places
