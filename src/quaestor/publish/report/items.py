"""The items of a report and what is behind each number, as a script: pages opened from a folder cannot fetch files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from quaestor.publish.records import Finding, Selection, Table
from quaestor.publish.report.records import Report
from quaestor.publish.tables.layout import safe_name


def items_script(report: Report, tables: Iterable[Table]) -> str:
    """What items.js reads; only ASCII, and nothing in it can end a script."""
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
        "tables": {**{table.id: _of_table(table) for table in tables}, "finding": _of_findings(report.findings)},
    }
    return f"window.quaestorItems = {json.dumps(data, ensure_ascii=True, separators=(',', ':'))};\n"


def _of_table(table: Table) -> dict[str, Any]:
    return {
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
