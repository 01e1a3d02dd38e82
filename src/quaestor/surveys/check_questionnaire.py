"""Checks a questionnaire for its author, and describes every path through it, before anybody answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, Problem
from quaestor.study.folder import Study
from quaestor.surveys.lifecycle import survey_file
from quaestor.surveys.model.paths import Path as PageSequence
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.questionnaire_checks import WHOLE, find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire, read_questionnaire, untranslated
from quaestor.surveys.model.records import Question, Questionnaire

_LONGER_THAN_SAID = 1.5


@dataclass(frozen=True)
class QuestionnaireCheck:
    """A questionnaire and its problems."""

    file: Path
    questionnaire: Questionnaire
    problems: tuple[Problem, ...]
    minutes: float
    """Estimated minutes for the longest path."""

    @property
    def grave(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.grave)


def questionnaire_path(study: Study | None, name: str) -> Path:
    """Returns the file of a questionnaire, given its name in the study or a path."""
    path = Path(name)
    if path.suffix == ".toml" or study is None:
        if not path.is_file():
            raise InputError(f"{path} does not exist: name a questionnaire of the study, or a .toml file")
        return path
    return survey_file(study, name)


def check_survey(path: Path) -> QuestionnaireCheck:
    """Returns all problems of a questionnaire file, in all its languages."""
    questionnaire = read_questionnaire(path)
    text = path.read_text("utf-8-sig")
    problems = [*find_problems(questionnaire), *_languages(text, path.stem, questionnaire)]
    longest = max((path.seconds for path in paths(questionnaire)), default=0.0) / 60
    if questionnaire.minutes is not None and longest > questionnaire.minutes * _LONGER_THAN_SAID:
        words = f"the longest path takes about {longest:.0f} minutes, but survey.minutes is {questionnaire.minutes}"
        problems.append(Problem(WHOLE, f"{words}: raise survey.minutes, or ask fewer questions", grave=False))
    return QuestionnaireCheck(path, questionnaire, tuple(problems), longest)


def _languages(text: str, name: str, first: Questionnaire) -> list[Problem]:
    """Returns problems of translations."""
    problems = [
        Problem(WHOLE, f"{place} is missing: add it, or respondents see it in {first.language}", False)
        for place in untranslated(text, name)
    ]
    for language in first.languages:
        if language == "en" or language.startswith("en-"):
            continue
        translated = parse_questionnaire(text, name, language)
        for original, question in zip(first.questions(), translated.questions(), strict=True):
            where = f"question {question.id}"
            if language != first.language and question.text == original.text and question.text.strip():
                words = f"its text is the same in {first.language} and {language}: translate it"
                problems.append(Problem(where, words, grave=False))
            labels = {option.label for option in question.options}
            if kind_of(question).is_choice and labels & {"Yes", "I agree"}:
                words = f"its options are in English in {language}: translate their labels"
                problems.append(Problem(where, words, grave=False))
    return list(dict.fromkeys(problems))


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
    shuffle: bool = False


@dataclass(frozen=True)
class PathDescription:
    """One path."""

    pages: tuple[PathPage, ...]
    standing: str
    ends_early: bool
    minutes: float


def describe_paths(file: Path, language: str = "", most: int = 1_000) -> tuple[list[PathDescription], bool]:
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


def _path_in_words(questionnaire: Questionnaire, path: PageSequence, deciding: set[str]) -> PathDescription:
    titles = {page.id: page.title for page in questionnaire.pages}
    shuffled = {page.id for page in questionnaire.pages if page.shuffle}
    known = {question.id: question for question in questionnaire.questions()}
    pages = tuple(
        PathPage(
            page,
            titles[page],
            tuple(_question(known[name], path, name in deciding) for name in names),
            page in shuffled,
        )
        for page, names in path.pages
    )
    return PathDescription(pages, path.standing.value, path.ends_early, path.seconds / 60)


def _question(question: Question, path: PageSequence, decides: bool) -> PathQuestion:
    answer = dict(path.answers.get(question.id, {}))
    words = kind_of(question).in_words(question, answer) or "left empty"
    return PathQuestion(question.id, question.text, answer, words, decides)
