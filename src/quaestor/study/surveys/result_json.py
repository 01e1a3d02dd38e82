"""Results of a survey as JSON, documented in docs/reference/survey-results.md and stable."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from quaestor.instruments.records import Kind
from quaestor.measures.records import Estimate, GroupTest, Share, Summary
from quaestor.measures.surveys import Crossed
from quaestor.study.surveys.counting import Groups
from quaestor.study.surveys.results import Distribution, Line, Numbers, QuestionResult, RankedLine, Results


def results_json(results: Results) -> dict[str, Any]:
    """Everything that is computed, unrounded."""
    return {
        "survey": results.survey,
        "title": results.title,
        "responses": results.base,
        "left_out": dict(results.counted.left_out),
        "withdrawn": results.counted.erased,
        "synthetic": results.synthetic,
        "by": _groups(results.groups, results.sizes) if results.groups else None,
        "consents": [
            {"question": one.question.id, "text": one.question.text, "agreed": one.agreed, "declined": one.declined}
            for one in results.consents
        ],
        "questions": [_question(one) for one in results.tabled],
    }


def _groups(groups: Groups, sizes: tuple[int, ...]) -> dict[str, Any]:
    named = zip(groups.keys, groups.labels, sizes, strict=True)
    return {
        "question": groups.name,
        "label": groups.label,
        "overlapping": groups.overlapping,
        "groups": [{"group": key, "label": label, "responses": size} for key, label, size in named],
    }


def _question(found: QuestionResult) -> dict[str, Any]:
    question = found.question
    told: dict[str, Any] = {
        "question": question.id,
        "kind": question.kind.value,
        "text": question.text,
        "base": found.base,
        "missing": {reason.value: count for reason, count in found.missing.items()},
        "bases": list(found.bases),
    }
    if question.kind is Kind.MATRIX:
        told["rows"] = [_row(one) for one in found.rows]
    elif found.rows:
        told["options"] = [_line(one) for one in found.rows[0].lines]
        told["test"] = _test(found.rows[0].crossed)
    if found.numbers is not None:
        told["numbers"] = _numbers(found.numbers)
    if found.ranked:
        told["ranking"] = [_ranked(one) for one in found.ranked]
    return told


def _row(row: Distribution) -> dict[str, Any]:
    return {
        "row": row.key,
        "label": row.label,
        "base": row.base,
        "missing": {reason.value: count for reason, count in row.missing.items()},
        "bases": list(row.bases),
        "texts": row.worded,
        "steps": [_line(one) for one in row.lines],
        "test": _test(row.crossed),
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "option": line.key,
        "label": line.label,
        **_share(line.share),
        "texts": line.worded,
        "groups": [_share(one) for one in line.by],
        "test": _test(line.crossed),
    }


def _share(share: Share) -> dict[str, Any]:
    return {"count": share.count, "of": share.of, "share": share.value, "low": share.low, "high": share.high}


def _numbers(numbers: Numbers) -> dict[str, Any]:
    return {
        "mean": _estimate(numbers.mean),
        "median": _summary(numbers.summary),
        "least": numbers.least,
        "most": numbers.most,
        "spread": [{"label": label, **_share(one)} for label, one in numbers.bars],
        "groups": [_summary(one) for one in numbers.by],
        "test": _ranks(numbers.test, numbers.doubts) if numbers.test else None,
        "effect": asdict(numbers.effect) if numbers.effect else None,
        "left_out": numbers.left_out,
    }


def _ranks(test: GroupTest, doubts: tuple[str, ...]) -> dict[str, Any]:
    return {**asdict(test), "epsilon_squared": test.epsilon_squared, "band": test.band, "doubts": list(doubts)}


def _summary(one: Summary) -> dict[str, Any]:
    return {"n": one.n, "value": one.median, "low": one.low, "high": one.high, "q1": one.q1, "q3": one.q3,
            "how": one.how, "undefined": one.undefined}  # fmt: skip


def _estimate(one: Estimate) -> dict[str, Any]:
    return {"value": one.value, "low": one.low, "high": one.high, "how": one.how, "undefined": one.undefined}


def _ranked(line: RankedLine) -> dict[str, Any]:
    one = line.ranked
    return {
        "option": line.key,
        "label": line.label,
        "placed": one.placed,
        "mean": _estimate(one.mean),
        "first": _share(one.first),
        "places": list(line.places),
    }


def _test(crossed: Crossed | None) -> dict[str, Any] | None:
    if crossed is None:
        return None
    found, strength = crossed.association, crossed.strength
    return {
        "test": found.test,
        "n": found.n,
        "statistic": found.statistic,
        "df": found.df,
        "p": found.p,
        "adjusted": crossed.adjusted,
        "cramers_v": strength.value,
        "low": strength.low,
        "high": strength.high,
        "band": strength.band,
        "doubts": list(crossed.doubts),
        "undefined": found.undefined,
    }
