"""A table in GitHub's Markdown: every text renders as itself, whatever signs it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quaestor.render.table_model import Cell, Column, Row, Table
from quaestor.render.tables.layout import NO_ITEMS, Link, address_of, called, filled_groups, marks, one_line, together

_SIGNS = re.compile(r"[\\`*_\[\]<>|~&$]")
_BEGINS_BLOCK = re.compile(r"^([0-9]*)([-+#=:.)])")
_IN_ADDRESS = {"(": "%28", ")": "%29", "*": "%2A", "[": "%5B", "]": "%5D", "&": "\\&", "_": "\\_"}


def to_markdown(table: Table, link: Link | None = None) -> str:
    """The table between its title and its notes."""
    lines = [_line(_headings(table)), _line(_alignments(table)), *_body(table, link)]
    blocks = [f"**{_text(called(table))}.** {_text(table.title)}".rstrip(), "\n".join(lines)]
    blocks += [f"<sup>{_text(mark)}</sup> {_text(text)}".rstrip() for mark, text in table.footnotes.items()]
    blocks += [_paragraph(note) for note in table.notes if one_line(note)]
    return "\n\n".join(blocks) + "\n"


def _text(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", one_line(text))


def _paragraph(text: str) -> str:
    """Text at the beginning of a line, where a digit or a dash could begin a list."""
    return _BEGINS_BLOCK.sub(r"\1\\\2", _text(text))


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _headings(table: Table) -> list[str]:
    return [_text(table.stub), *(_text(": ".join(filter(None, (one.spanner, one.title)))) for one in table.columns)]


def _alignments(table: Table) -> list[str]:
    return ["---", *("---:" if column.numeric else "---" for column in table.columns)]


def _body(table: Table, link: Link | None) -> Iterator[str]:
    empty = [""] * len(table.columns)
    for group in filled_groups(table):
        if title := _text(group.title):
            yield _line([f"**{title}**", *empty])
        if not group.rows:
            yield _line([f"*{NO_ITEMS}*", *empty])
        for row in group.rows:
            cells = [_cell(table, row, *pair, link) for pair in zip(table.columns, row.cells, strict=True)]
            yield _line([_finished(_text(row.title), row, row.notes), *cells])


def _cell(table: Table, row: Row, column: Column, cell: Cell, link: Link | None) -> str:
    texts = [_text(part) for part in together(map(one_line, cell.parts))]
    if address := address_of(table, row.key, column, cell, link):
        texts[0] = f"[{texts[0]}]({''.join(_IN_ADDRESS.get(sign, sign) for sign in address)})"
    return _finished(" ".join(texts), row, cell.notes)


def _finished(text: str, row: Row, notes: tuple[str, ...]) -> str:
    strong = f"**{text}**" if row.total and text else text
    found = marks(notes)
    return f"{strong}<sup>{_text(found)}</sup>" if found else strong
