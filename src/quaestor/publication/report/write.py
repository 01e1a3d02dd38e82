"""A report into a folder: the page, its tables in every format, its figures, and the items behind every number."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from quaestor.base.files import write_whole
from quaestor.base.look import ICON, TOKENS
from quaestor.publish.figures.drawing import svg_of, write_figure
from quaestor.publish.records import Finding, Table, Value
from quaestor.publish.report.items import items_script
from quaestor.publish.report.records import Report
from quaestor.publish.tables.files import write_table
from quaestor.publish.tables.html import STYLE, to_html
from quaestor.publish.tables.latex import latex_document
from quaestor.publish.tables.layout import safe_name
from quaestor.publish.tables.workbook import to_xlsx

_HERE = Path(str(resources.files("quaestor.publish.report")))
_LOADED = (TOKENS, ICON, STYLE, _HERE / "static" / "report.css", _HERE / "static" / "items.js")
"""What pages of a report load, beside their items."""
MARK = "findings.json"
"""The file that every report has, and by which a folder is known as one."""
MOST_LISTED = 50_000
"""Items that one page can still list; beyond, the command line and the desk do."""


def item_address(table: str, row: str, column: str) -> str:
    """Where the page of items shows what is behind a cell."""
    return f"items.html#{quote(f'{table}:{row}:{column}', safe=':')}"


def write_report(report: Report, folder: Path, tell: Callable[[str], None]) -> None:
    """Every file of the report into an empty folder; the same report gives the same bytes."""
    tables = [table for section in report.sections for table in (*section.tables, *section.folded)]
    lists = [columns for columns in (report.columns, report.quotations) if columns is not None]
    linked = bool(lists) and all(len(columns.items) <= MOST_LISTED for columns in lists)
    pages = environment()
    _write_tables(report, tables, pages, folder / "tables", tell, linked=linked)
    for figure in (figure for section in report.sections for figure in section.figures):
        write_figure(figure, folder / "figures")
        tell(f"figure {figure.name} drawn")
    write_whole(folder / MARK, _findings(report.findings).encode("utf-8"))
    for path in _LOADED:
        write_whole(folder / path.name, path.read_bytes())
    if linked:
        write_whole(folder / "items-data.js", items_script(report, tables).encode("utf-8"))
    items = pages.get_template("items.html").render(report=report, linked=linked)
    write_whole(folder / "items.html", items.encode("utf-8"))
    page = pages.get_template("report.html").render(
        report=report,
        linked=linked,
        tables=tables,
        table=lambda one: Markup(to_html(one, item_address if linked else None)),  # noqa: S704 - escaped there
        figure=lambda one: Markup(svg_of(one)),  # noqa: S704 - drawn here
        value_address=_value_address if linked else None,
    )
    write_whole(folder / "index.html", page.encode("utf-8"))


def _write_tables(
    report: Report, tables: list[Table], pages: Environment, folder: Path, tell: Callable[[str], None], *, linked: bool
) -> None:
    """Each table in every format; as a page it belongs to the report, and its numbers open their items there."""
    elsewhere = _elsewhere(report.address) if report.address else None
    beside = _elsewhere("..") if linked else None
    template = pages.get_template("table.html")
    for table in tables:
        write_table(table, folder, elsewhere)
        page = template.render(report=report, table=table, content=Markup(to_html(table, beside)))  # noqa: S704
        write_whole(folder / f"table-{safe_name(table.id)}.html", page.encode("utf-8"))
        tell(f"table {table.id} written")
    if tables:
        write_whole(folder / "all.tex", latex_document(tables, elsewhere).encode("ascii"))
        write_whole(folder / "all.xlsx", to_xlsx(tables, elsewhere))


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
    made.filters["safe_name"] = safe_name
    return made


def _value_address(finding: Finding, value: Value) -> str:
    return item_address("finding", finding.finding, value.name) if value.selection is not None else ""


def sentence_parts(finding: Finding) -> list[tuple[str, Value | None]]:
    """A finding's sentence cut at its values, so that each can open its items."""
    found: dict[int, Value] = {}
    for value in finding.values:
        whole = rf"(?<![\w.,-]){re.escape(value.shown)}(?![\w%]|[.,]\d)"  # 7 is neither in 27 nor in -7 nor in 7.5%
        taken = (match.start() for match in re.finditer(whole, finding.sentence) if value.shown)
        place = next((start for start in taken if start not in found), None)
        if place is not None:
            found[place] = value
    parts: list[tuple[str, Value | None]] = []
    end = 0
    for place, value in sorted(found.items(), key=lambda pair: pair[0]):
        parts += [(finding.sentence[end:place], None), (value.shown, value)]
        end = place + len(value.shown)
    return [*parts, (finding.sentence[end:], None)]


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
