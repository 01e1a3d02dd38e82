"""Interview guide pages: times, problems and used versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, closing_app, invited, signed_in
from tests.support.small_interviews import SMALL, a_study, with_interview
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.interviews.repository import open_interviews
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.study.templates import new_study
from quaestor.web.app import make_app

PATH = "/interviews/guides/guide"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_study(tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def app(folder: Path) -> Iterator[Starlette]:
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def interviewer(app: Starlette, folder: Path) -> TestClient:
    return signed_in(app, folder, Role.INTERVIEWER)


def rewrite(folder: Path, text: str) -> None:
    (folder / "instruments" / "guide.md").write_text(text, "utf-8")


def test_a_guide_is_shown_with_its_times_before_the_first_participant(interviewer: TestClient, folder: Path) -> None:
    assert 'href="/interviews/guides"' in interviewer.get("/interviews").text
    assert f'href="{PATH}"' in interviewer.get("/interviews/guides").text
    page = interviewer.get(PATH).text
    assert re.findall(r'class="small time">([^<]+)<', page) == ["0 to 1 min", "1 to 6 min", "6 to 9 min", "9 to 10 min"]
    for words in ("Start the recording.", "Which one takes longest?", "Size of the data", "practice: 2 questions"):
        assert words in page
    assert "Suggestions" not in page
    assert not (folder / "interviews.db").exists(), "to look makes no files"


def test_problems_of_a_guide_are_shown_above_it(interviewer: TestClient, folder: Path) -> None:
    rewrite(folder, SMALL.replace("minutes = 10", "minutes = 12"))
    page = interviewer.get(PATH).text
    assert "the sections take 10 minutes in total, but the guide says 12: change one of them." in page
    assert "cannot be used yet" in page
    assert "Cannot be used yet: 1 grave problem." in interviewer.get("/interviews/guides").text


def test_an_unreadable_guide_shows_the_reason(interviewer: TestClient, folder: Path) -> None:
    rewrite(folder, SMALL.replace(" {#stages research=practice}", ""))
    said = "guide.md, line 15: &#39;Which stages does your work have?&#39; has no id"
    assert said in interviewer.get("/interviews/guides").text
    refused = interviewer.get(PATH)
    assert refused.status_code == 409
    assert said in refused.text


def test_a_used_guide_version_is_kept_when_the_file_changes(interviewer: TestClient, folder: Path) -> None:
    with open_interviews(open_study(folder)) as room:
        with_interview(room)
    rewrite(folder, SMALL.replace("Which stages does your work have?", "How do you work?"))
    now = interviewer.get(PATH).text
    assert "How do you work?" in now
    assert "The file has changed since" in now
    before = interviewer.get(f"{PATH}?version=1").text
    assert "Which stages does your work have?" in before
    assert "How do you work?" not in before
    assert f'href="{PATH}?version=1"' in interviewer.get("/interviews/P1").text
    for unknown in ("2", "one", "9" * 40):
        assert interviewer.get(f"{PATH}?version={unknown}").status_code == 409
    (folder / "instruments" / "guide.md").unlink()
    assert "Which stages does your work have?" in interviewer.get(PATH).text
    assert "Its file is missing; its versions are kept." in interviewer.get("/interviews/guides").text


def test_html_in_a_guide_is_shown_as_text(interviewer: TestClient, folder: Path) -> None:
    wicked = "<script>alert(1)</script>"
    rewrite(folder, SMALL.replace("Thank you for your time.", wicked).replace("Which stages", f"{wicked} Which stages"))
    page = interviewer.get(PATH).text
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2


def test_the_bundled_guide_is_accessible_and_printable(tmp_path: Path, browser: Browser) -> None:
    folder = new_study(tmp_path / "talks", "dl-framework-interviews")
    with open_interviews(open_study(folder)) as room:
        with_interview(room)
    with serving(folder) as address:
        state = session_after(f"{address}join/{invited(folder, Role.INTERVIEWER)}")
        with browser.new_context(storage_state=state) as context:
            page = context.new_page()
            complaints = complaints_of(page, address)
            for path in ("interviews/guides", "interviews/guides/guide"):
                page.goto(f"{address}{path}")
                assert_for_everyone(page)
            page.emulate_media(media="print")
            assert not page.get_by_role("navigation").first.is_visible()
            assert page.get_by_role("heading", name="Before you change a model's script").is_visible()
            assert complaints == []
