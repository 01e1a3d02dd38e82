"""Compare measures over a million decided items with plain pandas and scipy."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from tests.support.grouped_summaries import grouped_summaries

from quaestor.measures.association import association, pearson, spearman
from quaestor.measures.descriptive import MAX_RESAMPLED, count_pairs, draw_median_positions
from quaestor.measures.group_comparison import cliffs_delta, kruskal_wallis
from quaestor.measures.trends import trend, yearly_shares

ITEMS, OBJECTS, PHASES, FRAMEWORKS, YEARS, BAR = 1_000_000, 63, 7, 3, 15, 5.0
NUMBERS = ("viewcount", "score", "response_days", "first_answer_days")

Numbers = list[float]
Way = Callable[[], Numbers]


def decided() -> pd.DataFrame:
    """Items with codes and heavy-tailed values, a tenth of the days missing, as posts without an answer have none."""
    generator = np.random.default_rng(1)
    object_ = generator.choice(OBJECTS, ITEMS, p=generator.dirichlet(np.full(OBJECTS, 1.0)))
    days = np.round(generator.lognormal(-1, 2.5, (ITEMS, 2)), 2)
    days[generator.random((ITEMS, 2)) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "object": object_,
            "phase": object_ % PHASES,
            "framework": generator.choice(FRAMEWORKS, ITEMS, p=[0.79, 0.19, 0.02]),
            "year": 2008 + generator.choice(YEARS, ITEMS),
            "viewcount": np.floor(generator.lognormal(6.5, 1.5, ITEMS)),
            "score": generator.negative_binomial(1, 0.2, ITEMS) - 1.0,
            "response_days": days[:, 0],
            "first_answer_days": days[:, 1],
        }
    )


def ours(items: dict[str, NDArray[Any]]) -> dict[str, Way]:
    """Each part of the work, as the report asks for it."""
    sides = {"object": OBJECTS, "phase": PHASES, "framework": FRAMEWORKS}
    views, days = items["viewcount"], items["response_days"]

    def summaries() -> Numbers:
        draw_median_positions.cache_clear()
        found = [one for name in NUMBERS for one in grouped_summaries(items[name], items["object"], OBJECTS, 0)]
        return [number for one in found for number in (one.median or 0.0, one.low or 0.0, one.high or 0.0)]

    def crosstabs() -> Numbers:
        return [
            float(cell)
            for name, n in sides.items()
            for cell in count_pairs(items[name], n, items["year"] - 2008, YEARS).ravel()
        ]

    def correlations() -> Numbers:
        return [one.value or 0.0 for one in (pearson(views, days), spearman(views, days))]

    def groups() -> Numbers:
        found = kruskal_wallis(days, items["phase"], PHASES)
        return [found.statistic or 0.0, *(pair.z for pair in found.pairs)]

    def delta() -> Numbers:
        return [cliffs_delta(days[items["phase"] == 0], days[items["phase"] == 1]).value or 0.0]

    def together() -> Numbers:
        counts = count_pairs(items["object"], OBJECTS, items["framework"], FRAMEWORKS)
        return [association(counts, 0).statistic or 0.0]

    def trends() -> Numbers:
        phases = [trend(yearly_shares(items["year"], items["phase"] == phase)) for phase in range(PHASES)]
        return [phase.tau or 0.0 for phase in phases]

    return {
        "summaries": summaries, "crosstabs": crosstabs, "correlations": correlations, "Kruskal–Wallis, Dunn": groups,
        "Cliff's delta": delta, "association": together, "trends": trends,
    }  # fmt: skip


def plain(frame: pd.DataFrame) -> dict[str, Way]:
    """The same numbers by pandas and scipy, without intervals that scipy would draw for minutes."""

    def summaries() -> Numbers:
        found = []
        for name in NUMBERS:
            for _, values in frame.groupby("object")[name]:
                known = values.dropna()
                known.quantile([0.25, 0.75])
                by_rank = stats.quantile_test(known, p=0.5).confidence_interval()
                found += [float(known.median()), float(by_rank.low), float(by_rank.high)]
        return found

    def crosstabs() -> Numbers:
        names = ("object", "phase", "framework")
        return [float(cell) for name in names for cell in pd.crosstab(frame[name], frame["year"]).to_numpy().ravel()]

    def correlations() -> Numbers:
        known = frame[["viewcount", "response_days"]].dropna()
        x, y = known["viewcount"], known["response_days"]
        found = stats.pearsonr(x, y)
        found.confidence_interval()
        return [float(found.statistic), float(stats.spearmanr(x, y).statistic)]

    def groups() -> Numbers:
        known = frame[["phase", "response_days"]].dropna()
        statistic = stats.kruskal(*(values for _, values in known.groupby("phase")["response_days"])).statistic
        ranks = known["response_days"].rank()
        means, sizes = ranks.groupby(known["phase"]).mean(), known["phase"].value_counts()
        ties = known["response_days"].value_counts()
        n = len(known)
        variance = n * (n + 1) / 12 - float((ties**3 - ties).sum()) / (12 * (n - 1))
        pairs = [(one, other) for one in range(PHASES) for other in range(one + 1, PHASES)]
        distances = [
            (means[one] - means[other]) / (variance * (1 / sizes[one] + 1 / sizes[other])) ** 0.5
            for one, other in pairs
        ]
        return [float(statistic), *map(float, distances)]

    def delta() -> Numbers:
        known = frame[["phase", "response_days"]].dropna()
        first, second = (known.loc[known["phase"] == phase, "response_days"] for phase in (0, 1))
        return [float(2 * stats.mannwhitneyu(first, second).statistic / (len(first) * len(second)) - 1)]

    def together() -> Numbers:
        return [float(stats.chi2_contingency(pd.crosstab(frame["object"], frame["framework"])).statistic)]

    def trends() -> Numbers:
        shares = pd.crosstab(frame["year"], frame["phase"], normalize="index")
        return [float(stats.kendalltau(shares.index, shares[phase]).statistic) for phase in range(PHASES)]

    return {
        "summaries": summaries, "crosstabs": crosstabs, "correlations": correlations, "Kruskal–Wallis, Dunn": groups,
        "Cliff's delta": delta, "association": together, "trends": trends,
    }  # fmt: skip


def main(folder: Path, options: argparse.Namespace) -> None:
    frame = decided()
    items = {str(name): frame[name].to_numpy() for name in frame.columns}
    print(
        f"{ITEMS:,} items. Summaries: {OBJECTS} groups × {len(NUMBERS)} values, median, quartiles, interval (drawn\n"
        f"up to 10,000 items, by rank above; pandas and scipy: by rank always). Crosstabs of object, phase, framework\n"
        f"by year. Pearson and Spearman. Kruskal–Wallis and Dunn over {PHASES} phases. Cliff's delta of two phases.\n"
        f"Object × framework. Trends of {PHASES} phases. In one process; medians of 3 runs, nothing kept between them."
    )
    peers = plain(frame)
    total = other = 0.0
    for name, way in ours(items).items():
        _compare(name, way(), peers[name](), items)
        took, peer = _median(way), _median(peers[name])
        total, other = total + took, other + peer
        print(f"{name:<24}ours {took * 1e3:>9,.0f} ms   pandas + scipy {peer * 1e3:>9,.0f} ms   {peer / took:>6.1f} ×")
    print(f"{'all of it':<24}ours {total:>9.2f} s    pandas + scipy {other:>9.2f} s    {other / total:>6.1f} ×")
    print(f"bar for all of it: {BAR:.0f} s")


def _compare(name: str, found: Numbers, expected: Numbers, items: dict[str, NDArray[Any]]) -> None:
    """The race counts only between equal answers; intervals of small groups are drawn here and looked up there."""
    if name == "summaries":
        sizes = [
            count
            for value in NUMBERS
            for count in np.bincount(items["object"][~np.isnan(items[value])], minlength=OBJECTS).tolist()
        ]
        alike = [place for place in range(len(found)) if place % 3 == 0 or sizes[place // 3] > MAX_RESAMPLED]
        found, expected = [found[place] for place in alike], [expected[place] for place in alike]
    if not np.allclose(found, expected, rtol=1e-6, atol=1e-9):
        raise SystemExit(f"{name}: they do not agree")


def _median(way: Way) -> float:
    times = []
    for _ in range(3):
        started = time.perf_counter()
        way()
        times.append(time.perf_counter() - started)
    return statistics.median(times)
