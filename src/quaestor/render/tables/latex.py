"""Renders a table for LaTeX with booktabs; a long one continues over pages and repeats its headings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from math import ceil
from textwrap import wrap

from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.render.tables.layout import (
    NO_ITEMS,
    Link,
    build_address,
    group_columns,
    has_spanners,
    join_marks,
    join_parts,
    list_groups,
    one_line,
    part_counts,
    part_text,
    safe_name,
)

LINES_OF_A_PAGE = 45
_CHARACTERS_OF_A_LINE = 100
_LONG_TITLE, _LONG_TEXT = 48, 30
"""Longer row titles, or texts of a column, are broken into lines."""
_STUB, _NATURAL_STUB, _PER_NUMBER, _LEAST, _MOST = 0.38, 0.25, 0.07, 0.14, 0.5
_SPARE, _WIDEST_STUB = 0.1, 0.8
"""Fractions of the line width."""
_SIZES = ((100, r"\small"), (115, r"\footnotesize"), (132, r"\scriptsize"))
"""How many characters fit on a line at each size."""


def count_subcolumns(table: Table) -> list[int]:
    """Returns the number of LaTeX columns of each column; each part of a number has its own, so that they line up."""
    return [count if column.numeric else 1 for column, count in zip(table.columns, part_counts(table), strict=True)]


def build_column_spec(table: Table) -> str:
    """Returns the column specification; the table ends where its rules end."""
    shares = _shares(table)
    kinds = [_kind(shares[0])]
    for column, count, share in zip(table.columns, count_subcolumns(table), shares[1:], strict=True):
        kinds.append("r" + r"@{\enspace}r" * (count - 1) if column.numeric else _kind(share))
    return f"@{{}}{''.join(kinds)}@{{}}"


def count_lines(table: Table) -> int:
    """Estimates how many lines the table takes, including broken texts and notes."""
    shares = _shares(table)
    headings = sum(bool(group.title) for group in table.groups)
    below = [*table.footnotes.values(), *table.notes]
    return headings + sum(_lines(row, shares) for row in table.rows()) + sum(map(_lines_of_note, below))


def choose_type_size(table: Table) -> str:
    """Returns the largest type size in which a long table fits between the margins."""
    characters = min(_longest(row.title for row in table.rows()), _LONG_TITLE) + 2
    for place, column in enumerate(table.columns):
        longest = max(_longest(_texts(table, place)), len(one_line(column.title)) // 2)
        characters += min(longest, _LONG_TEXT) + 3
    return next((size for limit, size in _SIZES if characters <= limit), r"\tiny")


def _texts(table: Table, place: int) -> Iterable[str]:
    return (" ".join(row.cells[place].parts) for row in table.rows())


def _longest(texts: Iterable[str]) -> int:
    return max((len(one_line(text)) for text in texts), default=0)


def _shares(table: Table) -> list[float]:
    """Returns the fraction of the line for the stub and each column; zero means as wide as the content."""
    long_stub = _longest(row.title for row in table.rows()) > _LONG_TITLE
    long = [
        not column.numeric and _longest(_texts(table, place)) > _LONG_TEXT for place, column in enumerate(table.columns)
    ]
    free = 1 - (_STUB if long_stub else _NATURAL_STUB) - _PER_NUMBER * (sum(count_subcolumns(table)) - sum(long))
    share = round(min(max(free / (sum(long) or 1), _LEAST), _MOST), 2)
    # If no column has long texts, the stub gets the remaining width.
    stub = round(_STUB if any(long) else min(max(_STUB, _STUB + free - _SPARE), _WIDEST_STUB), 2)
    return [stub if long_stub else 0.0, *(share if is_long else 0.0 for is_long in long)]


def _kind(share: float) -> str:
    return rf">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}" if share else "l"


def _lines(row: Row, shares: list[float]) -> int:
    texts = (row.title, *(" ".join(cell.parts) for cell in row.cells))
    return max(
        ceil(len(text) / (share * _CHARACTERS_OF_A_LINE)) or 1 if share else 1
        for text, share in zip(texts, shares, strict=True)
    )


def _lines_of_note(note: str) -> int:
    return ceil(len(note) / _CHARACTERS_OF_A_LINE)


def _math(command: str) -> str:
    return rf"\ensuremath{{{command}}}"


_GREEK = [
    "alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
    "xi", "omicron", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega",
]  # fmt: skip
_GREEK_AS_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))
_GREEK_CAPITALS = ["Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"]

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\texttt{\char34}", "`": r"\texttt{\char96}",
    # Words joined by slashes are long, so a line may break after a slash.
    "/": r"/\allowbreak{}",
    # At the beginning of a row LaTeX would read these as arguments of the previous row's end.
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
_PUNCTUATION = {
    "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,", "\u2007": r"\phantom{0}", "\u200b": "", "\u200c": "", "\u200d": "",
    "\u2060": "", "\ufeff": "", "\u00ad": r"\-", "\ufe0f": "", "‐": "-", "‑": r"\mbox{-}",
    "‒": r"\textendash{}", "–": r"\textendash{}", "—": r"\textemdash{}",
    "―": r"\textemdash{}", "‘": r"\textquoteleft{}", "’": r"\textquoteright{}", "‚": "{,}",
    "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}", "„": "{,}{,}", "…": r"\ldots{}",
    "•": r"\textbullet{}", "§": r"\S{}", "¶": r"\P{}", "†": r"\dag{}", "‡": r"\ddag{}", "©": r"\copyright{}",
    "®": r"\textsuperscript{R}", "™": r"\textsuperscript{TM}", "£": r"\pounds{}", "€": "EUR", "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}",
    "ª": r"\textsuperscript{a}", "º": r"\textsuperscript{o}", "\ufffd": r"{[}U+FFFD{]}",
}  # fmt: skip
_LETTERS = {
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}",
    "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "å": r"\aa{}", "Å": r"\AA{}",
}  # fmt: skip
_MATHEMATICS = {
    sign: _math(command)
    for sign, command in {
        "−": "-", "×": r"\times", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "·": r"\cdot", "⋅": r"\cdot", "≤": r"\leq",
        "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "≪": r"\ll", "≫": r"\gg",
        "«": r"\ll", "»": r"\gg", "‹": "<", "›": ">",
        "∞": r"\infty", "∈": r"\in", "∉": r"\notin", "∪": r"\cup", "∩": r"\cap",
        "⊂": r"\subset", "⊆": r"\subseteq", "∅": r"\emptyset", "∧": r"\wedge", "∨": r"\vee", "¬": r"\neg",
        "∀": r"\forall", "∃": r"\exists", "→": r"\rightarrow", "←": r"\leftarrow", "↔": r"\leftrightarrow",
        "↑": r"\uparrow", "↓": r"\downarrow", "⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow",
        "√": r"\surd", "✓": r"\surd", "✔": r"\surd", "✗": r"\times", "✘": r"\times", "∑": r"\sum", "∏": r"\prod",
        "∂": r"\partial", "∇": r"\nabla", "∫": r"\int", "°": r"^\circ", "′": r"'", "″": r"''", "µ": r"\mu",
        "ϵ": r"\epsilon", "ϑ": r"\vartheta", "ϕ": r"\phi", "⁰": "^0", "¹": "^1", "²": "^2", "³": "^3", "⁴": "^4",
        "⁵": "^5", "⁶": "^6", "⁷": "^7", "⁸": "^8", "⁹": "^9", "⁺": "^+", "⁻": "^-", "₀": "_0", "₁": "_1", "₂": "_2",
        "₃": "_3", "₄": "_4", "₅": "_5", "₆": "_6", "₇": "_7", "₈": "_8", "₉": "_9", "¼": r"\frac14",
        "½": r"\frac12", "¾": r"\frac34", "★": r"\star", "☆": r"\star", "◦": r"\circ", "○": r"\bigcirc",
        "●": r"\bullet", "△": r"\triangle", "⟨": r"\langle", "⟩": r"\rangle",
    }.items()
}  # fmt: skip
_SIGNS = {
    **{chr(0x3B1 + place): _math(rf"\{name}") for place, name in enumerate(_GREEK) if name != "omicron"},
    "ο": "o",
    **_GREEK_AS_LATIN,
    **{sign: _math(rf"\{name}") for sign, name in zip("ΓΔΘΛΞΠΣΥΦΨΩ", _GREEK_CAPITALS, strict=True)},
    **_SPECIAL,
    **_PUNCTUATION,
    **_LETTERS,
    **_MATHEMATICS,
}
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0331": "b",
}  # fmt: skip
_DOTLESS = {"i": r"\i", "j": r"\j"}
_LIGATURE = re.compile(r"(?<=([-',]))(?=\1)")


def latex_text(text: str) -> str:
    """Escapes text for LaTeX; a character that its fonts lack becomes its code, such as [U+1F600]."""
    # Two characters in a row can form a ligature: -- is a dash, '' a quotation mark.
    apart = _LIGATURE.sub("\x00", unicodedata.normalize("NFC", one_line(text)))
    return "".join(map(_sign, apart))


def latex_address(address: str) -> str:
    r"""Escapes an address for \href, also inside other commands."""
    return re.sub(r"[%#&_]", r"\\\g<0>", address)


def _sign(sign: str) -> str:
    if sign == "\x00":
        return "{}"
    if sign in _SIGNS:
        return _SIGNS[sign]
    if " " <= sign <= "\x7e":
        return sign
    base, *marks = list(unicodedata.normalize("NFD", sign))
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii() and base.isalpha():
        return rf"\{_ACCENTS[marks[0]]}{{{_DOTLESS.get(base, base)}}}"
    plain = unicodedata.normalize("NFKC", sign)
    if plain != sign and plain.isascii() and plain.isprintable():
        return "".join(map(_sign, plain))
    return f"{{[}}U+{ord(sign):04X}{{]}}"


PACKAGES = ("array", "booktabs", "graphicx", "longtable", "hyperref")
"""The packages that a document with a table needs."""

_WIDE_TITLE = 16
"""Longer titles of numeric columns are broken into lines."""
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
    r"""Returns the table for \input in a document, which numbers it."""
    source = _long_table(table, link) if count_lines(table) > LINES_OF_A_PAGE else _table(table, link)
    return "\n".join([rf"% Needs \usepackage{{{','.join(PACKAGES)}}}", *source, ""])


def latex_document(tables: Iterable[Table], link: Link | None = None) -> str:
    """Returns all tables as a complete document, numbered by their ids."""
    return join_latex((table.id, to_latex(table, link)) for table in tables)


def join_latex(tables: Iterable[tuple[str, str]]) -> str:
    """Joins tables, each given by its id and the result of `to_latex`, to a complete document."""
    parts = [_PREAMBLE % "\n".join(rf"\usepackage{{{name}}}" for name in PACKAGES)]
    for table_id, source in tables:
        parts.append(rf"{{\renewcommand{{\thetable}}{{{latex_text(table_id)}}}%")
        parts.append(source + "\\clearpage}\n")
    return "\n".join([*parts, "\\end{document}\n"])


def _table(table: Table, link: Link | None) -> Iterator[str]:
    yield r"\begin{table}[htbp]"
    yield r"\centering\small\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{6pt}"
    yield rf"\caption{{{latex_text(table.title)}}}"
    yield rf"\label{{tab:{safe_name(table.id)}}}"
    yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield rf"\begin{{tabular}}{{{build_column_spec(table)}}}"
    yield from [r"\toprule", *_heading(table), r"\midrule", *_body(table, link), r"\bottomrule"]
    yield r"\end{tabular}}"
    yield from _write_notes(table)
    yield r"\end{table}"


def _long_table(table: Table, link: Link | None) -> Iterator[str]:
    width = 1 + sum(count_subcolumns(table))
    again = rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{\tablename~\thetable{{}} (continued)}} \\ \addlinespace"
    yield rf"{{{choose_type_size(table)}"
    yield rf"\begin{{longtable}}{{{build_column_spec(table)}}}"
    yield rf"\caption{{{latex_text(table.title)}}}\label{{tab:{safe_name(table.id)}}}\\"
    yield from [r"\toprule", *_heading(table), r"\midrule", r"\endfirsthead"]
    yield from [again, r"\toprule", *_heading(table), r"\midrule", r"\endhead"]
    yield from [r"\midrule", r"\endfoot", r"\bottomrule", r"\endlastfoot"]
    yield from _body(table, link)
    yield r"\end{longtable}"
    yield from _write_notes(table)
    yield r"\par}"


def _heading(table: Table) -> Iterator[str]:
    counts = count_subcolumns(table)
    if has_spanners(table):
        over, rules, place, widths = [""], [], 2, iter(counts)
        for span in group_columns(table):
            width = sum(islice(widths, len(span.columns)))
            end = _EDGE if place + width - 2 == sum(counts) else ""
            over.append(_merge_cells(width, "c" + end, latex_text(span.title)))
            if span.title:
                rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
            place += width
        yield rf"{' & '.join(over)} \\ {' '.join(rules)}"
    titles = [
        _merge_cells(count, ("r" if column.numeric else "l") + end, _column_title(column))
        for column, count, end in zip(table.columns, counts, _ends(counts), strict=True)
    ]
    yield rf"{' & '.join([latex_text(table.stub), *titles])} \\"


def _ends(counts: list[int]) -> list[str]:
    """Returns the right edge of each column; the last one ends where the rules end."""
    return ["" for _ in counts[1:]] + [_EDGE] * bool(counts)


def _column_title(column: Column) -> str:
    """Breaks a title into lines if it would make a numeric column too wide."""
    lines = wrap(one_line(column.title), _WIDE_TITLE, break_long_words=False) if column.numeric else []
    if len(lines) < 2:
        return latex_text(column.title)
    title = r" \\ ".join(map(latex_text, lines))
    return rf"\begin{{tabular}}[b]{{@{{}}r@{{}}}}{title}\end{{tabular}}"


def _merge_cells(width: int, side: str, text: str) -> str:
    if not text:
        return " & " * (width - 1)
    return rf"\multicolumn{{{width}}}{{{side}}}{{{text}}}"


def _body(table: Table, link: Link | None) -> Iterator[str]:
    width = 1 + sum(count_subcolumns(table))
    for number, group in enumerate(list_groups(table)):
        title = latex_text(group.title)
        if number and (title or not (group.rows and group.rows[0].total)):
            yield r"\addlinespace"
        if title:
            yield rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{\textit{{{title}}}}} \\*"
        if not group.rows:
            yield rf"\multicolumn{{{width}}}{{@{{}}l@{{}}}}{{{NO_ITEMS}}} \\"
        yield from _rows(table, group, link, ruled=bool(number))


def _rows(table: Table, group: Group, link: Link | None, *, ruled: bool) -> Iterator[str]:
    indent = r"\quad " if one_line(group.title) else ""
    counts = count_subcolumns(table)
    for row in group.rows:
        if row.total and ruled and not indent:
            yield r"\midrule"
        ruled = not row.total
        cells = [indent + _add_marks(latex_text(row.title), row, _format_marks(row.notes))]
        for column, cell, count in zip(table.columns, row.cells, counts, strict=True):
            cells += _parts(row, column, cell, count, build_address(table, row.key, column, cell, link))
        yield rf"{' & '.join(cells)} \\"


def _parts(row: Row, column: Column, cell: Cell, count: int, address: str) -> list[str]:
    """Returns the LaTeX columns of a cell: one per part if it is numeric, else a single one."""
    texts = [part_text(cell, number) for number in range(count)]
    if not column.numeric:
        texts = list(join_parts(map(one_line, cell.parts))) or [""]
    shown = [latex_text(text) for text in texts]
    if address:
        first = next(number for number, text in enumerate(shown) if text)
        shown[first] = rf"\href{{{latex_address(address)}}}{{{shown[first]}}}"
    if not column.numeric:
        shown = [" ".join(shown)]
    raised = _format_marks(cell.notes)
    suffix = rf"\rlap{{{raised}}}" if raised and column.numeric else raised
    return [_add_marks(text, row, suffix if number == len(shown) - 1 else "") for number, text in enumerate(shown)]


def _format_marks(notes: tuple[str, ...]) -> str:
    marks = join_marks(notes)
    return rf"\textsuperscript{{{latex_text(marks)}}}" if marks else ""


def _add_marks(text: str, row: Row, raised: str) -> str:
    return (rf"\textbf{{{text}}}" if row.total and text else text) + raised


def _write_notes(table: Table) -> Iterator[str]:
    notes = [rf"\textsuperscript{{{latex_text(mark)}}}~{latex_text(text)}" for mark, text in table.footnotes.items()]
    notes += [latex_text(note) for note in table.notes if one_line(note)]
    if notes:
        yield r"{\par\smallskip\footnotesize\raggedright"
        yield from (rf"\noindent {note}\par" for note in notes)
        yield "}"
