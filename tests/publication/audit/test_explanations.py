"""A difference is explained only if an explanation fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import assume, given
from hypothesis import strategies as st

from quaestor.publication.audit.compare import explain_differences, judge
from quaestor.publication.audit.records import DIFFERS, MATCH, AuditCell, Key

COLUMNS = ("a", "b", "c")
ROWS = ("r1", "r2", "r3", "r4")
Line = Sequence[float | None]


def cells_of(printed: Mapping[str, Sequence[str]], computed: Mapping[str, Line], table: str = "1") -> list[AuditCell]:
    return [
        AuditCell(table, row, column, text, value, judge(text, value))
        for row, texts in printed.items()
        for column, text, value in zip(COLUMNS, texts, computed[row], strict=False)
    ]


def explanations(cells: Sequence[AuditCell], alternatives: Mapping[str, Mapping[Key, float]] | None = None) -> set[str]:
    return {cell.explanation for cell in explain_differences(cells, alternatives or {}) if cell.explanation}


COMPUTED: dict[str, Line] = {"r1": (1.0, 20.0, 0.31), "r2": (4.0, 50.0, 0.62), "r3": (7.0, 80.0, 0.93)}
RIGHT = {"r1": ("1", "20", "0.31"), "r2": ("4", "50", "0.62"), "r3": ("7", "80", "0.93")}
ROWS_1_AND_2 = "the rows 'r1' and 'r2' are swapped in print"


def test_two_swapped_rows_are_found() -> None:
    cells = cells_of({**RIGHT, "r1": RIGHT["r2"], "r2": RIGHT["r1"]}, COMPUTED)
    assert explanations(cells) == {ROWS_1_AND_2}
    for cell in explain_differences(cells, {}):
        assert bool(cell.explanation) == (cell.row != "r3")
        assert cell.verdict == (MATCH if cell.row == "r3" else DIFFERS)  # an explanation changes no verdict


def test_unreadable_cells_do_not_prevent_finding_swapped_rows() -> None:
    cells = cells_of({**RIGHT, "r1": ("4", "", "0.62"), "r2": ("1", "20", "")}, COMPUTED)
    assert explanations(cells) == {ROWS_1_AND_2}


def test_one_legible_column_is_not_enough_to_find_swapped_rows() -> None:
    assert explanations(cells_of({**RIGHT, "r1": ("4", "", ""), "r2": ("1", "", "")}, COMPUTED)) == set()


def test_rows_that_fit_in_all_but_one_column_are_not_swapped() -> None:
    assert explanations(cells_of({**RIGHT, "r1": ("4", "50", "0.63"), "r2": RIGHT["r1"]}, COMPUTED)) == set()


def test_a_row_that_repeats_another_is_not_swapped() -> None:
    assert explanations(cells_of({**RIGHT, "r1": RIGHT["r2"]}, COMPUTED)) == set()


def test_a_row_that_fits_two_others_is_left_unexplained() -> None:
    computed = {"r1": (1.0, 20.0, 0.31), "r2": (4.0, 50.0, 0.62), "r3": (4.0, 50.0, 0.62)}
    printed = {"r1": ("4", "50", "0.62"), "r2": ("1", "20", "0.31"), "r3": ("1", "20", "0.31")}
    assert explanations(cells_of(printed, computed)) == set()


def test_three_rotated_rows_are_not_swapped() -> None:
    assert explanations(cells_of({"r1": RIGHT["r2"], "r2": RIGHT["r3"], "r3": RIGHT["r1"]}, COMPUTED)) == set()


def test_two_swapped_columns_are_found() -> None:
    cells = cells_of({row: (texts[1], texts[0], texts[2]) for row, texts in RIGHT.items()}, COMPUTED)
    assert explanations(cells) == {"the columns 'a' and 'b' are swapped in print"}
    assert all(bool(cell.explanation) == (cell.column != "c") for cell in explain_differences(cells, {}))


def test_swapped_rows_and_columns_that_both_fit_are_both_named() -> None:
    computed = {"r1": (1.0, 2.0), "r2": (2.0, 1.0)}
    columns = "the columns 'a' and 'b' are swapped in print"
    assert explanations(cells_of({"r1": ("2", "1"), "r2": ("1", "2")}, computed)) == {f"{ROWS_1_AND_2}, or {columns}"}


def test_rows_are_compared_only_within_a_table() -> None:
    computed = {"r1": COMPUTED["r1"], "r2": COMPUTED["r2"]}
    cells = cells_of({"r1": RIGHT["r2"], "r2": RIGHT["r2"]}, computed, "1")
    cells += cells_of({"r1": RIGHT["r1"], "r2": RIGHT["r1"]}, computed, "2")
    assert explanations(cells) == set()


def test_truncation_codebook_versions_and_other_coefficients_explain_differences() -> None:
    cells = cells_of({"r1": ("0.18", "7", "0.30")}, {"r1": (0.186, 9.0, 0.45)})
    alternatives = {
        "version 1 of the codebook": {("1", "r1", "a"): 0.18, ("1", "r1", "b"): 7.0, ("1", "r1", "c"): 0.9},
        "version 2 of the codebook": {("1", "r1", "a"): 0.9, ("1", "r1", "b"): 7.0},
        "Spearman's ρ instead of Pearson's r": {("1", "r1", "c"): 0.304},
    }
    assert [cell.explanation for cell in explain_differences(cells, alternatives)] == [
        "cut off instead of rounded, or fits version 1 of the codebook",
        "fits version 1 of the codebook (and 1 more)",
        "fits Spearman's ρ instead of Pearson's r",
    ]


def test_matching_figures_get_no_explanation() -> None:
    cells = cells_of({"r1": ("1", "", "5")}, {"r1": (1.0, 2.0, None)})
    same = {("1", "r1", column): value for column, value in zip(COLUMNS, (1.0, 2.0, 5.0), strict=True)}
    assert explanations(cells, {"version 1 of the codebook": same}) == set()


DISTINCT = st.lists(st.integers(0, 10**6), min_size=24, max_size=24, unique=True)


@given(DISTINCT)
def test_unrelated_figures_are_never_explained_as_swapped(numbers: list[int]) -> None:
    places = [(row, column) for row in ROWS for column in COLUMNS]
    cells = [
        AuditCell("1", row, column, str(text), float(value), DIFFERS)
        for (row, column), text, value in zip(places, numbers[:12], numbers[12:], strict=True)
    ]
    assert explanations(cells) == set()


@given(DISTINCT, st.permutations(ROWS))
def test_a_shuffle_is_explained_only_if_it_swaps_pairs(numbers: list[int], order: list[str]) -> None:
    computed = {row: tuple(map(float, numbers[3 * n : 3 * n + 3])) for n, row in enumerate(ROWS)}
    came_from = dict(zip(ROWS, order, strict=True))
    assume(any(row != came for row, came in came_from.items()))
    printed = {row: [f"{value:.0f}" for value in computed[came_from[row]]] for row in ROWS}
    for cell in explain_differences(cells_of(printed, computed), {}):
        other = came_from[cell.row]
        if other != cell.row and came_from[other] == cell.row:
            assert repr(cell.row) in cell.explanation
            assert repr(other) in cell.explanation
        else:
            assert cell.explanation == ""
