"""Tables for people: no text in them runs as a formula, and each is read again as it was."""

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
    Table,
    csv_text,
    guard,
    table_bytes,
    unguard,
    write_csv,
    write_table,
    write_workbook,
)
from quaestor.evidence.table_rows import read_rows

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
BEFORE = ["", " ", "\t", "\r", "\n", "\0", "\ufeff", "\u200b", "\xa0", " \0\ufeff ", "'", "''", "'\t", "' "]
RUNS = [f"{before}{sign}1+1" for before in BEFORE for sign in SIGNS] + ["\tx", "\rx", "\nx", "-A1", "-1-1", "-inf", "+"]
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
TEXTS = st.sampled_from([*RUNS, *NUMBERS, *PLAIN]) | st.builds(
    str.__add__, st.sampled_from([*BEFORE, *SIGNS]), st.text(st.characters(), max_size=20)
)
CELLS = TEXTS | st.integers(-(2**53), 2**53) | st.integers(-1000, 1000).map(lambda number: number / 8)


def readable(text: str) -> str:
    """The text with what no file can hold replaced, as the writer documents it."""
    return re.sub("[\0\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


@given(TEXTS)
def test_guarding_is_undone_exactly(text: str) -> None:
    assert unguard(guard(text)) == text
    assert guard(text) in (text, f"'{text}")


@pytest.mark.parametrize("text", RUNS)
def test_what_begins_like_a_formula_is_guarded(text: str) -> None:
    assert guard(text) == f"'{text}"


@pytest.mark.parametrize("text", [*NUMBERS, *PLAIN])
def test_a_number_and_an_ordinary_text_stay_as_they_are(text: str) -> None:
    assert guard(text) == text
    assert unguard(text) == text


@given(st.text(st.characters(), max_size=30))
def test_two_texts_are_never_guarded_alike(text: str) -> None:
    assert guard(guard(text)) != guard(text) or guard(text) == text


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=6))
@example([["<r>&</r>", "<r><t>gone</t></r>"], ["\0=1", "\ud800"]])
@pytest.mark.parametrize("name", ["table.csv", "table.xlsx"])
def test_a_table_is_read_again_as_it_was(tmp_path: Path, name: str, rows: list[list[Cell]]) -> None:
    header = ("=first", "second")
    # A row number keeps a row from being blank, and letters keep a small table from looking like a binary file.
    table = [[*row, number, "x" * 400] for number, row in enumerate(rows, start=2)]
    assert write_table(Table("sheet", (*header, "number", "long"), table), tmp_path / name) == len(rows)
    read = list(read_rows(tmp_path / name, exact=header))
    assert [number for number, _ in read] == list(range(2, len(rows) + 2))
    for (_, row), cells in zip(read, rows, strict=True):
        for column, cell in zip(header, cells, strict=True):
            if isinstance(cell, str):
                assert row[column] == readable(cell)
            else:
                assert float(row[column]) == cell


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_no_cell_of_a_csv_begins_like_a_formula(texts: list[str]) -> None:
    (cells,) = csv.reader(io.StringIO(csv_text([texts]), newline=""), strict=True)
    assert len(cells) == len(texts)
    for cell in cells:
        first = cell.lstrip(" \t\r\n\0\ufeff\u200b\xa0\x0b\x0c\x1c\x1d\x1e\x1f\x85")[:1]
        assert first not in tuple(SIGNS) or re.fullmatch(r"[-+]?[0-9.,]+(e[-+]?[0-9]+)?%?", cell, re.IGNORECASE)
        assert cell[:1] not in ("\t", "\r", "\n")


def test_numbers_are_numbers_in_a_workbook_and_no_cell_is_a_formula(tmp_path: Path) -> None:
    rows: Sequence[Sequence[Cell]] = [["=1+1", -3], ["x", 0.125], ["y", None], ["z", float("-inf")], ["w", 2**60 + 1]]
    write_workbook([Table("sheet", ("a", "b"), rows), Table("=other", ("a",), [])], tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert re.findall(r"<v>([^<]*)</v>", sheet) == ["-3", "0.125"]
    assert [row["b"] for _, row in read_rows(tmp_path / "a.xlsx")] == ["-3", "0.125", "", "-inf", str(2**60 + 1)]


@pytest.mark.parametrize("text", ["x" * 32_768, "\U0001f600" * 16_384, f"<r>{'&' * 20_000}</r>"])
def test_a_text_too_long_for_a_workbook_is_refused_and_goes_into_a_csv(tmp_path: Path, text: str) -> None:
    table = Table("sheet", ("item", "memo"), [["a", "b"], ["c", text]])
    with pytest.raises(InputError, match=r"in row 3, column 'memo', is longer than the 32,767 .* export as CSV"):
        write_table(table, tmp_path / "long.xlsx")
    assert list(tmp_path.iterdir()) == [], "nothing half written stays"
    write_table(table, tmp_path / "long.csv")
    assert [row["memo"] for _, row in read_rows(tmp_path / "long.csv")] == ["b", text]


def test_a_file_that_cannot_be_written_is_refused_in_a_sentence(tmp_path: Path) -> None:
    table = Table("sheet", ("item",), [])
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"neither \.csv nor \.xlsx"):
        write_table(table, tmp_path / "a.ods")
    with pytest.raises(InputError, match="there is no folder"):
        write_table(table, tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InputError, match="cannot be written"):
        write_table(table, tmp_path / "folder.csv")
    with pytest.raises(InputError, match="no file of the form 'ods'"):
        table_bytes(table, "ods")


def test_a_private_table_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_csv(Table("sheet", ("item",), []), tmp_path / "a.csv", private=True)
    write_workbook([Table("sheet", ("item",), [])], tmp_path / "a.xlsx", private=True)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
