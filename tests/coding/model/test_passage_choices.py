"""Settling passage by passage: alignment of the raters' passages, and the answer built from the choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from tests.coding.model.test_passages import ANSWERS, Answer, letters

from quaestor.base.errors import InputError
from quaestor.coding.model.facet_kinds.passages import merge_passages
from quaestor.coding.model.passage_choices import (
    ALL,
    IN_VIVO,
    NONE,
    OTHER,
    PassageChoice,
    align_passages,
    build_chosen_answer,
    read_choice,
)
from quaestor.coding.model.records import CANNOT_JUDGE, Passage


def passage(start: int, end: int, code: str = "a", memo: str = "", **fields: str) -> dict[str, Any]:
    return Passage(start, end, code, memo, fields).payload()


def locate(words: str, near: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return 100, 100 + len(words)


def list_rows(answers: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
    return [
        [(version.passage.start, version.passage.end, version.passage.code) for version in row.versions]
        for row in align_passages(answers)
    ]


def test_passages_are_aligned_by_code_first_and_then_by_overlap() -> None:
    first = [passage(0, 30, "a"), passage(5, 20, "b"), passage(50, 60, "a")]
    second = [passage(0, 10, "c"), passage(12, 30, "a"), passage(80, 90, "b")]
    assert list_rows([first, second]) == [
        [(5, 20, "b"), (0, 10, "c")],
        [(0, 30, "a"), (12, 30, "a")],
        [(50, 60, "a")],
        [(80, 90, "b")],
    ]


def test_a_rater_who_could_not_judge_does_not_make_a_passage_disputed() -> None:
    same = [passage(0, 5)]
    assert [row.agreed for row in align_passages([same, CANNOT_JUDGE, same])] == [True]
    assert [row.agreed for row in align_passages([same, []])] == [False]


@given(ANSWERS, ANSWERS)
def test_every_passage_is_in_exactly_one_row_and_no_row_has_two_of_one_rater(first: Answer, second: Answer) -> None:
    rows = align_passages([first, second])
    shown = [(number, version.passage) for row in rows for version in row.versions for number in version.answers]
    assert len(shown) == len(first) + len(second)
    for row in rows:
        numbers = [number for version in row.versions for number in version.answers]
        assert len(numbers) == len(set(numbers))
    everything = build_chosen_answer(
        rows, {n: PassageChoice(row.options[-3]) for n, row in enumerate(rows, start=1)}, locate
    )
    assert letters(everything) == letters(merge_passages([first, second]))
    assert build_chosen_answer(rows, {n: PassageChoice(NONE) for n in range(1, len(rows) + 1)}, locate) == []


def test_each_passage_gets_what_was_chosen_for_it() -> None:
    first = [passage(0, 10, "a", "mine", size="big"), passage(20, 30, "b"), passage(40, 50, "a")]
    second = [passage(2, 12, "a", "yours", size="small"), passage(22, 30, "c"), passage(60, 70, "b")]
    rows = align_passages([first, second])

    def choose(*options: str) -> list[dict[str, Any]]:
        return build_chosen_answer(rows, {n: read_choice(option) for n, option in enumerate(options, start=1)}, locate)

    assert choose("a", "B", "neither", "a") == [first[0], second[1], second[2]]
    assert choose("both", "both", "none", "none") == [
        passage(0, 12, "a", "mine; yours", size="big ‖ small"),
        first[1],
        second[1],
    ]
    assert choose("b", "d: new words", "none", f"{IN_VIVO}: words")[1:] == [
        passage(100, 109, "d"),
        passage(100, 105, ""),
    ]
    assert choose("a: other", "none", "none", "none") == [passage(100, 105, "a", "mine; yours", size="big ‖ small")]


def test_an_undecided_or_unknown_passage_is_refused_with_its_choices() -> None:
    rows = align_passages([[passage(0, 10)], [passage(2, 12)]])
    with pytest.raises(InputError, match=r"passage 1 is not decided yet; choose from: A, B, all, none or other"):
        build_chosen_answer(rows, {}, locate)
    with pytest.raises(InputError, match="passage 1 cannot be settled with 'C'"):
        build_chosen_answer(rows, {1: PassageChoice("C")}, locate)
    with pytest.raises(InputError, match="there is no passage 2: the raters coded 1"):
        build_chosen_answer(rows, {2: PassageChoice(ALL)}, locate)
    with pytest.raises(InputError, match="need both"):
        build_chosen_answer(rows, {1: PassageChoice(OTHER)}, locate)


def test_what_all_raters_coded_alike_is_kept_without_a_choice() -> None:
    same = passage(0, 10)
    rows = align_passages([[same, passage(20, 30, "b")], [same]])
    assert build_chosen_answer(rows, {2: PassageChoice(NONE)}, locate) == [same]
    assert build_chosen_answer(rows, {1: PassageChoice(NONE), 2: PassageChoice("A")}, locate) == [passage(20, 30, "b")]
