"""The agreement statistics, one entry each; settings, desk, command line and JSON all read this table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quaestor.base.errors import InputError
from quaestor.measures.agreement.alpha import Distance, krippendorff_alpha
from quaestor.measures.agreement.chance_corrected import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    jaccard_distance,
    linear_weights,
    masi_distance,
    build_membership,
    percent_agreement,
    quadratic_weights,
)
from quaestor.measures.agreement.table import Floats, Patterns, RatingTable, sort_labels
from quaestor.measures.records import Agreement, Estimate, Scale


@dataclass(frozen=True, eq=False)
class Weights:
    """How much labels that differ count as agreement."""

    name: str
    matrix: Floats | None
    distance: Distance
    """For α."""
    overlap: Floats | None = None


def choose_weights(table: RatingTable, scale: Scale) -> Weights:
    """Returns the weights of a scale; raises InputError where the labels cannot have it."""
    if table.sets is not None:
        if scale != "nominal":
            raise InputError(f"sets of codes have no {scale} scale: use nominal, or one code an item")
        held = build_membership(table.sets, list_codes(table))
        masi = masi_distance(held)
        return Weights("masi", 1 - masi, masi, 1 - jaccard_distance(held))
    if scale == "ordinal":
        if not table.ordered:
            raise InputError("an ordinal scale needs the order of its labels, and they are words: give their order")
        return Weights("linear", linear_weights(np.arange(len(table.labels), dtype=np.float64)), "ordinal")
    if scale == "interval":
        weights = quadratic_weights(table.list_values())
        return Weights("quadratic", weights, 1 - weights)
    return Weights("", None, "nominal")


def list_codes(table: RatingTable) -> tuple[str, ...]:
    return sort_labels({code for members in table.sets or () for code in members})


@dataclass(frozen=True, eq=False)
class Ratings:
    """What a statistic is computed from."""

    patterns: Patterns
    counts: Floats | None
    """Of exactly two raters: how often the first said one thing and the second another."""
    weighing: Weights
    seed: int


@dataclass(frozen=True)
class Statistic:
    """One agreement statistic."""

    name: str
    """In study.toml, in `--json` (with `_se` and `_ci` appended) and in CSV files."""
    label: Callable[[Agreement], str]
    compute: Callable[[Ratings], Estimate | None]
    """Returns None where the statistic does not apply to the facet or to the number of raters."""
    choice: str = ""
    """Its words where somebody chooses what a round reports; empty where a round cannot report it."""
    is_share: bool = False
    """Whether it is shown in percent."""
    is_kappa: bool = False
    """Whether the words of Landis and Koch apply to it."""
    is_shown: bool = True
    """Whether tables and figures show it; JSON always has it."""


def _kappa(ratings: Ratings) -> Estimate:
    """Cohen's κ of two raters, Fleiss' κ of more."""
    if ratings.counts is not None:
        return cohen_kappa(ratings.counts)
    return fleiss_kappa(ratings.patterns)


def _weighted_kappa(ratings: Ratings) -> Estimate | None:
    weights = ratings.weighing.matrix
    if weights is None:
        return None
    if ratings.counts is not None:
        return cohen_kappa(ratings.counts, weights)
    return fleiss_kappa(ratings.patterns, weights)


def _overlap(ratings: Ratings) -> Estimate | None:
    """For facets with several codes an item: how much of two raters' codes are the same (Jaccard), on average."""
    overlap = ratings.weighing.overlap
    return None if overlap is None else percent_agreement(ratings.patterns, overlap)


def _ac2(ratings: Ratings) -> Estimate | None:
    weights = ratings.weighing.matrix
    return None if weights is None else gwet_ac(ratings.patterns, weights)


def _alpha(ratings: Ratings) -> Estimate:
    return krippendorff_alpha(ratings.patterns, ratings.weighing.distance, seed=ratings.seed)


def _kappa_label(found: Agreement) -> str:
    return "Cohen's κ" if found.kappa_kind == "cohen" else "Fleiss' κ"


def _weights_label(found: Agreement) -> str:
    return f"{'MASI' if found.weights == 'masi' else found.weights} weights"


STATISTICS: dict[str, Statistic] = {
    statistic.name: statistic
    for statistic in (
        Statistic(
            "percent",
            lambda found: "percent agreement",
            lambda ratings: percent_agreement(ratings.patterns),
            choice="percent agreement",
            is_share=True,
        ),
        Statistic("overlap", lambda found: "mean overlap (Jaccard)", _overlap, is_share=True),
        Statistic("kappa", _kappa_label, _kappa, choice="kappa", is_kappa=True),
        Statistic(
            "weighted_kappa",
            lambda found: f"{_kappa_label(found)}, {_weights_label(found)}",
            _weighted_kappa,
            is_kappa=True,
        ),
        Statistic("fleiss", lambda found: "Fleiss' κ", lambda ratings: fleiss_kappa(ratings.patterns), is_shown=False),
        Statistic("ac1", lambda found: "Gwet's AC1", lambda ratings: gwet_ac(ratings.patterns), choice="Gwet's AC1"),
        Statistic("ac2", lambda found: f"Gwet's AC2, {_weights_label(found)}", _ac2),
        Statistic(
            "alpha",
            lambda found: f"Krippendorff's α ({'MASI' if found.multilabel else found.scale})",
            _alpha,
            choice="Krippendorff's alpha",
        ),
    )
}
"""In the order in which they are shown."""

_USUAL_CHOICES = ("kappa", "alpha", "ac1")


def list_reportable() -> dict[str, str]:
    """Returns the statistics that a round can report, with their words, the usual choices first."""
    names = sorted(
        (name for name, statistic in STATISTICS.items() if statistic.choice),
        key=lambda name: _USUAL_CHOICES.index(name) if name in _USUAL_CHOICES else len(_USUAL_CHOICES),
    )
    return {name: STATISTICS[name].choice for name in names}


def list_shown_estimates(found: Agreement) -> list[tuple[Statistic, Estimate]]:
    """Returns the statistics that apply, in the order in which they are shown."""
    return [
        (statistic, found.estimates[name])
        for name, statistic in STATISTICS.items()
        if statistic.is_shown and name in found.estimates
    ]
