"""Medians are met exactly whatever the sizes, and parts sum to their whole."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.synth.phrases import apportion
from quaestor.synth.planting import ObjectGroups, draw_around, settle_phases


def groups_of(sizes: list[int], phases: list[int]) -> ObjectGroups:
    objects = np.repeat(np.arange(len(sizes)), sizes)
    return ObjectGroups(objects, np.array(phases)[objects], np.array(sizes))


SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=8)


@st.composite
def sized_medians(draw: st.DrawFn) -> tuple[list[int], list[float]]:
    """Sizes of objects with a median each; only an even number of whole numbers can have half a one in the middle."""
    sizes = draw(SIZES)
    halves = [draw(st.integers(0, 6_000)) for _ in sizes]
    return sizes, [half / 2 if size % 2 == 0 else float(half) for size, half in zip(sizes, halves, strict=True)]


@given(sized_medians(), st.integers(0, 2**32), st.floats(0.1, 3))
def test_the_median_of_every_object_is_exact(drawn: tuple[list[int], list[float]], seed: int, spread: float) -> None:
    sizes, medians = drawn
    groups = groups_of(sizes, [0] * len(sizes))
    values = draw_around(groups, np.array(medians), spread, 0, np.random.default_rng(seed))
    for number, wanted in enumerate(medians):
        assert median(values[groups.objects == number].tolist()) == wanted


@given(sized_medians(), st.integers(0, 2**32), st.integers(0, 3_000))
def test_fixing_a_phase_median_keeps_the_object_medians(
    drawn: tuple[list[int], list[float]], seed: int, wanted: int
) -> None:
    sizes, medians = drawn
    rng = np.random.default_rng(seed)
    groups = groups_of(sizes, [0] * len(sizes))
    before = draw_around(groups, np.array(medians), 1.5, 0, rng)
    after = settle_phases(groups, np.array(medians), np.array([float(wanted)]), before, rng)
    for number, of_object in enumerate(medians):
        assert median(after[groups.objects == number].tolist()) == of_object
    assert abs(median(after.tolist()) - wanted) <= abs(median(before.tolist()) - wanted)


@pytest.mark.parametrize("seed", range(5))
def test_a_phase_with_objects_on_both_sides_gets_its_exact_median(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = groups_of([21, 30, 11, 50], [0, 0, 1, 1])
    medians = np.array([300.0, 700.0, 90.0, 40.5])
    values = draw_around(groups, medians, 1.5, 0, rng)
    settled = settle_phases(groups, medians, np.array([520.0, 61.0]), values, rng)
    assert [median(settled[groups.phases == phase].tolist()) for phase in (0, 1)] == [520, 61]


@given(st.lists(st.integers(1, 200), min_size=1, max_size=30), st.integers(0, 3_000))
def test_apportioned_parts_sum_to_the_total_and_are_at_least_1_if_possible(weights: list[int], total: int) -> None:
    parts = apportion(weights, total).tolist()
    assert sum(parts) == total
    assert min(parts) >= (1 if total >= len(weights) else 0)
    assert apportion(weights, sum(weights)).tolist() == weights
