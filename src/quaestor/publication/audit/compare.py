"""Simple explanations of a difference, proposed where they fit: exchanged, truncated, computed otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from quaestor.publish.audit.compare import is_truncated, verdict_of
from quaestor.publish.audit.records import DIFFERS, MATCH, ROUNDING, AuditCell, Key

_FITS = (MATCH, ROUNDING)
_FEWEST = 2
Alternatives = Mapping[str, Mapping[Key, float | str | None]]
"""By what was done otherwise: the cells as they would be then."""


def explained(cells: Sequence[AuditCell], alternatives: Alternatives) -> tuple[AuditCell, ...]:
    """The cells, those that differ with what would explain it."""
    words: dict[Key, str] = {}
    for table in dict.fromkeys(cell.table for cell in cells):
        own = [cell for cell in cells if cell.table == table]
        for lines in (_exchanged(own, by_row=True), _exchanged(own, by_row=False)):
            words |= {key: f"{words[key]}, or {said}" if key in words else said for key, said in lines.items()}
    for cell in cells:
        if cell.verdict == DIFFERS and cell.key not in words:
            found = _otherwise(cell, alternatives)
            if found:
                words[cell.key] = found
    return tuple(replace(cell, explanation=words.get(cell.key, "")) for cell in cells)


def _exchanged(cells: Sequence[AuditCell], *, by_row: bool) -> dict[Key, str]:
    """Pairs of rows (or columns) that fit once each is compared with the other's computed values.

    A line that could have changed places with either of two others has no simple explanation, so none is proposed.
    """
    lines: dict[str, dict[str, AuditCell]] = {}
    for cell in cells:
        line, place = (cell.row, cell.column) if by_row else (cell.column, cell.row)
        lines.setdefault(line, {})[place] = cell
    differing = [name for name, line in lines.items() if any(one.verdict == DIFFERS for one in line.values())]
    found: dict[Key, str] = {}
    what = "rows" if by_row else "columns"
    pairs = [
        (first, second)
        for first, second in combinations(differing, 2)
        if _fits(lines[first], lines[second]) and _fits(lines[second], lines[first])
    ]
    rivals = Counter(name for pair in pairs for name in pair)
    for first, second in pairs:
        if rivals[first] == rivals[second] == 1:
            words = f"the {what} {first!r} and {second!r} are printed in each other's place"
            both = (*lines[first].values(), *lines[second].values())
            found |= {cell.key: words for cell in both if cell.verdict == DIFFERS}
    return found


def _fits(printed: Mapping[str, AuditCell], computed: Mapping[str, AuditCell]) -> bool:
    """Whether what one line prints is what the other computes, wherever both can be read."""
    shared = [place for place in printed if place in computed and printed[place].printed.strip()]
    verdicts = [
        verdict_of(printed[place].printed, computed[place].computed)
        for place in shared
        if computed[place].computed is not None
    ]
    return len(verdicts) >= _FEWEST and all(verdict in _FITS for verdict in verdicts)


def _otherwise(cell: AuditCell, alternatives: Alternatives) -> str:
    fitting = [name for name, cells in alternatives.items() if _fits_one(cell, cells)]
    words = ["cut off instead of rounded"] if is_truncated(cell.printed, cell.computed) else []
    return ", or ".join([*words, *([f"fits {_listed(fitting)}"] if fitting else [])])


def _fits_one(cell: AuditCell, cells: Mapping[Key, float | str | None]) -> bool:
    value = cells.get(cell.key)
    return value is not None and verdict_of(cell.printed, value) in _FITS


def _listed(names: Iterable[str]) -> str:
    parts = list(names)
    return parts[0] if len(parts) == 1 else f"{parts[0]} (and {len(parts) - 1} more)"
