"""A logarithmic axis that can show nothing: counts and days begin at zero, where a logarithm does not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis with room for zero at its lower end, where a logarithm has none."""

    low: float
    high: float
    zero: bool

    @classmethod
    def over(cls, values: Sequence[float], median: float | None) -> LogAxis:
        all_values = [*values, *([median] if median is not None else [])]
        logs = [math.log10(value) for value in all_values if value > 0] or [0.0]
        low, high = min(logs), max(logs)
        room = max((high - low) * 0.06, 0.15)
        zero = any(value <= 0 for value in all_values)
        return cls(low - room - (max((high - low) * 0.1, 0.3) if zero else 0.0), high + room, zero)

    @property
    def bottom(self) -> float:
        return self.low + (self.high - self.low) * 0.03

    def at(self, value: float) -> float:
        return max(math.log10(value), self.bottom) if value > 0 else self.bottom

    def part(self, value: float) -> float:
        return (self.at(value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        wide = self.high - self.low > 3
        lowest = self.bottom + (self.high - self.low) * 0.05 if self.zero else self.low
        factors = (1,) if wide else (1, 2, 5)
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        marks = [factor * 10.0**power for power in powers for factor in factors]
        shown = [mark for mark in marks if lowest <= math.log10(mark) <= self.high]
        return [0.0, *shown] if self.zero else shown

    def axis(self, title: str) -> alt.Axis:
        ticks = self.ticks()
        words = [_tick(tick) for tick in ticks]
        places = [round(self.at(tick), 6) for tick in ticks]
        names = " : ".join(
            f"abs(datum.value - {place}) < 1e-4 ? '{word}'" for place, word in zip(places, words, strict=True)
        )
        return alt.Axis(
            values=places, labelExpr=f"{names} : ''" if ticks else "''", title=title, domain=False, ticks=False
        )


def _tick(value: float) -> str:
    return f"{value:,.10g}"
