"""A table as files: five complete files, the same bytes each time, and no others."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from quaestor.render.table_model import Column, Table
from quaestor.render.tables.files import to_markdown, write_table
from quaestor.render.tables.layout import Link


def test_writing_a_table_twice_gives_the_same_five_files(journal_table: Table, link: Link, tmp_path: Path) -> None:
    paths = write_table(journal_table, tmp_path / "tables", link)
    assert [path.name for path in paths] == [f"table-3.{one}" for one in ("html", "md", "tex", "csv", "xlsx")]
    before = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in write_table(journal_table, tmp_path / "tables", link)] == before
    assert sorted((tmp_path / "tables").iterdir()) == sorted(paths)


def test_a_hostile_table_id_stays_inside_the_folder_and_file_names_are_distinct(
    hostile_table: Table, tmp_path: Path
) -> None:
    names = ["../3 é", "../3 e", "", "..", "x" * 300, "a/b", "a b"]
    paths = [write_table(dataclasses.replace(hostile_table, id=name), tmp_path)[0] for name in names]
    assert {path.parent for path in paths} == {tmp_path}
    assert len({path.name for path in paths}) == len(names)


def rendered(table: Table, link: Link | None = None) -> lxml_html.HtmlElement:
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(to_markdown(table, link))
    return lxml_html.document_fromstring(f"<meta charset=utf-8>{page}").find("body")


def plain(text: str) -> str:
    """As a page shows it: what cannot be printed replaced, white space as one space."""
    return " ".join(re.sub("[\x00-\x08\x0e-\x1b\ud800-\udfff\ufffe]", "\ufffd", text).split())


def test_spanners_are_part_of_column_titles_and_numbers_are_right_aligned(journal_table: Table) -> None:
    heads = rendered(journal_table).findall(".//th")
    assert [head.text for head in heads][:4] == [
        "Phase and object",
        "Posts: TensorFlow",
        "Posts: PyTorch",
        "Popularity: Views",
    ]
    assert [head.get("style") for head in heads] == [None, *["text-align:right"] * 5]


def test_a_number_links_to_its_items_and_its_share_is_in_parentheses(journal_table: Table, link: Link) -> None:
    row = next(row for row in rendered(journal_table, link).iter("tr") if row[0].text == "Variable")
    assert [element.get("href") for element in row.iter("a")] == ["items/3/D4.html?column=pytorch&all=1#top"]
    assert [cell.text_content() for cell in row] == ["Variable", "0 (0.0%)", "3 (0.7%)", "–", "–", "–"]


def test_groups_and_totals_are_bold(journal_table: Table) -> None:
    strong = [element.text_content() for element in rendered(journal_table).findall(".//tbody/tr/td[1]/strong")]
    assert strong == ["Data processing", "Subtotal", "Model setting", "Total"]


def test_hostile_text_is_read_back_unchanged(hostile_table: Table) -> None:
    body = rendered(hostile_table, lambda *place: 'x)|"> <script>[a](b)' + "".join(place))
    assert {element.tag for element in body.iter()} <= {
        "body", "p", "strong", "em", "table", "thead", "tbody", "tr", "th", "td", "sup", "a",
    }  # fmt: skip
    assert body.find("p").text_content() == f"Table ../3 é. {plain(hostile_table.title)}"
    assert [len(row) for row in body.iter("tr")] == [5] * len(body.findall(".//tr"))
    words = [plain(row.cells[-1].parts[0]) for row in hostile_table.rows()]
    shown = [row[-1].text_content() for row in body.findall(".//tbody/tr") if row[1].text_content()]
    assert shown == words
    notes = [plain(note) for note in hostile_table.notes if plain(note)]
    assert [element.text_content() for element in body.findall("p")][-len(notes) :] == notes


@pytest.mark.parametrize(
    "note", ["1. one", "2) two", "- a", "+ b", "# head", "=", "---", "> said", "    code", "[a]: b", ":-:"]
)
def test_a_note_is_a_paragraph_even_if_it_begins_like_markup(note: str) -> None:
    body = rendered(Table("1", "t", "s", (Column("a", "a"),), (), notes=(note,)))
    assert [one.tag for one in body] == ["p", "table", "p"]
    assert body[-1].text == note.strip()


def test_a_table_without_rows_states_that_it_is_empty(empty_table: Table) -> None:
    assert rendered(empty_table).find(".//tbody").text_content().strip() == "no items"
