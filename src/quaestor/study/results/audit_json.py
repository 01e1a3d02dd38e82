"""The audit as plain values: the JSON that is documented and stable."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from quaestor.publish.audit.compare import number_alone
from quaestor.publish.audit.records import Audit, AuditCell


def audit_json(audit: Audit) -> dict[str, Any]:
    """Cells, checks, placements and their summary."""
    return {
        "cells": [_cell(cell) for cell in audit.cells],
        "checks": [asdict(check) for check in audit.checks],
        "placements": [
            {
                "table": one.table,
                "posts": one.items,
                "placed": one.placed,
                "share": one.share,
                "unplaced": [asdict(item) for item in one.unplaced],
            }
            for one in audit.placements
        ],
        "summary": audit.summary(),
        "notes": list(audit.notes),
    }


def _cell(cell: AuditCell) -> dict[str, Any]:
    said: dict[str, Any] = {
        "table": cell.table,
        "row": cell.row,
        "column": cell.column,
        "printed": _printed(cell.printed),
        "computed": _plain(cell.computed),
        "verdict": cell.verdict,
    }
    if cell.base is not None:
        said["base"] = cell.base
    for key in ("note", "explanation", "cell"):
        if getattr(cell, key):
            said[key] = getattr(cell, key)
    return said


def _printed(text: str) -> int | float | str | None:
    """A number where the page has one alone, else its words; nothing where it cannot be read."""
    if not text.strip():
        return None
    number = number_alone(text)
    return text if number is None else number


def _plain(value: float | str | None) -> int | float | str | None:
    return int(value) if isinstance(value, float | int) and float(value).is_integer() else value
