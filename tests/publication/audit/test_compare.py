"""One printed figure against one computed value: what is the same, what was rounded, what differs."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.publication.audit.compare import compare_numbers, find_numbers, is_truncated, judge, number_alone
from quaestor.publication.audit.records import DIFFERS, MATCH, NOT_COMPUTABLE, NOT_PRINTED, ROUNDING

NUMBERS = st.decimals(-1_000_000, 1_000_000, places=9)
DECIMALS = st.integers(0, 6)


def printed(number: Decimal, decimals: int, rounding: str = ROUND_HALF_UP) -> str:
    return f"{number.quantize(Decimal(1).scaleb(-decimals), rounding):f}"


@given(NUMBERS, DECIMALS, st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN]))
def test_a_rounded_number_is_a_match_or_rounding(number: Decimal, decimals: int, rounding: str) -> None:
    text = printed(number, decimals, rounding)
    expected = MATCH if Decimal(text) == number else ROUNDING
    assert judge(text, float(number)) == expected


@given(NUMBERS, DECIMALS, st.sampled_from([-1, 1]), st.decimals("0.501", "1000", places=3))
def test_more_than_half_a_unit_away_differs(number: Decimal, decimals: int, sign: int, units: Decimal) -> None:
    text = printed(number, decimals)
    away = Decimal(text) + sign * units * Decimal(1).scaleb(-decimals)
    assert judge(text, float(away)) == DIFFERS


@given(st.integers(-(10**6), 10**6), DECIMALS, st.sampled_from([-1, 1]))
def test_a_difference_of_exactly_half_a_unit_is_rounding(whole: int, decimals: int, sign: int) -> None:
    unit = Decimal(1).scaleb(-decimals)
    number = whole * unit
    assert judge(f"{number:f}", float(number + sign * unit / 2)) == ROUNDING


@given(NUMBERS, DECIMALS)
def test_a_number_is_parsed_in_every_usual_notation(number: Decimal, decimals: int) -> None:
    text = printed(number, decimals)
    value = Decimal(text)
    for written in (text, f"{value:,f}", text.replace("-", "−"), f"about {value:,f}% of them"):
        assert find_numbers(written) == [(float(value), decimals)], written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("81.7% (81.6% in the text)", [(81.7, 1), (81.6, 1)]),
        ("179.25, 128.43 days", [(179.25, 2), (128.43, 2)]),
        ("1,2,3", [(1, 0), (2, 0), (3, 0)]),
        ("22,000,000", [(22_000_000, 0)]),
        ("12,3456", [(12, 0), (3456, 0)]),
        (".53", [(0.53, 2)]),
        ("-.53", [(-0.53, 2)]),
        ("2014-2015", [(2014, 0), (2015, 0)]),
        ("10%–20%", [(10, 0), (20, 0)]),
        ("level-2", [(2, 0)]),
        ("2.2e-16", [(2.2e-16, 17)]),
        ("46.", [(46, 0)]),
        ("n.a.", []),
        ("–", []),
        ("", []),
    ],
)
def test_all_numbers_of_a_text_are_found(text: str, expected: list[tuple[float, int]]) -> None:
    assert find_numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "computed", "expected"),
    [
        ("328", 328, MATCH),
        ("328", 329, DIFFERS),
        ("1,441", 1441.0, MATCH),
        ("86.4%", 86.38, ROUNDING),
        ("81.7% (81.6% in the text)", 81.6, DIFFERS),
        ("−0.21", -0.214, ROUNDING),
        ("-0.21", 0.21, DIFFERS),
        ("0.00", -0.004, ROUNDING),
        ("", 3.0, NOT_PRINTED),
        (" ", None, NOT_PRINTED),
        ("3", None, NOT_COMPUTABLE),
        ("illegible", 3.0, DIFFERS),
        ("Data  processing", "data processing", MATCH),
        ("Data processing", "model setting", DIFFERS),
        ("<0.001", 0.0004, MATCH),
        ("< 0.001", 0.001, DIFFERS),
        ("≤ 0.001", 0.001, MATCH),
        ("> 4", 3.9, DIFFERS),
        ("≥ 4", 4.0, MATCH),
        ("2.2e-16", 2.21e-16, ROUNDING),
        ("2.2e-16", 2.3e-16, DIFFERS),
    ],
)
def test_a_printed_figure_gets_the_right_verdict(text: str, computed: float | str | None, expected: str) -> None:
    assert judge(text, computed) == expected


def test_an_at_least_claim_is_a_lower_bound() -> None:
    assert judge("22,000,000", 22_000_001.0, at_least=True) == MATCH
    assert judge("22,000,000", 22_000_000.0, at_least=True) == MATCH
    assert judge("22,000,000", 21_999_999.0, at_least=True) == DIFFERS


def test_floating_point_noise_is_not_a_difference() -> None:
    assert compare_numbers(0.3, 1, 0.1 + 0.2) == MATCH
    assert compare_numbers(100.0, 6, 0.1 * 3 * 1000 / 3) == MATCH


@given(st.decimals(-1_000_000, 1_000_000, places=7), DECIMALS)
def test_a_truncated_number_is_recognized(number: Decimal, decimals: int) -> None:
    assert is_truncated(printed(number, decimals, ROUND_DOWN), float(number))


@given(st.decimals(-1_000_000, 1_000_000, places=7), DECIMALS, st.integers(1, 50), st.sampled_from([-1, 1]))
def test_another_number_is_not_recognized_as_truncated(number: Decimal, decimals: int, units: int, sign: int) -> None:
    other = Decimal(printed(number, decimals, ROUND_DOWN)) + sign * units * Decimal(1).scaleb(-decimals)
    assert not is_truncated(f"{other:f}", float(number))


def test_words_and_limits_are_not_recognized_as_truncated() -> None:
    assert not is_truncated("", 0.3)
    assert not is_truncated("0.3", None)
    assert not is_truncated("0.3", "words")
    assert not is_truncated("<0.001", 0.0015)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("328", 328),
        ("1,441", 1441),
        ("86.4%", 86.4),
        ("0.00", 0.0),
        ("−3", -3),
        (".53", 0.53),
        ("<0.001", None),
        ("(46)", None),
        ("179.25, 128.43 days", None),
        ("43 (46 in table 7)", None),
        ("", None),
    ],
)
def test_a_text_that_is_only_a_number_is_parsed(text: str, expected: float | None) -> None:
    found = number_alone(text)
    assert found == expected
    assert isinstance(found, type(expected))
