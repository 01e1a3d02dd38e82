"""Values as shades, with the key that tells a reader which is which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.publish.figures.canvas import Canvas
from quaestor.publish.figures.look import LINE, MUTED, PAPER, SMALL, WASH, shade

_WIDTH, _SWATCHES, _LIGHTEST = 220, 44, 0.06


@dataclass(frozen=True)
class Shades:
    """A logarithmic scale of shades over given values; what is zero is as light as the least, what is unknown white."""

    low: float
    high: float
    known: bool
    missing: bool
    zeros: bool

    @classmethod
    def over(cls, values: Sequence[float | None]) -> Shades:
        known = [value for value in values if value is not None]
        logs = [math.log10(value) for value in known if value > 0]
        low, high = min(logs, default=0.0), max(logs, default=0.0)
        return cls(low, high, bool(known), len(known) < len(values), any(value <= 0 for value in known))

    def color(self, value: float | None) -> str:
        if value is None:
            return PAPER if self.known else WASH
        return shade(_LIGHTEST + (1 - _LIGHTEST) * self._part(value))

    def draw_key(self, canvas: Canvas, words: str) -> None:
        """In the 50 pixels above the plot: what the shades mean, and where on their scale round values stand."""
        canvas.text(0, -40, words, size=SMALL)
        step = _WIDTH / _SWATCHES
        swatches = []
        for at in range(_SWATCHES if self.high > self.low else 4):
            fill = (
                shade(_LIGHTEST + (1 - _LIGHTEST) * at / (_SWATCHES - 1)) if self.high > self.low else shade(_LIGHTEST)
            )
            swatches.append({"x": step * at, "x2": step * (at + 1), "y": -30, "y2": -20, "fill": fill, "stroke": fill})
        canvas.boxes(swatches)
        for x, label in self._marks():
            canvas.text(x, -10, label, color=MUTED, size=SMALL, align="center" if x > 10 else "left")
        if self.missing:
            canvas.boxes([{"x": 262, "x2": 276, "y": -30, "y2": -20, "fill": PAPER, "stroke": LINE}])
            canvas.text(282, -25, "not known", color=MUTED, size=SMALL)

    def _part(self, value: float) -> float:
        if value <= 0 or self.high <= self.low:
            return 0.0
        return min(max((math.log10(value) - self.low) / (self.high - self.low), 0.0), 1.0)

    def _marks(self) -> list[tuple[float, str]]:
        """Both ends, and the powers of ten between them that are not too near to a mark before."""
        least = f"{10**self.low:.3g}"
        marks = [(0.0, f"≤ {least}" if self.zeros and self.low else "0" if self.zeros else least)]
        if self.high > self.low:
            marks.append((float(_WIDTH), f"{10**self.high:.3g}"))
        for power in range(math.ceil(self.low), math.floor(self.high) + 1):
            x = _WIDTH * self._part(10.0**power)
            if all(abs(x - other) > 38 for other, _ in marks):
                marks.append((x, f"{10.0**power:.3g}"))
        return marks
