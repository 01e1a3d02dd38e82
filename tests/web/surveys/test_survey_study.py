"""A study with surveys only: imported responses are shown, and the next step comes from its surveys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.desk import QUICK, closing_app, signed_in
from tests.support.small_survey import FORMS, NAME, answered, fielded, imported, small_survey

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.surveys.invitations import invite
from quaestor.surveys.lifecycle import close_survey, open_survey, open_surveys, review_response
from quaestor.web.app import make_app

TABS = tuple(f'href="/surveys/{NAME}/{tab}"' for tab in ("responses", "flags", "results"))


@contextmanager
def locked_state(study: Study, role: Role = Role.LEAD) -> Iterator[TestClient]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        yield signed_in(app, study.root, role)


@pytest.fixture
def taken_in(tmp_path: Path) -> Study:
    """A survey that was never opened and has two answers from a file."""
    return imported(tmp_path / "study", 2)


def next_of(page: str) -> tuple[str, str]:
    """Where the next step leads, and its words."""
    found = re.search(r'class="do"><a href="([^"]+)">([^<]+)</a>', page)
    assert found is not None
    return found[1], found[2]


def test_imported_responses_are_shown_even_if_the_survey_was_never_opened(taken_in: Study) -> None:
    with locked_state(taken_in) as lead:
        every, page = lead.get("/surveys").text, lead.get(f"/surveys/{NAME}").text
        for shown in (every, page):
            assert '<span class="status imported">imported</span>' in shown
            assert "Read the results" in shown
            assert "Check the preview, then open it" not in shown
        assert "2 finished" in every
        for path in (f"/surveys/{NAME}", f"/surveys/{NAME}/preview", f"/surveys/{NAME}/invitations"):
            for tab in TABS:
                assert tab in lead.get(path).text, (path, tab)
        assert f'href="/surveys/{NAME}/responses?standing=finished">2</a>' in page
        assert "There are 2 imported answers already" in page
        assert 'id="public"' not in page
        assert "Open it again" not in page
        assert "Reopen survey" not in page
        assert lead.get(f"/s/{NAME}").status_code == 409


def test_a_draft_without_answers_stays_a_draft(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "study")
    with locked_state(study) as lead:
        page = lead.get(f"/surveys/{NAME}").text
        assert "Check the preview, then open it" in page
        assert not any(tab in page for tab in TABS)
        assert next_of(lead.get("/").text) == (f"/surveys/{NAME}", f"Check {NAME}, then open it")


def test_the_next_step_of_the_study_is_that_of_its_survey(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        study = surveys.study
        for _ in range(3):
            _, response = answered(surveys)
        for _ in range(2):
            answered(surveys, forms={"consent": FORMS["consent"]})
        invite(surveys, NAME, "first", "pro", 5)
        review_response(surveys, NAME, response.id, True, "answered with care")
        review_response(surveys, NAME, response.id, False, "twice the same")
    with locked_state(study) as lead:
        page = lead.get("/").text
        assert next_of(page) == (f"/surveys/{NAME}", f"{NAME} is open: 3 finished, 2 in progress")
        assert lead.get(next_of(page)[0]).status_code == 200
        assert "<code>quaestor survey status</code>" in page
        assert f'<li class="waiting"><span class="unseen">waiting: </span><b>survey {NAME}</b>' in page
        for words in ("quaestor report", "Everything planned", 'id="funnel-heading"', 'id="rounds-heading"'):
            assert words not in page, words
        assert f"You reviewed 2 responses to {NAME}" in page
        assert f"You opened the survey {NAME}" in page
        assert f"You created invitations to {NAME}" in page
    with locked_state(study, Role.REVIEWER) as reviewer:
        page = reviewer.get("/").text
        assert f"The lead opened the survey {NAME}" in page
        assert 'class="next"' not in page
    with open_surveys(study) as surveys:
        close_survey(surveys, NAME)
    with locked_state(study) as lead:
        page = lead.get("/").text
        assert "Everything planned is done: publish it with <code>quaestor report</code>" in page
        assert f'href="/surveys/{NAME}/results"' in page
        assert f"You closed the survey {NAME}" in page


def test_an_import_is_listed_and_links_to_the_results(taken_in: Study) -> None:
    with locked_state(taken_in) as lead:
        page = lead.get("/").text
        assert "Everything planned is done: publish it with <code>quaestor report</code>" in page
        assert f'href="/surveys/{NAME}/results"' in page
        assert f"You imported a file of answers to {NAME}" in page
        assert lead.get(f"/surveys/{NAME}/results").status_code == 200


def test_the_results_page_links_to_surveys_with_responses(taken_in: Study, tmp_path: Path) -> None:
    for role in (Role.LEAD, Role.VIEWER):
        with locked_state(taken_in, role) as reader:
            page = reader.get("/results").text
            assert f'href="/surveys/{NAME}/results"' in page
            assert f'id="named-1">{NAME}</span>, imported: 2 finished' in page
    with locked_state(small_survey(tmp_path / "other")) as lead:
        assert f"/surveys/{NAME}/results" not in lead.get("/results").text


def test_the_pay_page_shows_the_name_and_status_of_the_survey(taken_in: Study) -> None:
    with locked_state(taken_in) as lead:
        page = lead.get("/pay").text
        assert '<span class="status imported">imported</span>' in page
        assert f'id="named-1">{NAME}</p>' in page
    with open_surveys(taken_in) as surveys:
        open_survey(surveys, NAME)
    with locked_state(taken_in) as lead:
        assert '<span class="status open">open</span>' in lead.get("/pay").text
