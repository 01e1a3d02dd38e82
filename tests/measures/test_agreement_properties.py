"""What holds for any ratings: invariances, bounds, and never a NaN."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.measures.agreement import agreement, build_rating_table, build_set_table, to_json
from quaestor.measures.records import Agreement

Triples = list[tuple[str, str, str | None]]
NAMES = ("percent", "kappa", "fleiss", "ac1", "alpha")


@st.composite
def triples(draw: st.DrawFn, raters: int = 3, labels: str = "12345") -> Triples:
    label = st.one_of(st.none(), st.sampled_from(labels[: draw(st.integers(1, len(labels)))]))
    rows = draw(st.lists(st.lists(label, min_size=raters, max_size=raters), max_size=12))
    return [
        (f"item {number}", f"rater {place}", label)
        for number, row in enumerate(rows)
        for place, label in enumerate(row)
    ]


def values(found: Agreement, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    return {name: found.estimates[name].value for name in names}


@given(triples(), st.sampled_from(["nominal", "ordinal", "interval"]))
@settings(deadline=None, max_examples=150)
def test_results_are_never_nan(ratings: Triples, scale: Any) -> None:
    found = agreement(build_rating_table(ratings), facet="cause", scale=scale)
    assert "NaN" not in json.dumps(to_json(found))
    json.dumps(to_json(found), allow_nan=False)
    for name in NAMES:
        estimate = found.estimates[name]
        assert (estimate.value is None) == bool(estimate.undefined)
        assert not estimate.undefined or estimate.undefined.startswith("undefined, because ")


@given(triples(raters=2) | triples(raters=4))
@settings(deadline=None)
def test_estimates_stay_within_their_bounds(ratings: Triples) -> None:
    found = agreement(build_rating_table(ratings), facet="cause")
    for name in NAMES:
        estimate = found.estimates[name]
        if estimate.value is not None:
            assert -1 - 1e-9 <= estimate.value <= 1
            assert estimate.low is None or estimate.low <= estimate.high <= 1
            if estimate.how == "analytic" and estimate.low is None:
                assert estimate.value < 1, "an interval without width is told of raters who agree on everything alone"
                assert estimate.se == pytest.approx(0, abs=1e-6)
            elif estimate.how == "analytic":
                assert estimate.low - 1e-12 <= estimate.value <= estimate.high + 1e-12
                assert estimate.se >= 0


@given(triples(raters=2) | triples(raters=3), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_neither_the_order_of_rows_nor_the_names_of_raters_matter(ratings: Triples, random: Any) -> None:
    expected = agreement(build_rating_table(ratings), facet="cause")
    shuffled = random.sample(ratings, len(ratings))
    names = {"rater 0": "z", "rater 1": "y", "rater 2": "x"}
    again = agreement(build_rating_table((item, names[rater], label) for item, rater, label in shuffled), facet="cause")
    for name in NAMES:
        one, other = expected.estimates[name], again.estimates[name]
        assert one.undefined == other.undefined
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.se == pytest.approx(other.se, abs=1e-9)


@given(triples(raters=2) | triples(raters=3))
@settings(deadline=None)
def test_the_names_of_the_codes_do_not_matter_on_a_nominal_scale(ratings: Triples) -> None:
    names = {"1": "delta", "2": "alpha", "3": "echo", "4": "bravo", "5": "charlie", None: None}
    renamed = [(item, rater, names[label]) for item, rater, label in ratings]
    one, other = (values(agreement(build_rating_table(each), facet="cause")) for each in (ratings, renamed))
    assert {name: pytest.approx(value, abs=1e-12) for name, value in one.items()} == other


@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=20), st.integers(2, 4))
@settings(deadline=None)
def test_with_perfect_agreement_every_coefficient_is_one_or_undefined(labels: list[str], raters: int) -> None:
    table = build_rating_table(
        (str(item), str(rater), label) for item, label in enumerate(labels) for rater in range(raters)
    )
    found = agreement(table, facet="cause")
    varied = len(set(labels)) > 1
    assert found.percent.value == 1
    for name in NAMES[1:]:
        assert found.estimates[name].value == (1.0 if varied else None), name
    assert all(code.kappa.value in (1.0, None) for code in found.codes)


@given(triples(raters=2, labels="abc") | triples(raters=3, labels="abc"))
@settings(deadline=None)
def test_sets_of_single_codes_give_the_agreement_of_the_codes(ratings: Triples) -> None:
    single = agreement(build_rating_table(ratings), facet="cause")
    sets = agreement(
        build_set_table((item, rater, None if label is None else frozenset([label])) for item, rater, label in ratings),
        facet="cause",
    )
    assert values(single) == pytest.approx(values(sets), nan_ok=False) or values(single) == values(sets)
    assert sets.overlap is not None
    assert sets.overlap.value == single.percent.value
    assert [code.kappa for code in single.codes] == [code.kappa for code in sets.codes]


@given(triples(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_the_same_seed_gives_the_same_interval(ratings: Triples, seed: int) -> None:
    table = build_rating_table(ratings)
    one = agreement(table, facet="cause", seed=seed)
    assert one == agreement(table, facet="cause", seed=seed)
    assert one.alpha.se is None or math.isfinite(one.alpha.se)
