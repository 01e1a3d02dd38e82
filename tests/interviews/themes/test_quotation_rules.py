"""Passages across turns stay complete, and overlapping passages of two raters become one quotation."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quaestor.coding.model.facet_kinds.passages import check_passages, merge_passages
from quaestor.coding.model.records import Code, Codebook, CodeFacet, Facet, read_passages
from quaestor.interviews.coding.decided_passages import CodedPassage, group_linked_passages

CODES = ("data", "time")
FACET = Facet("themes", "stretches", codes="themes")
BOOK = Codebook(
    1, facets={"themes": CodeFacet("themes")}, codes={code: Code(code, "themes", code) for code in CODES}
)  # fmt: skip
Passage = tuple[int, str, dict[int, tuple[int, int]]]
"""A rater, a code, and the position of a passage in each of its turns."""
_PLACE = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda one: (one[0], sum(one)))
_PASSAGE = st.tuples(
    st.integers(0, 1), st.sampled_from(CODES), st.dictionaries(st.integers(0, 3), _PLACE, min_size=1, max_size=3)
)


def decided(passages: list[Passage]) -> list[CodedPassage]:
    """What is decided where both raters' stretches count, each turn by itself."""
    found = []
    for turn in range(4):
        answers: list[list[dict[str, Any]]] = [[], []]
        for number, (rater, code, places) in enumerate(passages):
            if turn in places:
                start, end = places[turn]
                link = f"{rater}-{number}" if len(places) > 1 else ""
                answers[rater].append({"start": start, "end": end, "code": code, "link": link})
        merged = merge_passages(check_passages(FACET, BOOK, check_passages(FACET, BOOK, answer)) for answer in answers)
        found += [
            CodedPassage("themes", f"P1/{turn:05d}", "P1", "P1", turn, "", passage.start, passage.end, "", passage.code,
                         link=passage.link)
            for passage in read_passages(check_passages(FACET, BOOK, merged))
        ]  # fmt: skip
    return found


def letters(code: str, places: dict[int, tuple[int, int]]) -> set[tuple[str, int, int]]:
    return {(code, turn, at) for turn, (start, end) in places.items() for at in range(start, end)}


def wholes(passages: list[Passage]) -> list[list[Passage]]:
    """Passages that share letters, again and again until none do."""
    left = [[passage] for passage in passages]
    while met := next(((one, two) for one, two in combinations(left, 2) if spelled(one) & spelled(two)), None):
        left = [one for one in left if one is not met[0] and one is not met[1]] + [met[0] + met[1]]
    return left


def spelled(passages: list[Passage]) -> frozenset[tuple[str, int, int]]:
    return frozenset(letter for _, code, places in passages for letter in letters(code, places))


@given(st.lists(_PASSAGE, max_size=9))
def test_only_overlapping_passages_of_raters_are_joined_into_a_quotation(passages: list[Passage]) -> None:
    found = group_linked_passages(decided(passages))
    joined = [frozenset(at for one in several for at in letters(one.code, {one.turn: (one.start, one.end)}))
              for several in found]  # fmt: skip
    for one in passages:
        assert any(spelled([one]) <= quoted for quoted in joined), "each is whole in a quotation"
    together = wholes(passages)
    assert all(any(quoted <= spelled(several) for several in together) for quoted in joined)
    for several in together:
        if len(several) == len({rater for rater, _, _ in several}):
            assert [quoted for quoted in joined if quoted & spelled(several)] == [spelled(several)]


def test_overlapping_passages_of_one_rater_are_two_quotations() -> None:
    both: list[Passage] = [(rater, "data", {1: place}) for rater in (0, 1) for place in ((0, 20), (10, 30))]
    assert [[(one.start, one.end) for one in several] for several in group_linked_passages(decided(both))] == [
        [(0, 20)],
        [(10, 30)],
    ]


def test_a_passage_coded_by_two_raters_across_two_turns_is_one_quotation() -> None:
    found = group_linked_passages(
        decided([(0, "data", {1: (9, 42), 2: (0, 36)}), (1, "data", {1: (12, 42), 2: (0, 30)})])
    )
    assert [[(one.turn, one.start, one.end) for one in several] for several in found] == [[(1, 9, 42), (2, 0, 36)]]


def test_links_join_only_passages_of_the_same_interview_and_code() -> None:
    def one(interview: str, turn: int, code: str) -> CodedPassage:
        return CodedPassage("r", f"{interview}/{turn:05d}", interview, "P1", turn, "", 0, 4, "", code, link="a b")

    found = group_linked_passages(
        [one("P1", 1, "data"), one("P1-2", 1, "data"), one("P1", 3, "time"), one("P1", 3, "data")]
    )
    assert [len(several) for several in found] == [2, 1, 1]
