"""Themes of interviews in the browser: every number opens its quotations, access by role, accessible pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.coded_interviews import ROUND, copy_of
from tests.support.command_line import quaestor
from tests.support.desk import QUICK, closing_app, invited, post, signed_in
from tests.support.small_interviews import a_study
from tests.support.themed_interviews import CODEBOOK, themed_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after, width_of

from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.participants.people import change_participant
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.publication.report.make import build_report
from quaestor.study.folder import Study
from quaestor.web.app import make_app


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


def test_themes_are_linked_from_results_and_every_number_opens_its_quotations(reader: TestClient) -> None:
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


def test_the_lead_compares_all_groups_and_a_reader_only_those_that_identify_nobody(
    reader: TestClient, app: Starlette, study: Study
) -> None:
    with open_interviews(study) as interviews:
        for number in range(1, 7):
            change_participant(interviews, f"P{number}", "engineer" if number < 6 else "<manager>")
    lead = signed_in(app, study.root)
    page = lead.get("/interviews/themes?by=role").text
    assert "&lt;manager&gt; (n = 1)" in page
    (path,) = re.findall(r'<a href="(/interviews/quotations\?cell=themes-by-role%3Adata%3A[^"]+)">3</a>', page)
    assert "data, engineer (n = 5)" in plain(lead.get(unescape(path)).text)
    hidden = reader.get("/interviews/themes?by=role")
    assert "manager" not in hidden.text
    assert "there are no two groups of at least 5 participants" in hidden.text
    assert reader.get(unescape(path)).status_code == 409
    unknown = reader.get("/interviews/themes?by=<b>")
    assert (unknown.status_code, "choose from: role" in unknown.text) == (409, True)


def test_a_code_page_shows_quotations_with_their_context(reader: TestClient) -> None:
    page = reader.get("/interviews/themes/code?code=indicator").text
    assert "When shapes do not match. Or <mark>the loss is above 10 after an epoch</mark>." in page
    assert "When do you call a model illegal?" in page
    assert "3 quotations of 3 participants" in page
    assert plain(page).index("threshold 10") > plain(page).index("what loss")
    assert reader.get("/interviews/themes/code?code=factors").text.count("<blockquote") == 8
    assert "/transcript" not in page, "a reader of results is no interviewer"


def test_a_quotation_shows_its_memo_and_links_to_its_turn(tmp_path: Path) -> None:
    study = themed_study(tmp_path / "study", [("One.", "two", "It crashed.")], settled=False)
    crash = {"start": 3, "end": 10, "code": "crash", "memo": "at export <again>"}
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            rate(coding, ROUND, rater, "P1/00005", {"themes": [crash]})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study.root)
        page = lead.get("/interviews/themes/code?code=crash").text
        assert "memo at export <again>" in plain(page)
        (link,) = re.findall(r'href="([^"]+/transcript[^"]*)"', page)
        address, _, anchor = unescape(link).partition("#")
        assert anchor == "turn-5"
        assert f'id="{anchor}"' in lead.get(address).text
    shown = quaestor("interview", "quotations", "crash", cwd=study.root)
    assert "memo: at export <again>" in shown.stdout
    (told,) = json.loads(quaestor("interview", "quotations", "crash", "--json", cwd=study.root).stdout)["quotations"]
    assert told["memo"] == "at export <again>"
    build_report(study, lambda words: None)
    published = [path.read_bytes() for path in (study.root / "published").rglob("*") if path.is_file()]
    assert published
    assert not any(b"at export" in one for one in published), "a memo is a note of raters"


def test_an_unknown_code_table_or_figure_shows_a_clear_error(reader: TestClient) -> None:
    for path, words in (
        ("themes/code?code=nothing", "no quotation has the code 'nothing'; codes with quotations:"),
        ("quotations?cell=nothing:a:b", "interviews have no table 'nothing'; choose from: themes"),
        ("quotations", "no such page"),
        ("drawings/nothing", "no such page"),
    ):
        answer = reader.get(f"/interviews/{path}")
        assert answer.status_code in (404, 409), path
        assert words.casefold() in plain(answer.text).casefold(), path


def test_the_page_reserves_the_space_of_lazily_loaded_figures(reader: TestClient) -> None:
    page = reader.get("/interviews/themes").text
    images = re.findall(r'<img src="([^"]+)"[^>]* (width="\d+" height="\d+") loading="lazy"', page)
    assert len(images) == page.count("<img") == 3
    for path, size in images:
        assert size in reader.get(path).text[:200], path
    drawing = reader.get("/interviews/drawings/saturation")
    assert (drawing.headers["content-type"], "9 codes in all" in drawing.text) == ("image/svg+xml", True)


def test_right_to_left_field_values_are_isolated_and_can_be_settled(tmp_path: Path) -> None:
    said = "It {crash|importance=ندرب النموذج. (3) نعم!:crashed} {slow:slowly}."
    study = themed_study(tmp_path / "study", [("One.", "two", said)], settled=False)
    item = "P1/00005"
    with open_coding(study) as coding:
        mine = coding.state.round(ROUND).current("rater-1", item)
        assert mine is not None
        other = [{**passage, "fields": {"importance": "low"}} for passage in mine.answers["themes"]]
        rate(coding, ROUND, "rater-2", item, {"themes": other})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study.root)
        page = lead.get("/interviews/themes").text
        assert '<td dir="auto">raters differ: ندرب النموذج. (3) نعم! or low</td>' in page
        assert not re.search(r'<td dir="auto">\d|<td class="number" dir', page)
        address = f"/rounds/{ROUND}/disagreements"
        listed = lead.get(address).text
        assert "On 1 item the raters chose the same codes but described them differently" in plain(listed)
        assert "No disagreements" not in listed
        case = lead.get(unescape(re.findall(rf'href="({address}\?item=[^"]+)"', listed)[0])).text
        assert "choose the description that counts" in case
        values = {"item": item, "facet": "themes", "how": "one-person", "reason": "as said", "key": "once"}
        values["answer"] = unescape(re.findall(r'name="answer" value="([^"]+)"', case)[0])
        values["seen"] = re.findall(r'name="seen" value="(\d+)"', case)[0]
        answer = post(lead, f"/rounds/{ROUND}/decisions", values, page="/me")
        assert answer.status_code == 303
        assert "raters differ" not in lead.get("/interviews/themes").text
        assert "No disagreements" in lead.get(address).text


def test_a_withdrawn_participants_quotations_are_no_longer_shown(study: Study, tmp_path: Path) -> None:
    copy = copy_of(study, tmp_path / "copy")
    with closing_app(make_app(copy.root, passwords=Passwords(QUICK))) as app:
        opened = signed_in(app, copy.root, Role.VIEWER)
        assert "the people" in opened.get("/interviews/themes/code?code=other-factor").text
        with open_interviews(copy) as interviews:
            withdraw(interviews, "P6")
        assert "the people" not in opened.get("/interviews/themes").text
        assert opened.get("/interviews/themes/code?code=other-factor").status_code != 200


def test_before_any_decision_the_themes_page_shows_the_next_step(tmp_path: Path) -> None:
    a_study(tmp_path / "empty")
    with closing_app(make_app(tmp_path / "empty", passwords=Passwords(QUICK))) as app:
        assert (
            "There are no participants yet"
            in signed_in(app, tmp_path / "empty", Role.VIEWER).get("/interviews/themes").text
        )
    study = themed_study(tmp_path / "open", [("{data:One}.", "two", "three")], settled=False)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        page = signed_in(app, study.root).get("/interviews/themes").text
        assert "No decisions yet" in page
        assert "One" not in plain(page)


def test_disagreements_about_a_code_with_a_long_name_fit_a_narrow_window(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "training time that nobody has left when a deadline is near"
    monkeypatch.setattr("tests.support.themed_interviews.CODEBOOK", CODEBOOK.replace("training time", long))
    study = themed_study(tmp_path / "study", [("{time:One}.", "two", "three")], settled=False)
    with open_coding(study) as coding:
        rate(coding, ROUND, "rater-2", "P1/00001", {"themes": [{"start": 0, "end": 3, "code": "data"}]})
    close_by_name(study, ROUND, None)
    with serving(study.root) as address:
        context = browser.new_context(storage_state=session_after(f"{address}join/{invited(study.root, Role.LEAD)}"))
        page = context.new_page()
        page.set_viewport_size({"width": 320, "height": 640})
        page.goto(f"{address}rounds/{ROUND}/disagreements")
        page.get_by_role("button", name="View and record it").click()
        assert long in page.locator(".filter select").inner_text()
        assert width_of(page) <= 320
        assert_for_everyone(page)
        context.close()


def test_themes_pages_and_quotations_in_the_report_are_accessible(browser: Browser, study: Study) -> None:
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
        page.goto(f"{address}report/items.html#together:shapes+indicator:characters")
        page.get_by_text("2 quotations.").wait_for()
        assert set(page.locator("#list .title").all_inner_texts()) == {"“Loss over 5”", "“Loss over 5 or shapes.”"}
        assert "asked: When do you call a model illegal?" in page.locator("#list").inner_text()
        assert complaints == []
        context.close()
