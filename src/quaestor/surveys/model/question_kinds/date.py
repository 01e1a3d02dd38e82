"""Questions answered with a day of the calendar."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from quaestor.base.errors import InputError, Problem
from quaestor.measures.records import Summary
from quaestor.measures.survey_answers import single_shares
from quaestor.render.figures.records import Figure
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Group
from quaestor.surveys.model.answer_cells import AnswerCells, CellPart
from quaestor.surveys.model.answer_columns import AnswerColumn, Flags, Floats, build_column, nested_field, valid
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import QuestionKind, problem_of
from quaestor.surveys.model.question_kinds.choices import draw_shares, shares_table
from quaestor.surveys.model.question_kinds.number import (
    comparison_json,
    count_numbers,
    summary_json,
    with_ascii_digits,
)
from quaestor.surveys.model.question_results import Counting, Distribution, Groups, QuestionResult, ResultLine
from quaestor.surveys.model.records import Answer, Question
from quaestor.surveys.model.wording.catalogue import InvalidAnswer

MOST_MONTHS = 24
"""Dates are counted by month if they lie within so many months, else by year."""
_MOST_PERIODS = 100
"""In a longer range, months or years without an answer are left out."""
_FIRST_YEAR = 1000
"""An earlier year is a slip of the finger: a native field sends 0024 while somebody types 2024."""
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PERIOD = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2]))?")
_MIDNIGHT = re.compile(r"[T ]00:00(:00(\.0+)?)?Z?$")
"""What survey services and spreadsheets add to a date."""
_DEFAULT = date(2020, 1, 1)
_TEN_YEARS = timedelta(days=3652)


class DateQuestion(QuestionKind):
    """A date, perhaps not before or after a certain day; stored as YYYY-MM-DD."""

    name = "date"
    field = "date"
    takes = frozenset({"days"})
    is_drawn = True
    holds_in_words = "a date as YYYY-MM-DD"
    stub = "when"

    def check_keys(self, question: Question) -> Iterator[Problem]:
        for name, text in (("earliest", question.earliest), ("latest", question.latest)):
            if text and _read_day(text) is None:
                yield problem_of(question, f"{name} is {text!r}, which is not a date: write it like 2027-03-31")
        if question.earliest and question.latest and question.earliest > question.latest:
            words = f"earliest is {question.earliest} and latest is {question.latest}, so no date is valid: swap them"
            yield problem_of(question, words)

    def check_comparison(self, question: Question, test: Condition) -> str:
        if test.compare == "includes":
            return f"asks what the date {question.id!r} includes: compare it with =, !=, <, <=, > or >="
        if _read_day(test.value) is None:
            return f"compares the date {question.id!r} with {test.value!r}: write a date such as 2024-05-31"
        return ""

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        """Yields days before, at, between and after the bounds and those that tests name."""
        named = (question.earliest, question.latest, *(test.value for test in tests))
        marks = sorted({day for text in named if (day := _read_day(text)) is not None}) or [_DEFAULT]
        between = [earlier + (later - earlier) / 2 for earlier, later in pairwise(marks)]
        around = [day + timedelta(days=step) for day in marks for step in (-1, 1)]
        yield from ({self.field: day.isoformat()} for day in (*between, *marks, *around))

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        text = str(answer.get(self.field, "")).strip()
        if not text:
            return {}
        day = _read_day(with_ascii_digits(text))
        if day is None:
            raise InvalidAnswer("no-date", said=text[:40])
        iso = day.isoformat()
        if question.earliest and iso < question.earliest:
            raise InvalidAnswer("too-early", said=iso, earliest=question.earliest)
        if question.latest and iso > question.latest:
            raise InvalidAnswer("too-late", said=iso, latest=question.latest)
        return {self.field: iso}

    def draw_answer(self, question: Question, chance: random.Random, write: Callable[[], str]) -> Answer:
        earliest, latest = _read_day(question.earliest), _read_day(question.latest)
        first = earliest or (latest - _TEN_YEARS if latest else _DEFAULT)
        last = latest or first + _TEN_YEARS
        return {self.field: (first + timedelta(days=chance.randint(0, (last - first).days))).isoformat()}

    def read_cell(self, cells: AnswerCells, column: str, part: CellPart, cell: str) -> None:
        super().read_cell(cells, column, part, _MIDNIGHT.sub("", cell))

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        """Returns dates as days since 1970."""
        moments = pc.strptime(nested_field(answers, self.field), format="%Y-%m-%d", unit="s", error_is_null=True)
        days = pc.cast(pc.cast(moments, pa.date32()), pa.int32())
        answered = valid(days) & here
        numbers = np.where(answered, np.asarray(pc.fill_null(days, 0), np.float64), np.nan)
        return build_column(question, answered, numbers=numbers)

    def select(self, column: AnswerColumn, option: str, row: str, place: int) -> Flags:
        if not option:
            return column.answered
        if not _PERIOD.fullmatch(option):
            raise InputError(f"unknown month or year: {option!r}, write it like 2024-05 or 2024")
        periods = _as_days(np.nan_to_num(column.numbers)).astype("datetime64[M]" if "-" in option else "datetime64[Y]")
        selected: Flags = column.answered & (periods == np.datetime64(option))
        return selected

    def count(self, column: AnswerColumn, counting: Counting, result: QuestionResult) -> QuestionResult:
        values = column.numbers[counting.used]
        numbers = count_numbers(values, counting)
        periods, codes = _count_periods(values)
        shares = single_shares(codes, len(periods), counting.weights)
        by = [single_shares(codes[member], len(periods), counting.weights_of(member)) for member in counting.members]
        lines = tuple(
            ResultLine(period, period, shares[place], by=tuple(group[place] for group in by))
            for place, period in enumerate(periods)
        )
        whole = Distribution("", "", result.base, result.missing, lines, bases=result.bases)
        labels = counting.groups.labels if counting.groups else ()
        return replace(result, rows=(whole,), numbers=replace(numbers, bars=(), groups=labels))

    def as_json(self, result: QuestionResult) -> dict[str, Any]:
        numbers = result.numbers
        if numbers is None:
            return {}
        return {
            "dates": {
                "median": _summary_json(numbers.summary),
                "least": _iso(numbers.least),
                "most": _iso(numbers.most),
                "groups": [_summary_json(group) for group in numbers.by],
                **comparison_json(numbers),
            },
            "periods": [line.as_json() for line in result.rows[0].lines],
        }

    def remarks(self, result: QuestionResult) -> list[str]:
        numbers = result.numbers
        if numbers is None or not numbers.summary.n:
            return []
        summary = numbers.summary
        interval = f" [{_iso(summary.low)} to {_iso(summary.high)}]" if summary.low is not None else ""
        quartiles = f"quartiles {_iso(summary.q1)} and {_iso(summary.q3)}"
        remarks = [
            f"Median {_iso(summary.median)}{interval}, {quartiles}, "
            f"range {_iso(numbers.least)} to {_iso(numbers.most)}."
        ]
        medians = [
            f"{label} {_iso(group.median) or 'none'} (n = {group.n:,})"
            for label, group in zip(numbers.groups, numbers.by, strict=True)
        ]
        return [*remarks, f"Median by group: {', '.join(medians)}."] if medians else remarks

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        return shares_table(result, groups)

    def draw(self, result: QuestionResult, groups: Groups | None, *, narrow: bool = False) -> Figure | None:
        return draw_shares(result)


def _read_day(text: str) -> date | None:
    """Returns the day that an ISO date names; None if the text is not one."""
    try:
        day = date.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None
    return day if day is not None and day.year >= _FIRST_YEAR else None


def _as_days(numbers: Floats) -> NDArray[np.datetime64]:
    return numbers.astype(np.int64).astype("datetime64[D]")


def _count_periods(numbers: Floats) -> tuple[list[str], NDArray[np.int16]]:
    """Returns the months or years that dates lie in, and the place of each date among them, −1 for none."""
    codes = np.full(len(numbers), -1, np.int16)
    known = ~np.isnan(numbers)
    if not known.any():
        return [], codes
    days = _as_days(numbers[known])
    months = days.astype("datetime64[M]")
    within = months.max() - months.min() < np.timedelta64(MOST_MONTHS, "M")
    periods = months if within else days.astype("datetime64[Y]")
    listed = np.arange(periods.min(), periods.max() + 1)
    if len(listed) > _MOST_PERIODS:
        listed = np.unique(periods)
    codes[known] = np.searchsorted(listed, periods)
    return [str(period) for period in listed], codes


def _iso(days: float | None) -> str | None:
    """Returns days since 1970 as a date; of the half days that medians can have, the day before."""
    return None if days is None else str(np.datetime64(int(np.floor(days)), "D"))


def _summary_json(summary: Summary) -> dict[str, Any]:
    dates = {key: _iso(getattr(summary, name)) for key, name in _SUMMARY_FIELDS.items()}
    return {**summary_json(summary), **dates}


_SUMMARY_FIELDS = {"value": "median", "low": "low", "high": "high", "q1": "q1", "q3": "q3"}
