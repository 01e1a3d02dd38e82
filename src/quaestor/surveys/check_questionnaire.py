"""Checking a questionnaire, as its author asks before anybody answers it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError, Problem
from quaestor.study.folder import Study
from quaestor.surveys.lifecycle import survey_file
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.questionnaire_checks import WHOLE, problems_of
from quaestor.surveys.model.questionnaire_file import questionnaire_from, read_questionnaire, untranslated
from quaestor.surveys.model.records import CHOSEN, Questionnaire

_LONGER_THAN_SAID = 1.5


@dataclass(frozen=True)
class Checked:
    """A questionnaire and what is wrong with it."""

    file: Path
    questionnaire: Questionnaire
    problems: tuple[Problem, ...]
    minutes: float
    """About how long the longest way takes."""

    @property
    def grave(self) -> tuple[Problem, ...]:
        return tuple(one for one in self.problems if one.grave)


def questionnaire_path(study: Study | None, name: str) -> Path:
    """The file that somebody means: one of the study by its name, or any by its path."""
    path = Path(name)
    if path.suffix == ".toml" or study is None:
        if not path.is_file():
            raise InputError(f"there is no file {path}: name a questionnaire of the study, or a .toml file")
        return path
    return survey_file(study, name)


def check_survey(path: Path) -> Checked:
    """Everything that is wrong with the questionnaire of a file, in all its languages."""
    asked = read_questionnaire(path)
    text = path.read_text("utf-8-sig")
    found = [*problems_of(asked), *_languages(text, path.stem, asked)]
    longest = max((one.seconds for one in paths(asked)), default=0.0) / 60
    if asked.minutes is not None and longest > asked.minutes * _LONGER_THAN_SAID:
        words = f"the longest way takes about {longest:.0f} minutes, but respondents are told {asked.minutes}"
        found.append(Problem(WHOLE, f"{words}: raise survey.minutes, or ask less", grave=False))
    return Checked(path, asked, tuple(found), longest)


def _languages(text: str, name: str, asked: Questionnaire) -> list[Problem]:
    """Words that somebody who reads another language meets in the wrong one."""
    found = [
        Problem(
            WHOLE, f"the words of {place} are missing: add them, or respondents read those in {asked.language}", False
        )
        for place in untranslated(text, name)
    ]
    for language in asked.languages:
        if language == "en" or language.startswith("en-"):
            continue
        inner = questionnaire_from(text, name, language)
        for first, one in zip(asked.questions(), inner.questions(), strict=True):
            where = f"question {one.id}"
            if language != asked.language and one.text == first.text and one.text.strip():
                words = f"its text is the same in {asked.language} and {language}: write it in both"
                found.append(Problem(where, words, grave=False))
            if one.kind in CHOSEN and {option.label for option in one.options} & {"Yes", "I agree"}:
                words = f"its options are in English in {language}: give them labels of their own"
                found.append(Problem(where, words, grave=False))
    return list(dict.fromkeys(found))
