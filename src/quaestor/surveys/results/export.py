"""Results of a survey as files: every table in every format, every figure, and all numbers as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from quaestor.base.files import write_atomically
from quaestor.measures.records import Estimate, GroupTest, Share, Summary
from quaestor.measures.survey_answers import GroupDifference
from quaestor.render.figures.choices import Choice, draw_choices
from quaestor.render.figures.export import svg_of, write_figure
from quaestor.render.figures.likert import ScaleRow, draw_likert, likert_size
from quaestor.render.figures.records import Figure
from quaestor.render.tables.files import write_table
from quaestor.surveys.invitations import response_rates
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.records import CHOSEN, Kind
from quaestor.surveys.results.compute import Distribution, Line, Numbers, QuestionResult, RankedLine, Results
from quaestor.surveys.results.counting import Groups
from quaestor.surveys.results.tables import demographics, rates_table, tables_of


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


def _test(crossed: GroupDifference | None) -> dict[str, Any] | None:
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


SCALES = (Kind.MATRIX, Kind.RANKING)
_PLACES = ("1st", "2nd", "3rd")


def figures_of(results: Results) -> list[Figure]:
    """A figure for every question that has something to draw."""
    return [figure for one in results.tabled if (figure := figure_of(results, one)) is not None]


def figure_of(results: Results, found: QuestionResult, *, narrow: bool = False) -> Figure | None:
    """The figure of one question; None for texts, which are read and not drawn. Scales can be drawn for a phone."""
    question = found.question
    name, title = question.id, question.text
    if question.kind in CHOSEN:
        lines = [Choice(one.label, one.share.count, one.share.value, one.share.low, one.share.high)
                 for one in found.rows[0].lines]  # fmt: skip
        note = "several could be chosen" if question.kind is Kind.MULTIPLE else ""
        return draw_choices(lines, found.base, note=note, name=name, title=title)
    if question.kind in SCALES:
        codes = [one.code for one in question.options]
        centre = codes.index(question.centre) if question.centre in codes else None
        stacked = question.kind is Kind.RANKING
        steps, rows = _scale(results, found)
        return draw_likert(steps, rows, centre=centre, stacked=stacked, name=name, title=title, narrow=narrow)
    if question.kind is Kind.NUMBER and found.numbers is not None:
        unit = f" {question.unit}" if question.unit else ""
        bars = [Choice(f"{label}{unit}", one.count, one.value, one.low, one.high) for label, one in found.numbers.bars]
        return draw_choices(bars, found.base, name=name, title=title)
    return None


def size_of_scale(results: Results, found: QuestionResult, *, narrow: bool = False) -> tuple[int, int]:
    """Width and height of the figure of a matrix or a ranking, which is not drawn for it."""
    return likert_size(*_scale(results, found), narrow=narrow)


def svg_of_question(results: Results, name: str, *, narrow: bool = False) -> str | None:
    """The figure as SVG, for a page."""
    found = results.question(name)
    figure = figure_of(results, found, narrow=narrow) if found is not None else None
    return svg_of(figure) if figure is not None else None


def _scale(results: Results, found: QuestionResult) -> tuple[list[str], list[ScaleRow]]:
    """Steps and rows of a matrix or a ranking."""
    question = found.question
    if question.kind is Kind.RANKING:
        places = [_PLACES[at] if at < len(_PLACES) else f"{at + 1}th" for at in range(len(question.options))]
        return places, [ScaleRow(one.label, one.places) for one in found.ranked]
    return [one.label for one in question.options], [row for one in found.rows for row in _scale_rows(results, one)]


def _scale_rows(results: Results, row: Distribution) -> list[ScaleRow]:
    if results.groups is None:
        return [ScaleRow(row.label, tuple(line.share.count for line in row.lines))]
    return [
        ScaleRow(label, tuple(line.by[place].count for line in row.lines), row.label)
        for place, label in enumerate(results.groups.labels)
    ]


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
    write_atomically(whole, (json.dumps(results_json(results), ensure_ascii=False, indent=2) + "\n").encode())
    return [*written, whole]


def demographic_questions(results: Results) -> list[str]:
    """Choices that answer no research question, in a questionnaire that says which ones do: they ask who it is."""
    chosen = [
        one.question for one in results.questions if one.question.kind in (Kind.SINGLE, Kind.YES_NO, Kind.MULTIPLE)
    ]
    about = [one.id for one in chosen if not one.answers and not one.attention]
    return about if len(about) < len(chosen) else []
