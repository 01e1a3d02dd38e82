"""The report as a whole: degenerate data, warnings, confusion, sets of codes, its JSON, and its speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from quaestor.measures.agreement import RatingTable, agreement, build_rating_table, build_set_table, to_json
from quaestor.measures.agreement.chance_corrected import build_membership, jaccard_distance, masi_distance
from quaestor.measures.agreement.report import landis_koch_band


def table_of(*columns: Sequence[str]) -> RatingTable:
    """One column of labels a rater."""
    return build_rating_table(
        (f"item {row}", f"R{rater}", label or None)
        for rater, column in enumerate(columns, 1)
        for row, label in enumerate(column)
    )


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (table_of([], []), "no item has ratings by two raters"),
        (table_of(["x", ""], ["", "y"]), "no item has ratings by two raters"),
        (table_of(["x"], ["x"]), "only one item has ratings by two raters"),
        (table_of("xxxx", "xxxx"), "every rating is the same code"),
        (table_of("xxxx", "xxxx", "xxxx"), "every rating is the same code"),
    ],
)
def test_degenerate_ratings_are_undefined_with_a_reason(table: RatingTable, why: str) -> None:
    found = agreement(table, facet="cause")
    for estimate in (found.kappa, found.estimates["fleiss"], found.ac1, found.alpha):
        assert estimate.value is None
        assert estimate.undefined.startswith(f"undefined, because {why}")
    assert found.band == ""
    assert set(to_json(found)["undefined"]) >= {"kappa", "fleiss", "ac1", "alpha"}
    assert to_json(found)["kappa_ci"] is None


def test_one_item_still_has_a_percent() -> None:
    assert agreement(table_of("x", "x"), facet="cause").percent.value == 1
    assert agreement(table_of("x", "x", "y"), facet="cause").percent.value == pytest.approx(1 / 3)


def test_the_interval_of_percent_agreement_uses_the_variance_of_partial_agreement() -> None:
    found = agreement(table_of("aabb", "aabb", "abbb"), facet="cause").percent
    each = [1, 1 / 3, 1, 1]
    assert found.value == pytest.approx(np.mean(each))
    assert found.se == pytest.approx(np.std(each, ddof=1) / 2)
    assert found.high == 1


def test_only_the_kappa_of_a_code_on_every_item_is_undefined() -> None:
    table = build_rating_table(
        [(str(item), rater, label) for rater in "AB" for item, label in enumerate("xyxy")], order=["x", "y", "z"]
    )
    codes = {code.code: code.kappa for code in agreement(table, facet="cause").codes}
    assert codes["x"].value == codes["y"].value == 1
    assert codes["z"].undefined == "undefined, because the code z was given to every item or to none"


def test_the_paradox_of_high_agreement_and_low_kappa_is_explained() -> None:
    first = ["no"] * 90 + ["yes"] * 2 + ["no"] * 4 + ["yes"] * 4
    second = ["no"] * 90 + ["yes"] * 2 + ["yes"] * 4 + ["no"] * 4
    found = agreement(table_of(first, second), facet="keep")
    assert found.percent.value == 0.92
    assert found.kappa.value == pytest.approx(0.2908, abs=1e-4)
    assert found.ac1.value == pytest.approx(0.9098, abs=1e-4)
    assert found.prevalence == pytest.approx((90 - 2) / 100)
    assert found.bias == pytest.approx(0)
    assert found.warnings == (
        "κ is 0.29 although the raters agree on 92% of the items, because 94% of the ratings are no: "
        "where codes are so unequal, report AC1 (here 0.91) next to κ.",
    )


def test_prevalence_and_bias_of_two_codes_match_byrt() -> None:
    first = ["yes"] * 60 + ["no"] * 40
    second = ["yes"] * 50 + ["no"] * 10 + ["yes"] * 2 + ["no"] * 38
    found = agreement(table_of(first, second), facet="keep")
    assert found.prevalence == pytest.approx((50 - 38) / 100)
    assert found.bias == pytest.approx((10 - 2) / 100)
    assert found.warnings == ()


def test_warnings_mention_rater_bias_and_few_items() -> None:
    found = agreement(table_of("xxxxxxyy", "xxyyyyyy"), facet="cause")
    assert any("With 8 items the intervals are rough" in words for words in found.warnings)
    assert any("(bias 0.50)" in words for words in found.warnings)


def test_perfect_agreement_warns_about_its_standard_error_of_zero() -> None:
    found = agreement(table_of("xyz" * 10, "xyz" * 10), facet="cause")
    assert (found.kappa.value, found.kappa.se, found.band) == (1, 0, "almost perfect")
    assert found.percent.low == pytest.approx(0.8865, abs=1e-4)
    assert any("There are no disagreements" in warning for warning in found.warnings)


def test_the_most_confused_codes_come_first_and_keep_their_direction_in_the_table() -> None:
    found = agreement(table_of("aaaabbbbcc", "aabbabbbac"), facet="cause")
    assert [(pair.codes, pair.n) for pair in found.confused] == [(("a", "b"), 3), (("a", "c"), 1)]
    assert found.confusion is not None
    assert (found.confusion.first, found.confusion.second) == ("R1", "R2")
    assert ("a", "b", 2) in found.confusion.cells
    assert ("b", "a", 1) in found.confusion.cells
    assert sum(number for _, _, number in found.confusion.cells) == found.n


def test_more_than_two_raters_have_fleiss_kappa_and_every_pair() -> None:
    columns = ["aabbccaabb", "aabbcc" + "bbaa", ["a", "a", "b", "b", "c", "", "", "", "a", "b"]]
    found = agreement(table_of(*columns), facet="cause")
    assert found.kappa_kind == "fleiss"
    assert found.kappa == found.estimates["fleiss"]
    assert found.confusion is None
    assert [(pair.first, pair.second, pair.n) for pair in found.pairs] == [
        ("R1", "R2", 10), ("R1", "R3", 7), ("R2", "R3", 7),
    ]  # fmt: skip
    alone = agreement(table_of(*columns[:2]), facet="cause")
    assert found.pairs[0].kappa == alone.kappa
    assert found.pairs[0].percent == alone.percent


def test_ordinal_and_interval_scales_weight_disagreements() -> None:
    near, far = table_of("1122334455" * 3, "1122334454" * 3), table_of("1122334455" * 3, "1122334451" * 3)
    for scale, weights in (("ordinal", "linear"), ("interval", "quadratic")):
        close, wide = (agreement(each, facet="pain", scale=scale) for each in (near, far))  # type: ignore[arg-type]
        assert close.weights == weights
        assert close.kappa.value == pytest.approx(wide.kappa.value, abs=0.01)
        for one, other in (
            (close.weighted_kappa, wide.weighted_kappa), (close.alpha, wide.alpha),
            (close.estimates["ac2"], wide.estimates["ac2"]),
        ):  # fmt: skip
            assert one is not None
            assert other is not None
            assert one.value is not None
            assert other.value is not None
            assert one.value > other.value + 0.05
        assert to_json(close)["weighted_band"] == "almost perfect"


def test_distances_between_sets_match_jaccard_and_masi() -> None:
    sets = [frozenset("ab"), frozenset("ab"), frozenset("a"), frozenset("bc"), frozenset("cd"), frozenset()]
    held = build_membership(sets, "abcd")
    assert jaccard_distance(held)[0] == pytest.approx([0, 0, 1 / 2, 2 / 3, 1, 1])
    assert masi_distance(held)[0] == pytest.approx([0, 0, 1 - 1 / 2 * 2 / 3, 1 - 1 / 3 * 1 / 3, 1, 1])
    assert jaccard_distance(held)[5, 5] == masi_distance(held)[5, 5] == 0


def test_alpha_of_sets_matches_its_definition() -> None:
    """Krippendorff's α with the MASI distance, by its definition over pairs of values."""
    columns = [
        ["ab", "a", "bc", "c", "abc", "b", "a", "cd"],
        ["a", "a", "bc", "cd", "ab", "b", "b", "cd"],
    ]
    table = build_set_table(
        (str(row), str(rater), frozenset(codes))
        for rater, column in enumerate(columns)
        for row, codes in enumerate(column)
    )
    found = agreement(table, facet="topics")

    def masi(one: str, other: str) -> float:
        first, second = set(one), set(other)
        shared = len(first & second)
        monotonic = 1.0 if first == second else 2 / 3 if first <= second or second <= first else 1 / 3 if shared else 0
        return 1 - shared / len(first | second) * monotonic

    everything = columns[0] + columns[1]
    observed = np.mean([masi(one, other) for one, other in zip(*columns, strict=True)])
    expected = np.mean(
        [masi(one, other) for i, one in enumerate(everything) for j, other in enumerate(everything) if i != j]
    )
    assert found.alpha.value == pytest.approx(1 - observed / expected, abs=1e-12)
    assert found.multilabel
    assert found.percent.value == 4 / 8
    assert found.overlap is not None
    assert found.overlap.value == pytest.approx((1 / 2 + 1 + 1 + 1 / 2 + 2 / 3 + 1 + 0 + 1) / 8)
    code = {one.code: one for one in found.codes}
    assert list(code) == ["a", "b", "c", "d"]
    assert (code["a"].n_any, code["a"].n_all) == (4, 3)
    assert code["c"].percent == 7 / 8
    assert code["d"].specific == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("kappa", "name"),
    [(-0.01, "poor"), (0.0, "slight"), (0.204, "slight"), (0.21, "fair"), (0.53, "moderate"), (0.61, "substantial"),
     (0.8, "substantial"), (0.81, "almost perfect"), (1.0, "almost perfect"), (None, "")],
)  # fmt: skip
def test_bands_match_the_table_of_landis_and_koch(kappa: float | None, name: str) -> None:
    assert landis_koch_band(kappa) == name


def test_each_of_63_codes_of_ten_thousand_items_has_its_interval() -> None:
    generator = np.random.default_rng(5)
    truth = generator.integers(0, 63, 10_000)
    other = np.where(generator.random(10_000) < 0.8, truth, generator.integers(0, 63, 10_000))
    found = agreement(table_of([str(code) for code in truth], [str(code) for code in other]), facet="cause")
    assert len(found.codes) == 63
    assert all(code.kappa.low is not None for code in found.codes)
