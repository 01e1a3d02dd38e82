"""Writes a table as Markdown and CSV, and as files in every format; Markdown text is escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from pathlib import Path

from quaestor.base.files import write_atomically
from quaestor.base.table_files import format_csv
from quaestor.render.table_model import Cell, Column, Number, Row, Table
from quaestor.render.tables.html import html_page
from quaestor.render.tables.latex import to_latex
from quaestor.render.tables.layout import (
    NO_ITEMS,
    Link,
    build_address,
    data_counts,
    data_name,
    data_text,
    join_marks,
    join_parts,
    list_groups,
    one_line,
    part_value,
    printable,
    safe_name,
    table_label,
)
from quaestor.render.tables.workbook import to_xlsx


def to_csv(table: Table) -> str:
    """Returns the table as CSV, with row keys and without footnotes and notes."""
    titled = any(group.title for group in table.groups)
    lines = [_header(table, titled=titled)]
    counts = data_counts(table)
    for group in table.groups:
        for row in group.rows:
            fields = [*([group.title] if titled else []), row.key, row.title]
            lines.append([*fields, *_values(table, row.cells, counts)])
    # Published files use the line ends of other text files in a repository.
    return format_csv([[printable(text) for text in line] for line in lines], line_end="\n")


def exact(value: Number) -> str:
    """Returns the shortest text from which the same number can be read."""
    return repr(int(value)) if isinstance(value, Integral) else repr(float(value))


def _header(table: Table, *, titled: bool) -> list[str]:
    names = [*(["group"] if titled else []), "row", table.stub or "title"]
    for column, count in zip(table.columns, data_counts(table), strict=True):
        parts = (data_name(column, number) for number in range(count))
        named = bool(column.numbers)
        names += [
            f"{column.key}: {part}" if (number or named) and part else column.key for number, part in enumerate(parts)
        ]
    return list(_number_repeated_names(names))


def _number_repeated_names(names: list[str]) -> Iterator[str]:
    """Numbers repeated names, so that each column has its own."""
    used_names: set[str] = set()
    for name in names:
        number, candidate = 1, name
        while candidate in used_names:
            number += 1
            candidate = f"{name} ({number})"
        used_names.add(candidate)
        yield candidate


def _values(table: Table, cells: tuple[Cell, ...], counts: list[int]) -> Iterator[str]:
    for column, cell, count in zip(table.columns, cells, counts, strict=True):
        for number in range(count):
            value = part_value(cell, number)
            if value is not None and math.isfinite(value):
                yield exact(value)
            else:
                whole = cell.parts[number] if number < len(cell.parts) else ""
                yield data_text(column, cell, number) if column.numbers or column.more else whole


_FORMATS: dict[str, Callable[[Table, Link | None], bytes]] = {
    "html": lambda table, link: html_page(table, link).encode("utf-8"),
    "md": lambda table, link: to_markdown(table, link).encode("utf-8"),
    "tex": lambda table, link: to_latex(table, link).encode("ascii"),
    "csv": lambda table, link: to_csv(table).encode("utf-8"),
    "xlsx": lambda table, link: to_xlsx([table], link),
}
"""By file ending: renders a table."""


def render_table(table: Table, link: Link | None, endings: Iterable[str] = _FORMATS) -> dict[str, bytes]:
    """Returns the table in the given formats, by the name of its file."""
    return {f"table-{safe_name(table.id)}.{ending}": _FORMATS[ending](table, link) for ending in endings}


def write_table(table: Table, folder: Path, link: Link | None = None) -> list[Path]:
    """Writes the table in every format, each file atomically and named after the table's id."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {folder / name: content for name, content in render_table(table, link).items()}
    for path, content in contents.items():
        write_atomically(path, content)
    return list(contents)


_SIGNS = re.compile(r"[\\`*_\[\]<>|~&$]")
_BEGINS_BLOCK = re.compile(r"^([0-9]*)([-+#=:.)])")
_IN_ADDRESS = {"(": "%28", ")": "%29", "*": "%2A", "[": "%5B", "]": "%5D", "&": "\\&", "_": "\\_"}


def to_markdown(table: Table, link: Link | None = None) -> str:
    """Returns the table as Markdown with its title and notes."""
    lines = [_line(_headings(table)), _line(_alignments(table)), *_body(table, link)]
    blocks = [f"**{_text(table_label(table))}.** {_text(table.title)}".rstrip(), "\n".join(lines)]
    blocks += [f"<sup>{_text(mark)}</sup> {_text(text)}".rstrip() for mark, text in table.footnotes.items()]
    blocks += [_paragraph(note) for note in table.notes if one_line(note)]
    return "\n\n".join(blocks) + "\n"


def _text(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", one_line(text))


def _paragraph(text: str) -> str:
    """Escapes text at the beginning of a line, where a digit or a dash could begin a list."""
    return _BEGINS_BLOCK.sub(r"\1\\\2", _text(text))


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _headings(table: Table) -> list[str]:
    return [
        _text(table.stub),
        *(_text(": ".join(filter(None, (column.spanner, column.title)))) for column in table.columns),
    ]


def _alignments(table: Table) -> list[str]:
    return ["---", *("---:" if column.numeric else "---" for column in table.columns)]


def _body(table: Table, link: Link | None) -> Iterator[str]:
    empty = [""] * len(table.columns)
    for group in list_groups(table):
        if title := _text(group.title):
            yield _line([f"**{title}**", *empty])
        if not group.rows:
            yield _line([f"*{NO_ITEMS}*", *empty])
        for row in group.rows:
            cells = [_cell(table, row, *pair, link) for pair in zip(table.columns, row.cells, strict=True)]
            yield _line([_add_marks(_text(row.title), row, row.notes), *cells])


def _cell(table: Table, row: Row, column: Column, cell: Cell, link: Link | None) -> str:
    texts = [_text(part) for part in join_parts(map(one_line, cell.parts))]
    if address := build_address(table, row.key, column, cell, link):
        texts[0] = f"[{texts[0]}]({''.join(_IN_ADDRESS.get(sign, sign) for sign in address)})"
    return _add_marks(" ".join(texts), row, cell.notes)


def _add_marks(text: str, row: Row, notes: tuple[str, ...]) -> str:
    strong = f"**{text}**" if row.total and text else text
    marks = join_marks(notes)
    return f"{strong}<sup>{_text(marks)}</sup>" if marks else strong
