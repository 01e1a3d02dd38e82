"""The header of a survey service's file is told from its rows, however many rows it has."""

from __future__ import annotations

import pytest

from quaestor.base.errors import InputError
from quaestor.surveys.model.service_exports import PlainRow, is_display_order, split_header

NAMES = ["Q1", "Q2", "Q2_DO_1"]
WORDS = ["How long?", "Which?", "Which? - Display Order"]
KEYS = ['{"ImportId":"QID1"}', '{"ImportId":"QID2"}', '{"ImportId":"QID2_DO"}']


def rows(*cells: list[str]) -> list[PlainRow]:
    return [PlainRow(number, row) for number, row in enumerate(cells, start=1)]


def test_two_rows_are_header_where_no_keys_are_written() -> None:
    export = split_header(rows(NAMES, WORDS, ["a", "b", ""]), "file.csv")
    assert export.columns == tuple(NAMES)
    assert [row.number for row in export.rows] == [3]


def test_three_rows_are_header_where_the_third_holds_keys() -> None:
    export = split_header(rows(NAMES, WORDS, KEYS, ["a", "b", ""]), "file.csv")
    assert len(export.header) == 3
    assert [list(row.cells) for row in export.rows] == [["a", "b", ""]]


def test_as_many_rows_are_header_as_a_mapping_says() -> None:
    assert [row.number for row in split_header(rows(NAMES, ["a", "b", "c"]), "file.csv", 1).rows] == [2]


def test_a_header_among_the_answers_is_known_again() -> None:
    export = split_header(rows(NAMES, WORDS, KEYS, ["a", "b", ""], NAMES, WORDS, KEYS), "file.csv")
    assert [export.repeats_header(row) for row in export.rows] == [False, True, True, True]


def test_empty_cells_beyond_the_header_do_not_matter() -> None:
    export = split_header(rows(NAMES, WORDS, ["a", "b", "c", "", " "], [""]), "file.csv")
    assert [list(row.cells) for row in export.rows] == [["a", "b", "c"], ["", "", ""]]


@pytest.mark.parametrize("ragged", [["a", "b"], ["a", "b", "c", "d"]])
def test_a_ragged_row_is_refused_with_its_number(ragged: list[str]) -> None:
    with pytest.raises(InputError, match=rf"file.csv has {len(ragged)} cells in row 3, but 3 column names"):
        list(split_header(rows(NAMES, WORDS, ragged), "file.csv").rows)


def test_a_file_without_names_is_refused() -> None:
    for empty in ([], rows(["", " "], ["a", "b"])):
        with pytest.raises(InputError, match="no column names"):
            split_header(empty, "file.csv")


def test_columns_of_display_order_are_told_by_their_names() -> None:
    assert [is_display_order(name) for name in ("Q2_DO", "Q2_DO_1", "Q2_DOG", "DO_1", "Q2")] == [
        True, True, False, False, False,
    ]  # fmt: skip
