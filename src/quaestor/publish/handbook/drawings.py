"""The geometry of small drawings that stand in a page: coordinates only, the look is the style sheet's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.publish.handbook.records import Measures

SPARK_WIDTH, SPARK_HEIGHT, _MARGIN = 240.0, 56.0, 5.0


@dataclass(frozen=True)
class Spark:
    """A line over the years; each point is a pair of coordinates."""

    points: tuple[tuple[float, float], ...]
    first: int
    last: int
    by_share: bool

    @property
    def line(self) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y in self.points)


def spark(measures: Measures) -> Spark | None:
    """The shares by year where every year has one, else the counts; nothing where there are no years."""
    years = sorted(measures.years)
    if not years:
        return None
    shares = [share for _, _, share in years if share is not None]
    by_share = len(shares) == len(years)
    values = shares if by_share else [float(posts) for _, posts, _ in years]
    first, last = years[0][0], years[-1][0]
    highest = max(values) or 1.0
    points = tuple(
        (
            _along(year - first, last - first),
            round(SPARK_HEIGHT - _MARGIN - (SPARK_HEIGHT - 2 * _MARGIN) * value / highest, 1),
        )
        for (year, _, _), value in zip(years, values, strict=True)
    )
    return Spark(points, first, last, by_share)


def _along(years: int, whole: int) -> float:
    return round(_MARGIN + (SPARK_WIDTH - 2 * _MARGIN) * years / whole, 1) if whole else SPARK_WIDTH / 2


def bars(counts: Sequence[tuple[str, int]]) -> list[tuple[str, int, float]]:
    """Each count with the length of its bar, the longest being 100."""
    most = max([1, *(number for _, number in counts)])
    return [(name, number, round(100 * number / most, 1)) for name, number in counts]
