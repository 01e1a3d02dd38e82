"""Exports survey results: every table in every format, every figure, and all numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quaestor.base.files import write_atomically
from quaestor.render.figures.export import render_svg, write_figure
from quaestor.render.tables.files import write_table
from quaestor.surveys.invitations import response_rates
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_results import Groups, QuestionResult, size_json
from quaestor.surveys.results.compute import SurveyResults
from quaestor.surveys.results.tables import build_tables, demographics, rates_table
from quaestor.surveys.results.weighting import weights_json, weights_table


def results_json(results: SurveyResults) -> dict[str, Any]:
    """Returns all results, unrounded."""
    return {
        "survey": results.survey,
        "title": results.title,
        "responses": results.base,
        "left_out": dict(results.counted.left_out),
        "withdrawn": results.counted.erased,
        "synthetic": results.synthetic,
        "where": list(results.counted.where),
        "by": _groups(results.groups, results.sizes) if results.groups else None,
        "weights": weights_json(results.weights),
        "consents": [
            {
                "question": consent.question.id,
                "text": consent.question.text,
                "agreed": consent.agreed,
                "declined": consent.declined,
            }
            for consent in results.consents
        ],
        "questions": [_question(result) for result in results.tabled],
    }


def _groups(groups: Groups, sizes: tuple[int, ...]) -> dict[str, Any]:
    named = zip(groups.keys, groups.labels, sizes, strict=True)
    return {
        "question": groups.name,
        "label": groups.label,
        "overlapping": groups.overlapping,
        "groups": [{"group": key, "label": label, "responses": size} for key, label, size in named],
    }


def _question(result: QuestionResult) -> dict[str, Any]:
    question = result.question
    return {
        "question": question.id,
        "kind": question.kind,
        "text": question.text,
        "base": result.base,
        "missing": {reason.value: count for reason, count in result.missing.items()},
        "bases": list(result.bases),
        "weighted": size_json(result.weighted),
        "earlier": [
            {
                "part": label.part,
                "code": label.code,
                "label": label.label,
                "earlier": label.earlier,
                "versions": list(label.versions),
            }
            for label in result.earlier
        ],
        "converted": [{"unit": unit, "factor": factor, "answers": count} for unit, factor, count in result.converted],
        **kind_of(question).as_json(result),
    }


def svg_of_question(results: SurveyResults, name: str, *, narrow: bool = False) -> str | None:
    """Returns the figure of a question as SVG; None if it has none."""
    result = results.question(name)
    figure = kind_of(result.question).draw(result, results.groups, narrow=narrow) if result is not None else None
    return render_svg(figure) if figure is not None else None


def write_results(surveys: Surveys, results: SurveyResults, folder: Path) -> list[Path]:
    """Writes tables, figures and `results.json` into a folder; the same answers give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = build_tables(results)
    about = demographic_questions(results)
    if about:
        tables.append(demographics(results, about))
    rates = response_rates(surveys, results.survey)
    if rates.whole.sent:
        tables.append(rates_table(rates))
    if results.weights is not None:
        tables.append(weights_table(results.weights))
    written = [path for table in tables for path in write_table(table, folder / "tables")]
    for result in results.tabled:
        figure = kind_of(result.question).draw(result, results.groups)
        written += write_figure(figure, folder / "figures") if figure is not None else []
    whole = folder / "results.json"
    write_atomically(whole, (json.dumps(results_json(results), ensure_ascii=False, indent=2) + "\n").encode())
    return [*written, whole]


def demographic_questions(results: SurveyResults) -> list[str]:
    """Returns the choice questions that address no research question, in a questionnaire that has some."""
    choices = [result.question for result in results.tabled if kind_of(result.question).is_choice]
    about = [
        question.id
        for question in choices
        if not (question.answers or question.attention or kind_of(question).is_hidden)
    ]
    return about if len(about) < len(choices) else []
