"""One printed figure against one computed value."""

from __future__ import annotations

import math
import re

from quaestor.publish.audit.records import DIFFERS, MATCH, NOT_COMPUTABLE, NOT_PRINTED, ROUNDING

_NUMBER = re.compile(r"[-−+]?\d[\d,]*(?:\.\d+)?")
_EXACT = 1e-9


def numbers_in(printed: str) -> list[tuple[float, int]]:
    """Every number of a printed text with its decimals: `81.7% (81.6% in the text)` has two."""
    found = []
    for match in _NUMBER.finditer(printed):
        text = match.group().replace(",", "").replace("−", "-").rstrip(".")
        found.append((float(text), len(text.partition(".")[2])))
    return found


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
    return compared(number, decimals, computed)


def compared(printed: float, decimals: int, computed: float) -> str:
    distance = abs(computed - printed)
    if distance <= _EXACT * max(1.0, abs(printed)):
        return MATCH
    half = 0.5 * 10.0**-decimals
    return ROUNDING if distance <= half * (1 + 1e-6) else DIFFERS


def is_truncated(printed: str, computed: float | str | None) -> bool:
    """Whether the printed figure is the computed one with its further decimals cut off."""
    found = numbers_in(printed)
    if not found or not isinstance(computed, float | int):
        return False
    number, decimals = found[0]
    unit = 10.0**decimals
    return math.isclose(math.trunc(computed * unit + math.copysign(_EXACT, computed)) / unit, number, abs_tol=_EXACT)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
