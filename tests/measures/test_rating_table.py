"""Which ratings count, which items are left out, and why."""

from __future__ import annotations

import pytest

from quaestor.base.errors import InputError
from quaestor.measures.agreement import agreement, build_rating_table, build_set_table


def test_items_with_fewer_than_two_ratings_are_left_out_with_a_reason() -> None:
    table = build_rating_table(
        [
            ("a", "r1", "x"), ("a", "r2", "y"),
            ("b", "r1", "x"), ("b", "r2", None),
            ("c", "r1", None), ("c", "r2", None),
            ("d", "r1", "x"), ("d", "r2", "unclear"),
        ],
        cannot_judge=["unclear"],
    )  # fmt: skip
    assert table.items == ("a",)
    assert table.labels == ("x", "y")
    assert table.left_out == {
        "b": "rated by fewer than two raters",
        "c": "rated by fewer than two raters",
        "d": "cannot judge",
    }
    assert table.reasons == {"cannot judge": 1, "rated by fewer than two raters": 2}


def test_an_item_that_one_of_three_raters_cannot_judge_is_kept() -> None:
    rows = [("a", "r1", "x"), ("a", "r2", "x"), ("a", "r3", "?"), ("b", "r1", "x"), ("b", "r3", "y")]
    table = build_rating_table(rows, cannot_judge=["?"])
    assert table.ratings.tolist() == [[0, 0, -1], [0, -1, 1]]
    assert not table.left_out


def test_a_rater_without_shared_items_is_named_and_left_out() -> None:
    rows = [("a", "r1", "x"), ("a", "r2", "x"), ("b", "r1", "y"), ("b", "r2", "x"), ("c", "r3", "x")]
    found = agreement(build_rating_table(rows), facet="cause")
    assert found.raters == ("r1", "r2")
    assert found.kappa_kind == "cohen"
    assert "r3 shares no item with another rater and is left out." in found.warnings


def test_numbers_are_ordered_by_value_and_words_by_the_order_given() -> None:
    rows = [("a", "r1", "10"), ("a", "r2", "9"), ("b", "r1", "-1.5"), ("b", "r2", "9")]
    table = build_rating_table(rows)
    assert table.labels == ("-1.5", "9", "10")
    assert table.ordered
    words = [("a", "r1", "low"), ("a", "r2", "high")]
    assert not build_rating_table(words).ordered
    assert build_rating_table(words, order=["low", "middle", "high"]).labels == ("low", "middle", "high")


def test_a_repeated_rating_counts_once_and_a_contradicting_one_is_refused() -> None:
    rows = [("a", "r1", "x"), ("a", "r1", "x"), ("a", "r1", None), ("a", "r2", "x")]
    assert build_rating_table(rows).ratings.tolist() == [[0, 0]]
    with pytest.raises(InputError, match="rater 'r1' rates item 'a' twice, as 'x' and as 'y': keep one"):
        build_rating_table([*rows, ("a", "r1", "y")])
    with pytest.raises(InputError, match="as cannot judge and as 'x'"):
        build_rating_table([("a", "r1", "?"), ("a", "r1", "x")], cannot_judge=["?"])
    with pytest.raises(InputError, match="as 'x' and as 'x; y'"):
        build_set_table([("a", "r1", frozenset("x")), ("a", "r1", frozenset("xy"))])


def test_different_sets_with_the_same_label_stay_separate() -> None:
    table = build_set_table([("a", "r1", frozenset(["x; y"])), ("a", "r2", frozenset(["x", "y"]))])
    assert table.ratings.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("order", "message"),
    [(["low"], "the label 'high' is not in the order low"), (["low", "high", "low"], "names a label twice")],
)
def test_an_order_that_does_not_fit_is_refused(order: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_rating_table([("a", "r1", "low"), ("a", "r2", "high")], order=order)


def test_a_scale_that_does_not_fit_the_labels_is_refused() -> None:
    words = build_rating_table([("a", "r1", "low"), ("a", "r2", "high")])
    with pytest.raises(InputError, match="an ordinal scale needs the order of its labels"):
        agreement(words, facet="severity", scale="ordinal")
    with pytest.raises(InputError, match="an interval scale needs numbers, but 'high' is not one"):
        agreement(words, facet="severity", scale="interval")
    sets = build_set_table([("a", "r1", frozenset("1")), ("a", "r2", frozenset("12"))])
    with pytest.raises(InputError, match="sets of codes have no ordinal scale"):
        agreement(sets, facet="severity", scale="ordinal")


def test_a_column_of_free_text_is_refused_before_it_fills_the_memory() -> None:
    rows = ((str(item), rater, f"note {item} of {rater}") for item in range(1_100) for rater in ("r1", "r2"))
    with pytest.raises(InputError, match="2,200 different labels, as in free text"):
        build_rating_table(rows)
