"""A report into a folder: the page, its tables in every format, its figures, and the items behind every number."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from quaestor.base.files import write_whole
from quaestor.base.look import TOKENS
from quaestor.publish.figures.drawing import svg_of, write_figure
from quaestor.publish.records import Finding, Selection, Table, Value
from quaestor.publish.report.records import Report
from quaestor.publish.tables.files import write_table
from quaestor.publish.tables.html import to_html
from quaestor.publish.tables.latex import latex_document
from quaestor.publish.tables.workbook import to_xlsx

_HERE = Path(str(resources.files("quaestor.publish.report")))
_TABLES_CSS = Path(str(resources.files("quaestor.publish.tables"))) / "tables.css"
MOST_LISTED = 50_000
"""Items that one page can still list; beyond, the command line and the desk do."""


def item_address(table: str, row: str, column: str) -> str:
    """Where the page of items shows what is behind a cell."""
    return f"items.html#{quote(f'{table}:{row}:{column}', safe=':')}"


def write_report(report: Report, folder: Path, tell: Callable[[str], None]) -> None:
    """Every file whole; the same report gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = [table for section in report.sections for table in (*section.tables, *section.folded)]
    figures = [figure for section in report.sections for figure in section.figures]
    linked = report.columns is not None and len(report.columns.items) <= MOST_LISTED
    elsewhere = _elsewhere(report.address) if report.address else None
    for table in tables:
        write_table(table, folder / "tables", elsewhere)
        tell(f"table {table.id} written")
    if tables:
        write_whole(folder / "tables" / "all.tex", latex_document(tables, elsewhere).encode("ascii"))
        write_whole(folder / "tables" / "all.xlsx", to_xlsx(tables, elsewhere))
    for figure in figures:
        write_figure(figure, folder / "figures")
        tell(f"figure {figure.name} drawn")
    write_whole(folder / "findings.json", _findings(report.findings).encode("utf-8"))
    for name in ("report.css", "items.js"):
        write_whole(folder / name, (_HERE / "static" / name).read_bytes())
    write_whole(folder / "tables.css", _TABLES_CSS.read_bytes())
    write_whole(folder / "tokens.css", TOKENS.read_bytes())
    pages = environment()
    if linked and report.columns is not None:
        write_whole(folder / "items-data.js", _items(report, tables).encode("utf-8"))
    items = pages.get_template("items.html").render(report=report, linked=linked)
    write_whole(folder / "items.html", items.encode("utf-8"))
    page = pages.get_template("report.html").render(
        report=report,
        table=lambda one: Markup(to_html(one, item_address if linked else None)),  # noqa: S704 - escaped there
        figure=lambda one: Markup(svg_of(one)),  # noqa: S704 - drawn here
        value_address=_value_address if linked else None,
        count=sum(len(section.figures) for section in report.sections),
    )
    write_whole(folder / "index.html", page.encode("utf-8"))


def _elsewhere(address: str) -> Callable[[str, str, str], str]:
    return lambda table, row, column: f"{address.rstrip('/')}/{item_address(table, row, column)}"


def environment() -> Environment:
    """Templates that escape whatever they are given."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["sentence"] = sentence_parts
    return made


def _value_address(finding: Finding, value: Value) -> str:
    return item_address("finding", finding.finding, value.name) if value.selection is not None else ""


def sentence_parts(finding: Finding) -> list[tuple[str, Value | None]]:
    """A finding's sentence cut at its values, so that each can open its items."""
    parts: list[tuple[str, Value | None]] = []
    rest = finding.sentence
    for value in finding.values:
        before, found, after = rest.partition(value.shown)
        if not found or not value.shown:
            continue
        parts += [(before, None), (value.shown, value)]
        rest = after
    return [*parts, (rest, None)]


def _findings(findings: Iterable[Finding]) -> str:
    said = [
        {
            "finding": one.finding,
            "sentence": one.sentence,
            "holds": one.holds,
            "values": [
                {"name": value.name, "claim": value.claim, "shown": value.shown, "number": value.number,
                 "names": list(value.names), "holds": value.holds, "why": value.why}
                for value in one.values
            ],
        }
        for one in findings
    ]  # fmt: skip
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _items(report: Report, tables: Iterable[Table]) -> str:
    """The items as a script that works from a folder too, where pages cannot fetch files."""
    columns = report.columns
    if columns is None:
        return ""
    data: dict[str, Any] = {
        "items": [
            [one.item, one.title, one.link, one.author, one.licence, one.created, one.views, one.score, one.days]
            for one in columns.items
        ],
        "attributes": {
            name: {"keys": keys, "titles": titles, "codes": codes}
            for name, (keys, titles, codes) in columns.attributes.items()
        },
        "tables": {table.id: _cells(table) for table in tables},
    }
    data["tables"]["finding"] = {
        "title": "Findings",
        "rows": {one.finding: f"Finding {one.finding}" for one in report.findings},
        "columns": {value.name: value.claim or value.name for one in report.findings for value in one.values},
        "cells": {
            f"{one.finding}:{value.name}": _conditions(value.selection)
            for one in report.findings
            for value in one.values
            if value.selection is not None
        },
    }
    return f"window.quaestorItems = {json.dumps(data, ensure_ascii=True, separators=(',', ':'))};\n"


def _cells(table: Table) -> dict[str, Any]:
    return {
        "title": f"Table {table.id}. {table.title}",
        "rows": {row.key: row.title for row in table.rows()},
        "columns": {column.key: column.title for column in table.columns},
        "cells": {
            f"{row.key}:{column.key}": _conditions(cell.selection)
            for row in table.rows()
            for column, cell in zip(table.columns, row.cells, strict=True)
            if cell.selection is not None
        },
    }


def _conditions(selection: Selection) -> list[list[Any]]:
    return [[name, list(values)] for name, values in selection.conditions]
