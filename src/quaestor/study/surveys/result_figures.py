"""Results of a survey as figures: choices and numbers as bars, scales parted in their middle, rankings by place."""

from __future__ import annotations

from quaestor.instruments.records import CHOSEN, Kind
from quaestor.publish.figures.choices import Choice, draw_choices
from quaestor.publish.figures.drawing import svg_of
from quaestor.publish.figures.likert import ScaleRow, draw_likert, likert_size
from quaestor.publish.figures.records import Figure
from quaestor.study.surveys.results import Distribution, QuestionResult, Results

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
