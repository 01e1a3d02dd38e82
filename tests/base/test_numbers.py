"""A typed number is a few plain digits; any other text is not a number and raises nothing."""

from __future__ import annotations

import pytest

from quaestor.base.names import count_of, parse_whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("999999999", 999_999_999)])
def test_plain_digits_are_a_number(text: str, number: int) -> None:
    assert parse_whole_number(text) == number


@pytest.mark.parametrize("text", ["", " 1", "-1", "+1", "1_0", "1.0", "1e3", "²", "٣", "1" * 10, "9" * 5000, "x"])
def test_any_other_text_is_not_a_number(text: str) -> None:
    assert parse_whole_number(text) is None


def test_a_noun_is_plural_unless_there_is_one() -> None:
    assert [count_of(number, "facet") for number in (0, 1, 2, 1200)] == [
        "0 facets",
        "1 facet",
        "2 facets",
        "1,200 facets",
    ]
