"""Describes every path through a questionnaire: its questions, answers that lead along it, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from quaestor.surveys.model.paths import Path, paths
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.questionnaire_file import read_questionnaire
from quaestor.surveys.model.records import Question, Questionnaire


@dataclass(frozen=True)
class PathQuestion:
    """A question on a path, with an answer that leads along it."""

    question: str
    text: str
    answer: Mapping[str, Any]
    said: str
    """The answer as text."""
    decides: bool
    """Whether later questions depend on the answer."""


@dataclass(frozen=True)
class PathPage:
    """A page on a path."""

    page: str
    title: str
    questions: tuple[PathQuestion, ...]


@dataclass(frozen=True)
class PathDescription:
    """One path."""

    pages: tuple[PathPage, ...]
    standing: str
    ends_early: bool
    minutes: float


def describe_paths(file: File, language: str = "", most: int = 1_000) -> tuple[list[PathDescription], bool]:
    """Returns the paths through a questionnaire file, and whether these are all."""
    questionnaire = read_questionnaire(file, language)
    walked = paths(questionnaire, most)
    deciding = deciding_questions(questionnaire)
    return [_path_in_words(questionnaire, path, deciding) for path in walked], walked.whole


def deciding_questions(questionnaire: Questionnaire) -> set[str]:
    """Returns the questions that later ones depend on."""
    questions = list(questionnaire.questions())
    conditions = [page.show_if for page in questionnaire.pages] + [question.show_if for question in questions]
    named = {test.question for condition in conditions if condition is not None for test in condition.tests()}
    return named | {
        question.id
        for question in questions
        if kind_of(question).asks_consent or any(option.ends for option in question.options)
    }


def _path_in_words(questionnaire: Questionnaire, path: Path, deciding: set[str]) -> PathDescription:
    titles = {page.id: page.title for page in questionnaire.pages}
    known = {question.id: question for question in questionnaire.questions()}
    pages = tuple(
        PathPage(page, titles[page], tuple(_question(known[name], path, name in deciding) for name in names))
        for page, names in path.pages
    )
    return PathDescription(pages, path.standing.value, path.ends_early, path.seconds / 60)


def _question(question: Question, path: Path, decides: bool) -> PathQuestion:
    answer = dict(path.answers.get(question.id, {}))
    words = kind_of(question).in_words(question, answer) or "left empty"
    return PathQuestion(question.id, question.text, answer, words, decides)
