"""Who can start a survey: the shown access status equals what starting it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.small_survey import NAME, QUESTIONNAIRE, answered, fielded, small_survey

from quaestor.base.errors import InputError, StateError
from quaestor.surveys.lifecycle import Surveys, close_survey, open_surveys
from quaestor.surveys.respond import AccessStatus, access_status, begin_response


def visitor_status(surveys: Surveys) -> AccessStatus:
    """The access status that a visitor gets."""
    found = access_status(surveys, surveys.study, NAME)
    assert surveys.is_open(NAME) is (found.status in (AccessStatus.OPEN, AccessStatus.INVITED))
    if not surveys.is_open(NAME):
        with pytest.raises(StateError, match="not open"):
            begin_response(surveys, NAME)
    return found.status


def test_a_survey_changes_from_not_open_to_open_to_closed(tmp_path: Path) -> None:
    with open_surveys(small_survey(tmp_path / "study")) as surveys:
        assert visitor_status(surveys) is AccessStatus.NOT_YET
    with fielded(tmp_path / "study") as surveys:
        assert visitor_status(surveys) is AccessStatus.OPEN
        assert access_status(surveys, surveys.study, NAME, "de").questionnaire == surveys.questionnaire(NAME, 1, "de")
        close_survey(surveys, NAME)
        assert visitor_status(surveys) is AccessStatus.CLOSED
        assert not access_status(surveys, surveys.study, NAME).accepts_pages


def test_a_full_survey_admits_only_respondents_who_have_begun(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE.replace("minutes = 4", "most = 2", 1)) as surveys:
        answered(surveys)
        assert visitor_status(surveys) is AccessStatus.OPEN
        answered(surveys)
        assert visitor_status(surveys) is AccessStatus.ENOUGH
        assert access_status(surveys, surveys.study, NAME).accepts_pages


def test_a_survey_by_invitation_is_open_to_invited_people_only(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE.replace("minutes = 4", "by_invitation = true", 1)) as surveys:
        assert visitor_status(surveys) is AccessStatus.INVITED


def test_a_survey_without_a_questionnaire_is_unknown(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "study")
    assert access_status(None, study, NAME).status is AccessStatus.NOT_YET
    with pytest.raises(InputError, match="the survey 'other'"):
        access_status(None, study, "other")
