"""Questions answered in one's own words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from quaestor.base.errors import InputError, Problem
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Group
from quaestor.render.table_model import Row as TableRow
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import QuestionKind, problem_of
from quaestor.surveys.model.question_results import Groups, QuestionResult, base_cell
from quaestor.surveys.model.records import Answer, Question
from quaestor.surveys.model.wording.catalogue import PatternMismatch


class Text(QuestionKind):
    """A line of text, perhaps with a pattern."""

    name = "text"
    shape = "text"
    takes = frozenset({"pattern"})
    is_free_text = True
    answer_seconds = 15.0
    simulated_seconds = 15.0

    def check_keys(self, question: Question) -> Iterator[Problem]:
        if not question.pattern:
            if question.pattern_message or question.pattern_example:
                words = "pattern_message and pattern_example have no effect without a pattern: add one"
                yield problem_of(question, words, grave=False)
            return
        for key, text in (
            ("pattern_message", question.pattern_message),
            ("pattern_example", question.pattern_example),
        ):
            if not text.strip():
                yield problem_of(question, f"it has a pattern without {key}: add it")
        try:
            is_match = matches(question.pattern, question.pattern_example)
        except InputError as error:
            yield problem_of(question, str(error))
            return
        if question.pattern_example and not is_match:
            words = f"its pattern does not match pattern_example, {question.pattern_example!r}: correct one of them"
            yield problem_of(question, words)

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        yield {self.field: question.pattern_example or "…"}

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        checked = super().check(question, answer)
        if checked and question.pattern and not matches(question.pattern, checked[self.field]):
            raise PatternMismatch(question.pattern_message)
        return checked

    def draw_answer(self, question: Question, chance: random.Random, write: Callable[[], str]) -> Answer:
        return {self.field: question.pattern_example if question.pattern else write()}

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        row = TableRow("texts", "answers in words", (base_cell(result.question.id, result.base),))
        return (TableColumn("n", "n"),), (Group("", (row,)),)


class LongText(Text):
    """A text of several lines."""

    name = "long-text"
    answer_seconds = 60.0
    simulated_seconds = 60.0


def matches(pattern: str, text: str) -> bool:
    """Tells whether a pattern matches a whole text; raises InputError if the pattern is not valid.

    The engine (Rust's regex, part of pydantic) has no backtracking: its time grows with the length of the text, not
    exponentially. It refuses look-around, backreferences and patterns that become too large.
    """
    try:
        _compile(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _compile(pattern: str) -> SchemaValidator:
    try:
        for whole in (pattern, rf"\A(?:{pattern})\z"):  # by itself first, since `a)|(b` is valid only inside the group
            compiled = SchemaValidator(core_schema.str_schema(pattern=whole, regex_engine="rust-regex"))
    except SchemaError as error:
        reason = str(error).rpartition("error: ")[2].rpartition("SchemaError: ")[2].strip().rstrip(".")
        raise InputError(f"its pattern {pattern[:60]!r} is not usable: {reason}; change it") from None
    return compiled
