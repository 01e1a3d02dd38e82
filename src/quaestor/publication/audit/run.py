"""Audits a study: compares every printed figure with the computed one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from typing import Any

from quaestor.base.errors import StateError
from quaestor.publication.audit.checks import run_checks
from quaestor.publication.audit.compare import (
    Alternatives,
    compare_numbers,
    explain_differences,
    find_numbers,
    judge,
    number_alone,
)
from quaestor.publication.audit.printed import FINDINGS, FUNNEL, OTHER, Printed, PrintedRow
from quaestor.publication.audit.records import (
    DIFFERS,
    MATCH,
    NOT_COMPUTABLE,
    NOT_PRINTED,
    ROUNDING,
    Audit,
    AuditCell,
    Key,
)
from quaestor.publication.results.count_tables import TOTAL
from quaestor.publication.results.threats import count_placements
from quaestor.publication.results.values import DAYS, NAMES, SHARE, Computed
from quaestor.render.table_model import Cell, Finding, Table, Value

Computable = Mapping[str, Table]


def run_audit(
    computed: Computed,
    printed: Printed,
    tables: Computable,
    findings: Sequence[Finding],
    quantities: Sequence[Value],
    alternatives: Alternatives,
    why_nothing: str = "",
) -> Audit:
    """Returns a verdict for each printed cell, explanations of differences, and the checks among printed figures."""
    cells = [
        *_table_cells(printed, tables),
        *_value_cells(printed, computed, FINDINGS, [value for finding in findings for value in finding.values]),
        *_value_cells(printed, computed, OTHER, quantities),
        *_funnel_cells(printed, computed),
    ]
    noted = [_add_note(cell, printed) for cell in explain_differences(cells, alternatives)]
    return Audit(tuple(noted), run_checks(printed), count_placements(computed), tuple(_notes(computed, why_nothing)))


def _add_note(cell: AuditCell, printed: Printed) -> AuditCell:
    return replace(cell, note=printed.note_on(cell.key, cell.computed)) if cell.verdict == DIFFERS else cell


def _notes(computed: Computed, why_nothing: str) -> Iterator[str]:
    results = computed.results
    if results is None:
        why = why_nothing or "nothing has been decided yet"
        yield f"There are no results ({why}), so printed figures are only checked against each other."
        return
    yield f"Computed from {len(results.decided):,} decided items."
    yield from computed.undecided_notes()
    yield from computed.funnel_notes()
    if results.coded.source:
        yield f"Codes are the labels published in {results.coded.source}."
    if results.coded.simulated:
        yield "The raters were simulated."
    yield from computed.blindness_notes()
    if results.synthetic:
        yield f"{results.synthetic[:1].upper()}{results.synthetic[1:]}."


@dataclass(frozen=True)
class _Place:
    """A row of a computed table."""

    key: str
    cells: Mapping[str, Cell]
    title: str


def _table_cells(printed: Printed, tables: Computable) -> Iterator[AuditCell]:
    for layout in printed.settings.tables:
        table = tables.get(layout.table)
        find = _finder(table, layout.by) if table is not None else None
        for row in printed.tables[layout.table]:
            place = find(row, layout.rows.get(row.name, row.name)) if find is not None else None
            for column, text in row.cells.items():
                yield _cell(layout.table, row, column, text, place, is_title=column == layout.titles)


def _cell(table: str, row: PrintedRow, column: str, text: str, place: _Place | None, *, is_title: bool) -> AuditCell:
    computed: float | str | None = None
    cited = ""
    if place is not None and is_title:
        computed = place.title
    elif place is not None and column in place.cells:
        cell = place.cells[column]
        computed = cell.values[0] if cell.values else None
        cited = f"{table}:{place.key}:{column}" if cell.selection is not None else ""
    text = text if row.legible or find_numbers(text) else ""
    return AuditCell(table, row.name, column, text, computed, judge(text, computed), cell=cited)


def _finder(table: Table, by: str) -> Callable[[PrintedRow, str], _Place | None]:
    """Returns a function that finds a printed row in a computed table."""
    columns = [column.key for column in table.columns]
    by_key: dict[str, _Place] = {}
    by_title: dict[tuple[str, str], _Place] = {}
    totals: dict[str, _Place] = {}
    for group in table.groups:
        for row in group.rows:
            place = _Place(row.key, dict(zip(columns, row.cells, strict=True)), row.title)
            by_key.setdefault(row.key, place)
            if row.total and (group.title or row.key == TOTAL):
                totals[_strip_key(group.title)] = place
            else:
                by_title[_strip_key(group.title), _strip_key(row.title)] = place

    def find(row: PrintedRow, name: str) -> _Place | None:
        if by == "key":
            return by_key.get(name)
        if row.total:
            return totals.get(_strip_key(row.group))
        return by_title.get((_strip_key(row.group), _strip_key(name))) or by_title.get(("", _strip_key(name)))

    return find


def _strip_key(text: str) -> str:
    """Returns a title without the key in front of it: `(D1) data` is `data`."""
    words = text.casefold()
    if words.startswith("(") and ") " in words and "/" not in words.partition(") ")[0]:
        words = words.partition(") ")[2]
    return " ".join(words.split())


def _value_cells(printed: Printed, computed: Computed, table: str, values: Sequence[Value]) -> Iterator[AuditCell]:
    known = {value.claim: value for value in values if value.claim}
    rows = (
        [(claim, finding, text) for finding, claim, text in printed.findings]
        if table == FINDINGS
        else [(figure, "value", text) for figure, text in printed.quantities]
    )
    for claim, column, text in rows:
        value = known.get(claim)
        yield AuditCell(table, claim, column, text, *_compare_claim(computed, claim, text, value, list(values)))


def _compare_claim(
    computed: Computed, claim: str, text: str, value: Value | None, values: list[Value]
) -> tuple[float | str | None, str]:
    """Returns the computed value in the unit of the printed one, and the verdict."""
    if value is None or not value.known:
        return None, NOT_COMPUTABLE if text.strip() else NOT_PRINTED
    if value.unit == NAMES:
        titles = ", ".join(value.shown.rsplit(" and ", 1)) if len(value.names) > 1 else value.shown
        if not text.strip():
            return titles, NOT_PRINTED
        return titles, MATCH if _names(titles) == _names(text) else DIFFERS
    if value.unit == SHARE and value.number is not None:
        number = 100 * value.number
        return number, judge(text, number)
    if value.unit == DAYS and len(find_numbers(text)) > 1:
        return _compare_numbers(text, value, values)
    return value.number, judge(text, value.number, at_least="(at least)" in claim)


def _names(text: str) -> set[str]:
    """Returns the names in a list such as `a, b and c`, regardless of order and spelling."""
    return {_strip_key(part) for part in re.split(r",|;|\sand\s", text) if part.strip()}


def _compare_numbers(text: str, value: Value, values: list[Value]) -> tuple[float | str | None, str]:
    """Compares a claim that has several numbers with its own value and the following values without a claim."""
    place = values.index(value)
    numbers = find_numbers(text)
    behind = takewhile(lambda later: not later.claim, values[place + 1 :])
    computed_numbers = [claimed.number for claimed in (value, *behind)][: len(numbers)]
    if len(computed_numbers) < len(numbers) or None in computed_numbers:
        return None, NOT_COMPUTABLE
    shown = ", ".join(f"{number:.2f}" for number in computed_numbers if number is not None)
    pairs = zip(numbers, computed_numbers, strict=True)
    verdicts = [
        compare_numbers(printed_number, decimals, number)
        for (printed_number, decimals), number in pairs
        if number is not None
    ]
    order = (DIFFERS, ROUNDING, MATCH)
    return shown, next(verdict for verdict in order if verdict in verdicts)


def _funnel_cells(printed: Printed, computed: Computed) -> Iterator[AuditCell]:
    """Compares the steps by position, because a publication may name them differently."""
    steps = computed.funnel.steps if computed.funnel is not None else ()
    for number, (step, text) in enumerate(printed.funnel):
        count = float(steps[number].kept) if number < len(steps) else None
        yield AuditCell(FUNNEL, step, "posts", text, count, judge(text, count))


def cells_by_name(printed: Printed, tables: Computable) -> dict[Key, float | str | None]:
    """Returns computed values by printed cell, to compare another method of computing."""
    return {cell.key: cell.computed for cell in _table_cells(printed, tables)}


def require_printed(printed: Printed | None, where: object) -> Printed:
    if printed is None:
        raise StateError(f"{where} has no printed figures: add printed/printed.toml")
    return printed


def audit_json(audit: Audit) -> dict[str, Any]:
    """Returns cells, checks, placements and the summary for `--json`."""
    return {
        "cells": [_cell_json(cell) for cell in audit.cells],
        "checks": [asdict(check) for check in audit.checks],
        "placements": [
            {
                "table": placement.table,
                "posts": placement.items,
                "placed": placement.placed,
                "share": placement.share,
                "unplaced": [asdict(item) for item in placement.unplaced],
            }
            for placement in audit.placements
        ],
        "summary": audit.summary(),
        "notes": list(audit.notes),
    }


def _cell_json(cell: AuditCell) -> dict[str, Any]:
    document: dict[str, Any] = {
        "table": cell.table,
        "row": cell.row,
        "column": cell.column,
        "printed": _printed_json(cell.printed),
        "computed": _number_json(cell.computed),
        "verdict": cell.verdict,
    }
    if cell.base is not None:
        document["base"] = cell.base
    for key in ("note", "explanation", "cell"):
        if getattr(cell, key):
            document[key] = getattr(cell, key)
    return document


def _printed_json(text: str) -> int | float | str | None:
    """Returns a number if the cell is one, else its text; None if it is unreadable."""
    if not text.strip():
        return None
    number = number_alone(text)
    return text if number is None else number


def _number_json(value: float | str | None) -> int | float | str | None:
    return int(value) if isinstance(value, float | int) and float(value).is_integer() else value
