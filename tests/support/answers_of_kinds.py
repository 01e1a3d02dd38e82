"""What the kind of a question does with an answer, called with the question alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.base import Form
from quaestor.surveys.model.records import Answer, Question
from quaestor.surveys.model.wording.catalogue import load_wording


def read_form(question: Question, form: Form) -> Answer:
    return kind_of(question).read_form(question, form)


def write_form(question: Question, answer: Answer) -> dict[str, list[str]]:
    return kind_of(question).write_form(question, answer)


def check(question: Question, answer: Mapping[str, Any]) -> Answer:
    return kind_of(question).check(question, answer)


def lacking(question: Question, answer: Answer) -> str:
    return kind_of(question).lacking(question, answer, load_wording()) if question.required else ""


def in_words(question: Question, answer: Answer) -> str:
    return kind_of(question).in_words(question, answer)
