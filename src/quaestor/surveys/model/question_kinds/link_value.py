"""Values that the link to a survey contains, such as where it was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quaestor.base.errors import Problem
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.question_kinds.base import QuestionKind, problem_of
from quaestor.surveys.model.records import Answer, Question
from quaestor.surveys.model.wording.catalogue import InvalidAnswer

RESERVED = (
    "page", "language", "response", "version", "stratum", "day", "seconds", "seed", "source", "synthetic", "standing",
    "kept",
)  # fmt: skip
"""Parameters of the survey's own pages, and columns of an export that are about the response itself."""


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
