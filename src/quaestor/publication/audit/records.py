"""What an audit says: one verdict a cell, one a check, and what may explain a difference."""

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
    """One printed cell beside what was computed."""

    table: str
    row: str
    column: str
    printed: str
    """As it stands on the page; empty where it cannot be read."""
    computed: float | str | None
    verdict: str
    note: str = ""
    """What is known about it, beside the printed figures."""
    explanation: str = ""
    """What would explain the difference."""
    cell: str = ""
    """`TABLE:ROW:COLUMN` of the computed table, to open its items."""
    base: int | None = None
    """Of figures of a survey: how many the computed value was counted among."""

    @property
    def key(self) -> Key:
        return self.table, self.row, self.column

    @property
    def unexplained(self) -> bool:
        """Whether somebody has to look at it: a note explains, a proposal does not."""
        return self.verdict == DIFFERS and not self.note


@dataclass(frozen=True)
class Check:
    """Whether printed figures agree with each other."""

    check: str
    statement: str
    """What must hold, with the numbers."""
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
    """What a reader of the audit must know, such as that items are only a part."""

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
