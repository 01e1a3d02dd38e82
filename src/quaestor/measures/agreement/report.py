"""The one way from ratings to agreement: desk, command line and paper all call `agreement`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from quaestor.base.errors import InputError
from quaestor.measures.agreement.alpha import Distance, krippendorff_alpha
from quaestor.measures.agreement.bands import band
from quaestor.measures.agreement.cautions import cautions
from quaestor.measures.agreement.codes import codes_of_many, codes_of_two
from quaestor.measures.agreement.cohen import cohen_kappa, contingency
from quaestor.measures.agreement.confusion import bias_index, confused_pairs, confusion, prevalence_index
from quaestor.measures.agreement.fleiss import fleiss_kappa
from quaestor.measures.agreement.gwet import gwet_ac
from quaestor.measures.agreement.multilabel import jaccard_distance, masi_distance, membership
from quaestor.measures.agreement.patterns import Floats, Patterns, patterns_of
from quaestor.measures.agreement.percent import percent_agreement
from quaestor.measures.agreement.table import RatingTable, in_order
from quaestor.measures.agreement.weights import linear, quadratic
from quaestor.measures.records import Agreement, CodeAgreement, PairAgreement, Scale


def agreement(table: RatingTable, *, facet: str, scale: Scale = "nominal", seed: int = 0) -> Agreement:
    """How far the raters of one facet agree, with everything a reader needs to judge it.

    Degenerate data give undefined estimates with a sentence; only a scale that the labels cannot have is refused.
    """
    weighing = _weighing(table, scale)
    patterns = patterns_of(table)
    two = len(table.raters) == 2
    found = contingency(table) if two else None
    fleiss = fleiss_kappa(patterns)
    kappa = cohen_kappa(found.counts) if found else fleiss
    weighted = weighing.weights
    weighted_kappa = None
    if weighted is not None:
        weighted_kappa = cohen_kappa(found.counts, weighted) if found else fleiss_kappa(patterns, weighted)
    percent, ac1 = percent_agreement(patterns), gwet_ac(patterns)
    prevalence, bias = prevalence_index(patterns), bias_index(table)
    return Agreement(
        facet=facet,
        scale=scale,
        multilabel=table.sets is not None,
        raters=table.raters,
        n=patterns.n,
        left_out=len(table.left_out),
        reasons=table.reasons,
        percent=percent,
        overlap=None if weighing.overlap is None else percent_agreement(patterns, weighing.overlap),
        kappa=kappa,
        kappa_kind="cohen" if two else "fleiss",
        band=band(kappa.value),
        weighted_kappa=weighted_kappa,
        weighted_band=band(weighted_kappa.value) if weighted_kappa else "",
        weights=weighing.name,
        fleiss=fleiss,
        ac1=ac1,
        ac2=None if weighted is None else gwet_ac(patterns, weighted),
        alpha=krippendorff_alpha(patterns, weighing.distance, seed=seed),
        prevalence=prevalence,
        bias=bias,
        warnings=cautions(table, patterns, percent=percent, kappa=kappa, ac1=ac1, prevalence=prevalence, bias=bias),
        codes=_codes(table, patterns, found.counts if found else None),
        pairs=_pairs(table),
        confusion=confusion(table.labels, found) if found else None,
        confused=confused_pairs(table),
    )


@dataclass(frozen=True, eq=False)
class _Weighing:
    """What a scale says about labels that differ."""

    name: str
    weights: Floats | None
    distance: Distance
    """For α."""
    overlap: Floats | None = None


def _weighing(table: RatingTable, scale: Scale) -> _Weighing:
    if table.sets is not None:
        if scale != "nominal":
            raise InputError(f"sets of codes have no {scale} scale: use nominal, or one code an item")
        held = membership(table.sets, _codes_in(table))
        masi = masi_distance(held)
        return _Weighing("masi", 1 - masi, masi, 1 - jaccard_distance(held))
    if scale == "ordinal":
        if not table.ordered:
            raise InputError("an ordinal scale needs the order of its labels, and they are words: give their order")
        return _Weighing("linear", linear(np.arange(len(table.labels), dtype=np.float64)), "ordinal")
    if scale == "interval":
        weights = quadratic(table.values())
        return _Weighing("quadratic", weights, 1 - weights)
    return _Weighing("", None, "nominal")


def _codes_in(table: RatingTable) -> tuple[str, ...]:
    return in_order({code for members in table.sets or () for code in members})


def _codes(table: RatingTable, patterns: Patterns, counts: Floats | None) -> tuple[CodeAgreement, ...]:
    codes = table.labels if table.sets is None else _codes_in(table)
    held = None if table.sets is None else membership(table.sets, codes)
    return codes_of_many(codes, patterns, held) if counts is None else codes_of_two(codes, counts, held)


def _pairs(table: RatingTable) -> tuple[PairAgreement, ...]:
    """Cohen's κ of every two raters, where there are more than two."""
    if len(table.raters) <= 2:
        return ()
    return tuple(_pair(table, first, second) for first, second in combinations(range(len(table.raters)), 2))


def _pair(table: RatingTable, first: int, second: int) -> PairAgreement:
    found = contingency(table, first, second)
    rows = table.ratings[:, [first, second]]
    both = RatingTable((), (found.first, found.second), table.labels, rows[(rows >= 0).all(axis=1)], {})
    percent = percent_agreement(patterns_of(both))
    return PairAgreement(found.first, found.second, found.n, percent, cohen_kappa(found.counts))
