"""Computes interrater agreement from a table of ratings, and converts it to JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from quaestor.measures.agreement.chance_corrected import (
    build_contingency,
    build_membership,
    cohen_kappa,
    percent_agreement,
)
from quaestor.measures.agreement.confusion import (
    bias_index,
    build_confusion,
    compare_codes_of_many,
    compare_codes_of_two,
    list_confused_pairs,
    prevalence_index,
)
from quaestor.measures.agreement.statistics import STATISTICS, Ratings, choose_weights, list_codes
from quaestor.measures.agreement.table import Floats, Patterns, RatingTable, find_patterns
from quaestor.measures.agreement.unitizing import CodedText
from quaestor.measures.records import Agreement, CodeAgreement, Estimate, PairAgreement, Scale

_KAPPA_BANDS = ((0.20, "slight"), (0.40, "fair"), (0.60, "moderate"), (0.80, "substantial"))
_HIGH_PERCENT, _LOW_KAPPA, _SKEWED, _BIASED, _FEW = 0.8, 0.6, 0.5, 0.3, 20


def agreement(
    table: RatingTable,
    *,
    facet: str,
    scale: Scale = "nominal",
    seed: int = 0,
    texts: Sequence[CodedText] | None = None,
) -> Agreement:
    """Computes the agreement of the raters on one facet, with everything needed to judge it.

    With the `texts` behind the items, it also has the coefficients that compare passages.
    Degenerate data give undefined estimates with a reason; raises InputError for a scale that does not fit the labels.
    """
    weights = choose_weights(table, scale)
    patterns = find_patterns(table)
    both = build_contingency(table) if len(table.raters) == 2 else None
    counts = both.counts if both else None
    ratings = Ratings(patterns, counts, weights, seed, texts)
    computed = {name: statistic.compute(ratings) for name, statistic in STATISTICS.items()}
    estimates = {name: estimate for name, estimate in computed.items() if estimate is not None}
    prevalence, bias = prevalence_index(patterns), bias_index(table)
    return Agreement(
        facet=facet,
        scale=scale,
        multilabel=table.sets is not None,
        raters=table.raters,
        n=patterns.n,
        left_out=len(table.left_out),
        reasons=table.reasons,
        estimates=estimates,
        bands={
            name: landis_koch_band(estimate.value) for name, estimate in estimates.items() if STATISTICS[name].is_kappa
        },
        kappa_kind="cohen" if both else "fleiss",
        weights=weights.name,
        prevalence=prevalence,
        bias=bias,
        warnings=_list_warnings(table, patterns, estimates, prevalence, bias),
        codes=_compare_codes(table, patterns, counts),
        pairs=_compare_pairs(table),
        confusion=build_confusion(table.labels, both) if both else None,
        confused=list_confused_pairs(table),
    )


def _compare_codes(table: RatingTable, patterns: Patterns, counts: Floats | None) -> tuple[CodeAgreement, ...]:
    codes = table.labels if table.sets is None else list_codes(table)
    membership = None if table.sets is None else build_membership(table.sets, codes)
    return (
        compare_codes_of_many(codes, patterns, membership)
        if counts is None
        else compare_codes_of_two(codes, counts, membership)
    )


def _compare_pairs(table: RatingTable) -> tuple[PairAgreement, ...]:
    """Returns Cohen's κ of every two raters, if there are more than two."""
    if len(table.raters) <= 2:
        return ()
    pairs = []
    for first, second in combinations(range(len(table.raters)), 2):
        pair = build_contingency(table, first, second)
        rows = table.ratings[:, [first, second]]
        both = RatingTable((), (pair.first, pair.second), table.labels, rows[(rows >= 0).all(axis=1)], {})
        percent = percent_agreement(find_patterns(both))
        pairs.append(PairAgreement(pair.first, pair.second, pair.n, percent, cohen_kappa(pair.counts)))
    return tuple(pairs)


def landis_koch_band(kappa: float | None) -> str:
    """Returns the band of Landis and Koch (1977) for a κ, rounded to two decimals as in their table."""
    if kappa is None:
        return ""
    if kappa < 0:
        return "poor"
    return next((name for limit, name in _KAPPA_BANDS if round(kappa, 2) <= limit), "almost perfect")


def _list_warnings(
    table: RatingTable,
    patterns: Patterns,
    estimates: dict[str, Estimate],
    prevalence: float | None,
    bias: float | None,
) -> tuple[str, ...]:
    """Returns the cautions that a reader of the estimates should know."""
    kappa = estimates["kappa"]
    warnings = [f"{rater} shares no item with another rater and is left out." for rater in table.isolated_raters]
    if 0 < patterns.n < _FEW:
        warnings.append(f"With {patterns.n} items the intervals are rough: they assume large samples.")
    if (skewed := _describe_paradox(table, patterns, estimates, prevalence)) is not None:
        warnings.append(skewed)
    if kappa.value == 1 and kappa.se == 0:
        warnings.append(
            "There are no disagreements, so the standard error of κ is 0 and says nothing about other items; "
            "the interval of percent agreement does."
        )
    if bias is not None and bias >= _BIASED:
        warnings.append(
            f"The raters use the codes unequally often (bias {bias:.2f}): discuss the definitions of the codes before "
            "interpreting κ."
        )
    return tuple(warnings)


def _describe_paradox(
    table: RatingTable, patterns: Patterns, estimates: dict[str, Estimate], prevalence: float | None
) -> str | None:
    """Describes the paradox of Feinstein and Cicchetti (1990): high agreement, but low κ because of a frequent code."""
    percent, kappa, ac1 = (estimates[name] for name in ("percent", "kappa", "ac1"))
    if percent.value is None or kappa.value is None or prevalence is None:
        return None
    if percent.value < _HIGH_PERCENT or kappa.value >= _LOW_KAPPA or prevalence < _SKEWED:
        return None
    common = int(patterns.use.argmax())
    ac1_note = "" if ac1.value is None else f" (here {ac1.value:.2f})"
    return (
        f"κ is {round(kappa.value, 2) + 0.0:.2f} although the raters agree on {percent.value:.0%} of the items, "
        "because "
        f"{patterns.use[common]:.0%} of the ratings are {table.labels[common]}: where codes are so unequal, "
        f"report AC1{ac1_note} next to κ."
    )


def to_json(agreement: Agreement) -> dict[str, Any]:
    """Returns estimates as `name`, `name_se` and `name_ci`; undefined ones are null with a reason in `undefined`."""
    result: dict[str, Any] = {
        "facet": agreement.facet,
        "scale": agreement.scale,
        "multilabel": agreement.multilabel,
        "raters": len(agreement.raters),
        "rater_names": list(agreement.raters),
        "n": agreement.n,
        "left_out": agreement.left_out,
        "reasons": agreement.reasons,
    }
    for name, estimate in agreement.estimates.items():
        result |= _estimate_to_json(name, estimate)
    result |= {"kappa_kind": agreement.kappa_kind, "band": agreement.band}
    if agreement.weighted_kappa is not None:
        result |= {"weights": agreement.weights, "weighted_band": agreement.weighted_band}
    matrix = agreement.confusion
    return result | {
        "how": {name: estimate.how for name, estimate in agreement.estimates.items() if estimate.how},
        "undefined": {name: estimate.undefined for name, estimate in agreement.estimates.items() if estimate.undefined},
        "prevalence": agreement.prevalence,
        "bias": agreement.bias,
        "warnings": list(agreement.warnings),
        "codes": [
            {
                "code": code.code,
                "n_any": code.n_any,
                "n_all": code.n_all,
                "percent": code.percent,
                "specific": code.specific,
                **_kappa_to_json(code.kappa),
            }
            for code in agreement.codes
        ],
        "pairs": [
            {
                "raters": [pair.first, pair.second],
                "n": pair.n,
                **_estimate_to_json("percent", pair.percent),
                **_kappa_to_json(pair.kappa),
            }
            for pair in agreement.pairs
        ],
        "confused": [{"codes": list(pair.codes), "n": pair.n} for pair in agreement.confused],
        "confusion": None
        if matrix is None
        else {
            "raters": [matrix.first, matrix.second],
            "labels": list(matrix.labels),
            "cells": [list(cell) for cell in matrix.cells],
        },
    }


def _estimate_to_json(name: str, estimate: Estimate) -> dict[str, Any]:
    interval = None if estimate.low is None else [estimate.low, estimate.high]
    return {name: estimate.value, f"{name}_se": estimate.se, f"{name}_ci": interval}


def _kappa_to_json(kappa: Estimate) -> dict[str, Any]:
    reason = {"undefined": kappa.undefined} if kappa.undefined else {}
    return {**_estimate_to_json("kappa", kappa), **reason}
