"""The audit as a page beside the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from quaestor.base.files import write_whole
from quaestor.publish.audit.records import DIFFERS, VERDICTS, Audit, Check
from quaestor.publish.report.write import environment


def write_audit_page(audit: Audit, folder: Path, *, title: str, generated_by: str, linked: bool) -> Path:
    """What differs, what is known about it, and which printed figures contradict each other."""
    names = list(dict.fromkeys(cell.table for cell in audit.cells))
    counts = {name: Counter(cell.verdict for cell in audit.cells if cell.table == name) for name in names}
    differing = {name: [one for one in audit.cells if one.table == name and one.verdict == DIFFERS] for name in names}
    page = (
        environment()
        .get_template("audit.html")
        .render(
            audit=audit,
            title=title,
            generated_by=generated_by,
            linked=linked,
            verdicts=VERDICTS,
            summary=audit.summary(),
            tables=list(counts.items()),
            strips={name: _strip(found) for name, found in counts.items()},
            differing=[(name, cells) for name, cells in differing.items() if cells],
            failed=_by_note(check for check in audit.checks if not check.holds),
            shown=_shown,
            address=lambda cell: f"items.html#{quote(cell, safe=':')}",
        )
    )
    path = folder / "audit.html"
    write_whole(path, page.encode("utf-8"))
    return path


def _by_note(checks: Iterable[Check]) -> list[tuple[str, list[Check]]]:
    """Neighbours that the same note explains stand together, so that it is said once."""
    groups = groupby(checks, key=lambda check: (check.note, "" if check.note else check.check))
    return [(note, list(together)) for (note, _), together in groups]


def _strip(counts: Counter[str]) -> list[tuple[str, str, str]]:
    """Verdicts side by side on a line of length 100."""
    total = sum(counts.values()) or 1
    strip, x = [], 0.0
    for verdict in VERDICTS:
        width = 100 * counts.get(verdict, 0) / total
        if width:
            strip.append((verdict, f"{x:.2f}", f"{width:.2f}"))
        x += width
    return strip


def _shown(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.4g}"
    return "–" if value is None else str(value)
