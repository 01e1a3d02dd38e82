"""Questions answered in one's own words."""

from __future__ import annotations

import random
from collections.abc import Callable

from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Group
from quaestor.render.table_model import Row as TableRow
from quaestor.surveys.model.question_kinds.base import QuestionKind
from quaestor.surveys.model.question_results import Groups, QuestionResult, base_cell
from quaestor.surveys.model.records import Answer, Question


class Text(QuestionKind):
    """A line of text."""

    name = "text"
    shape = "text"
    is_free_text = True
    answer_seconds = 15.0
    simulated_seconds = 15.0

    def draw_answer(self, question: Question, chance: random.Random, write: Callable[[], str]) -> Answer:
        return {self.field: write()}

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        row = TableRow("texts", "answers in words", (base_cell(result.question.id, result.base),))
        return (TableColumn("n", "n"),), (Group("", (row,)),)


class LongText(Text):
    """A text of several lines."""

    name = "long-text"
    answer_seconds = 60.0
    simulated_seconds = 60.0
