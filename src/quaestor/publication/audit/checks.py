"""Checks printed figures against each other: sums, shares, possible kappas and p-values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from quaestor.base.errors import SettingsError
from quaestor.base.names import suggest
from quaestor.measures.agreement.chance_corrected import kappa_range
from quaestor.measures.association import p_range, pearson
from quaestor.publication.audit.compare import compare_numbers, explain_differences, find_numbers, judge
from quaestor.publication.audit.printed import FINDINGS, Printed, PrintedRow
from quaestor.publication.audit.printed_settings import PrintedCheck, PrintedTable
from quaestor.publication.audit.records import DIFFERS, AuditCell, Check
from quaestor.publication.results.median_tables import ALL

_ELSEWHERE = re.compile(r"\(([^()]*?)\s+in\s[^()]*\)")
"""`81.7% (81.6% in the text)`: the same page prints the figure a second time."""


def run_checks(printed: Printed) -> tuple[Check, ...]:
    """Runs every check among printed figures."""
    checks = [*_sums(printed), *_check_repeated_figures(printed)]
    for check in printed.settings.checks:
        checks += [
            replace(check_result, note=check_result.note or check.note)
            for check_result in _KINDS[check.kind](printed, check)
        ]
    return tuple(checks)


def _number(text: str) -> float | None:
    numbers = find_numbers(text)
    return numbers[0][0] if numbers else None


def _sums(printed: Printed) -> Iterator[Check]:
    """Rows of a group add up to its total, groups to the grand total, columns to their sum."""
    for layout in printed.settings.tables:
        rows = printed.tables[layout.table]
        for column in layout.columns:
            yield from _sums_of_rows(printed, layout, rows, column)
        if layout.sum_to is not None:
            for row in rows:
                parts = [_number(row.cells[name]) for name in layout.sum_of]
                whole = _number(row.cells[layout.sum_to])
                if whole is not None and None not in parts:
                    where = f"table {layout.table}, {row.name}"
                    names = " + ".join(layout.sum_of)
                    note = printed.note_on((layout.table, row.name, layout.sum_to))
                    yield _sum(f"{where}: {names} = {layout.sum_to}", [part or 0.0 for part in parts], whole, note)


def _sums_of_rows(printed: Printed, layout: PrintedTable, rows: tuple[PrintedRow, ...], column: str) -> Iterator[Check]:
    if not any(row.total for row in rows) or not all("." not in row.cells[column] for row in rows):
        return
    groups = dict.fromkeys(row.group for row in rows)
    totals: list[float | None] = []
    for group in groups:
        inside = [row for row in rows if row.group == group]
        total = next((row for row in inside if row.total), None)
        lines = [_number(row.cells[column]) for row in inside if not row.total]
        whole = _number(total.cells[column]) if total is not None else None
        if group:
            totals.append(whole if total is not None else _add_lines(lines))
        if total is None or whole is None or not lines or None in lines:
            continue
        name = f"table {layout.table}, {total.name}, {column}"
        note = printed.note_on((layout.table, total.name, column))
        yield _sum(f"{name}: its lines add up to it", [line or 0.0 for line in lines], whole, note)
    grand = next((row for row in rows if row.total and not row.group), None)
    if grand is not None and len(groups) > 2:
        whole = _number(grand.cells[column])
        if whole is not None and None not in totals:
            parts = [total or 0.0 for total in totals]
            note = printed.note_on((layout.table, grand.name, column))
            name = f"table {layout.table}, {grand.name}, {column}"
            yield _sum(f"{name}: its groups add up to it", parts, whole, note)


def _add_lines(lines: Sequence[float | None]) -> float | None:
    """Returns the sum of a group that has no printed total, or None if one of its cells is unreadable."""
    return None if None in lines else sum(line or 0.0 for line in lines)


def _sum(statement: str, parts: list[float], whole: float, note: str = "") -> Check:
    total = sum(parts)
    return Check(
        "sum", statement, _are_close(total, whole), f"{_format_number(total)} against {_format_number(whole)}", note
    )


def _are_close(first: float, other: float) -> bool:
    """Compares with a tolerance: 0.1 + 0.2 is not exactly 0.3 in floats."""
    return math.isclose(first, other, rel_tol=1e-12, abs_tol=1e-9)


def _format_number(number: float) -> str:
    return f"{number:.12g}"


def _check_repeated_figures(printed: Printed) -> Iterator[Check]:
    """Checks that a figure printed twice has the same value both times."""
    for finding, claim, text in printed.findings:
        elsewhere = _ELSEWHERE.search(text)
        if elsewhere is None:
            continue
        first, second = find_numbers(text[: elsewhere.start()]), find_numbers(elsewhere[1])
        if first and second:
            same = first[0][0] == second[0][0]
            note = printed.note_on((FINDINGS, claim, finding))
            yield Check("text", f"finding {finding}, {claim}: both printed values are the same", same, text, note)


def _cell_or_number(printed: Printed, value: str | float | None) -> tuple[float, int]:
    if isinstance(value, str):
        numbers = find_numbers(printed.cell(value))
        if not numbers:
            raise SettingsError(f"printed.toml: {value!r} contains no number: remove it from the check")
        return numbers[0]
    number = float(value or 0)
    return number, len(_format_number(number).partition(".")[2])


def _check_sum(printed: Printed, check: PrintedCheck) -> Iterator[Check]:
    total = sum(_cell_or_number(printed, name)[0] for name in check.of)
    total -= sum(_cell_or_number(printed, name)[0] for name in check.less)
    whole, _ = _cell_or_number(printed, check.equals)
    where = f" ({check.where})" if check.where else ""
    yield _sum(f"{check.check}{where}", [total], whole)


def _check_share(printed: Printed, check: PrintedCheck) -> Iterator[Check]:
    part = sum(_cell_or_number(printed, name)[0] for name in check.of)
    base, _ = _cell_or_number(printed, check.among)
    share, decimals = _cell_or_number(printed, check.equals)
    if not base:
        yield Check("share", check.check, False, f"{_format_number(part)} of 0 has no share, printed {share:g}%")
        return
    percentage = 100 * part / base
    holds = compare_numbers(share, decimals, percentage) != DIFFERS
    words = (
        f"{_format_number(part)} of {_format_number(base)} is {percentage:.{max(0, decimals)}f}%, printed {share:g}%"
    )
    yield Check("share", check.check, holds, words)


def _check_kappa(printed: Printed, check: PrintedCheck) -> Iterator[Check]:
    kappa, decimals = _cell_or_number(printed, check.kappa)
    items, disagreements = (
        int(_cell_or_number(printed, reference)[0]) for reference in (check.items, check.disagreements)
    )
    kept = int(_cell_or_number(printed, check.kept)[0]) if check.kept is not None else None
    bounds = kappa_range(items, disagreements, kept)
    half = 0.5 * 10.0**-decimals
    holds = bounds is not None and bounds[0] - half <= kappa <= bounds[1] + half
    allowed = "none" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"
    words = f"{disagreements} disagreements among {items} allow a kappa of {allowed}, printed {kappa:g}"
    yield Check("kappa", check.check, holds, words)


def _groups_of_counts(printed: Printed, table: str) -> dict[str, list[PrintedRow]]:
    """Returns the rows of a table of counts by group, and all of them under one more key."""
    groups: dict[str, list[PrintedRow]] = {}
    for row in printed.tables[table]:
        if not row.total:
            groups.setdefault(row.group, []).append(row)
    groups[ALL] = [row for rows in groups.values() for row in rows]
    return groups


def _require_columns(printed: Printed, check: PrintedCheck, table: str, columns: tuple[str, ...]) -> None:
    there = printed.layout(table).columns
    for name in columns:
        if name not in there:
            near = suggest(name, there) or "none"
            raise SettingsError(
                f"printed.toml: {check.check!r} needs column {name!r} of table {table}, printed columns: {near}"
            )


def _check_p(printed: Printed, check: PrintedCheck) -> Iterator[Check]:
    """Checks each printed p-value against its r and the number of rows."""
    groups = _groups_of_counts(printed, str(check.counts))
    for row in printed.tables[str(check.table)]:
        n = len(groups.get(row.name, ()))
        for column in (name for name in row.cells if name.endswith("_p")):
            coefficient = f"{column[:-2]}_r"
            _require_columns(printed, check, str(check.table), (coefficient,))
            r, p = (find_numbers(row.cells[name]) for name in (coefficient, column))
            bounds = p_range(*r[0], n) if r and p else None
            if bounds is None:
                continue
            half = 0.5 * 10.0 ** -p[0][1]
            holds = bounds[0] - half <= p[0][0] <= bounds[1] + half
            name = f"table {check.table}, {row.name}: the p-value of {column[:-2].replace('_', ' ')}"
            words = f"r = {r[0][0]:g} over {n} rows has p {bounds[0]:.2f} to {bounds[1]:.2f}, printed {p[0][0]:g}"
            yield Check("p", name, holds, words, printed.note_on((str(check.table), row.name, column)))


def _check_correlation(printed: Printed, check: PrintedCheck) -> Iterator[Check]:
    """Checks each printed r against the one computed from the printed counts."""
    groups = _groups_of_counts(printed, str(check.counts))
    cells = []
    for row in printed.tables[str(check.table)]:
        for column in (name for name in row.cells if name.endswith("_r")):
            first, _, second = column.removesuffix("_r").partition("_vs_")
            _require_columns(printed, check, str(check.counts), (first, second))
            pairs = [(_number(group.cells[first]), _number(group.cells[second])) for group in groups.get(row.name, ())]
            known = np.array([pair for pair in pairs if None not in pair], np.float64).reshape(-1, 2)
            value = pearson(known[:, 0], known[:, 1]).value
            verdict = judge(row.cells[column], value)
            cells.append(AuditCell(str(check.table), row.name, column, row.cells[column], value, verdict))
    for cell in explain_differences(cells, {}):
        if cell.computed is None or not isinstance(cell.computed, float):
            continue
        name = f"table {cell.table}, {cell.row}: {cell.column} matches the counts in table {check.counts}"
        words = f"the counts give {cell.computed:.4f}, printed {cell.printed}"
        words += f"; {cell.explanation}" if cell.explanation else ""
        yield Check("correlation", name, cell.verdict != DIFFERS, words, printed.note_on(cell.key))


_KINDS = {
    "sum": _check_sum,
    "share": _check_share,
    "kappa": _check_kappa,
    "p": _check_p,
    "correlation": _check_correlation,
}
