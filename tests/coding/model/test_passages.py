"""Merging passages: only passages of different raters are merged, and every character keeps its codes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.coding.model.facet_kinds.passages import differing_fields, merge_passages
from quaestor.coding.model.records import Passage, read_passages

Answer = list[dict[str, Any]]
_PLACE = st.tuples(st.integers(0, 30), st.integers(1, 12), st.sampled_from(["", "a", "b"]))
_SAID = st.tuples(st.sampled_from(["", "m", "n"]), st.sampled_from(["", "high", "High", "low"]), st.sampled_from("xy"))


def _answer(found: dict[tuple[int, int, str], tuple[str, str, str]]) -> Answer:
    stretches = [
        Passage(start, start + length, code, memo, {"importance": words} if words and code else {}, link)
        for (start, length, code), (memo, words, link) in found.items()
    ]
    return [one.payload() for one in sorted(stretches, key=lambda one: (one.start, one.end, one.code))]


ANSWERS = st.dictionaries(_PLACE, _SAID, max_size=8).map(_answer)


def one(start: int, end: int, importance: str = "", code: str = "a") -> dict[str, Any]:
    return Passage(start, end, code, "", {"importance": importance} if importance else {}).payload()


def letters(answer: Answer) -> set[tuple[int, str]]:
    """Every place of a letter with each code that it has."""
    return {(at, passage.code) for passage in read_passages(answer) for at in range(passage.start, passage.end)}


@given(ANSWERS)
def test_merging_one_answer_or_equal_answers_gives_that_answer(answer: Answer) -> None:
    assert merge_passages([answer]) == answer
    assert merge_passages([answer, answer]) == answer
    assert differing_fields(merge_passages([answer, answer])) == []


@given(st.lists(ANSWERS, max_size=4))
def test_merged_passages_cover_every_character_that_a_rater_coded(answers: list[Answer]) -> None:
    found = merge_passages(answers)
    assert letters(found) == {letter for answer in answers for letter in letters(answer)}
    assert letters(merge_passages(answers, ["a"])) == {letter for letter in letters(found) if letter[1] != "b"}
    places = [(each["start"], each["end"], each.get("code")) for each in found]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_overlapping_passages_of_three_raters_are_merged_in_any_order(order: tuple[int, ...]) -> None:
    answers = [[one(0, 10)], [one(8, 20)], [one(15, 30)]]
    assert merge_passages(answers[number] for number in order) == [one(0, 30)]


@pytest.mark.parametrize("turned", [False, True])
def test_a_long_passage_is_merged_with_the_one_it_overlaps_most(turned: bool) -> None:
    answers = [[one(0, 30, "high")], [one(0, 10, "low"), one(12, 30, "high")]]
    assert merge_passages(reversed(answers) if turned else answers) == [one(0, 10, "low"), one(0, 30, "high")]


def test_passages_merged_to_the_same_place_become_one() -> None:
    assert merge_passages([[one(0, 12, "low"), one(0, 20, "high")], [one(1, 19, "high"), one(10, 20, "low")]]) == [
        one(0, 20, "low ‖ high")
    ]
