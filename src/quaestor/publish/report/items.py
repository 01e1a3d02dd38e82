"""The items of a report and what is behind each number, as a script: pages opened from a folder cannot fetch files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from quaestor.publish.records import Finding, Selection, Table
from quaestor.publish.report.records import ItemColumns, Report
from quaestor.publish.tables.layout import safe_name


def items_script(report: Report, tables: Iterable[Table]) -> str:
    """What items.js reads; only ASCII, and nothing in it can end a script."""
    if report.columns is None and report.quotations is None:
        return ""
    quoted = {one.id for section in report.sections if section.quoted for one in (*section.tables, *section.folded)}
    told = {table.id: _of_table(table, quoted=table.id in quoted) for table in tables}
    data: dict[str, Any] = {
        **_of_columns(report.columns or ItemColumns((), {})),
        **({"quotations": _of_columns(report.quotations)} if report.quotations is not None else {}),
        "tables": {**told, "finding": _of_findings(report.findings)},
    }
    return f"window.quaestorItems = {json.dumps(data, ensure_ascii=True, separators=(',', ':'))};\n"


def _of_columns(columns: ItemColumns) -> dict[str, Any]:
    return {
        "items": [
            [one.item, one.title, one.link, one.author, one.licence, one.created, one.views, one.score, one.days]
            + ([one.note] if one.note else [])
            for one in columns.items
        ],
        "attributes": {
            name: {"keys": keys, "titles": titles, "codes": codes}
            for name, (keys, titles, codes) in columns.attributes.items()
        },
    }


def _of_table(table: Table, *, quoted: bool) -> dict[str, Any]:
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


def _of_findings(findings: Iterable[Finding]) -> dict[str, Any]:
    """Values of different findings may have the same name, so each has a title of its own."""
    opened = [(one, value) for one in findings for value in one.values if value.selection is not None]
    return {
        "title": "Findings",
        "anchor": "findings",
        "titles": {
            f"{one.finding}:{value.name}": f"Finding {one.finding}: {value.claim or value.name}"
            for one, value in opened
        },
        "cells": {
            f"{one.finding}:{value.name}": _conditions(value.selection)
            for one, value in opened
            if value.selection is not None
        },
    }


def _conditions(selection: Selection) -> list[list[Any]]:
    return [[name, list(values)] for name, values in selection.conditions]
