"""Renders a table as accessible HTML, with numbers that link to their items.

Text can be in any language: each cell has its own writing direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from quaestor.render.design_tokens import TOKENS
from quaestor.render.table_model import Cell, Column, Row, Table
from quaestor.render.tables.layout import (
    NO_ITEMS,
    Link,
    build_address,
    caption,
    group_columns,
    has_spanners,
    join_marks,
    list_groups,
    one_line,
    part_counts,
    part_text,
    safe_name,
    table_label,
)

STYLE = Path(__file__).with_name("tables.css")
"""The style sheet of tables, which uses the page's custom properties for colours and type."""

_WIDEST_PART = 16
"""The widest part for which the style sheet reserves space, so that parts line up."""

_Widths = list[list[int]]


def to_html(table: Table, link: Link | None = None) -> str:
    """Returns the table as a figure element; the page must include the style sheet."""
    name = f"table-{safe_name(table.id)}"
    return "\n".join(
        [
            f'<figure class="table" id="{name}">',
            f'<figcaption id="{name}-title"><span class="called">{_text(table_label(table))}.</span> '
            f'<span dir="auto">{_text(table.title)}</span></figcaption>',
            *_share_choice(table, name),
            f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}-title">',
            f'<table aria-labelledby="{name}-title">',
            *_column_groups(table),
            *_heading(table),
            *_body(table, link),
            "</table>",
            "</div>",
            *_write_notes(table),
            "</figure>",
            "",
        ]
    )


def html_page(table: Table, link: Link | None = None) -> str:
    """Returns the table as a complete page in one file."""
    style = TOKENS.read_text("utf-8") + STYLE.read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(caption(table))}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body class="table-page">\n<main>\n<h1>{_text(table_label(table))}</h1>\n'
        f"{to_html(table, link)}</main>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(one_line(text))


def _add_marks(text: str, notes: tuple[str, ...]) -> str:
    marks = join_marks(notes)
    return f"{text}<sup>{escape(marks)}</sup>" if marks else text


def _column_groups(table: Table) -> Iterator[str]:
    yield "<colgroup><col></colgroup>"
    for span in group_columns(table):
        if span.title:
            yield f'<colgroup span="{len(span.columns)}"></colgroup>'
        else:
            yield from ('<colgroup span="1"></colgroup>' for _ in span.columns)


def _heading(table: Table) -> Iterator[str]:
    """Yields one row of headings, or two if columns have a spanner."""
    deep = ' rowspan="2"' if has_spanners(table) else ""
    first, second = [_title(table.stub, ' class="stub"' + deep)], []
    for span in group_columns(table):
        if not span.title:
            first += [_column_title(column, deep) for column in span.columns]
            continue
        first.append(f'<th class="spanner" scope="colgroup" colspan="{len(span.columns)}">{escape(span.title)}</th>')
        second += [_column_title(column, "") for column in span.columns]
    yield "<thead>"
    yield from (f"<tr>{''.join(row)}</tr>" for row in (first, second) if row)
    yield "</thead>"


def _column_title(column: Column, deep: str) -> str:
    return _title(column.title, (' class="number"' if column.numeric else "") + deep)


def _title(title: str, attributes: str) -> str:
    """Returns a heading cell; an empty title gives an ordinary cell, since an empty heading is not accessible."""
    words = _text(title)
    return f'<th{attributes} scope="col">{words}</th>' if words else f"<td{attributes}></td>"


def _body(table: Table, link: Link | None) -> Iterator[str]:
    width, widths = len(table.columns) + 1, _part_widths(table)
    for group in list_groups(table):
        title = _text(group.title)
        yield '<tbody class="titled">' if title else "<tbody>"
        if title:
            yield f'<tr class="group"><th scope="rowgroup" colspan="{width}"><span dir="auto">{title}</span></th></tr>'
        if not group.rows:
            yield f'<tr><td class="nothing" colspan="{width}">{NO_ITEMS}</td></tr>'
        yield from (_row(table, row, widths, link) for row in group.rows)
        yield "</tbody>"


def _share_choice(table: Table, name: str) -> Iterator[str]:
    """Yields a choice between the last part of the cells and their further numbers; the style sheet applies it."""
    names = next(((column.parts[-1], *column.more) for column in table.columns if column.more), ())
    if not names:
        return
    yield '<fieldset class="choice"><legend>Percentages</legend>'
    for number, words in enumerate(names):
        checked = "" if number else " checked"
        radio = f'<input type="radio" name="{name}-share" value="{number}"{checked}>'
        yield f"<label>{radio} {_text(words)}</label>"
    yield "</fieldset>"


def _part_widths(table: Table) -> _Widths:
    return [
        [max((len(part_text(row.cells[place], part)) for row in table.rows()), default=0) for part in range(count)]
        for place, count in enumerate(part_counts(table))
    ]


def _row(table: Table, row: Row, widths: _Widths, link: Link | None) -> str:
    title = _add_marks(_text(row.title), row.notes)
    cells = [f'<th scope="row" dir="auto">{title}</th>' if title else "<td></td>"]
    for column, cell, parts in zip(table.columns, row.cells, widths, strict=True):
        cells.append(_cell(column, cell, parts, build_address(table, row.key, column, cell, link)))
    kind = ' class="total"' if row.total else ""
    return f"<tr{kind}>{''.join(cells)}</tr>"


def _cell(column: Column, cell: Cell, widths: list[int], address: str) -> str:
    parts = []
    for number, width in enumerate(widths):
        text = escape(part_text(cell, number))
        if text and address:
            text, address = f'<a href="{escape(address)}">{text}</a>', ""
        kind = " chosen-0" if column.more and number == len(widths) - 1 else ""
        parts.append(f'<span class="part{_width_class(column, width)}{kind}">{text}</span>' if number else text)
    for number, more in enumerate(cell.more, start=1):
        parts.append(f'<span class="part wide-6 chosen-{number}">{escape(one_line(more))}</span>')
    if not column.numeric:
        parts = [part for part in parts if not part.endswith("></span>")]
    kind = ' class="number"' if column.numeric else ' dir="auto"'
    return f"<td{kind}>{_add_marks(' '.join(parts), cell.notes)}</td>"


def _width_class(column: Column, width: int) -> str:
    return f" wide-{width}" if column.numeric and 0 < width <= _WIDEST_PART else ""


def _write_notes(table: Table) -> Iterator[str]:
    if table.footnotes:
        yield '<ul class="footnotes">'
        for mark, text in table.footnotes.items():
            yield f"<li><sup>{_text(mark)}</sup> {_text(text)}</li>"
        yield "</ul>"
    for note in filter(None, map(_text, table.notes)):
        yield f'<p class="note">{note}</p>'
