"""Variants of a questionnaire, one of which each response is assigned to at random."""

from __future__ import annotations

from collections.abc import Iterator

from quaestor.base.errors import Problem
from quaestor.surveys.model.question_kinds.base import QuestionKind, problem_of
from quaestor.surveys.model.question_kinds.choices import SingleChoice
from quaestor.surveys.model.records import Question


class Variant(SingleChoice):
    """One of the options, assigned when a response begins; nobody sees it, and no form can change it."""

    name = "variant"
    shape = "variant"
    option_word = "variant"
    meaningless_option_keys = ("text", "ends")
    is_hidden = True
    is_always_required = True
    answer_seconds = 0.0
    simulated_seconds = 0.0

    def check_options(self, question: Question) -> Iterator[Problem]:
        yield from QuestionKind.check_options(self, question)
        if len(question.options) == 1:
            yield problem_of(question, "there is one variant only: add another")

    def check_keys(self, question: Question) -> Iterator[Problem]:
        if question.shuffle:
            yield problem_of(question, "shuffle has no effect, because variants are not shown: remove it", grave=False)
