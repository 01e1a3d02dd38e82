"""A report, and how it is written to a folder: the page, its tables and figures, and the items behind each number."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from quaestor.publication.audit.records import DIFFERS, VERDICTS, Audit, Check
from quaestor.publication.report.parts import ReportParts, stamp
from quaestor.render.design_tokens import ICON, TOKENS
from quaestor.render.report_parts import MOST_LISTED, Fact, ItemColumns, Section
from quaestor.render.table_model import Finding, Selection, Table, Value
from quaestor.render.tables.files import render_table
from quaestor.render.tables.html import STYLE, to_html
from quaestor.render.tables.latex import join_latex
from quaestor.render.tables.layout import safe_name
from quaestor.render.tables.workbook import to_xlsx


def items_script(report: Report, tables: Iterable[Table]) -> str:
    """Returns the data script for items.js; only ASCII, and nothing in it can end a script element."""
    if report.columns is None and report.quotations is None:
        return ""
    quoted = {table.id for section in report.sections if section.quoted for table in (*section.tables, *section.folded)}
    documents = {table.id: _table_json(table, quoted=table.id in quoted) for table in tables}
    data: dict[str, Any] = {
        **_columns_json(report.columns or ItemColumns((), {})),
        **({"quotations": _columns_json(report.quotations)} if report.quotations is not None else {}),
        "tables": {**documents, "finding": _findings_json(report.findings)},
    }
    return f"window.quaestorItems = {json.dumps(data, ensure_ascii=True, separators=(',', ':'))};\n"


def _columns_json(columns: ItemColumns) -> dict[str, Any]:
    return {
        "items": [
            [
                item.item,
                item.title,
                item.link,
                item.author,
                item.licence,
                item.created,
                item.views,
                item.score,
                item.days,
            ]
            + ([item.note] if item.note else [])
            for item in columns.items
        ],
        "attributes": {
            name: {"keys": keys, "titles": titles, "codes": codes}
            for name, (keys, titles, codes) in columns.attributes.items()
        },
    }


def _table_json(table: Table, *, quoted: bool) -> dict[str, Any]:
    return {
        **({"quoted": True} if quoted else {}),
        "title": f"Table {table.id}. {table.title}",
        "anchor": f"table-{safe_name(table.id)}",
        "rows": {row.key: row.title for row in table.rows()},
        "columns": {column.key: column.title for column in table.columns},
        "cells": {
            f"{row.key}:{column.key}": _conditions(cell.selection)
            for row in table.rows()
            for column, cell in zip(table.columns, row.cells, strict=True)
            if cell.selection is not None
        },
    }


def _findings_json(findings: Iterable[Finding]) -> dict[str, Any]:
    """Gives each value its own title, because values of different findings may share a name."""
    opened = [(finding, value) for finding in findings for value in finding.values if value.selection is not None]
    return {
        "title": "Findings",
        "anchor": "findings",
        "titles": {
            f"{finding.finding}:{value.name}": f"Finding {finding.finding}: {value.claim or value.name}"
            for finding, value in opened
        },
        "cells": {
            f"{finding.finding}:{value.name}": _conditions(value.selection)
            for finding, value in opened
            if value.selection is not None
        },
    }


def _conditions(selection: Selection) -> list[list[Any]]:
    return [[name, list(values)] for name, values in selection.conditions]


_HERE = Path(str(resources.files("quaestor.publication.report")))
_LOADED = (TOKENS, ICON, STYLE, _HERE / "static" / "report.css", _HERE / "static" / "items.js")
"""Files that the pages of a report load, except for the items."""
MARK = "findings.json"
"""The file that identifies a folder as a report."""


def item_address(table: str, row: str, column: str) -> str:
    """Returns the address of the items behind a cell."""
    return f"items.html#{quote(f'{table}:{row}:{column}', safe=':')}"


def write_report(report: Report, folder: Path, parts: ReportParts, notify: Callable[[str], None]) -> None:
    """Writes every file of the report to an empty folder; the same report gives the same bytes.

    Files are not flushed to disk one by one: the folder is put in place as a whole.
    """
    tables = [table for section in report.sections for table in (*section.tables, *section.folded)]
    lists = [columns for columns in (report.columns, report.quotations) if columns is not None]
    linked = bool(lists) and all(len(columns.items) <= MOST_LISTED for columns in lists)
    pages = environment()
    parts.submit(figure for section in report.sections for figure in section.figures)
    fragments = _write_tables(report, tables, pages, folder, parts, linked=linked)
    (folder / MARK).write_bytes(_findings(report.findings).encode("utf-8"))
    for path in _LOADED:
        (folder / path.name).write_bytes(path.read_bytes())
    if linked:
        (folder / "items-data.js").write_bytes(items_script(report, tables).encode("utf-8"))
    items = pages.get_template("items.html").render(report=report, linked=linked)
    (folder / "items.html").write_bytes(items.encode("utf-8"))
    if any(section.figures for section in report.sections):
        (folder / "figures").mkdir()
    sections = []
    for section in report.sections:
        drawn = [parts.write_figure(folder, figure) for figure in section.figures]
        for figure in drawn:
            notify(f"figure {figure.name}: {figure.title}")
        sections.append((section, drawn))
    page = pages.get_template("report.html").render(
        report=report,
        sections=sections,
        linked=linked,
        tables=tables,
        table=lambda table: Markup(fragments[table.id]),  # noqa: S704 - escaped by to_html
        figure=lambda figure: Markup(figure.svg),  # noqa: S704 - drawn here
        value_address=_value_address if linked else None,
    )
    (folder / "index.html").write_bytes(page.encode("utf-8"))


def _write_tables(
    report: Report, tables: list[Table], pages: Environment, folder: Path, parts: ReportParts, *, linked: bool
) -> dict[str, str]:
    """Writes each table in every format, and returns the HTML of each by its id, for a page in `folder`."""
    if not tables:
        return {}
    (folder / "tables").mkdir()
    elsewhere = _build_item_linker(report.address) if report.address else None
    template = pages.get_template("table.html")
    fragments, sources, keys = {}, [], []
    for table in tables:
        name = f"tables/table-{safe_name(table.id)}"
        key = stamp("table", table, report.address)
        keys.append(key)
        contents = parts.find(key)
        if contents is None:
            files = render_table(table, elsewhere, ("md", "tex", "csv", "xlsx"))
            contents = {f"tables/{file}": content for file, content in files.items()}
        parts.write(folder, key, contents)
        sources.append((table.id, contents[f"{name}.tex"].decode("ascii")))
        fragment = fragments[table.id] = to_html(table, item_address if linked else None)
        # Text is escaped, so quotation marks are around our own addresses only.
        content = Markup(fragment.replace('href="items.html#', 'href="../items.html#'))  # noqa: S704
        (folder / f"{name}.html").write_bytes(
            template.render(report=report, table=table, content=content).encode("utf-8")
        )
    (folder / "tables" / "all.tex").write_bytes(join_latex(sources).encode("ascii"))
    key = stamp("workbook", keys)
    parts.write(folder, key, parts.find(key) or {"tables/all.xlsx": to_xlsx(tables, elsewhere)})
    return fragments


def _build_item_linker(address: str) -> Callable[[str, str, str], str]:
    return lambda table, row, column: f"{address.rstrip('/')}/{item_address(table, row, column)}"


def environment() -> Environment:
    """Returns the Jinja environment, with autoescaping."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["sentence"] = sentence_parts
    environment.filters["safe_name"] = safe_name
    return environment


def _value_address(finding: Finding, value: Value) -> str:
    return item_address("finding", finding.finding, value.name) if value.selection is not None else ""


def sentence_parts(finding: Finding) -> list[tuple[str, Value | None]]:
    """Splits a finding's sentence at its values, so that each can link to its items."""
    values_by_position: dict[int, Value] = {}
    for value in finding.values:
        whole = rf"(?<![\w.,-]){re.escape(value.shown)}(?![\w%]|[.,]\d)"  # 7 does not match in 27, -7 or 7.5%
        positions = (match.start() for match in re.finditer(whole, finding.sentence) if value.shown)
        place = next((start for start in positions if start not in values_by_position), None)
        if place is not None:
            values_by_position[place] = value
    parts: list[tuple[str, Value | None]] = []
    end = 0
    for place, value in sorted(values_by_position.items(), key=lambda pair: pair[0]):
        parts += [(finding.sentence[end:place], None), (value.shown, value)]
        end = place + len(value.shown)
    return [*parts, (finding.sentence[end:], None)]


def _findings(findings: Iterable[Finding]) -> str:
    lines = [
        {
            "finding": finding.finding,
            "sentence": finding.sentence,
            "holds": finding.holds,
            "values": [
                {"name": value.name, "claim": value.claim, "shown": value.shown, "number": _round(value.number),
                 "names": list(value.names), "holds": value.holds, "why": value.why}
                for value in finding.values
            ],
        }
        for finding in findings
    ]  # fmt: skip
    return json.dumps(lines, indent=2, ensure_ascii=False) + "\n"


def _round(number: float | None) -> float | None:
    """Rounds to the 12 digits that are the same on every processor, so that a rerun elsewhere writes the same file."""
    return float(f"{number:.12g}") if isinstance(number, float) else number


def write_audit_page(audit: Audit, folder: Path, *, title: str, generated_by: str, linked: bool) -> Path:
    """Writes the page of differences, notes and contradictions among printed figures."""
    names = list(dict.fromkeys(cell.table for cell in audit.cells))
    counts = {name: Counter(cell.verdict for cell in audit.cells if cell.table == name) for name in names}
    differing = {
        name: [cell for cell in audit.cells if cell.table == name and cell.verdict == DIFFERS] for name in names
    }
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
            strips={name: _strip(count) for name, count in counts.items()},
            differing=[(name, cells) for name, cells in differing.items() if cells],
            failed=_by_note(check for check in audit.checks if not check.holds),
            shown=_format_value,
            address=lambda cell: f"items.html#{quote(cell, safe=':')}",
        )
    )
    path = folder / "audit.html"
    path.write_bytes(page.encode("utf-8"))
    return path


def _by_note(checks: Iterable[Check]) -> list[tuple[str, list[Check]]]:
    """Groups consecutive checks that have the same note, so that it is printed once."""
    groups = groupby(checks, key=lambda check: (check.note, "" if check.note else check.check))
    return [(note, list(together)) for (note, _), together in groups]


def _strip(counts: Counter[str]) -> list[tuple[str, str, str]]:
    """Returns the verdicts as adjacent parts of a bar of length 100."""
    total = sum(counts.values()) or 1
    strip, x = [], 0.0
    for verdict in VERDICTS:
        width = 100 * counts.get(verdict, 0) / total
        if width:
            strip.append((verdict, f"{x:.2f}", f"{width:.2f}"))
        x += width
    return strip


def _format_value(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.4g}"
    return "–" if value is None else str(value)


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
