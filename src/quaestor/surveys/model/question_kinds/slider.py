"""Questions answered by moving a slider."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from quaestor.base.errors import Problem
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import Form, field_text, problem_of
from quaestor.surveys.model.question_kinds.number import Number
from quaestor.surveys.model.question_results import QuestionResult
from quaestor.surveys.model.records import Answer, Question
from quaestor.surveys.model.wording.catalogue import InvalidAnswer

_MOST_STEPS = 1_000
"""A slider with more steps than this cannot be set precisely."""


class Slider(Number):
    """A number between two labelled ends; a slider that nobody touched counts as unanswered.

    A range field always sends a value. The form also sends where the slider was at first, and whether the respondent
    ticked that it is in the right place; only a slider that was moved or confirmed is an answer.
    """

    name = "slider"
    shape = "number"
    takes = frozenset({"bounds", "slider"})

    def check_keys(self, question: Question) -> Iterator[Problem]:
        if question.low is None or question.high is None:
            yield problem_of(question, "it needs low and high, the numbers at its ends: add them")
        elif question.low < question.high:
            steps = (question.high - question.low) / question.step
            if not _is_whole(steps):
                words = f"from {question.low:g} in steps of {question.step:g}, the slider never reaches"
                yield problem_of(question, f"{words} {question.high:g}: change step or high")
            if steps > _MOST_STEPS:
                words = f"it has {steps:,.0f} steps, too many to set one precisely: make step larger"
                yield problem_of(question, words, grave=False)

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        """Yields the places of the slider next to every number that tests name, and its ends."""
        low = question.low or 0.0
        for answer in ({self.field: f"{question.high or low:.15g}"}, *super().examples(question, tests)):
            steps = math.floor((float(answer[self.field]) - low) / question.step)
            yield from ({self.field: _at(question, place)} for place in (steps, steps + 1))

    def start(self, question: Question) -> str:
        """Returns where the slider is at first: the place in the middle."""
        low, high = question.low or 0.0, question.high or 0.0
        return _at(question, math.floor((high - low) / question.step / 2))

    def read_form(self, question: Question, form: Form) -> Answer:
        name = f"q.{question.id}"
        answer = super().read_form(question, form)
        if not answer or form.get(f"{name}.set"):
            return answer
        start = field_text(form, f"{name}.start")
        return answer if _number(start) not in (None, float(answer[self.field])) else {}

    def write_form(self, question: Question, answer: Answer) -> dict[str, list[str]]:
        form = super().write_form(question, answer)
        return {**form, f"q.{question.id}.set": ["1"]} if form else {}

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        checked = super().check(question, answer)
        if checked and not _is_whole((float(checked[self.field]) - (question.low or 0.0)) / question.step):
            sent = str(answer[self.field]).strip()[:40]
            raise InvalidAnswer("off-step", said=sent, low=f"{question.low or 0:g}", step=f"{question.step:g}")
        return checked

    def draw_answer(self, question: Question, chance: random.Random, write: Callable[[], str]) -> Answer:
        steps = round(((question.high or 0.0) - (question.low or 0.0)) / question.step)
        return {self.field: _at(question, chance.randint(0, steps))}

    def codes(self, question: Question, code: str) -> Iterator[tuple[str, str, str]]:
        labels = (question.unit, *(f"{number} {label}" for number, label in _ends(question)))
        yield "", "; ".join(filter(None, labels)), ""

    def remarks(self, result: QuestionResult) -> list[str]:
        ends = ", ".join(f"{number} is “{label}”" for number, label in _ends(result.question))
        return [f"{ends}."] if ends else []


def _ends(question: Question) -> list[tuple[str, str]]:
    """Returns number and label of each end that has a label."""
    ends = ((question.low, question.low_label), (question.high, question.high_label))
    return [(f"{number or 0:g}", label) for number, label in ends if label]


def _at(question: Question, place: int) -> str:
    return f"{round((question.low or 0.0) + place * question.step, 9):.15g}"


def _is_whole(number: float) -> bool:
    return math.isclose(number, round(number), abs_tol=1e-6)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
