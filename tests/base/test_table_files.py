"""Exported tables: no text in them runs as a formula, and each is read back unchanged."""

from __future__ import annotations

import csv
import io
import re
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.base.table_files import (
    Cell,
    ExportTable,
    escape_formula,
    format_csv,
    format_table,
    unescape_formula,
    write_csv,
    write_table,
    write_workbook,
)
from quaestor.evidence.table_rows import read_rows

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
PREFIXES = ["", " ", "\t", "\r", "\n", "\0", "\ufeff", "\u200b", "\xa0", " \0\ufeff ", "'", "''", "'\t", "' "]
FORMULAS = [f"{prefix}{sign}1+1" for prefix in PREFIXES for sign in SIGNS] + [
    "\tx",
    "\rx",
    "\nx",
    "-A1",
    "-1-1",
    "-inf",
    "+",
]
NUMBERS = ["-3", "+4", "-1.50", "-1e9", "-1,234.5", "-3.0%", "7", "'-3"]
PLAIN = [
    "",
    "it's",
    "'quoted'",
    "'",
    "a=b",
    "<r>&</r>",
    "<r><t>x</t></r>",
    "_x0041_",
    "a\r\nb",
    "a\rb",
    "a;=1",
    '"',
    "\x01",
]
TEXTS = st.sampled_from([*FORMULAS, *NUMBERS, *PLAIN]) | st.builds(
    str.__add__, st.sampled_from([*PREFIXES, *SIGNS]), st.text(st.characters(), max_size=20)
)
CELLS = TEXTS | st.integers(-(2**53), 2**53) | st.integers(-1000, 1000).map(lambda number: number / 8)


def replace_unwritable(text: str) -> str:
    """Returns the text with characters that no file can store replaced, as the writer documents it."""
    return re.sub("[\0\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


@given(TEXTS)
def test_unescaping_undoes_escaping_exactly(text: str) -> None:
    assert unescape_formula(escape_formula(text)) == text
    assert escape_formula(text) in (text, f"'{text}")


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_begins_like_a_formula_is_escaped(text: str) -> None:
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", [*NUMBERS, *PLAIN])
def test_a_number_and_an_ordinary_text_are_not_escaped(text: str) -> None:
    assert escape_formula(text) == text
    assert unescape_formula(text) == text


@given(st.text(st.characters(), max_size=30))
def test_an_escaped_text_is_escaped_again_so_that_no_two_texts_become_equal(text: str) -> None:
    assert escape_formula(escape_formula(text)) != escape_formula(text) or escape_formula(text) == text


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=6))
@example([["<r>&</r>", "<r><t>gone</t></r>"], ["\0=1", "\ud800"]])
@pytest.mark.parametrize("name", ["table.csv", "table.xlsx"])
def test_a_table_is_read_back_unchanged(tmp_path: Path, name: str, rows: list[list[Cell]]) -> None:
    header = ("=first", "second")
    # A row number keeps a row from being blank, and letters keep a small table from looking like a binary file.
    table = [[*row, number, "x" * 400] for number, row in enumerate(rows, start=2)]
    assert write_table(ExportTable("sheet", (*header, "number", "long"), table), tmp_path / name) == len(rows)
    read = list(read_rows(tmp_path / name, exact=header))
    assert [number for number, _ in read] == list(range(2, len(rows) + 2))
    for (_, row), cells in zip(read, rows, strict=True):
        for column, cell in zip(header, cells, strict=True):
            if isinstance(cell, str):
                assert row[column] == replace_unwritable(cell)
            else:
                assert float(row[column]) == cell


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_no_cell_of_a_csv_begins_like_a_formula(texts: list[str]) -> None:
    (cells,) = csv.reader(io.StringIO(format_csv([texts]), newline=""), strict=True)
    assert len(cells) == len(texts)
    for cell in cells:
        first = cell.lstrip(" \t\r\n\0\ufeff\u200b\xa0\x0b\x0c\x1c\x1d\x1e\x1f\x85")[:1]
        assert first not in tuple(SIGNS) or re.fullmatch(r"[-+]?[0-9.,]+(e[-+]?[0-9]+)?%?", cell, re.IGNORECASE)
        assert cell[:1] not in ("\t", "\r", "\n")


def test_a_workbook_has_number_cells_and_no_formula_cells(tmp_path: Path) -> None:
    rows: Sequence[Sequence[Cell]] = [["=1+1", -3], ["x", 0.125], ["y", None], ["z", float("-inf")], ["w", 2**60 + 1]]
    write_workbook([ExportTable("sheet", ("a", "b"), rows), ExportTable("=other", ("a",), [])], tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert re.findall(r"<v>([^<]*)</v>", sheet) == ["-3", "0.125"]
    assert [row["b"] for _, row in read_rows(tmp_path / "a.xlsx")] == ["-3", "0.125", "", "-inf", str(2**60 + 1)]


@pytest.mark.parametrize("text", ["x" * 32_768, "\U0001f600" * 16_384, f"<r>{'&' * 20_000}</r>"])
def test_a_text_too_long_for_a_workbook_is_refused_but_fits_a_csv(tmp_path: Path, text: str) -> None:
    table = ExportTable("sheet", ("item", "memo"), [["a", "b"], ["c", text]])
    with pytest.raises(InputError, match=r"in row 3, column 'memo', is longer than the 32,767 .* export as CSV"):
        write_table(table, tmp_path / "long.xlsx")
    assert list(tmp_path.iterdir()) == [], "no partial file is left"
    write_table(table, tmp_path / "long.csv")
    assert [row["memo"] for _, row in read_rows(tmp_path / "long.csv")] == ["b", text]


def test_a_file_that_cannot_be_written_raises_an_input_error(tmp_path: Path) -> None:
    table = ExportTable("sheet", ("item",), [])
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"neither \.csv nor \.xlsx"):
        write_table(table, tmp_path / "a.ods")
    with pytest.raises(InputError, match="does not exist"):
        write_table(table, tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InputError, match="cannot be written"):
        write_table(table, tmp_path / "folder.csv")
    with pytest.raises(InputError, match="'ods' is not a file format"):
        format_table(table, "ods")


def test_only_its_owner_can_read_a_private_table(tmp_path: Path) -> None:
    write_csv(ExportTable("sheet", ("item",), []), tmp_path / "a.csv", private=True)
    write_workbook([ExportTable("sheet", ("item",), [])], tmp_path / "a.xlsx", private=True)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
