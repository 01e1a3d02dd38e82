"""A table as files, one for each format."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path

from quaestor.base.files import write_atomically
from quaestor.base.table_files import format_csv
from quaestor.render.table_model import Cell, Number, Table
from quaestor.render.tables.html import html_page
from quaestor.render.tables.latex import to_latex
from quaestor.render.tables.layout import Link, data_counts, data_name, data_text, part_value, printable, safe_name
from quaestor.render.tables.markdown import to_markdown
from quaestor.render.tables.workbook import to_xlsx


def to_csv(table: Table) -> str:
    """Rows by their keys; marks, footnotes and notes stay with the formats for readers."""
    titled = any(group.title for group in table.groups)
    lines = [_header(table, titled=titled)]
    counts = data_counts(table)
    for group in table.groups:
        for row in group.rows:
            fields = [*([group.title] if titled else []), row.key, row.title]
            lines.append([*fields, *_values(table, row.cells, counts)])
    # One line at a time, since published files end their lines as other text files of a repository do.
    return "".join(format_csv([[printable(text) for text in line]]).removesuffix("\r\n") + "\n" for line in lines)


def exact(value: Number) -> str:
    """The number in the fewest digits that give it back."""
    return repr(int(value)) if isinstance(value, Integral) else repr(float(value))


def _header(table: Table, *, titled: bool) -> list[str]:
    names = [*(["group"] if titled else []), "row", table.stub or "title"]
    for column, count in zip(table.columns, data_counts(table), strict=True):
        parts = (data_name(column, number) for number in range(count))
        named = bool(column.numbers)
        names += [
            f"{column.key}: {part}" if (number or named) and part else column.key for number, part in enumerate(parts)
        ]
    return list(_distinct(names))


def _distinct(names: list[str]) -> Iterator[str]:
    """The names, a repeated one with a number, so that a reader can ask for each."""
    taken: set[str] = set()
    for name in names:
        number, one = 1, name
        while one in taken:
            number += 1
            one = f"{name} ({number})"
        taken.add(one)
        yield one


def _values(table: Table, cells: tuple[Cell, ...], counts: list[int]) -> Iterator[str]:
    for column, cell, count in zip(table.columns, cells, counts, strict=True):
        for number in range(count):
            value = part_value(cell, number)
            if value is not None and math.isfinite(value):
                yield exact(value)
            else:
                whole = cell.parts[number] if number < len(cell.parts) else ""
                yield data_text(column, cell, number) if column.numbers else whole


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
        write_atomically(path, content)
        paths.append(path)
    return paths
