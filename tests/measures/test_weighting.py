"""Survey weights: against hand-worked examples, published numbers, and a minimiser that knows nothing of raking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from quaestor.base.errors import InputError
from quaestor.measures.survey_answers import mean
from quaestor.measures.weighting import (
    Margin,
    build_margin,
    fit_weights,
    measure_sample_size,
    post_stratify,
    rake,
    trim,
    weighted_mean,
    weighted_share,
)


@st.composite
def margins(draw: st.DrawFn, least: int = 1) -> list[Margin]:
    """Margins of the same responses; every combination of answers occurs, so that all targets can be met."""
    sizes = draw(st.lists(st.integers(2, 3), min_size=least, max_size=3))
    firsts = [draw(st.sampled_from([0, -1])) for _ in sizes]  # −1 if some have no answer
    levels = [np.arange(first, size) for first, size in zip(firsts, sizes, strict=True)]
    grid = np.stack(np.meshgrid(*levels, indexing="ij"), axis=-1).reshape(-1, len(sizes))
    more = draw(st.lists(st.tuples(*(st.sampled_from(level.tolist()) for level in levels)), max_size=20))
    codes = np.concatenate([grid, np.array(more, np.int64).reshape(-1, len(sizes))])
    targets = [draw(st.lists(st.integers(1, 20), min_size=size, max_size=size)) for size in sizes]
    return [build_margin(column, target) for column, target in zip(codes.T, targets, strict=True)]


def test_post_stratification_of_a_hand_worked_example() -> None:
    # 6 women and 2 men answer; half of the population are women: 8/2/6 and 8/2/2.
    margin = build_margin([0] * 6 + [1] * 2, [0.5, 0.5])
    assert post_stratify(margin).tolist() == pytest.approx([2 / 3] * 6 + [2.0] * 2)


def test_a_response_without_an_answer_keeps_its_weight() -> None:
    margin = build_margin([0, 0, 0, 1, -1], [1, 1])
    assert post_stratify(margin).tolist() == pytest.approx([2 / 3] * 3 + [2.0, 1.0])
    first, second = build_margin([0, 0, 0, 1, 1, 1, -1], [2, 1]), build_margin([0, 0, 1, 0, 1, 1, 0], [1, 1])
    weights = rake([first, second]).weights
    assert weights[6] == pytest.approx(1.0)
    assert first.shares(weights).tolist() == pytest.approx([2 / 3, 1 / 3])


def test_raking_gives_the_table_of_deming_and_stephan() -> None:
    # A 2 × 2 table with margins fitted by hand: odds ratio 40·10/(30·20) stays 2/3, rows 50/50, columns 50/50.
    rows, columns = np.repeat([0, 0, 1, 1], [40, 30, 20, 10]), np.repeat([0, 1, 0, 1], [40, 30, 20, 10])
    weights = rake([build_margin(rows, [1, 1]), build_margin(columns, [1, 1])]).weights
    fitted = np.array([[weights[(rows == row) & (columns == column)].sum() for column in (0, 1)] for row in (0, 1)])
    # With equal margins, a table with odds ratio r has the diagonal 50·√r / (1 + √r).
    diagonal = 50 * math.sqrt(2 / 3) / (1 + math.sqrt(2 / 3))
    assert fitted.tolist() == pytest.approx(np.array([[diagonal, 50 - diagonal], [50 - diagonal, diagonal]]))


@given(margins())
@settings(max_examples=40, deadline=None)
def test_weighted_margins_equal_their_targets_and_the_mean_weight_is_1(given_margins: list[Margin]) -> None:
    weights = fit_weights(given_margins).weights
    assert weights.mean() == pytest.approx(1)
    for margin in given_margins:
        assert margin.shares(weights) == pytest.approx(margin.targets, abs=1e-6)
        assert weights[margin.codes < 0].sum() == pytest.approx((margin.codes < 0).sum(), abs=1e-5)


@given(margins(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_responses_does_not_matter(given_margins: list[Margin], chance: st.RandomGenerator) -> None:
    order = np.arange(len(given_margins[0].codes))
    chance.shuffle(order)
    permuted = [Margin(margin.codes[order], margin.targets) for margin in given_margins]
    assert fit_weights(permuted).weights == pytest.approx(fit_weights(given_margins).weights[order], abs=1e-6)


@given(margins())
@settings(max_examples=30, deadline=None)
def test_raking_one_margin_is_post_stratification(given_margins: list[Margin]) -> None:
    assert rake(given_margins[:1]).weights == pytest.approx(post_stratify(given_margins[0]))


@given(margins(least=2))
@settings(max_examples=6, deadline=None)
def test_raking_minimises_relative_entropy(given_margins: list[Margin]) -> None:
    """The dual problem, solved by a general minimiser: weights are exp(Xλ), and λ maximises t·λ − Σ exp(Xλ)."""
    n = len(given_margins[0].codes)
    columns, totals = [], []
    for margin in given_margins:
        answered = int((margin.codes >= 0).sum())
        cells = [*range(len(margin.targets)), *([-1] if answered < n else [])]
        columns += [(margin.codes == cell).astype(float) for cell in cells]
        totals += [*(margin.targets * answered), *([n - answered] if answered < n else [])]
    design, target = np.stack(columns, axis=1), np.array(totals)
    solved = minimize(
        lambda multipliers: np.exp(design @ multipliers).sum() - target @ multipliers,
        np.zeros(design.shape[1]),
        jac=lambda multipliers: design.T @ np.exp(design @ multipliers) - target,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert rake(given_margins).weights == pytest.approx(np.exp(design @ solved.x), abs=1e-4)


def test_targets_that_contradict_each_other_are_refused_with_numbers() -> None:
    # All responses in the first row are in the first column and the other way round, but the targets differ.
    first, second = build_margin([0, 0, 1, 1], [0.5, 0.5]), build_margin([0, 0, 1, 1], [0.6, 0.4])
    with pytest.raises(InputError, match=r"after 1,000 rounds a weighted share still differs by 10 percentage points"):
        rake([first, second])


def test_a_cell_without_responses_is_refused() -> None:
    with pytest.raises(InputError, match="cell 1 has a target but no response"):
        build_margin([0, 0, 2], [1, 1, 1])
    with pytest.raises(InputError, match="targets must be numbers above 0"):
        build_margin([0, 1], [1, 0])


@given(st.lists(st.floats(0.01, 50), min_size=1, max_size=30), st.floats(0.05, 0.95), st.floats(1.05, 6))
@settings(max_examples=50, deadline=None)
def test_trimmed_weights_lie_within_the_bounds_and_have_the_mean_1(
    values: list[float], least: float, most: float
) -> None:
    weights = np.array(values)
    trimmed = trim(weights, least, most)
    assert trimmed.mean() == pytest.approx(1)
    assert least <= trimmed.min()
    assert trimmed.max() <= most
    free = (trimmed > least * 1.001) & (trimmed < most * 0.999)
    ratios = trimmed[free] / weights[free]
    assert ratios == pytest.approx(ratios[:1].repeat(len(ratios)))


def test_trimming_says_how_far_shares_are_from_their_targets() -> None:
    # 9 and 1 responses for half of the population each: weights 5/9 and 5, cut at 2.
    fitted = fit_weights([build_margin([0] * 9 + [1], [1, 1])], most=2.0)
    assert fitted.weights.tolist() == pytest.approx([8 / 9] * 9 + [2.0])
    assert (fitted.trimmed, fitted.largest_difference) == (1, pytest.approx(0.3))


def test_raking_and_trimming_alternate_until_both_hold() -> None:
    rows = np.repeat([0, 0, 1, 1], [40, 30, 20, 10])
    columns = np.repeat([0, 1, 0, 1], [40, 30, 20, 10])
    given_margins = [build_margin(rows, [1, 1]), build_margin(columns, [1, 1])]
    untrimmed = rake(given_margins).weights
    bound = float(untrimmed.max()) * 0.98
    fitted = fit_weights(given_margins, most=bound)
    assert fitted.weights.max() <= bound
    assert fitted.largest_difference < 1e-6


def test_bounds_that_exclude_the_mean_are_refused() -> None:
    with pytest.raises(InputError, match=r"mean 1, which is not between 1\.5 and inf: widen the bounds"):
        trim(np.ones(3), 1.5, None)


def test_the_effective_sample_size_is_that_of_kish() -> None:
    size = measure_sample_size([2, 2, 1, 1, 1, 1])
    assert (size.n, size.effective, size.design_effect) == (6, pytest.approx(64 / 12), pytest.approx(6 * 12 / 64))
    assert (size.least, size.most) == (1.0, 2.0)
    assert measure_sample_size([1.0] * 7).effective == pytest.approx(7)
    assert measure_sample_size([]).n == 0


@given(st.lists(st.tuples(st.booleans(), st.floats(0.1, 9)), min_size=1, max_size=40))
@settings(max_examples=50, deadline=None)
def test_a_weighted_share_has_wilsons_interval_for_the_effective_sample_size(drawn: list[tuple[bool, float]]) -> None:
    chosen, weights = np.array([flag for flag, _ in drawn]), np.array([weight for _, weight in drawn])
    share = weighted_share(chosen, weights)
    expected = float(np.average(chosen, weights=weights))
    effective = weights.sum() ** 2 / (weights**2).sum()
    low, high = proportion_confint(expected * effective, effective, method="wilson")
    assert (share.value, share.effective) == (pytest.approx(expected), pytest.approx(effective))
    assert share.low == pytest.approx(max(low, 0), abs=1e-9)
    assert share.high == pytest.approx(min(high, 1), abs=1e-9)


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0.1, 9)), min_size=2, max_size=40))
@settings(max_examples=50, deadline=None)
def test_a_weighted_mean_has_the_linearised_standard_error(drawn: list[tuple[float, float]]) -> None:
    values, weights = np.array(drawn).T
    estimate = weighted_mean([*values, math.nan], np.append(weights, 5.0))
    assert estimate.value == pytest.approx(DescrStatsW(values, weights).mean)
    scores = weights * (values - estimate.value)
    expected = math.sqrt(len(values) * scores.var(ddof=1)) / weights.sum()
    assert estimate.se == pytest.approx(expected, abs=1e-9)


def test_equal_weights_change_nothing() -> None:
    values = np.arange(12.0)
    weighted, plain = weighted_mean(values, np.ones(12)), mean(values, 1)
    assert weighted.value == plain.value
    assert weighted.se == pytest.approx(values.std(ddof=1) / math.sqrt(12))
    assert weighted_mean([], np.ones(0)).undefined
    assert weighted_mean([3.0], np.ones(1)).low is None
    assert weighted_share(np.zeros(0, np.bool_), np.zeros(0)).undefined
