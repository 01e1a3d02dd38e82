"""A table as files, one for each format."""

from __future__ import annotations

from pathlib import Path

from quaestor.base.files import write_whole
from quaestor.publish.records import Table
from quaestor.publish.tables.delimited import to_csv
from quaestor.publish.tables.html import html_page
from quaestor.publish.tables.latex import to_latex
from quaestor.publish.tables.layout import Link, safe_name
from quaestor.publish.tables.markdown import to_markdown
from quaestor.publish.tables.workbook import to_xlsx


def write_table(table: Table, folder: Path, link: Link | None = None) -> list[Path]:
    """Write the table in every format, each file whole; its name comes from the table's id."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "html": html_page(table, link).encode("utf-8"),
        "md": to_markdown(table, link).encode("utf-8"),
        "tex": to_latex(table, link).encode("ascii"),
        "csv": to_csv(table).encode("utf-8"),
        "xlsx": to_xlsx([table], link),
    }
    paths = []
    for ending, content in contents.items():
        path = folder / f"table-{safe_name(table.id)}.{ending}"
        write_whole(path, content)
        paths.append(path)
    return paths
