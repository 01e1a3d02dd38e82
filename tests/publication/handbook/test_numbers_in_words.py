"""Numbers in words: easy to grasp and correct."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.publication.handbook.numbers_in_words import (
    breakable,
    brief_duration,
    count,
    counted,
    duration,
    duration_range,
    headline,
    listed,
    plain,
)

MINUTES = {"minute": 1, "hour": 60, "day": 1440, "year": 525_960}


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (0.0, "less than a minute"),
        (1 / 1440, "1 minute"),
        (0.0417, "1 hour"),
        (0.0915, "2.2 hours"),
        (59.7 / 1440, "1 hour"),
        (0.75, "18 hours"),
        (2.0, "2 days"),
        (18.32, "18 days"),
        (179.25, "179 days"),
        (1500.0, "4.1 years"),
    ],
)
def test_a_duration_is_written_in_the_natural_unit(days: float, words: str) -> None:
    assert duration(days) == words


@given(st.floats(min_value=1 / 1440, max_value=20_000))
def test_a_duration_in_words_is_accurate(days: float) -> None:
    amount, unit = duration(days).split()
    said = float(amount.replace(",", "")) * MINUTES[unit.removesuffix("s")]
    assert said == pytest.approx(days * 1440, rel=0.06, abs=0.5)


@given(st.floats(min_value=0, max_value=20_000), st.floats(min_value=0, max_value=20_000))
def test_a_range_in_words_names_both_ends(one: float, other: float) -> None:
    low, high = sorted((one, other))
    words = duration_range(low, high)
    assert words.endswith(duration(high))
    assert words.startswith(duration(low).rpartition(" ")[0]) or words == duration(high)


def test_a_range_within_one_unit_names_it_once() -> None:
    assert duration_range(1.6 / 24, 3.1 / 24) == "1.6 to 3.1 hours"
    assert duration_range(0.5 / 24, 3.1 / 24) == "30 minutes to 3.1 hours"
    assert duration_range(1 / 24, 2 / 24) == "1 to 2 hours"


def test_short_durations_use_abbreviated_units() -> None:
    assert [brief_duration(days) for days in (0.02, 0.0915, 3.0)] == ["29 min", "2.2 h", "3 d"]


def test_counts_keep_the_half_of_a_median() -> None:
    assert [count(1268.5), count(402.0), count(1_000_000), count(-3)] == ["1,268.5", "402", "1,000,000", "-3"]
    assert [counted(1, "post"), counted(0, "post"), counted(2, "category")] == ["1 post", "0 posts", "2 categories"]
    assert [listed([]), listed(["a"]), listed(["a", "b", "c"])] == ["", "a", "a, b and c"]


def test_a_headline_is_capitalized_unless_its_name_has_a_fixed_spelling() -> None:
    names = ["data processing", "one-hot vector", "tf.data", "pH", "(save/restore) model", "GPU"]
    assert [headline(name) for name in names] == [
        "Data processing", "One-hot vector", "tf.data", "pH", "(save/restore) model", "GPU",
    ]  # fmt: skip


def test_a_name_can_break_after_a_slash_and_is_escaped() -> None:
    assert breakable("<b>/c") == "&lt;b&gt;/<wbr>c"


@given(st.text(st.characters()))
def test_plain_text_is_encodable_and_keeps_readable_characters(text: str) -> None:
    made = plain(text)
    assert len(made) == len(text)
    assert made.encode("utf-8").decode("utf-8") == made
    assert plain("a\x00b\ud800c\td") == "a\ufffdb\ufffdc\td"
