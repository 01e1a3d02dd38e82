"""Every statistic against its textbook value or an independent library, on random ratings with and without gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quaestor.measures.agreement import RatingTable, agreement, build_rating_table
from quaestor.measures.agreement.chance_corrected import (
    build_contingency,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    linear_weights,
    quadratic_weights,
)
from quaestor.measures.agreement.table import find_patterns

TEXTBOOK = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]], dtype=float)
SEEDS = range(6)
MISSING = -1


def ratings(
    seed: int, *, items: int = 60, raters: int = 2, labels: int = 4, gaps: float = 0.0, luck: float = 0.4
) -> NDArray[np.int64]:
    """Raters who see the truth most of the time and guess otherwise; every item keeps two ratings."""
    generator = np.random.default_rng(seed)
    truth = generator.choice(labels, size=items, p=generator.dirichlet(np.full(labels, 2.0)))
    found = np.repeat(truth[:, None], raters, axis=1)
    guess = generator.random(found.shape) < luck
    found[guess] = generator.integers(0, labels, guess.sum())
    found[:labels, :2] = np.arange(labels)[:, None]  # so that each label occurs, as the oracles count labels
    missing = generator.random(found.shape) < gaps
    missing[:, :2] = False
    found[missing] = MISSING
    return found


def table_of(matrix: NDArray[np.int64]) -> RatingTable:
    return build_rating_table(
        (f"item {row}", f"rater {column}", None if label == MISSING else str(label))
        for row, labels in enumerate(matrix)
        for column, label in enumerate(labels)
    )


def irr_cac(matrix: NDArray[np.int64], weights: str) -> Any:
    """irrCAC on the same ratings; with a new pandas it takes a gap for a category unless the categories are named."""
    import pandas
    from irrCAC.raw import CAC

    frame = pandas.DataFrame(matrix).astype(float).replace(MISSING, np.nan)
    return CAC(frame, weights=weights, categories=[0.0, 1.0, 2.0, 3.0], digits=12)


def test_kappa_and_its_standard_error_match_the_textbook() -> None:
    found = cohen_kappa(TEXTBOOK)
    assert found.value == pytest.approx(0.7964094, abs=5e-8)
    assert found.se == pytest.approx(0.0589107, abs=5e-8)
    assert found.how == "analytic"


def test_random_ratings_have_a_kappa_near_zero() -> None:
    generator = np.random.default_rng(7)
    kappas, alphas = [], []
    for _ in range(400):
        matrix = np.stack([generator.choice(3, 200, p=[0.6, 0.3, 0.1]), generator.choice(3, 200, p=[0.2, 0.3, 0.5])])
        kappas.append(cohen_kappa(build_contingency(table_of(matrix.T)).counts).value)
    for _ in range(400):
        patterns = find_patterns(table_of(generator.choice(3, (200, 3), p=[0.6, 0.3, 0.1])))
        alphas.append(krippendorff_alpha(patterns, "nominal", seed=0, replicates=0).value)
    assert abs(np.mean(np.array(kappas, dtype=float))) < 0.01
    assert abs(np.mean(np.array(alphas, dtype=float))) < 0.01


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohens_kappa_matches_scikit_learn(seed: int, weights: str | None) -> None:
    from sklearn.metrics import cohen_kappa_score

    matrix = ratings(seed)
    scheme = {None: None, "linear": linear_weights(np.arange(4.0)), "quadratic": quadratic_weights(np.arange(4.0))}[
        weights
    ]
    expected = cohen_kappa_score(matrix[:, 0], matrix[:, 1], weights=weights)
    assert cohen_kappa(build_contingency(table_of(matrix)).counts, scheme).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_the_standard_error_of_kappa_matches_statsmodels(seed: int, weights: str | None) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = build_contingency(table_of(ratings(seed))).counts
    scheme = {None: None, "linear": linear_weights(np.arange(4.0)), "quadratic": quadratic_weights(np.arange(4.0))}[
        weights
    ]
    expected = cohens_kappa(counts, wt=weights)
    found = cohen_kappa(counts, scheme)
    assert found.value == pytest.approx(expected.kappa, abs=1e-12)
    assert found.se == pytest.approx(expected.std_kappa, abs=1e-12)
    assert found.low == pytest.approx(max(expected.kappa_low, -1), abs=1e-12)
    assert found.high == pytest.approx(min(expected.kappa_upp, 1), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("raters", [2, 3, 6])
def test_fleiss_kappa_matches_statsmodels(seed: int, raters: int) -> None:
    from statsmodels.stats.inter_rater import aggregate_raters
    from statsmodels.stats.inter_rater import fleiss_kappa as oracle

    matrix = ratings(seed, raters=raters)
    found = fleiss_kappa(find_patterns(table_of(matrix)))
    assert found.value == pytest.approx(oracle(aggregate_raters(matrix)[0]), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("raters", "gaps"), [(2, 0.0), (3, 0.0), (5, 0.3)])
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
def test_ac_and_fleiss_kappa_with_their_standard_errors_match_irrcac(
    seed: int, raters: int, gaps: float, weights: str
) -> None:
    matrix = ratings(seed, raters=raters, gaps=gaps)
    scheme = {
        "identity": None,
        "linear": linear_weights(np.arange(4.0)),
        "quadratic": quadratic_weights(np.arange(4.0)),
    }
    patterns, oracle = find_patterns(table_of(matrix)), irr_cac(matrix, weights)
    for ours, name in ((gwet_ac, "gwet"), (fleiss_kappa, "fleiss")):
        found, expected = ours(patterns, scheme[weights]), getattr(oracle, name)()["est"]
        assert found.value == pytest.approx(float(expected["coefficient_value"]), abs=1e-10)
        assert found.se == pytest.approx(float(expected["se"]), abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("raters", "gaps"), [(2, 0.0), (3, 0.2), (6, 0.5)])
@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_alpha_with_missing_ratings_matches_the_krippendorff_package(
    seed: int, raters: int, gaps: float, scale: Any
) -> None:
    import krippendorff

    matrix = ratings(seed, raters=raters, gaps=gaps, labels=5)
    data = np.where(matrix == MISSING, np.nan, matrix).T
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=scale)
    found = agreement(table_of(matrix), facet="severity", scale=scale)
    assert found.alpha.value == pytest.approx(expected, abs=1e-12)
    assert found.alpha.how == "bootstrap"


@pytest.mark.parametrize("seed", SEEDS)
def test_an_interval_scale_uses_the_numbers_themselves(seed: int) -> None:
    import krippendorff

    numbers = np.array([1.0, 2.5, 10.0, 40.0])
    matrix = ratings(seed, raters=3)
    table = build_rating_table(
        (str(row), str(column), str(numbers[label]))
        for row, labels in enumerate(matrix)
        for column, label in enumerate(labels)
    )
    expected = krippendorff.alpha(reliability_data=numbers[matrix].T, level_of_measurement="interval")
    assert agreement(table, facet="hours", scale="interval").alpha.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("raters", [2, 3])
def test_the_bootstrap_finds_the_same_uncertainty_as_the_formula(raters: int) -> None:
    patterns = find_patterns(table_of(ratings(3, items=600, raters=raters)))
    by_formula = fleiss_kappa(patterns)
    by_bootstrap = krippendorff_alpha(patterns, "nominal", seed=1)
    assert by_bootstrap.se == pytest.approx(by_formula.se, rel=0.08)
    assert by_bootstrap.low == pytest.approx(by_formula.low, abs=0.01)
    assert by_bootstrap.high == pytest.approx(by_formula.high, abs=0.01)


def test_intervals_contain_the_true_value_about_95_percent_of_the_time() -> None:
    """Two raters who know the answer with probability 0.7 and else guess: κ is 0.49 in the long run."""
    generator = np.random.default_rng(11)
    held = {"kappa": 0, "ac1": 0, "alpha": 0}
    for run in range(200):
        truth = generator.integers(0, 4, 150)
        guess = generator.random((2, 150)) >= 0.7
        matrix = np.where(guess, generator.integers(0, 4, (2, 150)), truth).T
        found = agreement(table_of(matrix), facet="cause", seed=run)
        for name in held:
            estimate = found.estimates[name]
            held[name] += estimate.low <= 0.49 <= estimate.high
    assert all(180 <= count <= 199 for count in held.values()), held


@pytest.mark.parametrize("seed", SEEDS)
def test_kappa_per_code_is_the_kappa_of_the_code_against_the_rest(seed: int) -> None:
    matrix = ratings(seed)
    for place, code in enumerate(agreement(table_of(matrix), facet="cause").codes):
        alone = cohen_kappa(build_contingency(table_of((matrix == place).astype(int))).counts)
        assert code.kappa.value == pytest.approx(alone.value, abs=1e-12)
        assert code.kappa.se == pytest.approx(alone.se, abs=1e-9)
        assert code.n_any == (matrix == place).any(axis=1).sum()
        assert code.n_all == (matrix == place).all(axis=1).sum()
        assert code.percent == pytest.approx(np.mean((matrix[:, 0] == place) == (matrix[:, 1] == place)))


@pytest.mark.parametrize("seed", SEEDS)
def test_with_several_raters_kappa_per_code_is_fleiss_of_the_code_against_the_rest(seed: int) -> None:
    matrix = ratings(seed, raters=5, gaps=0.3)
    for place, code in enumerate(agreement(table_of(matrix), facet="cause").codes):
        alone = np.where(matrix == MISSING, MISSING, matrix == place)
        expected = fleiss_kappa(find_patterns(table_of(alone)))
        assert code.kappa.value == pytest.approx(expected.value, abs=1e-12)
        assert code.kappa.se == pytest.approx(expected.se, abs=1e-12)
        used, gaps = matrix == place, matrix == MISSING
        assert code.n_any == used.any(axis=1).sum()
        assert code.n_all == (used | gaps).all(axis=1).sum()
        raters, uses = (~gaps).sum(axis=1), used.sum(axis=1)
        assert code.specific == pytest.approx((uses * (uses - 1) / (raters - 1)).sum() / uses.sum())
