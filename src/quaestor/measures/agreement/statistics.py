"""The table of agreement statistics, used by settings, desk, command line and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from quaestor.base.errors import InputError
from quaestor.measures.agreement.chance_corrected import (
    Distance,
    build_membership,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    jaccard_distance,
    krippendorff_alpha,
    linear_weights,
    masi_distance,
    percent_agreement,
    quadratic_weights,
)
from quaestor.measures.agreement.table import Floats, Patterns, RatingTable, sort_labels
from quaestor.measures.agreement.unitizing import CodedText, cu_alpha, list_passage_codes, u_alpha, u_alpha_binary
from quaestor.measures.records import Agreement, Estimate, Scale


@dataclass(frozen=True, eq=False)
class Weights:
    """How much different labels count as agreement."""

    name: str
    matrix: Floats | None
    distance: Distance
    """The distance of labels, for α."""
    overlap: Floats | None = None


def choose_weights(table: RatingTable, scale: Scale) -> Weights:
    """Returns the weights of a scale; raises InputError if the labels do not fit it."""
    if table.sets is not None:
        if scale != "nominal":
            raise InputError(f"sets of codes have no {scale} scale: use nominal, or one code per item")
        membership = build_membership(table.sets, list_codes(table))
        masi = masi_distance(membership)
        return Weights("masi", 1 - masi, masi, 1 - jaccard_distance(membership))
    if scale == "ordinal":
        if not table.ordered:
            raise InputError("an ordinal scale needs the order of its labels, which are words here: pass their order")
        return Weights("linear", linear_weights(np.arange(len(table.labels), dtype=np.float64)), "ordinal")
    if scale == "interval":
        weights = quadratic_weights(table.list_values())
        return Weights("quadratic", weights, 1 - weights)
    return Weights("", None, "nominal")


def list_codes(table: RatingTable) -> tuple[str, ...]:
    return sort_labels({code for members in table.sets or () for code in members})


@dataclass(frozen=True, eq=False)
class Ratings:
    """The input of a statistic."""

    patterns: Patterns
    counts: Floats | None
    """For exactly two raters: their contingency table."""
    weights: Weights
    seed: int
    texts: Sequence[CodedText] | None = None
    """The texts with the passages behind the ratings, if agreement is computed by passage."""


@dataclass(frozen=True)
class Statistic:
    """An agreement statistic."""

    name: str
    """The name in study.toml, `--json` (with `_se` and `_ci` appended) and CSV files."""
    label: Callable[[Agreement], str]
    compute: Callable[[Ratings], Estimate | None]
    """Returns None if the statistic does not apply to the facet or to the number of raters."""
    choice: str = ""
    """Its label in the list of statistics that a round can report; empty if a round cannot report it."""
    is_share: bool = False
    """Whether it is shown in percent."""
    is_kappa: bool = False
    """Whether the bands of Landis and Koch apply to it."""
    is_shown: bool = True
    """Whether tables and figures show it; JSON always has it."""


def _compute_kappa(ratings: Ratings) -> Estimate:
    """Returns Cohen's κ for two raters, Fleiss' κ for more."""
    if ratings.counts is not None:
        return cohen_kappa(ratings.counts)
    return fleiss_kappa(ratings.patterns)


def _compute_weighted_kappa(ratings: Ratings) -> Estimate | None:
    weights = ratings.weights.matrix
    if weights is None:
        return None
    if ratings.counts is not None:
        return cohen_kappa(ratings.counts, weights)
    return fleiss_kappa(ratings.patterns, weights)


def _compute_overlap(ratings: Ratings) -> Estimate | None:
    """Returns the mean overlap (Jaccard) of two raters' codes, for facets with several codes per item."""
    overlap = ratings.weights.overlap
    return None if overlap is None else percent_agreement(ratings.patterns, overlap)


def _compute_ac2(ratings: Ratings) -> Estimate | None:
    weights = ratings.weights.matrix
    return None if weights is None else gwet_ac(ratings.patterns, weights)


def _compute_alpha(ratings: Ratings) -> Estimate:
    return krippendorff_alpha(ratings.patterns, ratings.weights.distance, seed=ratings.seed)


def _compute_u_alpha(ratings: Ratings) -> Estimate | None:
    return None if ratings.texts is None else u_alpha(ratings.texts, seed=ratings.seed)


def _compute_u_alpha_binary(ratings: Ratings) -> Estimate | None:
    """Returns None for a single code, whose uα is binary already."""
    if ratings.texts is None or len(list_passage_codes(ratings.texts)) < 2:
        return None
    return u_alpha_binary(ratings.texts, seed=ratings.seed)


def _compute_cu_alpha(ratings: Ratings) -> Estimate | None:
    if ratings.texts is None or len(list_passage_codes(ratings.texts)) < 2:
        return None
    return cu_alpha(ratings.texts, seed=ratings.seed)


def _name_kappa(agreement: Agreement) -> str:
    return "Cohen's κ" if agreement.kappa_kind == "cohen" else "Fleiss' κ"


def _name_weights(agreement: Agreement) -> str:
    return f"{'MASI' if agreement.weights == 'masi' else agreement.weights} weights"


STATISTICS: dict[str, Statistic] = {
    statistic.name: statistic
    for statistic in (
        Statistic(
            "percent",
            lambda agreement: "percent agreement",
            lambda ratings: percent_agreement(ratings.patterns),
            choice="percent agreement",
            is_share=True,
        ),
        Statistic("overlap", lambda agreement: "mean overlap (Jaccard)", _compute_overlap, is_share=True),
        Statistic("kappa", _name_kappa, _compute_kappa, choice="kappa", is_kappa=True),
        Statistic(
            "weighted_kappa",
            lambda agreement: f"{_name_kappa(agreement)}, {_name_weights(agreement)}",
            _compute_weighted_kappa,
            is_kappa=True,
        ),
        Statistic(
            "fleiss", lambda agreement: "Fleiss' κ", lambda ratings: fleiss_kappa(ratings.patterns), is_shown=False
        ),
        Statistic(
            "ac1", lambda agreement: "Gwet's AC1", lambda ratings: gwet_ac(ratings.patterns), choice="Gwet's AC1"
        ),
        Statistic("ac2", lambda agreement: f"Gwet's AC2, {_name_weights(agreement)}", _compute_ac2),
        Statistic(
            "alpha",
            lambda agreement: f"Krippendorff's α ({'MASI' if agreement.multilabel else agreement.scale})",
            _compute_alpha,
            choice="Krippendorff's alpha",
        ),
        Statistic("u_alpha", lambda agreement: "Krippendorff's uα (passages)", _compute_u_alpha),
        Statistic("u_alpha_binary", lambda agreement: "uα of coded or not", _compute_u_alpha_binary),
        Statistic("cu_alpha", lambda agreement: "cuα of the codes", _compute_cu_alpha),
    )
}
"""The statistics in display order."""

_USUAL_CHOICES = ("kappa", "alpha", "ac1")


def list_reportable() -> dict[str, str]:
    """Returns the statistics that a round can report, with their labels, the usual choices first."""
    names = sorted(
        (name for name, statistic in STATISTICS.items() if statistic.choice),
        key=lambda name: _USUAL_CHOICES.index(name) if name in _USUAL_CHOICES else len(_USUAL_CHOICES),
    )
    return {name: STATISTICS[name].choice for name in names}


def list_shown_estimates(agreement: Agreement) -> list[tuple[Statistic, Estimate]]:
    """Returns the statistics that apply to a facet, in display order."""
    return [
        (statistic, agreement.estimates[name])
        for name, statistic in STATISTICS.items()
        if statistic.is_shown and name in agreement.estimates
    ]
