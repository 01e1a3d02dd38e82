"""The report of a replicated survey: its tables and its audit, as pages and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from quaestor import __version__
from quaestor.base.files import write_whole
from quaestor.base.folders import built_aside
from quaestor.publish.audit.records import Audit
from quaestor.publish.records import Table
from quaestor.publish.report.audit_page import write_audit_page
from quaestor.publish.report.records import Fact, Report, Section
from quaestor.publish.report.write import MARK, write_report
from quaestor.study.results.audit_json import audit_json
from quaestor.study.surveys.replication import Replicated


def write_survey_report(replicated: Replicated, audit: Audit) -> Path:
    """Tables and audit into published/report, in the place of an earlier one; the folder."""
    study = replicated.study
    report = _report(replicated, replicated.tables, audit)
    with built_aside(study.published / "report", what="report", mark=MARK) as folder:
        write_report(report, folder, lambda words: None)
        text = json.dumps(audit_json(audit), indent=2, ensure_ascii=False)
        write_whole(folder / "audit.json", f"{text}\n".encode())
        write_audit_page(audit, folder, title=report.title, generated_by=report.generated_by, linked=False)
    return study.published / "report"


def _report(replicated: Replicated, tables: Sequence[Table], audit: Audit) -> Report:
    about = replicated.study.settings.study
    words = (
        "What was asked and how many said it. Not everybody answered every question: each share is one of those who "
        "answered, and their number stands beside it, as does the printed figure."
    )
    return Report(
        title=about.title or about.name,
        description=about.description,
        notices=audit.notes,
        facts=(Fact(f"{replicated.imported.responses:,}", "responses"),),
        findings=(),
        sections=(Section("The survey", words, tables=tuple(tables)),),
        threats=(),
        missing={},
        columns=None,
        generated_by=f"Made by quaestor {__version__} from {replicated.imported.responses:,} responses",
        has_audit=True,
    )
