"""Agreement on passages: the published example, an implementation character by character, and what always holds."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.measures.agreement.unitizing import CodedText, cu_alpha, keep_codes, u_alpha, u_alpha_binary
from quaestor.measures.records import Estimate

EXAMPLE = CodedText(
    60,
    {
        "Alex": [(0, 7, "1"), (7, 13, "2"), (30, 32, "5"), (32, 37, "6"), (37, 44, "6"), (44, 60, "7")],
        "Paul": [(0, 7, "1"), (7, 13, "3"), (13, 21, "5"), (32, 44, "6")],
        "Suzan": [(0, 7, "1"), (7, 13, "4"), (13, 21, "5"), (32, 37, "6"), (37, 41, "6"), (41, 44, "6")],
    },
)
"""Figure 12.11 of Krippendorff (2019), Content Analysis."""
Spans = list[tuple[int, int, str]]


def test_the_coefficients_of_the_published_example_are_reproduced() -> None:
    assert u_alpha([EXAMPLE], seed=0).value == pytest.approx(0.510, abs=5e-4)
    assert u_alpha_binary([EXAMPLE], seed=0).value == pytest.approx(0.413, abs=1e-3)
    assert cu_alpha([EXAMPLE], seed=0).value == pytest.approx(0.724, abs=5e-4)


@st.composite
def coded_texts(draw: st.DrawFn) -> list[CodedText]:
    """Short texts with passages that may overlap, touch and repeat."""
    span = st.tuples(st.integers(0, 11), st.integers(1, 6), st.sampled_from("ab"))
    raters = draw(st.integers(2, 3))
    texts = []
    for length in draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)):
        passages = [
            [(start, start + size, code) for start, size, code in draw(st.lists(span, max_size=3)) if start < length]
            for _ in range(raters)
        ]
        texts.append(CodedText(length, {f"rater {number}": spans for number, spans in enumerate(passages)}))
    return texts


def units_by_character(length: int, spans: Spans) -> list[tuple[int, frozenset[str]]]:
    """Each character with the number of its section and its codes."""
    joined = [set(range(start, min(end, length))) for start, end, _ in spans]
    codes = [code for _, _, code in spans]
    for first, second in [*combinations(range(len(spans)), 2)] * len(spans):
        if codes[first] == codes[second] and joined[first] & joined[second]:
            joined[first] = joined[second] = joined[first] | joined[second]
    marks = [
        frozenset((codes[n], min(joined[n])) for n in range(len(spans)) if at in joined[n]) for at in range(length)
    ]
    number, sections = 0, []
    for at, mark in enumerate(marks):
        number += at > 0 and mark != marks[at - 1]
        sections.append((number, frozenset(code for code, _ in mark)))
    return sections


def masi(first: frozenset[str], second: frozenset[str]) -> float:
    if first == second:
        return 0.0
    shared, union = first & second, first | second
    weight = 2 / 3 if shared in (first, second) else 1 / 3 if shared else 0.0
    return 1 - len(shared) / len(union) * weight


def naive_u_alpha(texts: list[CodedText]) -> float | None:
    """uα from every pair of characters: those of two raters at one place, against all that are not of one section."""
    observed, everything = 0.0, []
    for number, text in enumerate(texts):
        raters = [units_by_character(text.length, list(spans)) for spans in text.passages.values()]
        for first, second in permutations(raters, 2):
            observed += sum(masi(a, b) for (_, a), (_, b) in zip(first, second, strict=True)) / (len(raters) - 1)
        for rater, units in enumerate(raters):
            for at, (section, codes) in enumerate(units):
                everything.append(((number, rater, section if codes else -1 - at), codes))
    pairs = [(a, b) for (unit, a) in everything for (other, b) in everything if unit != other]
    expected = sum(masi(a, b) for a, b in pairs)
    return None if expected == 0 else 1 - observed / len(everything) * len(pairs) / expected


@given(coded_texts())
@settings(deadline=None, max_examples=60)
def test_the_coefficient_equals_one_computed_character_by_character(texts: list[CodedText]) -> None:
    computed, naive = u_alpha(texts, seed=0, replicates=0).value, naive_u_alpha(texts)
    assert computed == (None if naive is None else pytest.approx(naive))


def all_values(texts: list[CodedText]) -> list[float | None]:
    each = (u_alpha, u_alpha_binary, cu_alpha)
    return [compute(texts, seed=0, replicates=0).value for compute in each]


@given(coded_texts(), st.randoms())
@settings(deadline=None, max_examples=60)
def test_raters_texts_and_passages_can_be_in_any_order(texts: list[CodedText], random: object) -> None:
    shuffled = [
        CodedText(text.length, {rater: list(reversed(spans)) for rater, spans in reversed(text.passages.items())})
        for text in reversed(texts)
    ]
    assert all_values(shuffled) == [None if value is None else pytest.approx(value) for value in all_values(texts)]


@given(coded_texts())
@settings(deadline=None, max_examples=60)
def test_equal_passages_agree_perfectly(texts: list[CodedText]) -> None:
    same = [CodedText(text.length, dict.fromkeys("xyz", text.passages["rater 0"])) for text in texts]
    assert set(all_values(same)) <= {1.0, None}


@given(coded_texts())
@settings(deadline=None, max_examples=60)
def test_one_code_alone_is_a_question_of_being_coded(texts: list[CodedText]) -> None:
    alone = keep_codes(texts, ["a"])
    assert u_alpha(alone, seed=0) == u_alpha_binary(alone, seed=0)


def test_a_passage_with_another_end_agrees_in_part() -> None:
    texts = [CodedText(100, {"x": [(10, 50, "a")], "y": [(10, end, "a")]}) for end in (50, 45, 60)]
    whole, shorter, longer = (u_alpha([text], seed=0).value or 0 for text in texts)
    assert whole == 1 > shorter > longer > 0.5


def test_the_interval_comes_from_resampled_texts_and_the_seed() -> None:
    texts = [CodedText(40, {"x": [(0, 10 + n, "a")], "y": [(n, 12, "b" if n % 3 else "a")]}) for n in range(9)]
    first, again = u_alpha(texts, seed=3), u_alpha(texts, seed=3)
    assert (first, first.how) == (again, "bootstrap")
    assert first.low is not None
    assert first.low < (first.value or math.nan) < (first.high or math.nan)
    assert u_alpha(texts[:1], seed=3).low is None


@pytest.mark.parametrize("compute", [u_alpha, u_alpha_binary, cu_alpha])
def test_what_cannot_be_computed_has_a_reason(compute: object) -> None:
    assert callable(compute)
    nothing: Estimate = compute([], seed=0)
    assert nothing.undefined == "undefined, because no text was coded by two raters"
    assert compute([CodedText(9, {"x": [(0, 3, "a")]})], seed=0).undefined == nothing.undefined
    empty = compute([CodedText(9, {"x": [], "y": []})], seed=0)
    assert empty.undefined == "undefined, because every character has the same codes, so agreement by chance is certain"
