"""Sample sizes against published tables and the textbook formula; samples by their properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.base.errors import InputError
from quaestor.evidence.samples import allocate, compute_sample_size, draw_simple_sample, draw_stratified_sample


@pytest.mark.parametrize(
    ("population", "expected"),
    # Krejcie and Morgan, Educational and Psychological Measurement 30 (1970), table 1: 95 %, ± 5 %.
    [(10, 10), (100, 80), (500, 217), (1_000, 278), (5_000, 357), (10_000, 370), (100_000, 383)],
)
def test_sizes_agree_with_a_published_table(population: int, expected: int) -> None:
    assert abs(compute_sample_size(population, 0.95, 0.05) - expected) <= 1


def test_the_size_for_an_unlimited_population_is_the_textbook_one() -> None:
    assert compute_sample_size(10**12, 0.95, 0.05) == 385
    assert compute_sample_size(10**12, 0.99, 0.05) == 664
    assert compute_sample_size(0, 0.95, 0.05) == 0


@pytest.mark.parametrize("wrong", [(100, 0.0, 0.05), (100, 1.0, 0.05), (100, 0.95, 0.0), (100, 0.95, 1.5)])
def test_confidence_margin_and_share_outside_their_range_are_refused(wrong: tuple[int, float, float]) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        compute_sample_size(*wrong)


@given(st.integers(1, 10**6), st.floats(0.5, 0.999), st.floats(0.01, 0.3))
def test_a_sample_size_never_exceeds_the_population_and_grows_with_confidence(
    population: int, confidence: float, margin: float
) -> None:
    size = compute_sample_size(population, confidence, margin)
    assert 1 <= size <= population
    assert compute_sample_size(population, confidence, margin / 2) >= size


@given(st.lists(st.text(min_size=1), unique=True, min_size=1, max_size=60), st.integers(0, 2**31), st.data())
def test_a_sample_depends_on_items_and_seed_and_not_on_their_order(
    items: list[str], seed: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(items)))
    drawn = draw_simple_sample(items, size, seed)
    assert drawn == draw_simple_sample(list(reversed(items)), size, seed)
    assert len(set(drawn)) == size
    assert set(drawn) <= set(items)


def test_every_item_is_equally_likely_to_be_sampled() -> None:
    items = [f"{number:02}" for number in range(20)]
    hits = dict.fromkeys(items, 0)
    for seed in range(4_000):
        for item in draw_simple_sample(items, 5, seed):
            hits[item] += 1
    assert all(850 < count < 1_150 for count in hits.values())


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 500), min_size=1), st.data())
def test_strata_get_their_share_to_within_one_item(counts: dict[str, int], data: st.DataObject) -> None:
    total = sum(counts.values())
    size = data.draw(st.integers(0, total))
    places = allocate(size, counts)
    assert sum(places.values()) == size
    for name, count in counts.items():
        assert places[name] <= count
        assert not total or abs(places[name] - size * count / total) < 1


def test_a_sample_larger_than_the_population_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be drawn from 2 items"):
        draw_simple_sample(["a", "b"], 3, 1)
    with pytest.raises(InputError, match="cannot be drawn"):
        draw_stratified_sample({"x": ["a"]}, 2, 1)
