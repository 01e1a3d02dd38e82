"""Results of an audit: a verdict for each cell and check, and possible explanations of differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from quaestor.publication.results.threats import Placement

MATCH, ROUNDING, DIFFERS = "match", "rounding", "differs"
NOT_PRINTED, NOT_COMPUTABLE = "not printed", "not computable"
VERDICTS = (MATCH, ROUNDING, DIFFERS, NOT_PRINTED, NOT_COMPUTABLE)

Key = tuple[str, str, str]
"""Table, row and column, named as printed."""


@dataclass(frozen=True)
class AuditCell:
    """One printed cell and its computed value."""

    table: str
    row: str
    column: str
    printed: str
    """The printed text; empty where it is unreadable."""
    computed: float | str | None
    verdict: str
    note: str = ""
    """The note of printed.toml on this cell."""
    explanation: str = ""
    """A possible explanation of the difference."""
    cell: str = ""
    """`TABLE:ROW:COLUMN` of the computed table, to open its items."""
    base: int | None = None
    """For survey figures: the base of the computed value."""

    @property
    def key(self) -> Key:
        return self.table, self.row, self.column

    @property
    def unexplained(self) -> bool:
        """Tells whether the difference needs attention: only a note settles it, a proposed explanation does not."""
        return self.verdict == DIFFERS and not self.note


@dataclass(frozen=True)
class Check:
    """Whether printed figures agree with each other."""

    check: str
    statement: str
    """The condition that must hold, with the numbers."""
    holds: bool
    found: str = ""
    note: str = ""


@dataclass(frozen=True)
class Audit:
    """A whole audit."""

    cells: tuple[AuditCell, ...]
    checks: tuple[Check, ...] = ()
    placements: tuple[Placement, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What readers need to know first, for example that only part of the items is decided."""

    @property
    def open(self) -> int:
        """Differences and failed checks without a note."""
        return sum(cell.unexplained for cell in self.cells) + sum(
            not check.holds and not check.note for check in self.checks
        )

    def summary(self) -> dict[str, Any]:
        counts = Counter(cell.verdict for cell in self.cells)
        failed = [check for check in self.checks if not check.holds]
        return {
            "cells": len(self.cells),
            **{verdict: counts.get(verdict, 0) for verdict in VERDICTS},
            "differs without a note": sum(cell.unexplained for cell in self.cells),
            "checks": len(self.checks),
            "checks failed": len(failed),
            "checks failed without a note": sum(not check.note for check in failed),
        }
