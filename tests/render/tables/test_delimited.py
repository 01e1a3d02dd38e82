"""A table in CSV: exact numbers under the names of its columns, and no formula."""

from __future__ import annotations

import csv
import io
import math

from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.render.tables.files import to_csv


def read(table: Table) -> list[list[str]]:
    return list(csv.reader(io.StringIO(to_csv(table), newline=""), strict=True))


def one_cell(cell: Cell, column: Column | None = None, *, stub: str = "Object", title: str = "t") -> list[list[str]]:
    return read(Table("1", "", stub, (column or Column("n", "N"),), (Group("", (Row("r", title, (cell,)),)),)))


def test_parts_have_columns_of_their_own_and_numbers_all_their_digits(journal_table: Table) -> None:
    header, first, *_ = read(journal_table)
    assert header == [
        "group", "row", "Phase and object", "tensorflow", "tensorflow: share", "pytorch", "pytorch: share",
        "viewcount", "score", "days",
    ]  # fmt: skip
    assert first[:4] == ["Data processing", "D1", "Data", "328"]
    assert float(first[4]) == 328 / 1897
    assert "\r" not in to_csv(journal_table)


def test_without_titles_of_groups_there_is_no_group() -> None:
    assert one_cell(Cell(("1",), (1,))) == [["row", "Object", "n"], ["r", "t", "1"]]


def test_a_cell_without_a_number_keeps_its_text() -> None:
    assert one_cell(Cell(("–",)))[1][2] == "–"
    assert one_cell(Cell(("undefined",), (math.nan,)))[1][2] == "undefined"
    assert one_cell(Cell(("n/a", "3.0%"), (None, 0.03)), Column("n", "N"))[0:] == [
        ["row", "Object", "n", "n: 2"],
        ["r", "t", "n/a", "0.03"],
    ]


def test_text_that_begins_like_a_formula_is_text_and_a_number_stays_one() -> None:
    for formula in ("=1+1", "+A1", "-A1", "@SUM(A1)", "\tx", "\r=x", " =x", "＝1"):
        assert one_cell(Cell((formula,)), title=formula, stub=formula) == [
            ["row", f"'{formula}", "n"],
            ["r", f"'{formula}", f"'{formula}"],
        ]
    assert one_cell(Cell(("-1.50",), (-1.5,)))[1][2] == "-1.5"
    assert one_cell(Cell(("-1.50",)))[1][2] == "-1.50"


def test_hostile_text_is_read_back(hostile_table: Table) -> None:
    header, *rows = read(hostile_table)
    assert {len(row) for row in rows} == {len(header)}
    for row, found in zip(hostile_table.rows(), rows, strict=True):
        if "\x00" not in row.title:
            assert found[2].removeprefix("'") == row.title.removeprefix("'")


def test_no_two_columns_have_the_same_name() -> None:
    names = one_cell(Cell(("1",), (1,)), Column("row", "N"), stub="row")[0]
    assert names == ["row", "row (2)", "row (3)"]


def test_a_table_without_rows_has_its_header(empty_table: Table) -> None:
    assert read(empty_table) == [["row", "Object", "n", "m"]]
