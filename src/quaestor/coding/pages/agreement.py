"""All that a page shows of the agreement on one facet: numbers in words, drawings, and which codes are confused."""

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
"""Codes in the drawing; the table beside it has all of them."""


@dataclass(frozen=True)
class Asked:
    """Which agreement of a round is asked for; the first facet where none is named."""

    facet: str = ""
    level: str = ""
    version: int | None = None


@dataclass(frozen=True)
class Measure:
    """One statistic as a row of a table, each number in words; `why` says it where there is none."""

    id: str
    name: str
    value: str
    interval: str
    error: str
    band: str = ""
    why: str = ""


@dataclass(frozen=True)
class CodeRow:
    """One code against the rest."""

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
    """Two codes that are taken for one another."""

    first: CodeLabel
    second: CodeLabel
    n: int


@dataclass(frozen=True)
class AgreementView:
    """The agreement of a round on one facet, ready to be shown; without a result while it is being worked out."""

    round: str
    facets: tuple[str, ...]
    levels: tuple[str, ...]
    newest: int
    """The latest version of the codebook."""
    request: Asked
    question: str
    result: RoundAgreement | None = None
    ratings: int = 0
    more: int = 0
    """Ratings that came since it was worked out."""
    left_out: tuple[tuple[str, int], ...] = ()
    measures: tuple[Measure, ...] = ()
    codes: tuple[CodeRow, ...] = ()
    forest: str = ""
    codes_forest: str = ""
    matrix: ConfusionMatrix | None = None
    confused: tuple[PairRow, ...] = ()
    curves: tuple[SetCurve, ...] = ()
    curves_drawn: str = ""


def agreement_view(coding: CodingSession, name: str, actor: str, asked: Asked, *, wait: bool = False) -> AgreementView:
    """For those who have looked; a large round is shown as it was worked out last."""
    with coding.locked_state() as state:
        one = require_agreement_access(coding, name, actor)
        facet = _facet(state, one, asked.facet)
        asked = Asked(facet.id, asked.level, asked.version)
        book = state.history.at(one.plan.codebook if asked.version is None else asked.version)
        levels = book.facets[facet.codes].levels if facet.codes in book.facets else ()
        sets = _curves(one) if facet.kind == PhraseKind.name else ()
        empty = AgreementView(
            name, tuple(list_comparable_facets(one)), levels, _newest(state, facet), asked, facet.question
        )  # fmt: skip
    found = find_visible_agreement(coding, name, actor, facet.id, version=asked.version, level=asked.level, wait=wait)
    if found is None:
        return empty
    result, worked = found
    names = {label: build_label(label, facet, book) for label in _labels(result.agreement)}
    return replace(
        empty,
        result=result,
        ratings=worked.ratings,
        more=max(0, one.rating_count - worked.ratings),
        left_out=tuple(result.agreement.reasons.items()),
        measures=tuple(measures_of(result.agreement)),
        codes=tuple(_code(code, names) for code in result.agreement.codes),
        forest=_forest(result),
        codes_forest=_codes_forest(result.agreement, names),
        matrix=build_matrix(result.agreement.confusion, names) if result.agreement.confusion else None,
        confused=tuple(
            PairRow(names[pair.codes[0]], names[pair.codes[1]], pair.n) for pair in result.agreement.confused
        ),
        curves=sets,
        curves_drawn=render_svg(draw_round_curves(sets, name, simulated=result.simulated, blindness=result.blindness))
        if sets
        else "",
    )


def _facet(state: State, round_state: RoundState, wanted: str) -> Facet:
    compared = list_comparable_facets(round_state)
    if not wanted and not compared:
        raise InputError(f"the round {round_state.plan.round!r} asks for free text alone, which raters cannot agree on")
    if wanted:
        find_facet_scale(state, round_state.plan.round, wanted)
    return round_state.plan.facet(
        wanted or (round_state.plan.measured if round_state.plan.measured in compared else compared[0])
    )


def _newest(state: State, facet: Facet) -> int:
    return state.history.latest.version if facet.codes else 0


def _curves(round_state: RoundState) -> tuple[SetCurve, ...]:
    depends = round_state.rating_count, len(round_state.unifications), round_state.set
    known = round_state.cache.get("curves")
    if known is None or known[0] != depends:
        known = round_state.cache["curves"] = depends, tuple(build_curves(round_state))
    set_curves: tuple[SetCurve, ...] = known[1]
    return set_curves


def _labels(agreement: Agreement) -> set[str]:
    matrix = agreement.confusion.labels if agreement.confusion else ()
    return {
        *matrix,
        *(code.code for code in agreement.codes),
        *(code for pair in agreement.confused for code in pair.codes),
    }


def measures_of(agreement: Agreement) -> list[Measure]:
    """The statistics in words, in the order in which they are shown."""
    return [measure_of(agreement, statistic, estimate) for statistic, estimate in list_shown_estimates(agreement)]


def measure_of(agreement: Agreement, statistic: Statistic, estimate: Estimate) -> Measure:
    """One statistic in words."""
    share = statistic.is_share
    return Measure(
        statistic.name,
        _capitalised(statistic.label(agreement)),
        in_words(estimate.value, share=share),
        interval_in_words(estimate, share=share),
        in_words(estimate.se, share=share),
        agreement.bands.get(statistic.name, ""),
        estimate.undefined,
    )


def _capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]


def in_words(value: float | None, *, share: bool = False) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.1f} %" if share else decimal(value, 3)


def interval_in_words(estimate: Estimate, *, share: bool = False) -> str:
    if estimate.low is None:
        return "–"
    return f"{in_words(estimate.low, share=share)} to {in_words(estimate.high, share=share)}"


def _code(code: CodeAgreement, names: Mapping[str, CodeLabel]) -> CodeRow:
    return CodeRow(
        names[code.code],
        code.n_any,
        code.n_all,
        in_words(code.percent, share=True),
        in_words(code.specific, share=True),
        in_words(code.kappa.value),
        interval_in_words(code.kappa),
        code.kappa.undefined,
    )


def _forest(result: RoundAgreement) -> str:
    agreement = result.agreement
    rows = [
        Drawn(_capitalised(statistic.label(agreement)), one.value, one.low, one.high, agreement.n, reason=one.undefined)
        for statistic, one in list_shown_estimates(agreement)
    ]
    figure = draw_forest(
        rows, statistic="Agreement", threshold=result.threshold, name="overall", title="Agreement overall", narrow=True
    )
    return render_svg(figure)


def _codes_forest(agreement: Agreement, names: Mapping[str, CodeLabel]) -> str:
    """The codes that were used most, in the order of the table."""
    used: Sequence[CodeAgreement] = sorted(agreement.codes, key=lambda code: -code.n_any)[:_MOST_DRAWN]
    drawn = [code for code in agreement.codes if code in used]
    rows = [
        Drawn(names[one.code].name, one.kappa.value, one.kappa.low, one.kappa.high, one.n_any,
              reason=one.kappa.undefined)
        for one in drawn
    ]  # fmt: skip
    if not rows:
        return ""
    title = "κ of each code against the rest"
    return render_svg(draw_forest(rows, statistic=title, name="codes", title=title, narrow=True))


def csv_rows(round_agreements: Sequence[RoundAgreement]) -> list[dict[str, Any]]:
    """One row a statistic, of the whole and of each code, unrounded."""
    rows = []
    for one in round_agreements:
        agreement = one.agreement
        about = {"round": one.round, "facet": agreement.facet}
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
