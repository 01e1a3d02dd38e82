"""Who can begin a survey now, and why somebody cannot; what a stranger at its address is told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from quaestor.base.errors import InputError
from quaestor.instruments.records import Questionnaire, Standing
from quaestor.study.folder import Study
from quaestor.study.surveys.fielding import CLOSED, DRAFT, Surveys, survey_files


class Entrance(StrEnum):
    """What stands at the address of a survey."""

    OPEN = "open"
    INVITED = "by invitation"
    NOT_YET = "not yet open"
    CLOSED = "closed"
    OVER = "over"
    """Its last day has passed."""
    ENOUGH = "enough"
    """As many have finished as are wanted; who has begun can finish."""


@dataclass(frozen=True)
class Door:
    """A survey as a stranger meets it; of one that is not open yet nothing is told."""

    survey: str
    entrance: Entrance
    questionnaire: Questionnaire | None

    @property
    def goes_on(self) -> bool:
        """Whether somebody who has begun can send pages."""
        return self.entrance in (Entrance.OPEN, Entrance.INVITED, Entrance.ENOUGH)


def door(surveys: Surveys | None, study: Study, name: str, language: str = "") -> Door:
    """What stands at the address of a survey, in a language that it has, else in its first."""
    if surveys is None or surveys.answers.version(name) is None:
        if name not in survey_files(study):
            raise InputError(f"there is no survey {name!r}")
        return Door(name, Entrance.NOT_YET, None)
    found = surveys.fielding(name)
    if found.status == DRAFT:
        return Door(name, Entrance.NOT_YET, None)
    asked = surveys.questionnaire(name, found.version)
    if language in asked.languages:
        asked = surveys.questionnaire(name, found.version, language)
    return Door(name, _entrance(surveys, asked, found.status), asked)


def _entrance(surveys: Surveys, asked: Questionnaire, status: str) -> Entrance:
    if status == CLOSED:
        return Entrance.CLOSED
    if asked.closes and surveys.today() > asked.closes:
        return Entrance.OVER
    if asked.most is not None and surveys.answers.counts(asked.id)[Standing.FINISHED] >= asked.most:
        return Entrance.ENOUGH
    return Entrance.INVITED if asked.by_invitation else Entrance.OPEN
