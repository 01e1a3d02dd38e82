"""The page of the agreement on one facet: formatted statistics, figures and confused codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.agreement import find_facet_scale
from quaestor.coding.agreement_access import (
    RoundAgreement,
    find_visible_agreement,
    list_comparable_facets,
    require_agreement_access,
)
from quaestor.coding.confusion import CodeLabel, ConfusionMatrix, build_label, build_matrix
from quaestor.coding.model.facet_kinds.phrase import PhraseKind
from quaestor.coding.model.phrases import build_curves
from quaestor.coding.model.records import Facet
from quaestor.coding.model.state import RoundState, State
from quaestor.coding.session import CodingSession
from quaestor.measures.agreement.statistics import Statistic, list_shown_estimates
from quaestor.measures.records import Agreement, CodeAgreement, Estimate
from quaestor.render.figures.discrepancy import draw_round_curves
from quaestor.render.figures.export import render_svg
from quaestor.render.figures.forest import draw_forest
from quaestor.render.figures.records import ForestEstimate as Drawn
from quaestor.render.figures.records import SetCurve
from quaestor.render.number_format import decimal

_MOST_DRAWN = 24
"""Codes in the figure; the table has all of them."""


@dataclass(frozen=True)
class AgreementRequest:
    """Which agreement of a round to show; without a facet, the planned or first one."""

    facet: str = ""
    level: str = ""
    version: int | None = None


@dataclass(frozen=True)
class Measure:
    """One statistic as a row of formatted numbers; `why` explains a missing value."""

    id: str
    name: str
    value: str
    interval: str
    error: str
    band: str = ""
    why: str = ""


@dataclass(frozen=True)
class CodeRow:
    """The agreement on one code against all others."""

    code: CodeLabel
    n_any: int
    n_all: int
    agreed: str
    specific: str
    kappa: str
    interval: str
    why: str = ""


@dataclass(frozen=True)
class PairRow:
    """Two codes that raters confuse."""

    first: CodeLabel
    second: CodeLabel
    n: int


@dataclass(frozen=True)
class AgreementView:
    """The agreement of a round on one facet for its page; without a result while it is being computed."""

    round: str
    facets: tuple[str, ...]
    levels: tuple[str, ...]
    newest: int
    """The latest version of the codebook."""
    request: AgreementRequest
    question: str
    result: RoundAgreement | None = None
    ratings: int = 0
    more: int = 0
    """Ratings added since it was computed."""
    left_out: tuple[tuple[str, int], ...] = ()
    measures: tuple[Measure, ...] = ()
    codes: tuple[CodeRow, ...] = ()
    forest: str = ""
    codes_forest: str = ""
    matrix: ConfusionMatrix | None = None
    confused: tuple[PairRow, ...] = ()
    curves: tuple[SetCurve, ...] = ()
    curves_drawn: str = ""


def build_agreement_view(
    coding: CodingSession, name: str, actor: str, request: AgreementRequest, *, wait: bool = False
) -> AgreementView:
    """Returns the page for a viewer with access; for a large round, the last computed agreement."""
    with coding.locked_state() as state:
        round_state = require_agreement_access(coding, name, actor)
        facet = _find_facet(state, round_state, request.facet)
        request = AgreementRequest(facet.id, request.level, request.version)
        book = state.history.at(round_state.plan.codebook if request.version is None else request.version)
        levels = book.facets[facet.codes].levels if facet.codes in book.facets else ()
        sets = _find_curves(round_state) if facet.kind == PhraseKind.name else ()
        empty = AgreementView(
            name,
            tuple(list_comparable_facets(round_state)),
            levels,
            _find_newest_version(state, facet),
            request,
            facet.question,
        )
    visible = find_visible_agreement(
        coding, name, actor, facet.id, version=request.version, level=request.level, wait=wait
    )
    if visible is None:
        return empty
    result, cached = visible
    names = {label: build_label(label, facet, book) for label in _list_labels(result.agreement)}
    return replace(
        empty,
        result=result,
        ratings=cached.ratings,
        more=max(0, round_state.rating_count - cached.ratings),
        left_out=tuple(result.agreement.reasons.items()),
        measures=tuple(list_measures(result.agreement)),
        codes=tuple(_build_code_row(code, names) for code in result.agreement.codes),
        forest=_draw_forest(result),
        codes_forest=_draw_codes_forest(result.agreement, names),
        matrix=build_matrix(result.agreement.confusion, names) if result.agreement.confusion else None,
        confused=tuple(
            PairRow(names[pair.codes[0]], names[pair.codes[1]], pair.n) for pair in result.agreement.confused
        ),
        curves=sets,
        curves_drawn=render_svg(draw_round_curves(sets, name, simulated=result.simulated, blindness=result.blindness))
        if sets
        else "",
    )


def _find_facet(state: State, round_state: RoundState, name: str) -> Facet:
    compared = list_comparable_facets(round_state)
    if not name and not compared:
        raise InputError(
            f"the round {round_state.plan.round!r} has only free-text facets, on which agreement cannot be computed"
        )
    if name:
        find_facet_scale(state, round_state.plan.round, name)
    return round_state.plan.facet(
        name or (round_state.plan.measured if round_state.plan.measured in compared else compared[0])
    )


def _find_newest_version(state: State, facet: Facet) -> int:
    return state.history.latest.version if facet.codes else 0


def _find_curves(round_state: RoundState) -> tuple[SetCurve, ...]:
    depends = round_state.rating_count, len(round_state.unifications), round_state.set
    known = round_state.cache.get("curves")
    if known is None or known[0] != depends:
        known = round_state.cache["curves"] = depends, tuple(build_curves(round_state))
    set_curves: tuple[SetCurve, ...] = known[1]
    return set_curves


def _list_labels(agreement: Agreement) -> set[str]:
    matrix = agreement.confusion.labels if agreement.confusion else ()
    return {
        *matrix,
        *(code.code for code in agreement.codes),
        *(code for pair in agreement.confused for code in pair.codes),
    }


def list_measures(agreement: Agreement) -> list[Measure]:
    """Returns the formatted statistics in the order in which they are shown."""
    return [build_measure(agreement, statistic, estimate) for statistic, estimate in list_shown_estimates(agreement)]


def build_measure(agreement: Agreement, statistic: Statistic, estimate: Estimate) -> Measure:
    """Formats one statistic."""
    share = statistic.is_share
    return Measure(
        statistic.name,
        _capitalise(statistic.label(agreement)),
        format_value(estimate.value, share=share),
        format_interval(estimate, share=share),
        format_value(estimate.se, share=share),
        agreement.bands.get(statistic.name, ""),
        estimate.undefined,
    )


def _capitalise(words: str) -> str:
    return words[:1].upper() + words[1:]


def format_value(value: float | None, *, share: bool = False) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.1f} %" if share else decimal(value, 3)


def format_interval(estimate: Estimate, *, share: bool = False) -> str:
    if estimate.low is None:
        return "–"
    return f"{format_value(estimate.low, share=share)} to {format_value(estimate.high, share=share)}"


def _build_code_row(code: CodeAgreement, names: Mapping[str, CodeLabel]) -> CodeRow:
    return CodeRow(
        names[code.code],
        code.n_any,
        code.n_all,
        format_value(code.percent, share=True),
        format_value(code.specific, share=True),
        format_value(code.kappa.value),
        format_interval(code.kappa),
        code.kappa.undefined,
    )


def _draw_forest(result: RoundAgreement) -> str:
    agreement = result.agreement
    rows = [
        Drawn(
            _capitalise(statistic.label(agreement)),
            estimate.value,
            estimate.low,
            estimate.high,
            agreement.n,
            reason=estimate.undefined,
        )
        for statistic, estimate in list_shown_estimates(agreement)
    ]
    figure = draw_forest(
        rows, statistic="Agreement", threshold=result.threshold, name="overall", title="Agreement overall", narrow=True
    )
    return render_svg(figure)


def _draw_codes_forest(agreement: Agreement, names: Mapping[str, CodeLabel]) -> str:
    """Draws the most frequent codes in the order of the table."""
    used: Sequence[CodeAgreement] = sorted(agreement.codes, key=lambda code: -code.n_any)[:_MOST_DRAWN]
    drawn = [code for code in agreement.codes if code in used]
    rows = [
        Drawn(names[code.code].name, code.kappa.value, code.kappa.low, code.kappa.high, code.n_any,
              reason=code.kappa.undefined)
        for code in drawn
    ]  # fmt: skip
    if not rows:
        return ""
    title = "κ of each code against the rest"
    return render_svg(draw_forest(rows, statistic=title, name="codes", title=title, narrow=True))


def build_csv_rows(round_agreements: Sequence[RoundAgreement]) -> list[dict[str, Any]]:
    """Returns one row per statistic, overall and for each code, unrounded."""
    rows = []
    for round_agreement in round_agreements:
        agreement = round_agreement.agreement
        about = {"round": round_agreement.round, "facet": agreement.facet}
        rows += [
            {**about, "code": "", "n": agreement.n, "statistic": statistic.name, **_numbers(estimate)}
            for statistic, estimate in list_shown_estimates(agreement)
        ]
        rows += [
            {**about, "code": code.code, "n": code.n_any, "statistic": "kappa", **_numbers(code.kappa)}
            for code in agreement.codes
        ]
    return rows


def _numbers(estimate: Estimate) -> dict[str, Any]:
    values = {"value": estimate.value, "low": estimate.low, "high": estimate.high, "se": estimate.se}
    return {**{name: "" if value is None else value for name, value in values.items()}, "undefined": estimate.undefined}
