"""Contents of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quaestor.render.report_parts import Fact, ItemColumns, Section
from quaestor.render.table_model import Finding


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str
    description: str
    notices: tuple[str, ...]
    """What readers must know first, for example that the evidence is synthetic."""
    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    threats: tuple[str, ...]
    missing: Mapping[str, str]
    columns: ItemColumns | None
    generated_by: str
    address: str = ""
    has_audit: bool = False
    quotations: ItemColumns | None = None
    """Quotations from interviews behind the numbers of sections that count them."""
