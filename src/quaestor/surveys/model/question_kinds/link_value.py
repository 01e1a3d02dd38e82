"""Values that the link to a survey contains, such as where it was published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from quaestor.base.errors import InputError, Problem
from quaestor.surveys.model.answer_columns import AnswerColumn, Flags, build_column, nested_field, valid
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import QuestionKind, problem_of
from quaestor.surveys.model.question_results import Groups
from quaestor.surveys.model.records import SHARED_BY, Answer, Question
from quaestor.surveys.model.wording.catalogue import InvalidAnswer

RESERVED = (
    "page", "language", "response", "version", "stratum", "day", "seconds", "seed", "source", "synthetic", "standing",
    "kept",
)  # fmt: skip
"""Parameters of the survey's own pages, and columns of an export that are about the response itself."""

OTHER_VALUES = "other values"
"""The group of the values that few responses share."""


class LinkValue(QuestionKind):
    """The parameter of the link that has the question's id; anybody can change a link, so it is only ever a text.

    Respondents see it before they agree to take part, and no form can change it.
    """

    name = "link-value"
    takes = frozenset({"link"})
    is_hidden = True
    answer_seconds = 0.0
    simulated_seconds = 0.0

    def check_keys(self, question: Question) -> Iterator[Problem]:
        if question.id in RESERVED:
            words = f"{question.id!r} has a meaning of its own in addresses or exports: choose another id"
            yield problem_of(question, words)
        if question.required:
            words = "required has no effect, because people can begin without this value: remove it"
            yield problem_of(question, words, grave=False)

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        yield {self.field: "example"[: question.max_length]}

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        checked = super().check(question, answer)
        text = checked.get(self.field, "")
        if len(text) > question.max_length:
            raise InvalidAnswer("too-long", length=f"{len(text):,}", most=f"{question.max_length:,}")
        if not text.isprintable():
            raise InvalidAnswer("odd-characters")
        return checked

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        values = nested_field(answers, self.field)
        answered = valid(values) & here
        texts = np.where(answered, np.array(values.to_pylist(), object), "")
        return build_column(question, answered, texts=texts)

    def comparable_rows(self, question: Question) -> Iterator[tuple[str, str]]:
        yield "", ""

    def group(self, column: AnswerColumn, by: str, row: str, label: str) -> Groups:
        """Groups by value; values of few responses, which could identify people, are joined until they are enough."""
        if row:
            return super().group(column, by, row, label)
        counts = Counter(column.texts[column.answered].tolist())
        if not counts:
            raise InputError(f"no response has a value of {by!r}: compare by a question instead")
        joined = {value for value, count in counts.items() if count < SHARED_BY or value == OTHER_VALUES}
        while joined and sum(counts[value] for value in joined) < SHARED_BY and counts.keys() - joined:
            joined.add(min(counts.keys() - joined, key=lambda value: (counts[value], value)))
        values = np.where(np.isin(column.texts, list(joined)), OTHER_VALUES, column.texts)
        keys = (*sorted(counts.keys() - joined), *([OTHER_VALUES] if joined else []))
        members = np.stack([column.answered & (values == key) for key in keys], axis=1)
        return Groups(by, label, keys, keys, members, overlapping=False)
