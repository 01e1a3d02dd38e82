"""For any table, every format shows the same numbers and unchanged texts."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

import lxml.etree
import lxml.html
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from python_calamine import CalamineWorkbook

from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.render.tables.files import to_csv, to_markdown
from quaestor.render.tables.html import to_html
from quaestor.render.tables.latex import to_latex
from quaestor.render.tables.workbook import to_xlsx

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
BUILT_IN = {"1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "9": "0%", "10": "0.00%"}
TRAPS = [
    "|",
    "\\",
    "*",
    "**",
    "_",
    "`",
    "[",
    "](x)",
    "<b>",
    "&amp;",
    "~~",
    "$",
    "#",
    "%",
    "{",
    "}",
    "^",
    "--",
    "=",
    "'",
    '"',
]
Grid = list[list[list[str]]]
"""Rows of cells of printed parts."""

texts = st.lists(
    st.sampled_from(TRAPS) | st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Co"]), max_size=6), max_size=5
).map("".join)
numbers = st.one_of(
    st.tuples(st.integers(-(10**9), 10**9), st.sampled_from(["d", ",d"])),
    st.tuples(st.floats(-1e6, 1e6), st.sampled_from([".2f", ",.2f", ".0f", ".3f"])),
    st.tuples(st.floats(0, 1), st.sampled_from([".1%", ".0%", ".3f"])),
)


@st.composite
def cells(draw: st.DrawFn, column: Column) -> tuple[Cell, tuple[str, ...]]:
    """A cell, and how each of its numbers was printed."""
    if not column.numeric:
        return Cell((draw(texts),)), ("",)
    if draw(st.integers(0, 5)) == 0:
        return Cell(("–",)), ("",)
    found = [draw(numbers) for _ in column.parts]
    minus = draw(st.sampled_from(["-", "−"]))
    parts = tuple(format(value, how).replace("-", minus) for value, how in found)
    notes = draw(st.sampled_from([(), ("*",), ("a", "†")]))
    selection = draw(st.sampled_from([None, Selection()]))
    return Cell(parts, tuple(value for value, _ in found), selection, notes), tuple(how for _, how in found)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, dict[tuple[str, str], tuple[str, ...]]]:
    """A table, and by row and column how its numbers were printed."""
    columns = tuple(
        Column(
            f"c{place}",
            draw(texts),
            ("", "share")[: draw(st.integers(1, 2))],
            draw(st.sampled_from(["", "Popularity", "A & B"])),
            draw(st.integers(0, 4)) > 0,
        )
        for place in range(draw(st.integers(0, 4)))
    )
    groups, shapes = [], {}
    for _ in range(draw(st.integers(0, 3))):
        rows = []
        for _ in range(draw(st.integers(0, 3))):
            key = f"r{len(shapes)}:{len(rows)}"
            made = [draw(cells(column)) for column in columns]
            shapes |= {(key, column.key): how for column, (_, how) in zip(columns, made, strict=True)}
            shapes[key, ""] = ()
            rows.append(Row(key, draw(texts), tuple(cell for cell, _ in made), total=draw(st.booleans())))
        groups.append(Group(draw(texts), tuple(rows)))
    return Table("7", draw(texts), draw(texts), columns, tuple(groups), {"*": draw(texts)}, (draw(texts),)), shapes


def expected(table: Table) -> Grid:
    return [
        [
            [part for part in cell.parts if part]
            for column, cell in zip(table.columns, row.cells, strict=True)
            if column.numeric
        ]
        for row in table.rows()
    ]


def numeric(table: Table, row: list[str]) -> list[str]:
    return [text for column, text in zip(table.columns, row, strict=True) if column.numeric]


def plain(text: str) -> str:
    return " ".join(text.split())


def in_html(table: Table) -> tuple[Grid, list[str]]:
    page = lxml.html.document_fromstring(f"<meta charset=utf-8>{to_html(table, lambda *place: '/'.join(place))}")
    for mark in page.iter("sup"):
        mark.text = ""
    rows = [
        row for row in page.findall(".//tbody/tr") if row.get("class") != "group" and row.find("td[@colspan]") is None
    ]
    cells = [numeric(table, [one.text_content() for one in list(row)[1:]]) for row in rows]
    return [[text.split() for text in row] for row in cells], [plain(row[0].text_content()) for row in rows]


def in_markdown(table: Table) -> tuple[Grid, list[str]]:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(to_markdown(table, lambda *_: "a(b)|c"))
    lines: list[list[Token]] = []
    for token, content in pairwise(tokens):
        if token.type == "tr_open":
            lines.append([])
        if token.type in ("td_open", "th_open"):
            lines[-1].append(content)
    body = [[words(cell) for cell in line] for line in lines[1:]]
    shown = iter(body)
    rows = []
    for group in table.groups or (Group("", ()),):
        if plain(group.title):
            assert plain(next(shown)[0]) == plain(group.title)
        if not group.rows:
            assert next(shown)[0] == "no items"
        rows += [next(shown) for _ in group.rows]
    assert next(shown, None) is None
    cells = [numeric(table, line[1:]) for line in rows]
    return [[re.sub(r"[()]", "", text).split() for text in row] for row in cells], [plain(line[0]) for line in rows]


def words(inline: Token) -> str:
    """What a reader sees, but for raised marks."""
    seen, raised = "", False
    for token in inline.children or []:
        if token.type == "html_inline":
            raised = token.content == "<sup>"
        elif not raised:
            seen += token.content
    return seen


def in_latex(table: Table) -> Grid:
    body = to_latex(table, lambda *_: "a#b%20_c").split("\\midrule\n", 1)[1].split("\\bottomrule")[0]
    rows = []
    for line in body.splitlines():
        if not line.startswith(("\\multicolumn", "\\addlinespace", "\\midrule")):
            fields = iter(re.split(r"(?<!\\) & ?", line.removesuffix(r" \\"))[1:])
            taken = [
                (column, [next(fields) for _ in range(parts_in_latex(table, at))])
                for at, column in enumerate(table.columns)
            ]
            assert next(fields, None) is None
            rows.append(
                [[text for field in texts if (text := stripped(field))] for column, texts in taken if column.numeric]
            )
    return rows


def parts_in_latex(table: Table, place: int) -> int:
    column = table.columns[place]
    return max(len(column.parts), *(len(row.cells[place].parts) for row in table.rows())) if column.numeric else 1


def stripped(field: str) -> str:
    without_marks = re.sub(r"\\rlap\{\\textsuperscript\{.*\}\}", "", field)
    bare = re.sub(r"\\href\{[^{}]*\}\{(.*)\}", r"\1", re.sub(r"\\textbf\{(.*)\}", r"\1", without_marks))
    return bare.replace(r"\ensuremath{-}", "−").replace(r"\textendash{}", "–").replace(r"\%", "%").strip()


def in_workbook(table: Table) -> Grid:
    """What a spreadsheet shows, from the stored numbers and their formats alone."""
    content = to_xlsx([table], lambda *place: "/".join(place))
    values = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python(skip_empty_area=False)
    formats = formats_of(content)
    titled = {(number, 0) for number, row in enumerate(values) if row}
    grid, line = [], body_begins(table)
    for group in table.groups:
        line += bool(plain(group.title)) + (not group.rows)
        for _ in group.rows:
            assert (line, 0) in titled
            shown, place = [], 1
            for column in table.columns:
                count = len(column.parts)
                stored = [(values[line][at], formats.get((line, at), "")) for at in range(place, place + count)]
                if column.numeric:
                    shown.append([text for value, how in stored if (text := displayed(value, how).split(" ")[0])])
                place += count
            grid.append(shown)
            line += 1
    return grid


def body_begins(table: Table) -> int:
    spanners, parts = any(column.spanner for column in table.columns), any(len(one.parts) > 1 for one in table.columns)
    return 3 + spanners + parts


def formats_of(content: bytes) -> dict[tuple[int, int], str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        styles = lxml.etree.fromstring(archive.read("xl/styles.xml"))
        sheet = lxml.etree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    named = {element.get("numFmtId"): element.get("formatCode") for element in styles.iter(f"{SHEET}numFmt")}
    codes = [
        BUILT_IN.get(str(one.get("numFmtId"))) or named.get(one.get("numFmtId"))
        for one in styles.find(f"{SHEET}cellXfs")
    ]
    found = {}
    for cell in sheet.iter(f"{SHEET}c"):
        letters, digits = re.fullmatch(r"([A-Z]+)([0-9]+)", str(cell.get("r"))).groups()  # type: ignore[union-attr]
        found[int(digits) - 1, ord(letters) - ord("A")] = codes[int(cell.get("s") or 0)] or ""
    return found


def displayed(value: object, how: str) -> str:
    """A number as a spreadsheet shows it: fifteen digits, a half away from zero, a sign if the format brings none."""
    if not isinstance(value, float | int) or not how:
        return str(value)
    sections = re.findall(r'(?:"[^"]*"|\\.|[^;"])+', how)
    section = sections[1] if value < 0 and len(sections) > 1 else sections[0]
    sign = "-" if value < 0 and len(sections) == 1 else ""

    def digits(shape: re.Match[str]) -> str:
        scale = 100 if shape[3] else 1
        exact = abs(Decimal(f"{value:.15g}")) * scale
        rounded = exact.quantize(Decimal(1).scaleb(-len(shape[2] or "")), ROUND_HALF_UP)
        return sign + format(rounded, "," if "," in shape[1] else "") + (shape[3] or "")

    pieces = re.findall(r'"[^"]*"|\\.|[#,0.%]+', section)
    return "".join(
        piece.strip('"') if piece[0] in '"\\' else re.sub(r"(#,##0|0)(?:\.(0+))?(%)?", digits, piece)
        for piece in pieces
    )


@settings(max_examples=60, deadline=None)
@given(tables())
def test_every_format_shows_the_same_numbers(made: tuple[Table, object]) -> None:
    table, _ = made
    wanted = expected(table)
    assert in_html(table)[0] == wanted
    assert in_markdown(table)[0] == wanted
    assert in_latex(table) == wanted
    assert in_workbook(table) == wanted


@settings(max_examples=60, deadline=None)
@given(tables())
def test_csv_numbers_formatted_again_equal_those_of_the_table(
    made: tuple[Table, dict[tuple[str, str], tuple[str, ...]]],
) -> None:
    table, shapes = made
    rows = {row["row"]: row for row in csv.DictReader(io.StringIO(to_csv(table), newline=""))}
    assert list(rows) == [row.key for row in table.rows()]
    for row in table.rows():
        for column, cell in zip(table.columns, row.cells, strict=True):
            names = [column.key, f"{column.key}: share"]
            for name, text, how in zip(names, cell.parts, shapes[row.key, column.key], strict=False):
                if how:
                    number = int(rows[row.key][name]) if how.endswith("d") else float(rows[row.key][name])
                    assert format(number, how) == text.replace("−", "-")


@settings(max_examples=60, deadline=None)
@given(tables())
def test_row_titles_are_read_back_unchanged(made: tuple[Table, object]) -> None:
    table, _ = made
    wanted = [plain(row.title) for row in table.rows()]
    assert in_html(table)[1] == wanted
    assert in_markdown(table)[1] == wanted


@settings(max_examples=15, deadline=None)
@given(tables())
def test_a_table_renders_to_the_same_bytes_again(made: tuple[Table, object]) -> None:
    table, _ = made
    assert to_xlsx([table]) == to_xlsx([table])
    assert [render(table) for render in (to_html, to_markdown, to_latex)] == [
        render(table) for render in (to_html, to_markdown, to_latex)
    ]
