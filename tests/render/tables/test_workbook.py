"""Tables in a workbook: one sheet each, numbers as numbers, texts as texts."""

from __future__ import annotations

import io
import zipfile

import lxml.etree
import pytest
from python_calamine import CalamineWorkbook

from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.render.tables.layout import Link
from quaestor.render.tables.workbook import number_format, to_xlsx

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def opened(content: bytes) -> CalamineWorkbook:
    return CalamineWorkbook.from_filelike(io.BytesIO(content))


def part(content: bytes, name: str) -> lxml.etree._Element:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return lxml.etree.fromstring(archive.read(name))


def test_headings_span_their_columns_and_are_frozen(journal_table: Table) -> None:
    content = to_xlsx([journal_table])
    sheet = part(content, "xl/worksheets/sheet1.xml")
    merged = {element.get("ref") for element in sheet.iter(f"{SHEET}mergeCell")}
    assert merged == {"B3:E3", "B4:C4", "D4:E4", "F3:G3"}
    pane = next(sheet.iter(f"{SHEET}pane"))
    assert (pane.get("topLeftCell"), pane.get("state")) == ("B6", "frozen")
    rows = opened(content).get_sheet_by_index(0).to_python()
    assert rows[0][0].startswith("Table 3. Categories")
    assert rows[4][1:5] == ["", "share", "", "share"]
    assert rows[6][:3] == ["Data", 328, pytest.approx(328 / 1897)]
    assert [row[0] for row in rows[-4:]] == [
        "* Fewer than 30 posts of PyTorch & others.",
        "† Not in the pilot.",
        "Base: 2,354 posts with an accepted answer.",
        "Medians; shares are of all posts of a framework.",
    ]


def test_a_number_opens_its_items(journal_table: Table, link: Link) -> None:
    content = to_xlsx([journal_table], link)
    places = [element.get("ref") for element in part(content, "xl/worksheets/sheet1.xml").iter(f"{SHEET}hyperlink")]
    assert len(places) == 15
    assert "B7" in places
    assert "B10" not in places, "a zero that has no items"
    targets = {one.get("Target") for one in part(content, "xl/worksheets/_rels/sheet1.xml.rels")}
    assert "https://example.org/3/D1/tensorflow?a=1&b=2" in {
        one.get("Target")
        for one in part(
            to_xlsx([journal_table], lambda *place: f"https://example.org/{'/'.join(place)}?a=1&b=2"),
            "xl/worksheets/_rels/sheet1.xml.rels",
        )
    }
    assert any("D1.html" in str(target) for target in targets)
    assert opened(content).get_sheet_by_index(0).to_python()[6][1] == 328


def test_a_workbook_has_a_fixed_creation_date(empty_table: Table) -> None:
    content = to_xlsx([empty_table])
    days = {one.text for one in part(content, "docProps/core.xml") if str(one.text).endswith("Z")}
    assert days == {"1980-01-01T00:00:00Z"}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}


def test_an_address_too_long_for_a_spreadsheet_is_left_out(journal_table: Table) -> None:
    content = to_xlsx([journal_table], lambda *place: "https://example.org/" + "x" * 3000)
    assert not list(part(content, "xl/worksheets/sheet1.xml").iter(f"{SHEET}hyperlink"))


def test_no_text_becomes_a_formula_a_number_or_a_link(hostile_table: Table) -> None:
    content = to_xlsx([hostile_table], lambda *place: "=x")
    sheet = part(content, "xl/worksheets/sheet1.xml")
    assert not list(sheet.iter(f"{SHEET}f"))
    shown = {cell for row in opened(content).get_sheet_by_index(0).to_python() for cell in row}
    assert {"'=1+1", "'@SUM(A1)", """'=HYPERLINK("http://example.org")""", "+1", "-1"} <= shown


def test_names_of_sheets_are_short_distinct_and_allowed() -> None:
    names = ["a/b:c*d?[e]", "a/b:c*d?[E]", "x" * 40, "x" * 41, "'", "", "3"]
    tables = [Table(name, "", "", (), ()) for name in names]
    found = opened(to_xlsx(tables)).sheet_names
    assert len({name.casefold() for name in found}) == len(names)
    assert all(len(name) <= 31 and not set(name) & set("[]:*?/\\") for name in found)
    assert found[-1] == "Table 3"


@pytest.mark.parametrize(
    ("value", "text", "wanted"),
    [
        (1897, "1,897", "#,##0"),
        (1897, "1897", "0"),
        (0.203, "20.3%", "#,##0.0%"),
        (-0.5, "−0.50", '#,##0.00;"−"#,##0.00'),
        (0.125, "0.12", '"0.12";"0.12";"0.12"'),
        (-0.001, "-0.00", '"-0.00";"-0.00";"-0.00"'),
        (0.0004, "< 0.001", '"< 0.001";"< 0.001";"< 0.001"'),
        (7, "007", '"007";"007";"007"'),
        (float("nan"), "undefined", None),
        (float("inf"), "∞", None),
        (10**17, "100,000,000,000,000,000", None),
    ],
)
def test_a_number_format_shows_the_printed_digits(value: float, text: str, wanted: str | None) -> None:
    assert number_format(value, text) == wanted


def test_a_footnote_mark_follows_its_number() -> None:
    assert number_format(0.5, "0.50", "a") == '#,##0.00" a"'
    row = Row("r", "t", (Cell(("0.50",), (0.5,), Selection(), ("a",)),))
    content = to_xlsx([Table("1", "", "", (Column("n", "N"),), (Group("", (row,)),))])
    assert opened(content).get_sheet_by_index(0).to_python()[-1][1] == 0.5


def test_a_workbook_can_have_an_empty_table_or_none(empty_table: Table) -> None:
    rows = opened(to_xlsx([empty_table])).get_sheet_by_index(0).to_python()
    assert rows[-1][0] == "no items"
    assert opened(to_xlsx([])).sheet_names == ["no tables"]
