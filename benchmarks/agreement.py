"""Compare agreement of two raters on many items with `krippendorff` and `irrCAC`, each for what it supports."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from numpy.typing import NDArray

from quaestor.measures.agreement import RatingTable, agreement, build_rating_table
from quaestor.measures.agreement.chance_corrected import krippendorff_alpha
from quaestor.measures.agreement.table import find_patterns

ITEMS, CODES, AGREED, BAR = 10_000, 63, 0.8, 0.2


def ratings() -> NDArray[np.int64]:
    """Items × two raters: the second repeats the first mostly and guesses else."""
    generator = np.random.default_rng(1)
    first = generator.integers(0, CODES, ITEMS)
    guess = generator.integers(0, CODES, ITEMS)
    return np.stack([first, np.where(generator.random(ITEMS) < AGREED, first, guess)], axis=1)


def table_of(matrix: NDArray[np.int64]) -> RatingTable:
    return build_rating_table(
        (str(item), f"R{rater}", str(code))
        for item, row in enumerate(matrix.tolist())
        for rater, code in enumerate(row)
    )


def main(folder: Path, options: argparse.Namespace) -> None:
    matrix = ratings()
    table = table_of(matrix)
    codes = list(range(CODES))

    def whole() -> float:
        return _known(agreement(table, facet="cause").alpha.value)

    def alpha_alone() -> float:
        return _known(krippendorff_alpha(find_patterns(table), "nominal", seed=0, replicates=0).value)

    def peer_alpha(data: NDArray[np.int64] = matrix) -> float:
        return float(krippendorff.alpha(reliability_data=data.T, level_of_measurement="nominal"))

    def peer_coefficients() -> float:
        cac = CAC(pd.DataFrame(matrix), categories=codes, digits=12)
        cac.gwet()
        cac.fleiss()
        return float(cac.krippendorff()["est"]["coefficient_value"])

    def peer_codes() -> float:
        for code in codes:
            CAC(pd.DataFrame((matrix == code).astype(int)), categories=[0, 1], digits=12).fleiss()
        return peer_coefficients()

    def peer_bootstrap() -> float:
        """An interval of α as its users make one: resample the items and ask again; 20 of 1,000 times."""
        generator = np.random.default_rng(0)
        for _ in range(19):
            peer_alpha(matrix[generator.integers(0, ITEMS, ITEMS)])
        return peer_alpha()

    runs = {
        "ours, α alone": (alpha_alone, 1),
        "krippendorff, α alone": (peer_alpha, 1),
        "ours, all of it": (whole, 1),
        "irrCAC, AC1 + Fleiss' κ + α": (peer_coefficients, 1),
        "irrCAC, the same + κ per code": (peer_codes, 1),
        "krippendorff, α + 1,000 samples": (peer_bootstrap, 50),
    }
    print(
        f"{ITEMS:,} items × 2 raters × {CODES} codes. All of it: percent, Cohen's and Fleiss' κ, AC1 with errors by\n"
        f"formula, α with 1,000 bootstrap samples, κ of {CODES} codes with intervals, confusion. irrCAC has errors by\n"
        f"formula and no bootstrap; its κ per code is Fleiss' of each code against the rest. krippendorff has values\n"
        f"without errors; its 1,000 samples are estimated from 20."
    )
    seconds = {name: times * _median(way, 5 if times == 1 else 1) for name, (way, times) in runs.items()}
    answers = {name: way() for name, (way, _) in runs.items()}
    if max(answers.values()) - min(answers.values()) > 1e-9:
        raise SystemExit(f"they do not agree about α: {answers}")
    for name, took in seconds.items():
        base = seconds["ours, α alone" if name.endswith("α alone") else "ours, all of it"]
        print(f"{name:<34}{took * 1e3:>12,.1f} ms   {took / base:>8.1f} ×")
    print(f"bar for all of it: {BAR * 1e3:.0f} ms")


def _known(value: float | None) -> float:
    assert value is not None
    return value


def _median(way: Callable[[], float], runs: int) -> float:
    way()
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        way()
        times.append(time.perf_counter() - started)
    return statistics.median(times)
