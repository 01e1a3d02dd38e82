"""Round pages: setup by form, opening, progress, closing, and downloads with permission and confirmation."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join, post
from tests.support.desk import browser as visitor
from tests.support.small_study import small_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.codebook import import_codebook
from quaestor.coding.model.rounds import build_open_act
from quaestor.coding.rating_files import export_ratings, rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

TELLING = "tellingword"
NEW = {
    "round": "second", "kind": "pilot", "facets": "relevance", "items": "sample=pilot",
    "raters": ["rater-1", "rater-2"], "more_raters": "rater-3\r\n", "overlap": "50", "blind": "yes",
    "statistic": "kappa", "threshold": "0,5", "settle": "discussion",
    "instructions": "One\r\n\"two\"", "deadline": "2031-02-03T04:05",
}  # fmt: skip


def opened_study(folder: Path) -> Study:
    """The pilot is open, rater-2 has said everything, rater-1 half of it."""
    study = small_study(folder)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        items = coding.state.rounds["pilot"].plan.items
        for item in items:
            rate(coding, "pilot", "rater-2", item, {"relevance": "exclude: crash"}, memo=TELLING, seconds=20)
        for item in items[:2]:
            rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}, seconds=20)
    return study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return opened_study(tmp_path / "study")


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def lead(app: Starlette, study: Study) -> TestClient:
    return joined(app, study, Role.LEAD, "lead")


def joined(app: Starlette, study: Study, role: Role, name: str) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, role, name))
    return opened


def head(study: Study) -> int:
    with open_coding(study) as coding:
        return coding.state.head


def status_of(study: Study, name: str = "pilot") -> str:
    with open_coding(study) as coding:
        return coding.state.round(name).status


def test_the_lead_sees_the_progress_of_every_round_but_no_answers(lead: TestClient, study: Study) -> None:
    before = head(study)
    for path in ("/rounds", "/rounds/pilot", "/rounds/main"):
        page = lead.get(path)
        assert page.status_code == 200
        assert TELLING not in page.text
    page = lead.get("/rounds").text
    assert "2 of 4" in page
    assert "4 of 4" in page
    assert "Open main" in page
    assert "opened it with 4 items" in lead.get("/rounds/pilot").text
    assert head(study) == before


def test_a_round_of_some_of_what_is_left_states_how_its_items_are_drawn(lead: TestClient, study: Study) -> None:
    fields = {**NEW, "items": "after=how-to", "without": "pilot", "size": "5"}
    selection = "5 of 8 items after &#39;how-to&#39;, not in pilot, drawn with seed 4"
    assert selection in post(lead, "/rounds/new", {**fields, "do": "preview"}).text
    post(lead, "/rounds/new", {**fields, "do": "add"})
    form = lead.get("/rounds/new?change=second").text
    assert 'name="size" min="1" value="5"' in form
    assert re.search(r'name="without" value="pilot" checked', form)
    assert selection in lead.get("/rounds/second").text
    post(lead, "/rounds/second/acts", {"act": "open"}, "/rounds/second")
    assert selection in lead.get("/rounds/second").text
    assert status_of(study, "second") == "open"


def test_a_round_covers_the_items_that_meet_conditions(lead: TestClient, study: Study) -> None:
    fields = {**NEW, "items": "after=how-to", "where.round": "pilot", "where.year": "", "where.tag": ""}
    selection = "4 items after &#39;how-to&#39;, with round = pilot"
    assert selection in post(lead, "/rounds/new", {**fields, "do": "preview"}).text
    post(lead, "/rounds/new", {**fields, "do": "add"})
    assert selection in lead.get("/rounds/second").text
    form = lead.get("/rounds/new?change=second").text
    assert "<details open><summary>Only items" in form
    assert '<option value="pilot" selected>' in form
    refused = post(lead, "/rounds/new", {**fields, "round": "third", "where.year": "2017", "do": "preview"})
    assert "has no column &#39;creation_date&#39;" in refused.text


def test_a_round_is_previewed_added_changed_and_removed(lead: TestClient, study: Study) -> None:
    text = study.file.read_text("utf-8")
    seen = post(lead, "/rounds/new", {**NEW, "do": "preview"})
    assert "Preview of second" in seen.text
    assert "20 s per item, as in pilot" in seen.text
    assert 'value="second"' in seen.text
    assert study.file.read_text("utf-8") == text
    added = post(lead, "/rounds/new", {**NEW, "do": "add"})
    assert (added.status_code, added.headers["location"]) == (303, "/rounds/second")
    one = open_study(study.root).settings.rounds[-1]
    assert one.raters == ("rater-1", "rater-2", "rater-3")
    assert (one.overlap, one.threshold, one.instructions) == (0.5, 0.5, 'One\n"two"')
    assert one.deadline is not None
    assert one.deadline.isoformat() == "2031-02-03T04:05:00+00:00"
    form = lead.get("/rounds/new?change=second").text
    assert 'value="rater-3" checked' in form
    assert "2031-02-03T04:05" in form
    post(lead, "/rounds/new", {**NEW, "change": "second", "more_raters": "", "do": "add"}, "/rounds/new?change=second")
    assert open_study(study.root).settings.rounds[-1].raters == ("rater-1", "rater-2")
    gone = post(lead, "/rounds/second/acts", {"act": "remove"}, "/rounds/second")
    assert gone.headers["location"] == "/rounds"
    assert study.file.read_text("utf-8") == text


def test_an_invalid_round_is_rejected_and_the_form_keeps_its_values(lead: TestClient, study: Study) -> None:
    text = study.file.read_text("utf-8")
    for more, words in (
        ({"round": "pilot"}, "two rounds are called"),
        ({"items": ""}, "no items are chosen"),
        ({"overlap": "some"}, "the overlap is"),
        ({"deadline": "soon"}, "is not a valid time"),
    ):
        answer = post(lead, "/rounds/new", {**NEW, **more, "do": "add"})
        assert answer.status_code == 422
        assert words in answer.text
        assert 'role="alert"' in answer.text
        assert "rater-3" in answer.text
        assert "&#34;two&#34;" in answer.text
    assert study.file.read_text("utf-8") == text


def test_the_lead_extends_closes_waives_and_opens_rounds_by_form(lead: TestClient, study: Study) -> None:
    def act(name: str, act: str, **more: str) -> int:
        return post(lead, f"/rounds/{name}/acts", {"act": act, **more}, f"/rounds/{name}").status_code

    assert act("pilot", "close") == 409
    assert act("pilot", "deadline", until="soon") == 422
    assert act("pilot", "deadline", until="2031-01-01T10:00") == 303
    assert act("pilot", "replace", rater="rater-1", other="rater-9", reason="ill") == 303
    assert act("pilot", "close", reason="enough") == 303
    assert status_of(study) == "closed"
    assert act("pilot", "reopen", reason="not enough") == 303
    assert status_of(study) == "open"
    assert act("pilot", "close", reason="enough") == 303
    assert act("main", "open") == 409
    assert act("pilot", "waive", reason="small") == 303
    assert act("main", "open") == 303
    assert act("main", "dance") == 422
    log = lead.get("/rounds/pilot").text
    for words in (
        "gave 2 items of rater-1 to rater-9",
        "set its deadline to 2031-01-01 10:00 UTC",
        "waived its threshold",
    ):
        assert words in log


def test_a_rejected_act_shows_the_page_it_was_sent_from_with_the_typed_values(lead: TestClient) -> None:
    fields = {"act": "replace", "rater": "rater-1", "other": "rater-2", "reason": "because", "from": "rounds"}
    answer = post(lead, "/rounds/pilot/acts", fields, "/rounds")
    assert answer.status_code == 409
    assert "<h1>Rounds</h1>" in answer.text
    assert "already rates or breaks ties in" in answer.text
    assert 'value="because"' in answer.text


def test_downloading_ratings_of_an_open_blind_round_needs_a_confirmation_and_is_recorded_once(
    lead: TestClient, study: Study
) -> None:
    before = head(study)
    asked = lead.get("/rounds/pilot/ratings.csv")
    assert "It is recorded" in asked.text
    assert TELLING not in asked.text
    assert head(study) == before
    given = lead.post("/rounds/pilot/ratings.csv", data={"csrf": csrf_in(asked.text)}, headers={"origin": HERE})
    assert "attachment" in given.headers["content-disposition"]
    assert head(study) == before + 1
    again = lead.get("/rounds/pilot/ratings.csv")
    assert again.content == given.content
    assert head(study) == before + 1
    with open_coding(study) as coding:
        expected = export_ratings(coding, "pilot", "lead")
    assert list(csv.DictReader(io.StringIO(again.text))) == expected
    assert lead.get("/rounds/pilot/ratings.xlsx").content.startswith(b"PK")
    assert lead.get("/rounds/pilot/ratings.exe").status_code == 409


def test_a_rater_downloads_only_their_own_ratings_and_other_people_none(app: Starlette, study: Study) -> None:
    rater = joined(app, study, Role.RATER, "rater-1")
    own = rater.get("/rounds/pilot/ratings.csv").text
    assert own.count("rater-1") == 2
    assert TELLING not in own
    assert "rater-2" not in own
    for path in ("/rounds/pilot/decisions.csv", "/rounds/pilot/decisions.xlsx"):
        assert TELLING not in rater.get(path).text
    for role, name in ((Role.TIE_BREAKER, "tie-breaker"), (Role.RATER, "rater-7")):
        other = joined(app, study, role, name)
        for path in ("/rounds/pilot/ratings.csv", "/rounds/pilot/decisions.csv"):
            answer = other.get(path)
            assert answer.status_code == 409
            assert "rater-" not in answer.text.replace(name, "")


def test_a_lead_who_rates_downloads_only_their_own_ratings_until_the_round_closes(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    study.file.write_text(study.file.read_text("utf-8").replace('"rater-1", "rater-2"', '"lead", "rater-2"'), "utf-8")
    study = open_study(study.root)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        for item in coding.state.rounds["pilot"].plan.items:
            rate(coding, "pilot", "rater-2", item, {"relevance": "exclude: crash"}, memo=TELLING)
            rate(coding, "pilot", "lead", item, {"relevance": "keep"})
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = joined(app, study, Role.LEAD, "lead")
        for path in ("/rounds", "/rounds/pilot", "/rounds/pilot/ratings.csv", "/rounds/pilot/decisions.csv"):
            assert TELLING not in lead.get(path).text, path
        close_by_name(study, "pilot", None)
        before = head(study)
        asked = lead.get("/rounds/pilot/ratings.csv").text
        assert "It is recorded" in asked
        assert TELLING not in asked
        assert head(study) == before


def test_a_study_without_rounds_explains_how_to_create_one(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[study]\nname = "empty"\n', "utf-8")
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        lead = visitor(app)
        join(lead, invited(tmp_path, Role.LEAD))
        assert "Create the first round" in lead.get("/rounds").text
        assert "No facets yet" in lead.get("/rounds/new").text
        assert lead.get("/rounds/nothing").status_code == 409


def test_a_round_name_that_cannot_be_part_of_a_url_is_refused(lead: TestClient, study: Study) -> None:
    study.file.write_text(study.file.read_text("utf-8").replace('round = "triplets"', 'round = "a/b?c"'), "utf-8")
    page = lead.get("/rounds")
    assert page.status_code == 409
    assert "cannot be the name of a round" in page.text


def test_an_older_round_whose_name_cannot_be_part_of_a_url_does_not_break_lists(
    app: Starlette, lead: TestClient, study: Study
) -> None:
    with open_coding(study) as coding:
        plan = replace(coding.state.round("pilot").plan, round="a/b?c")
        coding.act(lambda state: build_open_act(state, plan, "lead", None))
    page = lead.get("/rounds")
    assert page.status_code == 200
    assert "has no page" in page.text
    assert lead.get("/").status_code == 200
    start = joined(app, study, Role.RATER, "rater-1").get("/")
    assert start.status_code == 200
    assert "Rate pilot" in start.text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return opened_study(tmp_path_factory.mktemp("rounds") / "study").root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, folder: Path) -> StorageState:
    return session_after(f"{address}join/{invited(folder, Role.LEAD)}")


@pytest.mark.browser
def test_round_pages_are_accessible_and_fit_their_width(browser: Browser, address: str, state: StorageState) -> None:
    context = browser.new_context(storage_state=state)
    page = context.new_page()
    complaints = complaints_of(page, address)
    for path in ("rounds", "rounds/pilot", "rounds/main", "rounds/new", "rounds/pilot/ratings.csv"):
        page.goto(f"{address}{path}")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert_for_everyone(page)
    assert complaints == []
    context.close()


@pytest.mark.browser
def test_a_round_is_created_and_opened_by_keyboard_without_javascript(
    browser: Browser, address: str, state: StorageState, folder: Path
) -> None:
    context = browser.new_context(storage_state=state, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}rounds")
    page.get_by_role("link", name="New round").press("Enter")
    page.get_by_label("Name", exact=True).press_sequentially("by keyboard")
    page.get_by_role("checkbox", name="relevance").press("Space")
    items = page.get_by_label("Items", exact=True)
    items.focus()
    items.press_sequentially("pilot")
    page.get_by_role("group", name="Raters").get_by_label("rater-1").press("Space")
    page.get_by_role("button", name="Preview").press("Enter")
    expect(page.get_by_role("heading", name="Preview of by keyboard")).to_be_visible()
    page.get_by_role("button", name="Add the round").press("Enter")
    expect(page.get_by_role("heading", name="by keyboard", exact=True)).to_be_visible()
    page.get_by_role("button", name="Open by keyboard").press("Enter")
    expect(page.get_by_text("lead opened it with 4 items")).to_be_visible()
    assert status_of(open_study(folder), "by keyboard") == "open"
    context.close()
