"""Agreement as plain values, the same for the command line, the desk and the package; documented and stable."""

from __future__ import annotations

from typing import Any

from quaestor.measures.records import Agreement, CodeAgreement, Confusion, Estimate, PairAgreement


def to_json(agreement: Agreement) -> dict[str, Any]:
    """Every estimate as `name`, `name_se` and `name_ci`; the undefined ones are null and explained in `undefined`."""
    estimates: dict[str, Estimate | None] = {
        "percent": agreement.percent,
        "overlap": agreement.overlap,
        "kappa": agreement.kappa,
        "weighted_kappa": agreement.weighted_kappa,
        "fleiss": agreement.fleiss,
        "ac1": agreement.ac1,
        "ac2": agreement.ac2,
        "alpha": agreement.alpha,
    }
    given = {name: estimate for name, estimate in estimates.items() if estimate is not None}
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
    for name, estimate in given.items():
        result |= _estimate(name, estimate)
    result |= {"kappa_kind": agreement.kappa_kind, "band": agreement.band}
    if agreement.weighted_kappa is not None:
        result |= {"weights": agreement.weights, "weighted_band": agreement.weighted_band}
    return result | {
        "how": {name: estimate.how for name, estimate in given.items() if estimate.how},
        "undefined": {name: estimate.undefined for name, estimate in given.items() if estimate.undefined},
        "prevalence": agreement.prevalence,
        "bias": agreement.bias,
        "warnings": list(agreement.warnings),
        "codes": [_code(code) for code in agreement.codes],
        "pairs": [_pair(pair) for pair in agreement.pairs],
        "confused": [{"codes": list(pair.codes), "n": pair.n} for pair in agreement.confused],
        "confusion": None if agreement.confusion is None else _confusion(agreement.confusion),
    }


def _estimate(name: str, estimate: Estimate) -> dict[str, Any]:
    interval = None if estimate.low is None else [estimate.low, estimate.high]
    return {name: estimate.value, f"{name}_se": estimate.se, f"{name}_ci": interval}


def _code(code: CodeAgreement) -> dict[str, Any]:
    why = {"undefined": code.kappa.undefined} if code.kappa.undefined else {}
    return {
        "code": code.code,
        "n_any": code.n_any,
        "n_all": code.n_all,
        "percent": code.percent,
        "specific": code.specific,
        **_estimate("kappa", code.kappa),
        **why,
    }


def _pair(pair: PairAgreement) -> dict[str, Any]:
    why = {"undefined": pair.kappa.undefined} if pair.kappa.undefined else {}
    return {
        "raters": [pair.first, pair.second],
        "n": pair.n,
        **_estimate("percent", pair.percent),
        **_estimate("kappa", pair.kappa),
        **why,
    }


def _confusion(confusion: Confusion) -> dict[str, Any]:
    return {
        "raters": [confusion.first, confusion.second],
        "labels": list(confusion.labels),
        "cells": [list(cell) for cell in confusion.cells],
    }
