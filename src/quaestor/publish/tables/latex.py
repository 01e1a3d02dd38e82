"""A table for LaTeX, ruled by booktabs; a long one runs over pages and repeats its headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from textwrap import wrap

from quaestor.publish.records import Cell, Column, Group, Row, Table
from quaestor.publish.tables.latex_columns import LINES_OF_A_PAGE, column_kinds, lines_of, subcolumns, type_size
from quaestor.publish.tables.latex_text import latex_address, latex_text
from quaestor.publish.tables.layout import (
    NO_ITEMS,
    Link,
    address_of,
    filled_groups,
    has_spanners,
    marks,
    one_line,
    part_text,
    safe_name,
    spans,
    together,
)

PACKAGES = ("array", "booktabs", "graphicx", "longtable", "hyperref")
"""What a document that includes a table has to use."""

_WIDE_TITLE = 16
"""Characters beyond which the title of a column of numbers is broken into lines."""
_EDGE = "@{}"

_PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[margin=2.2cm]{geometry}
%s
\hypersetup{hidelinks}
%% The same tables give the same file.
\ifdefined\pdfinfoomitdate \pdfinfoomitdate=1 \fi
\ifdefined\pdftrailerid \pdftrailerid{} \fi
\ifdefined\pdfsuppressptexinfo \pdfsuppressptexinfo=-1 \fi
\begin{document}
"""


def to_latex(table: Table, link: Link | None = None) -> str:
    r"""The table, to be taken into a document with \input; that document numbers it."""
    made = _long_table(table, link) if lines_of(table) > LINES_OF_A_PAGE else _table(table, link)
    return "\n".join([rf"% Needs \usepackage{{{','.join(PACKAGES)}}}", *made, ""])


def latex_document(tables: Iterable[Table], link: Link | None = None) -> str:
    """All tables as a document of its own, numbered by their ids."""
    parts = [_PREAMBLE % "\n".join(rf"\usepackage{{{name}}}" for name in PACKAGES)]
    for table in tables:
        parts.append(rf"{{\renewcommand{{\thetable}}{{{latex_text(table.id)}}}%")
        parts.append(to_latex(table, link) + "\\clearpage}\n")
    return "\n".join([*parts, "\\end{document}\n"])


def _table(table: Table, link: Link | None) -> Iterator[str]:
    yield r"\begin{table}[htbp]"
    yield r"\centering\small\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{6pt}"
    yield rf"\caption{{{latex_text(table.title)}}}"
    yield rf"\label{{tab:{safe_name(table.id)}}}"
    yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield rf"\begin{{tabular}}{{{column_kinds(table)}}}"
    yield from [r"\toprule", *_heading(table), r"\midrule", *_body(table, link), r"\bottomrule"]
    yield r"\end{tabular}}"
    yield from _below(table)
    yield r"\end{table}"


def _long_table(table: Table, link: Link | None) -> Iterator[str]:
    width = 1 + sum(subcolumns(table))
    again = rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{\tablename~\thetable{{}} (continued)}} \\ \addlinespace"
    yield rf"{{{type_size(table)}"
    yield rf"\begin{{longtable}}{{{column_kinds(table)}}}"
    yield rf"\caption{{{latex_text(table.title)}}}\label{{tab:{safe_name(table.id)}}}\\"
    yield from [r"\toprule", *_heading(table), r"\midrule", r"\endfirsthead"]
    yield from [again, r"\toprule", *_heading(table), r"\midrule", r"\endhead"]
    yield from [r"\midrule", r"\endfoot", r"\bottomrule", r"\endlastfoot"]
    yield from _body(table, link)
    yield r"\end{longtable}"
    yield from _below(table)
    yield r"\par}"


def _heading(table: Table) -> Iterator[str]:
    counts = subcolumns(table)
    if has_spanners(table):
        over, rules, place, widths = [""], [], 2, iter(counts)
        for span in spans(table):
            width = sum(islice(widths, len(span.columns)))
            end = _EDGE if place + width - 2 == sum(counts) else ""
            over.append(_across(width, "c" + end, latex_text(span.title)))
            if span.title:
                rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
            place += width
        yield rf"{' & '.join(over)} \\ {' '.join(rules)}"
    titles = [
        _across(count, ("r" if column.numeric else "l") + end, _column_title(column))
        for column, count, end in zip(table.columns, counts, _ends(counts), strict=True)
    ]
    yield rf"{' & '.join([latex_text(table.stub), *titles])} \\"


def _ends(counts: list[int]) -> list[str]:
    """The last column ends where the rules end."""
    return ["" for _ in counts[1:]] + [_EDGE] * bool(counts)


def _column_title(column: Column) -> str:
    """A title in lines, where it would make a column of numbers wide."""
    lines = wrap(one_line(column.title), _WIDE_TITLE, break_long_words=False) if column.numeric else []
    if len(lines) < 2:
        return latex_text(column.title)
    title = r" \\ ".join(map(latex_text, lines))
    return rf"\begin{{tabular}}[b]{{@{{}}r@{{}}}}{title}\end{{tabular}}"


def _across(width: int, side: str, text: str) -> str:
    if not text:
        return " & " * (width - 1)
    return rf"\multicolumn{{{width}}}{{{side}}}{{{text}}}"


def _body(table: Table, link: Link | None) -> Iterator[str]:
    width = 1 + sum(subcolumns(table))
    for number, group in enumerate(filled_groups(table)):
        title = latex_text(group.title)
        if number and (title or not _begins_with_total(group)):
            yield r"\addlinespace"
        if title:
            yield rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{\textit{{{title}}}}} \\*"
        if not group.rows:
            yield rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{{NO_ITEMS}}} \\"
        yield from _rows(table, group, link, ruled=bool(number))


def _begins_with_total(group: Group) -> bool:
    return bool(group.rows) and group.rows[0].total


def _rows(table: Table, group: Group, link: Link | None, *, ruled: bool) -> Iterator[str]:
    indent = r"\quad " if one_line(group.title) else ""
    for row in group.rows:
        if row.total and ruled and not indent:
            yield r"\midrule"
        ruled = not row.total
        cells = [indent + _finished(latex_text(row.title), row, _raised(row.notes))]
        for column, cell, count in zip(table.columns, row.cells, subcolumns(table), strict=True):
            cells += _parts(row, column, cell, count, address_of(table, row.key, column, cell, link))
        yield rf"{' & '.join(cells)} \\"


def _parts(row: Row, column: Column, cell: Cell, count: int, address: str) -> list[str]:
    """The cell's columns: its parts side by side where they are numbers, else in one line."""
    texts = [part_text(cell, number) for number in range(count)]
    if not column.numeric:
        texts = list(together(map(one_line, cell.parts))) or [""]
    shown = [latex_text(text) for text in texts]
    if address:
        first = next(number for number, text in enumerate(shown) if text)
        shown[first] = rf"\href{{{latex_address(address)}}}{{{shown[first]}}}"
    if not column.numeric:
        shown = [" ".join(shown)]
    raised = _raised(cell.notes)
    beside = rf"\rlap{{{raised}}}" if raised and column.numeric else raised
    return [_finished(text, row, beside if number == len(shown) - 1 else "") for number, text in enumerate(shown)]


def _raised(notes: tuple[str, ...]) -> str:
    found = marks(notes)
    return rf"\textsuperscript{{{latex_text(found)}}}" if found else ""


def _finished(text: str, row: Row, raised: str) -> str:
    return (rf"\textbf{{{text}}}" if row.total and text else text) + raised


def _below(table: Table) -> Iterator[str]:
    notes = [rf"\textsuperscript{{{latex_text(mark)}}}~{latex_text(text)}" for mark, text in table.footnotes.items()]
    notes += [latex_text(note) for note in table.notes if one_line(note)]
    if notes:
        yield r"{\par\smallskip\footnotesize\raggedright"
        yield from (rf"\noindent {note}\par" for note in notes)
        yield "}"
