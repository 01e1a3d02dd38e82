"""Help at the desk: the documentation, with links that lead to other pages of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.desk import QUICK, browser, closing_app, invited, join
from tests.support.small_interviews import a_study

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.documentation import list_topics
from quaestor.web.app import make_app


@pytest.fixture(scope="module")
def rater(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("study") / "study"
    a_study(folder)
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app:
        client = browser(app)
        join(client, invited(folder, Role.RATER))
        yield client


def test_help_lists_every_topic_and_is_in_the_navigation(rater: TestClient) -> None:
    page = rater.get("/help").text
    for topic in list_topics():
        assert f'href="/help/{topic.name}"' in page
    assert '<a href="/help" aria-current="page">Help</a>' in page


def test_every_link_in_every_topic_points_to_an_existing_page_and_heading(rater: TestClient) -> None:
    pages = {topic.name: rater.get(f"/help/{topic.name}") for topic in list_topics()}
    assert all(page.status_code == 200 for page in pages.values())
    for name, page in pages.items():
        article = page.text.partition('<article class="help-topic">')[2].partition("</article>")[0]
        assert article.startswith("<h1"), name
        for address in re.findall(r'href="([^"]+)"', article):
            if address.startswith("http"):
                continue
            path, _, anchor = address.partition("#")
            target = pages[path.removeprefix("/help/")].text if path else article
            assert not anchor or f'id="{anchor}"' in target, (name, address)


def test_a_search_shows_the_matching_pages_and_says_when_there_are_none(rater: TestClient) -> None:
    found = rater.get("/help?words=saturation").text
    assert "interview-results" in found
    assert "No page contains all of these words" in rater.get("/help?words=xyzzyquux").text
    assert "<script>" not in rater.get("/help?words=%3Cscript%3E").text


def test_an_unknown_topic_and_a_path_out_of_the_documentation_are_not_found(rater: TestClient) -> None:
    for name in ("nothing", "../README", "..%2f..%2fREADME", "how-to/../../README"):
        assert rater.get(f"/help/{name}").status_code == 404, name


def test_help_needs_a_session(rater: TestClient) -> None:
    assert browser(rater.app).get("/help", follow_redirects=False).status_code in (303, 401, 403)  # type: ignore[arg-type]
