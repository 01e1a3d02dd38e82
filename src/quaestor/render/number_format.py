"""Formats numbers for print, the same in every format."""

from __future__ import annotations

ABSENT = "–"
_SMALLEST_P = 0.001


def whole(value: int) -> str:
    return str(value)


def percent(share: float | None) -> str:
    return ABSENT if share is None else f"{100 * share:.1f}%"


def decimal(value: float | None, places: int = 2) -> str:
    if value is None:
        return ABSENT
    text = f"{value:.{places}f}"
    return text[1:] if float(text) == 0 and text.startswith("-") else text


def probability(p: float | None) -> str:
    if p is None:
        return ABSENT
    return f"<{_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.3f}"


def interval(low: float | None, high: float | None, places: int = 2) -> str:
    return ABSENT if low is None or high is None else f"{decimal(low, places)} to {decimal(high, places)}"


def series(names: list[str]) -> str:
    """Joins names as in `a, b and c`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
