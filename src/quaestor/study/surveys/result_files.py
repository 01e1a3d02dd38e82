"""Results of a survey as files: every table in every format, every figure, and all numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from quaestor.base.files import write_whole
from quaestor.instruments.records import Kind
from quaestor.publish.figures.drawing import write_figure
from quaestor.publish.tables import write_table
from quaestor.study.surveys.fielding import Surveys
from quaestor.study.surveys.invitations import response_rates
from quaestor.study.surveys.result_figures import figures_of
from quaestor.study.surveys.result_json import results_json
from quaestor.study.surveys.result_tables import tables_of
from quaestor.study.surveys.results import Results
from quaestor.study.surveys.who_answered import demographics, rates_table


def write_results(surveys: Surveys, results: Results, folder: Path) -> list[Path]:
    """Tables, figures and `results.json` in a folder; the same answers give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = tables_of(results)
    about = demographic_questions(results)
    if about:
        tables.append(demographics(results, about))
    rates = response_rates(surveys, results.survey)
    if rates.whole.sent:
        tables.append(rates_table(rates))
    written = [path for table in tables for path in write_table(table, folder / "tables")]
    written += [path for figure in figures_of(results) for path in write_figure(figure, folder / "figures")]
    whole = folder / "results.json"
    write_whole(whole, (json.dumps(results_json(results), ensure_ascii=False, indent=2) + "\n").encode())
    return [*written, whole]


def demographic_questions(results: Results) -> list[str]:
    """Choices that answer no research question, in a questionnaire that says which ones do: they ask who it is."""
    chosen = [
        one.question for one in results.questions if one.question.kind in (Kind.SINGLE, Kind.YES_NO, Kind.MULTIPLE)
    ]
    about = [one.id for one in chosen if not one.answers and not one.attention]
    return about if len(about) < len(chosen) else []
