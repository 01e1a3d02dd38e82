"""Every path through a questionnaire in words: what is asked on it, after which answers, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from quaestor.surveys.model.answer_forms import in_words
from quaestor.surveys.model.paths import Path, paths
from quaestor.surveys.model.questionnaire_file import read_questionnaire
from quaestor.surveys.model.records import Kind, Question, Questionnaire


@dataclass(frozen=True)
class ToldQuestion:
    """A question on a path, with an answer that leads along it."""

    question: str
    text: str
    answer: Mapping[str, Any]
    said: str
    """The answer in words."""
    decides: bool
    """Whether what follows depends on the answer."""


@dataclass(frozen=True)
class ToldPage:
    """A page on a path."""

    page: str
    title: str
    questions: tuple[ToldQuestion, ...]


@dataclass(frozen=True)
class ToldPath:
    """One path."""

    pages: tuple[ToldPage, ...]
    standing: str
    ends_early: bool
    minutes: float


def told_paths(file: File, language: str = "", most: int = 1_000) -> tuple[list[ToldPath], bool]:
    """The paths through the questionnaire of a file, and whether these are all; nothing is recorded."""
    asked = read_questionnaire(file, language)
    found = paths(asked, most)
    deciding = deciding_questions(asked)
    return [_told(asked, one, deciding) for one in found], found.whole


def deciding_questions(asked: Questionnaire) -> set[str]:
    """The questions on whose answers it depends what comes after."""
    conditions = [page.show_if for page in asked.pages] + [one.show_if for one in asked.questions()]
    named = {test.question for condition in conditions if condition is not None for test in condition.tests()}
    ending = {one.id for one in asked.questions() if one.kind is Kind.CONSENT or any(x.ends for x in one.options)}
    return named | ending


def _told(asked: Questionnaire, path: Path, deciding: set[str]) -> ToldPath:
    titles = {page.id: page.title for page in asked.pages}
    known = {one.id: one for one in asked.questions()}
    pages = tuple(
        ToldPage(page, titles[page], tuple(_question(known[name], path, name in deciding) for name in names))
        for page, names in path.pages
    )
    return ToldPath(pages, path.standing.value, path.ends_early, path.seconds / 60)


def _question(question: Question, path: Path, decides: bool) -> ToldQuestion:
    answer = dict(path.answers.get(question.id, {}))
    said = in_words(question, answer) or "left empty"
    return ToldQuestion(question.id, question.text, answer, said, decides)
