"""The header of a survey service's file is separated from its rows, however many rows it has."""

from __future__ import annotations

import pytest

from quaestor.base.errors import InputError
from quaestor.surveys.model.service_exports import PlainRow, is_display_order, split_header

NAMES = ["Q1", "Q2", "Q2_DO_1"]
WORDS = ["How long?", "Which?", "Which? - Display Order"]
KEYS = ['{"ImportId":"QID1"}', '{"ImportId":"QID2"}', '{"ImportId":"QID2_DO"}']


def rows(*cells: list[str]) -> list[PlainRow]:
    return [PlainRow(number, row) for number, row in enumerate(cells, start=1)]


def test_two_header_rows_are_assumed_without_import_keys() -> None:
    export = split_header(rows(NAMES, WORDS, ["a", "b", ""]), "file.csv")
    assert export.columns == tuple(NAMES)
    assert [row.number for row in export.rows] == [3]


def test_a_third_row_with_import_keys_is_a_header_row() -> None:
    export = split_header(rows(NAMES, WORDS, KEYS, ["a", "b", ""]), "file.csv")
    assert len(export.header) == 3
    assert [list(row.cells) for row in export.rows] == [["a", "b", ""]]


def test_the_mapping_sets_the_number_of_header_rows() -> None:
    assert [row.number for row in split_header(rows(NAMES, ["a", "b", "c"]), "file.csv", 1).rows] == [2]


def test_a_header_repeated_among_the_answers_is_recognized() -> None:
    export = split_header(rows(NAMES, WORDS, KEYS, ["a", "b", ""], NAMES, WORDS, KEYS), "file.csv")
    assert [export.repeats_header(row) for row in export.rows] == [False, True, True, True]


def test_empty_cells_to_the_right_of_the_header_are_ignored() -> None:
    export = split_header(rows(NAMES, WORDS, ["a", "b", "c", "", " "], [""]), "file.csv")
    assert [list(row.cells) for row in export.rows] == [["a", "b", "c"], ["", "", ""]]


@pytest.mark.parametrize("ragged", [["a", "b"], ["a", "b", "c", "d"]])
def test_a_row_with_a_wrong_number_of_cells_is_refused_with_its_number(ragged: list[str]) -> None:
    with pytest.raises(InputError, match=rf"file.csv has {len(ragged)} cells in row 3, but 3 column names"):
        list(split_header(rows(NAMES, WORDS, ragged), "file.csv").rows)


def test_a_file_without_column_names_is_refused() -> None:
    for empty in ([], rows(["", " "], ["a", "b"])):
        with pytest.raises(InputError, match="no column names"):
            split_header(empty, "file.csv")


def test_display_order_columns_are_recognized_by_name() -> None:
    assert [is_display_order(name) for name in ("Q2_DO", "Q2_DO_1", "Q2_DOG", "DO_1", "Q2")] == [
        True, True, False, False, False,
    ]  # fmt: skip
