"""A table in LaTeX, set by the real program: it compiles, and the numbers are on the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.latex import NotSet, addresses, set_document, words

from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.render.tables.latex import latex_document, latex_text, to_latex
from quaestor.render.tables.layout import Link


@pytest.mark.needs("pdflatex")
def test_tables_compile_and_their_numbers_and_links_are_on_the_pages(
    journal_table: Table, hostile_table: Table, long_table: Table, empty_table: Table, link: Link, tmp_path: Path
) -> None:
    pdf = set_document(latex_document([journal_table, hostile_table, long_table, empty_table], link), tmp_path)
    found = words(pdf)
    for table in (journal_table, long_table):
        for row in table.rows():
            printed = [part for cell in row.cells for part in cell.parts if part[0].isdigit()]
            assert set(printed) <= set(found), row
    assert " ".join(found).startswith("Table 3: Categories of issues by framework")
    assert found.count("(continued)") >= 2, "a long table names itself on each page"
    assert "items" in found, "a table without rows says so"
    assert "[U+1F600]" in "".join(found)
    assert "items/3/D1.html?column=tensorflow&all=1#top" in addresses(pdf)
    assert "items/3/D4.html?column=tensorflow&all=1#top" not in addresses(pdf)
    labels = re.findall(r"\\newlabel\{(tab:[^}]*)\}\{\{(.*?)\}\{", (tmp_path / "document.aux").read_text("latin-1"))
    assert [name for name, number in labels if number in ("3", "14", "2")] == ["tab:3", "tab:14", "tab:2"]
    assert "Float too large" not in (tmp_path / "document.log").read_text("latin-1")


@pytest.mark.needs("pdflatex")
def test_every_character_is_typeset_or_replaced_by_its_code(tmp_path: Path) -> None:
    signs = [chr(code) for code in (*range(0x20, 0x530), *range(0x1E00, 0x2800), 0xFB01, 0x4E2D, 0x1F600, 0x10FFFF)]
    rows = [" ".join(signs[at : at + 60]) for at in range(0, len(signs), 60)]
    table = Table("1", "Signs", "", (), (Group("", tuple(Row(text, text, ()) for text in rows)),))
    try:
        set_document(latex_document([table]), tmp_path)
    except NotSet as reason:
        pytest.fail(str(reason))


@pytest.mark.needs("pdflatex")
def test_the_same_tables_give_the_same_pdf(empty_table: Table, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    assert len({set_document(latex_document([empty_table]), folder) for folder in folders}) == 1


def test_spanners_span_all_parts_of_their_columns(journal_table: Table) -> None:
    made = to_latex(journal_table)
    assert r"\multicolumn{4}{c}{Posts} & \multicolumn{2}{c}{Popularity}" in made
    assert r"\cmidrule(lr){2-5} \cmidrule(lr){6-7}" in made
    assert r"\multicolumn{8}{@{}l@{}}{\textit{Data processing}}" in made
    assert r"\label{tab:3}" in made


def test_a_long_table_runs_over_pages_and_so_does_one_with_long_texts(long_table: Table, journal_table: Table) -> None:
    assert r"\begin{longtable}" in to_latex(long_table)
    assert r"\endhead" in to_latex(long_table)
    assert r"\begin{table}" in to_latex(journal_table)
    texts = tuple(Row(str(n), "t", (Cell(("words " * 60,)),)) for n in range(20))
    assert r"\begin{longtable}" in to_latex(Table("1", "", "", (Column("a", "a", numeric=False),), (Group("", texts),)))


@settings(deadline=None)
@given(st.text())
def test_latex_text_is_ascii_with_balanced_braces_and_no_bare_special_characters(text: str) -> None:
    made = latex_text(text)
    assert made.isascii()
    assert "\n" not in made
    without = re.sub(r"\\[a-zA-Z]+|\\.", "", made)
    depth = 0
    for sign in without:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    outside = re.sub(r"\\ensuremath\{(?:[^{}]|\{[^{}]*\})*\}", "", made)
    assert not re.search(r"(?<!\\)[$&#%_^]", re.sub(r"\\[\^~\"'`=.]\{", "", outside))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("50 % & more_#1", r"50 \% \& more\_\#1"),
        ("a--b", "a-{}-b"),
        ("κ ≥ 0.8", r"\ensuremath{\kappa} \ensuremath{\geq} 0.8"),
        ("[x]*", "{[}x{]}{*}"),
        ("é ő ı́", r"\'{e} \H{o} \i{}{[}U+0301{]}"),
        ("😀", "{[}U+1F600{]}"),
        ("1–2", r"1\textendash{}2"),
    ],
)
def test_special_characters_become_latex_commands(text: str, wanted: str) -> None:
    assert latex_text(text) == wanted
