"""One printed figure against one computed value."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable

from quaestor.publish.audit.records import DIFFERS, MATCH, NOT_COMPUTABLE, NOT_PRINTED, ROUNDING

_NUMBER = re.compile(
    r"(?:(?<![\w.)%])[-−+])?"  # the dash of a range or of `level-2` is no sign
    r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"  # 3,842 is one number, 1,2 are two; .53 is 0.53
    r"(?:[eE][-−+]?\d{1,2}(?!\d))?"
)
_LIMITS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "≤": operator.le,
    ">": operator.gt,
    "≥": operator.ge,
}
_NOISE = 1e-9
"""Of half a unit of the last printed decimal: what arithmetic in floats may add to it."""


def numbers_in(printed: str) -> list[tuple[float, int]]:
    """Every number of a printed text with its decimals: `81.7% (81.6% in the text)` has two."""
    found = []
    for match in _NUMBER.finditer(printed):
        text = match.group().replace(",", "").replace("−", "-").lower()
        digits, _, exponent = text.partition("e")
        found.append((float(text), len(digits.partition(".")[2]) - int(exponent or 0)))
    return found


def number_alone(printed: str) -> float | int | None:
    """The number that a printed text is, a percent sign aside; None where it says more, or none."""
    text = printed.strip().removesuffix("%").rstrip()
    if _NUMBER.fullmatch(text) is None:
        return None
    number, decimals = numbers_in(text)[0]
    return int(number) if decimals <= 0 else number


def verdict_of(printed: str, computed: float | str | None, *, at_least: bool = False) -> str:
    """How a computed value stands to what was printed."""
    if not printed.strip():
        return NOT_PRINTED
    if computed is None:
        return NOT_COMPUTABLE
    if isinstance(computed, str):
        return MATCH if _plain(printed) == _plain(computed) else DIFFERS
    found = numbers_in(printed)
    if not found:
        return DIFFERS
    number, decimals = found[0]
    if at_least:
        return MATCH if computed >= number else DIFFERS
    limit = _LIMITS.get(printed.strip()[0])
    if limit is not None:
        return MATCH if limit(computed, number) else DIFFERS
    return compared(number, decimals, computed)


def compared(printed: float, decimals: int, computed: float) -> str:
    """Rounding is up to half a unit of the last printed decimal, the half itself included."""
    distance = abs(computed - printed)
    half = 0.5 * 10.0**-decimals
    noise = half * _NOISE + 4 * math.ulp(printed)
    if distance <= noise:
        return MATCH
    return ROUNDING if distance <= half + noise else DIFFERS


def is_truncated(printed: str, computed: float | str | None) -> bool:
    """Whether the printed figure is the computed one with its further decimals cut off."""
    found = numbers_in(printed)
    if not found or not isinstance(computed, float | int) or printed.strip()[0] in _LIMITS:
        return False
    number, decimals = found[0]
    unit = 10.0**decimals
    cut = math.trunc(computed * unit + math.copysign(_NOISE, computed)) / unit
    return compared(number, decimals, cut) == MATCH


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
