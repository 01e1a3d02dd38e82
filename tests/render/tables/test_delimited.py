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


def test_parts_have_separate_columns_and_numbers_keep_all_digits(journal_table: Table) -> None:
    header, first, *_ = read(journal_table)
    assert header == [
        "group", "row", "Phase and object", "tensorflow", "tensorflow: share", "pytorch", "pytorch: share",
        "viewcount", "score", "days",
    ]  # fmt: skip
    assert first[:4] == ["Data processing", "D1", "Data", "328"]
    assert float(first[4]) == 328 / 1897
    assert "\r" not in to_csv(journal_table)


def test_without_group_titles_there_is_no_group_column() -> None:
    assert one_cell(Cell(("1",), (1,))) == [["row", "Object", "n"], ["r", "t", "1"]]


def test_a_cell_without_a_number_keeps_its_text() -> None:
    assert one_cell(Cell(("–",)))[1][2] == "–"
    assert one_cell(Cell(("undefined",), (math.nan,)))[1][2] == "undefined"
    assert one_cell(Cell(("n/a", "3.0%"), (None, 0.03)), Column("n", "N"))[0:] == [
        ["row", "Object", "n", "n: 2"],
        ["r", "t", "n/a", "0.03"],
    ]


def test_formula_like_text_is_escaped_and_numbers_are_not() -> None:
    for formula in ("=1+1", "+A1", "-A1", "@SUM(A1)", "\tx", "\r=x", " =x", "＝1"):
        assert one_cell(Cell((formula,)), title=formula, stub=formula) == [
            ["row", f"'{formula}", "n"],
            ["r", f"'{formula}", f"'{formula}"],
        ]
    assert one_cell(Cell(("-1.50",), (-1.5,)))[1][2] == "-1.5"
    assert one_cell(Cell(("-1.50",)))[1][2] == "-1.50"


def test_hostile_text_is_read_back_unchanged(hostile_table: Table) -> None:
    header, *rows = read(hostile_table)
    assert {len(row) for row in rows} == {len(header)}
    for row, found in zip(hostile_table.rows(), rows, strict=True):
        if "\x00" not in row.title:
            assert found[2].removeprefix("'") == row.title.removeprefix("'")


def test_column_names_are_unique() -> None:
    names = one_cell(Cell(("1",), (1,)), Column("row", "N"), stub="row")[0]
    assert names == ["row", "row (2)", "row (3)"]


def test_a_table_without_rows_has_its_header(empty_table: Table) -> None:
    assert read(empty_table) == [["row", "Object", "n", "m"]]
