"""Compares one printed figure with one computed value."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from quaestor.publication.audit.records import DIFFERS, MATCH, NOT_COMPUTABLE, NOT_PRINTED, ROUNDING, AuditCell, Key

_NUMBER = re.compile(
    r"(?:(?<![\w.)%])[-−+])?"  # the dash of a range or of `level-2` is not a minus sign
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
"""Tolerance for float arithmetic, as a fraction of half a unit of the last printed decimal."""


def find_numbers(printed: str) -> list[tuple[float, int]]:
    """Returns every number in a printed text with its decimals: `81.7% (81.6% in the text)` has two."""
    cells = []
    for match in _NUMBER.finditer(printed):
        text = match.group().replace(",", "").replace("−", "-").lower()
        digits, _, exponent = text.partition("e")
        cells.append((float(text), len(digits.partition(".")[2]) - int(exponent or 0)))
    return cells


def number_alone(printed: str) -> float | int | None:
    """Returns the number if the text is a single number, with or without a percent sign, else None."""
    text = printed.strip().removesuffix("%").rstrip()
    if _NUMBER.fullmatch(text) is None:
        return None
    number, decimals = find_numbers(text)[0]
    return int(number) if decimals <= 0 else number


def judge(printed: str, computed: float | str | None, *, at_least: bool = False) -> str:
    """Returns the verdict on a printed figure and its computed value."""
    if not printed.strip():
        return NOT_PRINTED
    if computed is None:
        return NOT_COMPUTABLE
    if isinstance(computed, str):
        return MATCH if _normalise_text(printed) == _normalise_text(computed) else DIFFERS
    numbers = find_numbers(printed)
    if not numbers:
        return DIFFERS
    number, decimals = numbers[0]
    if at_least:
        return MATCH if computed >= number else DIFFERS
    limit = _LIMITS.get(printed.strip()[0])
    if limit is not None:
        return MATCH if limit(computed, number) else DIFFERS
    return compare_numbers(number, decimals, computed)


def compare_numbers(printed: float, decimals: int, computed: float) -> str:
    """Compares two numbers; up to half a unit of the last printed decimal, inclusive, counts as rounding."""
    distance = abs(computed - printed)
    half = 0.5 * 10.0**-decimals
    noise = half * _NOISE + 4 * math.ulp(printed)
    if distance <= noise:
        return MATCH
    return ROUNDING if distance <= half + noise else DIFFERS


def is_truncated(printed: str, computed: float | str | None) -> bool:
    """Tells whether the printed figure is the computed one with decimals cut off instead of rounded."""
    numbers = find_numbers(printed)
    if not numbers or not isinstance(computed, float | int) or printed.strip()[0] in _LIMITS:
        return False
    number, decimals = numbers[0]
    unit = 10.0**decimals
    cut = math.trunc(computed * unit + math.copysign(_NOISE, computed)) / unit
    return compare_numbers(number, decimals, cut) == MATCH


def _normalise_text(text: str) -> str:
    return " ".join(text.casefold().split())


_FITS = (MATCH, ROUNDING)
_FEWEST = 2
Alternatives = Mapping[str, Mapping[Key, float | str | None]]
"""Cells as computed with another method, by the name of the method."""


def explain_differences(cells: Sequence[AuditCell], alternatives: Alternatives) -> tuple[AuditCell, ...]:
    """Adds a proposed explanation to each cell that differs."""
    words: dict[Key, str] = {}
    for table in dict.fromkeys(cell.table for cell in cells):
        own = [cell for cell in cells if cell.table == table]
        for lines in (_find_swapped_lines(own, by_row=True), _find_swapped_lines(own, by_row=False)):
            words |= {key: f"{words[key]}, or {line}" if key in words else line for key, line in lines.items()}
    for cell in cells:
        if cell.verdict == DIFFERS and cell.key not in words:
            explanation = _describe_alternatives(cell, alternatives)
            if explanation:
                words[cell.key] = explanation
    return tuple(replace(cell, explanation=words.get(cell.key, "")) for cell in cells)


def _find_swapped_lines(cells: Sequence[AuditCell], *, by_row: bool) -> dict[Key, str]:
    """Finds pairs of rows (or columns) that match if their printed values are swapped.

    Proposes nothing for a line that could be swapped with more than one other line.
    """
    lines: dict[str, dict[str, AuditCell]] = {}
    for cell in cells:
        line, place = (cell.row, cell.column) if by_row else (cell.column, cell.row)
        lines.setdefault(line, {})[place] = cell
    differing = [name for name, line in lines.items() if any(cell.verdict == DIFFERS for cell in line.values())]
    notes: dict[Key, str] = {}
    what = "rows" if by_row else "columns"
    pairs = [
        (first, second)
        for first, second in combinations(differing, 2)
        if _fits(lines[first], lines[second]) and _fits(lines[second], lines[first])
    ]
    rivals = Counter(name for pair in pairs for name in pair)
    for first, second in pairs:
        if rivals[first] == rivals[second] == 1:
            words = f"the {what} {first!r} and {second!r} are swapped in print"
            both = (*lines[first].values(), *lines[second].values())
            notes |= {cell.key: words for cell in both if cell.verdict == DIFFERS}
    return notes


def _fits(printed: Mapping[str, AuditCell], computed: Mapping[str, AuditCell]) -> bool:
    """Tells whether the printed values of one line match the computed values of the other."""
    shared = [place for place in printed if place in computed and printed[place].printed.strip()]
    verdicts = [
        judge(printed[place].printed, computed[place].computed)
        for place in shared
        if computed[place].computed is not None
    ]
    return len(verdicts) >= _FEWEST and all(verdict in _FITS for verdict in verdicts)


def _describe_alternatives(cell: AuditCell, alternatives: Alternatives) -> str:
    fitting = [name for name, cells in alternatives.items() if _fits_one(cell, cells)]
    words = ["cut off instead of rounded"] if is_truncated(cell.printed, cell.computed) else []
    return ", or ".join([*words, *([f"fits {_format_names(fitting)}"] if fitting else [])])


def _fits_one(cell: AuditCell, cells: Mapping[Key, float | str | None]) -> bool:
    value = cells.get(cell.key)
    return value is not None and judge(cell.printed, value) in _FITS


def _format_names(names: Iterable[str]) -> str:
    parts = list(names)
    return parts[0] if len(parts) == 1 else f"{parts[0]} (and {len(parts) - 1} more)"
