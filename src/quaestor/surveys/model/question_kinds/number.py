"""Questions answered with a number, as people type them."""

from __future__ import annotations

import math
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from quaestor.measures.descriptive import summary
from quaestor.measures.group_comparison import cliffs_delta, kruskal_wallis
from quaestor.measures.records import Estimate, Summary
from quaestor.measures.survey_answers import distribution, list_size_doubts, mean
from quaestor.measures.weighting import weighted_mean
from quaestor.render.figures.records import Figure
from quaestor.render.number_format import ABSENT, decimal, interval, whole
from quaestor.render.table_model import Cell, Group
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Row as TableRow
from quaestor.surveys.model.answer_cells import NUMBER
from quaestor.surveys.model.answer_columns import AnswerColumn, Flags, Floats, build_column, nested_field, valid
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import OptionPlaces, QuestionKind
from quaestor.surveys.model.question_results import (
    Counting,
    Groups,
    Numbers,
    QuestionResult,
    base_cell,
    bounds,
    estimate_json,
    share_json,
)
from quaestor.surveys.model.records import Answer, Question
from quaestor.surveys.model.wording.catalogue import InvalidAnswer

MOST_BARS = 12
"""Numbers are shown one by one up to so many different ones, else in as many ranges."""
MOST, LEAST = 1e15, 1e-9
"""Beyond these a number is a slip of the finger, and one of them would drown all others; 0 is none of them."""
_LONGEST = 40
_AS_STORED = "as stored"
"""The key of the digits that were typed, in an answer that was converted to another unit."""
_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " ")
_SEPARATORS = {ord(sign): plain for sign, plain in zip("٫٬．，－＋", ".,.,-+", strict=True)}
"""Arabic and full-width separators and signs."""
_DIGITS = re.compile(r"[+-]?[0-9., ]+")
_GROUPS = r"[+-]?[1-9][0-9]{0,2}(?:%s[0-9]{3})+"
_BY_COMMA, _BY_POINT = re.compile(_GROUPS % ","), re.compile(_GROUPS % r"\.")
_BY_BLANK = re.compile(_GROUPS % " " + r"(?:[.,][0-9]+)?")
_COLUMNS = (
    TableColumn("n", "n"), TableColumn("mean", "mean", ("", "95% interval"), numbers=("", "low", "high")),
    TableColumn("median", "median", ("", "95% interval"), numbers=("", "low", "high")),
    TableColumn("quartiles", "quartiles", numbers=("lower", "upper")),
    TableColumn("range", "least to most", numbers=("least", "most")),
)  # fmt: skip
_WEIGHTED_MEAN = TableColumn("weighted-mean", "weighted mean", ("", "95% interval"), numbers=("", "low", "high"))


class Number(QuestionKind):
    """A number, whole or not, perhaps within bounds."""

    name = "number"
    field = "number"
    takes = frozenset({"bounds"})
    is_drawn = True
    holds = NUMBER
    holds_in_words = "a number"
    stub = "who"

    def check_comparison(self, question: Question, test: Condition) -> str:
        if test.compare == "includes":
            return f"asks what the number {question.id!r} includes: compare it with =, !=, <, <=, > or >="
        try:
            float(test.value)
        except ValueError:
            return f"compares the number {question.id!r} with {test.value!r}: write a number"
        return ""

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        """Yields numbers below, at, between and above the bounds that tests name."""
        tested = {float(test.value) for test in tests if _is_finite(test.value)}
        marks = sorted(tested | {bound for bound in (question.low, question.high) if bound is not None}) or [0.0]
        between = [(low + high) / 2 for low, high in pairwise(marks)]
        for value in _with_whole_numbers([*between, *marks, marks[0] - 1, marks[-1] + 1]):
            yield {self.field: str(int(value)) if value == int(value) else repr(value)}

    def is_counted_with(self, question: Question, newer: Sequence[Question]) -> bool:
        return question.unit == newer[0].unit or question.unit in newer[0].convert

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        text = str(answer.get(self.field, "")).strip()
        return {self.field: typed_number(question, text)} if text else {}

    def draw_answer(self, question: Question, chance: random.Random, write: Callable[[], str]) -> Answer:
        low = question.low or 0.0
        high = question.high if question.high is not None else max(low, 0.0) + 20.0
        if question.whole:
            return {self.field: str(chance.randint(math.ceil(low), math.floor(high)))}
        return {self.field: str(min(max(round(chance.uniform(low, high), 1), low), high))}

    def tidy_line(self, code: str, answer: Answer, reason: str, options: OptionPlaces) -> tuple[str, ...]:
        number = str(answer.get(self.field, ""))
        return "", "", "", str(answer.get(_AS_STORED, number)), number, reason

    def convert(self, answer: Answer, factor: float) -> Answer:
        number = _stored_number(str(answer.get(self.field, "")))
        return {self.field: f"{number * factor:.15g}", _AS_STORED: answer.get(self.field, "")}

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        texts = nested_field(answers, self.field)
        answered = valid(texts) & here
        numbers = np.full(len(here), np.nan)
        numbers[answered] = [_stored_number(text) for text in texts.filter(pa.array(answered)).to_pylist()]
        return build_column(question, answered, numbers=numbers)

    def count(self, column: AnswerColumn, counting: Counting, result: QuestionResult) -> QuestionResult:
        return replace(result, numbers=count_numbers(column.numbers[counting.used], counting))

    def as_json(self, result: QuestionResult) -> dict[str, Any]:
        numbers = result.numbers
        if numbers is None:
            return {}
        counted = {
            "mean": estimate_json(numbers.mean),
            "weighted_mean": None if numbers.weighted_mean is None else estimate_json(numbers.weighted_mean),
            "median": summary_json(numbers.summary),
            "least": numbers.least,
            "most": numbers.most,
            "spread": [{"label": label, **share_json(share)} for label, share in numbers.bars],
            "groups": [summary_json(group) for group in numbers.by],
            **comparison_json(numbers),
            "left_out": numbers.left_out,
        }
        return {"numbers": counted}

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        numbers, name = result.numbers, result.question.id
        if numbers is None:
            return _COLUMNS, (Group("", ()),)
        n, average = numbers.summary.n, numbers.mean
        least_to_most = f"{numbers.least:.15g} to {numbers.most:.15g}" if numbers.least is not None else ABSENT
        means = [average, *([] if numbers.weighted_mean is None else [numbers.weighted_mean])]
        cells = (
            base_cell(name, n) if not numbers.left_out else Cell((whole(n),), (n,)),
            *map(_mean_cell, means),
            *_median_cells(numbers.summary),
            Cell((least_to_most,), (numbers.least, numbers.most)),
        )
        rows = [TableRow("all", "all", cells, total=True)]
        if groups is not None:
            for key, label, group in zip(groups.keys, groups.labels, numbers.by, strict=True):
                nothing = Cell((ABSENT,))
                base = base_cell(name, group.n, by=groups.name, group=key)
                no_means = [nothing] * len(means)
                rows.append(TableRow(key, label, (base, *no_means, *_median_cells(group), nothing)))
        weighted = [_WEIGHTED_MEAN] if numbers.weighted_mean is not None else []
        return (*_COLUMNS[:2], *weighted, *_COLUMNS[2:]), (Group("", tuple(rows)),)

    def draw(self, result: QuestionResult, groups: Groups | None, *, narrow: bool = False) -> Figure | None:
        from quaestor.render.figures.choices import draw_choices
        from quaestor.render.figures.records import ChoiceBar

        if result.numbers is None:
            return None
        question = result.question
        unit = f" {question.unit}" if question.unit else ""
        bars = [ChoiceBar(f"{label}{unit}", share.count, share.value, share.low, share.high)
                for label, share in result.numbers.bars]  # fmt: skip
        return draw_choices(bars, result.base, name=question.id, title=question.text)


def typed_number(question: Question, text: str) -> str:
    """Returns a number as it was typed, without what a person puts around it; refuses one that could be another."""
    plain = _without_separators(question, text)
    try:
        value = float(plain) if len(plain) <= _LONGEST and plain.isascii() and "_" not in plain else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise InvalidAnswer("no-number", said=text[:40])
    if value and not LEAST <= abs(value) <= MOST:
        raise InvalidAnswer("too-far", said=text[:40])
    if question.whole and value != int(value):
        raise InvalidAnswer("no-whole-number", said=text[:40])
    if question.low is not None and value < question.low:
        raise InvalidAnswer("too-low", said=text[:40], low=f"{question.low:g}")
    if question.high is not None and value > question.high:
        raise InvalidAnswer("too-high", said=text[:40], high=f"{question.high:g}")
    return plain if value else plain.replace("-", "")


def _without_separators(question: Question, text: str) -> str:
    """Returns digits with a point; `1.234,5`, `1 2` and `1,234`, of which nobody knows what was meant, are refused."""
    plain = with_ascii_digits(text).replace("\u2212", "-").translate(_BLANKS).strip().replace("- ", "-")
    doubt = InvalidAnswer("odd-separators" if _DIGITS.fullmatch(plain) else "no-number", said=text[:40])
    if " " in plain and not _BY_BLANK.fullmatch(plain):
        raise doubt
    plain = plain.replace(" ", "")
    if "," not in plain:
        if question.whole and _BY_POINT.fullmatch(plain):  # 1.000 is a thousand to some, and 1 to others
            raise doubt
        return plain
    in_groups = _BY_COMMA.fullmatch(plain) is not None
    if in_groups and plain.count(",") > 1:
        return plain.replace(",", "")
    if in_groups or "." in plain or plain.count(",") > 1:
        raise doubt
    return plain.replace(",", ".")


def with_ascii_digits(text: str) -> str:
    """Returns a number in the digits of any script, such as `１２` or `٣`, in the digits 0 to 9."""
    digits = (str(unicodedata.decimal(sign, sign)) for sign in text.translate(_SEPARATORS))
    return "".join(digits)


def _with_whole_numbers(values: Iterable[float]) -> Iterator[float]:
    for value in values:
        yield value
        yield math.floor(value) if value != int(value) else value + 1
        yield math.ceil(value) if value != int(value) else value - 1


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _stored_number(text: str) -> float:
    """Returns a number, infinite where it is none, as in a file edited by hand: it is reported, not counted."""
    try:
        number = float(text)
    except ValueError:
        return math.inf
    return math.inf if math.isnan(number) else number + 0.0  # -0 is 0


def count_numbers(values: Floats, counting: Counting) -> Numbers:
    """Returns the summary of the counted numbers, and the test whether groups differ."""
    far = (values != 0) & ((np.abs(values) < LEAST) | (np.abs(values) > MOST))
    values = np.where(far, np.nan, values)
    known = values[~np.isnan(values)]
    numbers = Numbers(
        mean(known, counting.seed),
        summary(known, counting.seed),
        float(known.min()) if len(known) else None,
        float(known.max()) if len(known) else None,
        tuple(distribution(known, MOST_BARS)),
        by=tuple(summary(values[member], counting.seed) for member in counting.members),
        left_out=int(far.sum()),
        weighted_mean=None if counting.weights is None else weighted_mean(values, counting.weights),
    )
    if counting.groups is None or not counting.is_tested or not counting.members:
        return numbers
    test = kruskal_wallis(values, counting.codes, len(counting.members))
    two = [counting.members[place] for place in test.groups] if len(test.groups) == 2 else []
    effect = cliffs_delta(values[two[0]], values[two[1]]) if two else None
    doubts = () if test.undefined else list_size_doubts([group.n for group in numbers.by])
    return replace(numbers, test=test, effect=effect, groups=counting.groups.labels, doubts=doubts)


def comparison_json(numbers: Numbers) -> dict[str, Any]:
    """Returns the test of groups and its effect size, if there are any."""
    test, effect = numbers.test, numbers.effect
    return {
        "test": {**asdict(test), "epsilon_squared": test.epsilon_squared, "band": test.band,
                 "doubts": list(numbers.doubts)} if test else None,
        "effect": asdict(effect) if effect else None,
    }  # fmt: skip


def summary_json(numbers: Summary) -> dict[str, Any]:
    return {"n": numbers.n, "value": numbers.median, "low": numbers.low, "high": numbers.high, "q1": numbers.q1,
            "q3": numbers.q3, "how": numbers.how, "undefined": numbers.undefined}  # fmt: skip


def _mean_cell(estimate: Estimate) -> Cell:
    return Cell((decimal(estimate.value), bounds(estimate)), (estimate.value, estimate.low, estimate.high))


def _median_cells(numbers: Summary) -> tuple[Cell, Cell]:
    median = Cell((decimal(numbers.median), bounds(numbers)), (numbers.median, numbers.low, numbers.high))
    return median, Cell((interval(numbers.q1, numbers.q3),), (numbers.q1, numbers.q3))
