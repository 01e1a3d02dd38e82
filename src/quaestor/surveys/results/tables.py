"""Survey results as printable tables, one per question; each cell links to the answers behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.render.number_format import ABSENT, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.surveys.invitations import ResponseRate, ResponseRates
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_results import (
    INTERVAL,
    SHARE_COLUMNS,
    QuestionResult,
    ResultLine,
    build_selection,
    share_cells,
    weighted_cells,
)
from quaestor.surveys.results.compute import SurveyResults, response_rate
from quaestor.surveys.results.sentences import write_notes, write_remarks
from quaestor.surveys.results.weighting import size_in_words


def build_tables(results: SurveyResults) -> list[Table]:
    """Returns a table for every question but consent, in the order of the questionnaire."""
    return [build_table(results, result) for result in results.tabled]


def build_table(results: SurveyResults, result: QuestionResult) -> Table:
    """Returns the table of one question; its id is that of the question."""
    question, kind = result.question, kind_of(result.question)
    columns, groups = kind.table(result, results.groups)
    return Table(question.id, question.text, kind.stub, columns, groups, notes=write_notes(result))


def demographics(results: SurveyResults, questions: Sequence[str]) -> Table:
    """Returns the demographics table: a group per question, each option with its count and share."""
    groups = []
    notes = [f"Of {results.base:,} responses; shares are of those who answered the question."]
    for name in questions:
        result = results.question(name)
        if result is None or not kind_of(result.question).is_choice:
            known = [question.question.id for question in results.questions if kind_of(question.question).is_choice]
            raise InputError(f"{name!r} is not a choice question, available: {suggest(name, known)}")
        title = f"{result.question.text} (n = {result.base:,})"
        groups.append(Group(title, tuple(_demographic(name, line) for line in result.rows[0].lines)))
        notes += [f"{result.question.text} {remark}" for remark in write_remarks(result)]
    columns = [Column("n", "n"), Column("share", "share")]
    if results.weights is not None:
        columns.append(Column("weighted", "weighted share"))
        notes.append(f"Weighted: {size_in_words(results.weights.size)}.")
    return Table("demographics", "Demographics", "", tuple(columns), tuple(groups), notes=tuple(notes))


def rates_table(rates: ResponseRates) -> Table:
    """Returns how many of those invited started and finished, by stratum and batch, with Wilson's interval."""
    groups = [Group("", (_rate(rates.whole, "all", total=True),))]
    for title, parts in (("By stratum", rates.by_stratum), ("By batch", rates.by_batch)):
        if parts:
            groups.append(Group(title, tuple(_rate(rate, rate.name or "none") for rate in parts)))
    columns = (
        Column("invited", "invited"), Column("came", "came"), *SHARE_COLUMNS[1:], Column("finished", "finished"),
        Column("finished-share", "share"), replace(INTERVAL, key="finished-interval"),
    )  # fmt: skip
    return Table("response-rate", "Response rate", "", columns, tuple(groups))


def _demographic(question: str, line: ResultLine) -> Row:
    count, share, _ = share_cells(line.share, build_selection(question, option=line.key))
    return Row(f"{question}.{line.key}", line.label, (count, share, *[*weighted_cells(line.share)][:1]))


def _rate(rate: ResponseRate, title: str, *, total: bool = False) -> Row:
    came = response_rate(rate.used, rate.sent)
    sent = Cell((whole(rate.sent),), (rate.sent,))
    done: Iterable[Cell] = [Cell((ABSENT,))] * 3
    if rate.finished is not None:
        done = share_cells(response_rate(rate.finished, rate.sent))
    return Row(rate.name or title, title, (sent, *share_cells(came), *done), total=total)
