"""Several answers in one cell are split by the known options, even if options contain commas."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from quaestor.surveys.model.answer_cells import split_known

LABELS = st.lists(st.text(alphabet="ab, ", min_size=1, max_size=8).map(lambda text: " ".join(text.split())), max_size=6)


def test_options_that_contain_commas_are_recognized() -> None:
    known = ["Crashes (e.g., none converts)", "Performance", "Other"]
    assert split_known("Crashes (e.g., none converts),Other", known) == (["Crashes (e.g., none converts)", "Other"], [])


def test_a_longer_option_is_preferred_to_its_parts() -> None:
    assert split_known("A,B", ["A", "B", "A,B"]) == (["A,B"], [])


def test_unknown_parts_of_a_cell_are_reported() -> None:
    assert split_known("x, y,A,z", ["A", "B"]) == (["A"], ["x, y", "z"])


def test_blanks_and_stray_separators_are_ignored() -> None:
    assert split_known(",A , B,,", ["A", "B"]) == (["A", "B"], [])
    assert split_known("A;B, C", ["A", "B, C"], ";") == (["A", "B, C"], [])


def test_a_pathological_cell_is_split_quickly() -> None:
    found, unknown = split_known("a," * 9_000, [f"{'a,' * size}a" for size in range(30)])
    assert not unknown
    assert sum(one.count("a") for one in found) == 9_000
    assert split_known("A," * 12_000, ["A"]) == ([], [("A," * 12_000)])


@given(LABELS, st.data())
def test_joined_options_are_split_without_remainder(labels: list[str], data: st.DataObject) -> None:
    known = [label for label in labels if label.strip(", ") and not label.startswith(",") and not label.endswith(",")]
    chosen = data.draw(st.lists(st.sampled_from(known), max_size=4)) if known else []
    found, unknown = split_known(",".join(chosen), known)
    assert not unknown
    assert ",".join(found).replace(" ", "") == ",".join(chosen).replace(" ", "")


@given(st.lists(st.sampled_from(["a", "b", "a,b", "b,a", "x"]), min_size=1, max_size=5))
def test_splitting_recognizes_as_much_of_a_cell_as_possible(pieces: list[str]) -> None:
    cell, known = ",".join(pieces), ["a", "a,b", "b,a"]
    parts = cell.split(",")
    best = 0
    for cuts in product([False, True], repeat=len(parts) - 1):
        groups = [[parts[0]]]
        for part, cut in zip(parts[1:], cuts, strict=True):
            groups.append([part]) if cut else groups[-1].append(part)
        best = max(best, sum(len(",".join(group)) for group in groups if ",".join(group) in known))
    assert sum(len(one) for one in split_known(cell, known)[0]) == best
