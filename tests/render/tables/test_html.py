"""A table in HTML: headings with their scope, links where there are items, no scripts."""

from __future__ import annotations

import lxml.html
from lxml.html import HtmlElement

from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.render.tables.html import html_page, to_html
from quaestor.render.tables.layout import Link


def parsed(table: Table, link: Link | None = None) -> HtmlElement:
    return lxml.html.document_fromstring(f"<meta charset=utf-8>{to_html(table, link)}").find(".//figure")


def test_spanners_and_headings_of_groups_span_their_columns(journal_table: Table) -> None:
    figure = parsed(journal_table)
    first, second = figure.findall(".//thead/tr")
    assert [(head.text, head.get("colspan"), head.get("rowspan"), head.get("scope")) for head in first] == [
        ("Phase and object", None, "2", "col"),
        ("Posts", "2", None, "colgroup"),
        ("Popularity", "2", None, "colgroup"),
        ("Days to the accepted answer", None, "2", "col"),
    ]
    assert [head.text for head in second] == ["TensorFlow", "PyTorch", "Views", "Score"]
    assert sum(int(element.get("span") or 1) for element in figure.findall(".//colgroup")) == 6
    heads = figure.findall(".//th[@scope='rowgroup']")
    assert [(head.text_content(), head.get("colspan")) for head in heads] == [
        ("Data processing", "6"),
        ("Model setting", "6"),
    ]
    assert len(figure.findall(".//tbody")) == 3


def test_only_neighbouring_columns_share_a_spanner() -> None:
    columns = [Column(name, name, spanner=over) for name, over in zip("abcd", ["x", "x", "", "x"], strict=True)]
    heads = parsed(Table("1", "", "", tuple(columns), ())).findall(".//th[@scope='colgroup']")
    assert [(head.text, head.get("colspan")) for head in heads] == [("x", "2"), ("x", "1")]


def test_the_caption_names_the_region_that_scrolls(journal_table: Table) -> None:
    figure = parsed(journal_table)
    assert figure.get("id") == "table-3"
    caption, region = figure.find("figcaption"), figure.find("div")
    assert caption.text_content().startswith("Table 3. Categories of issues")
    assert (region.get("role"), region.get("tabindex")) == ("region", "0")
    assert region.get("aria-labelledby") == caption.get("id")


def test_a_number_with_a_selection_is_a_link_and_others_are_not(journal_table: Table, link: Link) -> None:
    figure = parsed(journal_table, link)
    row = next(row for row in figure.iter("tr") if row[0].text == "Variable")
    assert [element.get("href") for element in row.iter("a")] == ["items/3/D4.html?column=pytorch&all=1#top"]
    assert [element.text for element in row.iter("a")] == ["3"]
    assert row[1].find("a") is None
    assert len(list(figure.iter("a"))) == 15
    assert list(parsed(journal_table).iter("a")) == []


def test_totals_numbers_parts_marks_and_notes_have_distinct_markup(journal_table: Table) -> None:
    figure = parsed(journal_table)
    totals = [row[0].text for row in figure.iter("tr") if row.get("class") == "total"]
    assert totals == ["Subtotal", "Total"]
    image = next(row for row in figure.iter("tr") if row[0].text == "Image")
    assert [part.text for part in image.iterfind(".//span")] == ["4.1%", "6.1%"]
    assert [(mark.getparent().text, mark.text) for mark in image.iter("sup")] == [("1.00", "*")]
    assert [element.text_content() for element in figure.findall(".//li")] == [
        "* Fewer than 30 posts of PyTorch & others.",
        "† Not in the pilot.",
    ]
    assert next(element.text for element in figure.findall("p")) == "Base: 2,354 posts with an accepted answer."


def test_hostile_text_is_escaped(hostile_table: Table) -> None:
    def hostile(*place: str) -> str:
        return "\"><script>alert(1)</script>'|)\n" + "".join(place)

    figure = parsed(hostile_table, hostile)
    known = {"figure", "figcaption", "div", "table", "colgroup", "col", "thead", "tbody", "tr", "th", "td"}
    assert {element.tag for element in figure.iter()} <= known | {"a", "span", "sup", "ul", "li", "p"}
    attributes = {name for element in figure.iter() for name in element.keys()}  # noqa: SIM118
    assert attributes <= {
        "class", "dir", "id", "scope", "colspan", "rowspan", "span", "href", "tabindex", "role", "aria-labelledby",
    }  # fmt: skip
    assert "</td><script>alert(1)</script> &amp; &copy; <!-- no -->" in figure.text_content()


def test_text_has_automatic_direction_and_numbers_that_of_the_table() -> None:
    words = "ندرب النموذج. (3) نعم!"
    columns = (Column("words", "quotation", numeric=False), Column("times", "times"))
    rows = (Row("a", words, (Cell((words,), (), Selection()), Cell(("3",), (3,)))),)
    figure = parsed(Table("1", words, "who", columns, (Group(words, rows),)), lambda *place: "items.html")
    directions = {
        element.tag: element.get("dir")
        for element in figure.iter()
        if (element.text or "").strip() == words and element.tag != "a"
    }
    assert directions == {"span": "auto", "th": "auto"}
    quotation, number = figure.findall(".//tbody/tr/td")
    assert (quotation.get("dir"), number.get("dir")) == ("auto", None)
    assert figure.find("figcaption")[1].get("dir") == figure.find(".//th[@scope='rowgroup']/span").get("dir") == "auto"


def test_a_table_without_rows_states_that_it_is_empty(empty_table: Table) -> None:
    body = parsed(empty_table).find(".//tbody")
    assert body.text_content().strip() == "no items"
    assert body.find(".//td").get("colspan") == "3"


def test_empty_headings_are_ordinary_cells() -> None:
    rows = (Row("a", "", (Cell(("1",), (1,), Selection()),)),)
    figure = parsed(Table("1", "", "", (Column("n", ""),), (Group("", rows),)))
    assert list(figure.iter("th")) == []


def test_a_standalone_page_is_complete(journal_table: Table) -> None:
    page = html_page(journal_table)
    assert page.startswith("<!doctype html>")
    assert "<style>" in page
    assert "src=" not in page
    assert "http" not in page
