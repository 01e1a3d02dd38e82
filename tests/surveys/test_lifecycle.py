"""The status of a survey: every respondent page needs it, so only new acts are folded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_survey import NAME, answered, fielded

from quaestor.study.features import study_status
from quaestor.surveys.lifecycle import CLOSED, OPEN, Surveys, close_survey, fieldings, review_response


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path) as opened:
        yield opened


def test_the_survey_state_is_cached(surveys: Surveys) -> None:
    assert surveys.fielding(NAME).status == OPEN
    assert surveys.fielding(NAME) is surveys.fielding(NAME)


def test_folding_acts_one_by_one_equals_folding_all(surveys: Surveys) -> None:
    for keep in (True, False, True):
        _, response = answered(surveys)
        review_response(surveys, NAME, response.id, keep, "it is what it is")
        assert surveys.fielding(NAME).decisions[response.id].keep is keep
    first = next(iter(surveys.fielding(NAME).decisions))
    review_response(surveys, NAME, first, False, "on second thought")
    close_survey(surveys, NAME)
    found = surveys.fielding(NAME)
    assert (found.status, found.decisions[first].keep, len(found.decisions)) == (CLOSED, False, 3)
    assert found == fieldings(surveys.coding.state.unhandled_acts)[NAME]


def test_a_survey_state_is_not_changed_by_later_acts(surveys: Surveys) -> None:
    before = surveys.fielding(NAME)
    _, response = answered(surveys)
    review_response(surveys, NAME, response.id, True, "kept")
    assert before.decisions == {}


def test_the_next_step_of_an_answered_survey_names_how_to_close_it(surveys: Surveys) -> None:
    assert study_status(surveys.study).next == f"quaestor serve, so that respondents can answer {NAME}"
    answered(surveys)
    assert study_status(surveys.study).next.endswith(f"when enough have answered, quaestor survey close {NAME}")
