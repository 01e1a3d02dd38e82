"""Themes of interviews in the browser: every number opens its words, for readers alone, for everyone to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.testclient import TestClient

from coded_interviews import copy_of
from desk import QUICK, closing_app, invited, signed_in
from quaestor.people.passwords import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.study.interviews.room import open_interviews
from quaestor.study.interviews.withdrawal import withdraw
from quaestor.study.results.report import build_report
from quaestor.web.app import make_app
from small_interviews import a_study
from themed_interviews import themed_study
from windows import assert_for_everyone, complaints_of, serving, session_after


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return themed_study(tmp_path_factory.mktemp("themed"))


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def reader(app: Starlette, study: Study) -> TestClient:
    return signed_in(app, study.root, Role.VIEWER)


def plain(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_a_reader_finds_the_themes_and_every_number_opens_what_it_counts(reader: TestClient) -> None:
    assert 'href="/interviews/themes"' in reader.get("/results").text
    page = reader.get("/interviews/themes").text
    assert "6 participants, 9 codes, 23 quotations" in page
    links = re.findall(r'<a href="(/interviews/quotations\?[^"]+)">([^<]+)</a>', page)
    assert len(links) > 60
    for path, number in links[::4]:
        answer = reader.get(unescape(path))
        assert answer.status_code == 200
        table, _, column = re.split(r"%3A", path.partition("cell=")[2])[0], "", path.rpartition("%3A")[2]
        listed = len(re.findall("<blockquote", answer.text))
        people = len(set(re.findall(r"<strong>(P\d+)</strong>", answer.text)))
        if column == "participants":
            assert people == int(number), path
        elif table == "matrix":
            assert listed == int(number), path


def test_a_code_has_its_quotations_with_their_surroundings(reader: TestClient) -> None:
    page = reader.get("/interviews/themes/code?code=indicator").text
    assert "When shapes do not match. Or <mark>the loss is above 10 after an epoch</mark>." in page
    assert "When do you call a model illegal?" in page
    assert "3 quotations of 3 participants" in page
    assert plain(page).index("threshold 10") > plain(page).index("what loss")
    assert reader.get("/interviews/themes/code?code=factors").text.count("<blockquote") == 8
    assert "/transcript" not in page, "a reader of results is no interviewer"


def test_what_leads_nowhere_says_so(reader: TestClient) -> None:
    for path, words in (
        ("themes/code?code=nothing", "nobody's words were given a code 'nothing', there are:"),
        ("quotations?cell=nothing:a:b", "there is no table 'nothing' of interviews, allowed: themes"),
        ("quotations", "no such page"),
        ("drawings/nothing", "no such page"),
    ):
        answer = reader.get(f"/interviews/{path}")
        assert answer.status_code in (404, 409), path
        assert words.casefold() in plain(answer.text).casefold(), path
    drawing = reader.get("/interviews/drawings/saturation")
    assert (drawing.headers["content-type"], "9 codes in all" in drawing.text) == ("image/svg+xml", True)


def test_who_withdrew_is_no_longer_read(study: Study, tmp_path: Path) -> None:
    copy = copy_of(study, tmp_path / "copy")
    with closing_app(make_app(copy.root, passwords=Passwords(QUICK))) as app:
        opened = signed_in(app, copy.root, Role.VIEWER)
        assert "the people" in opened.get("/interviews/themes/code?code=other-factor").text
        with open_interviews(copy) as interviews:
            withdraw(interviews, "P6")
        assert "the people" not in opened.get("/interviews/themes").text
        assert opened.get("/interviews/themes/code?code=other-factor").status_code != 200


def test_before_anything_is_decided_the_page_says_what_to_do(tmp_path: Path) -> None:
    a_study(tmp_path / "empty")
    with closing_app(make_app(tmp_path / "empty", passwords=Passwords(QUICK))) as app:
        assert "Nobody takes part" in signed_in(app, tmp_path / "empty", Role.VIEWER).get("/interviews/themes").text
    study = themed_study(tmp_path / "open", [("{data:One}.", "two", "three")], settled=False)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        page = signed_in(app, study.root).get("/interviews/themes").text
        assert "Nothing has been decided yet" in page
        assert "One" not in plain(page)


def test_everyone_can_read_them_and_the_report_lists_quotations(browser: Browser, study: Study) -> None:
    build_report(study, lambda words: None)
    with serving(study.root) as address:
        context = browser.new_context(storage_state=session_after(f"{address}join/{invited(study.root, Role.LEAD)}"))
        page = context.new_page()
        complaints = complaints_of(page, address)
        for path in ("interviews/themes", "interviews/themes/code?code=indicator"):
            page.goto(f"{address}{path}")
            assert_for_everyone(page)
        page.goto(f"{address}interviews/themes")
        page.locator("#themes").get_by_role("row", name="training time").get_by_role("link", name="3").first.click()
        assert page.locator("mark").all_inner_texts() == ["how long it trains", "Days of waiting", "Time"]
        page.goto(f"{address}report/items.html#together:shapes+indicator:words")
        page.get_by_text("2 quotations.").wait_for()
        assert set(page.locator("#list .title").all_inner_texts()) == {"“Loss over 5”", "“Loss over 5 or shapes.”"}
        assert "asked: When do you call a model illegal?" in page.locator("#list").inner_text()
        assert complaints == []
        context.close()
