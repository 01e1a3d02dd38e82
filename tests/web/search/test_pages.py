"""Search pages: filters, item pages, saved filters and downloads, with the right permissions."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join
from tests.support.desk import browser as visitor
from tests.support.searched_study import ITEMS, TELLING, WROTE, searched_study, with_open_round, with_settled_round
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.base.files import lock_folder
from quaestor.evidence.text_index import build_index, index_folder
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.web.app import make_app

LEAD = "head-of-study"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    made = with_settled_round(searched_study(tmp_path_factory.mktemp("evidence") / "study"))
    build_index(made, lambda *told: None)
    return made


@pytest.fixture(scope="module")
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def as_(app: Starlette, study: Study, role: Role) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, role, LEAD if role is Role.LEAD else None))
    return opened


@pytest.fixture(scope="module")
def lead(app: Starlette, study: Study) -> TestClient:
    return as_(app, study, Role.LEAD)


@pytest.fixture(scope="module")
def reviewer(app: Starlette, study: Study) -> TestClient:
    return as_(app, study, Role.REVIEWER)


def test_a_search_url_shows_matching_items_with_highlighted_words(lead: TestClient) -> None:
    page = lead.get("/evidence?words=layer&tag=keras").text
    assert "3 items" in page
    assert "How to save a <mark>layer</mark>" in page
    assert 'value="layer"' in page
    assert "Why does it crash" not in page


def test_hostile_titles_are_shown_as_text(lead: TestClient) -> None:
    page = lead.get("/evidence?words=bold").text
    assert "&lt;b&gt;<mark>bold</mark>&lt;/b&gt; &amp; &#34;quoted&#34;" in page
    assert "<script>" not in lead.get("/evidence?words=freezing").text
    assert "<script>" not in lead.get(f"/evidence/item?item={ITEMS[3]}").text


@pytest.mark.parametrize(
    "query",
    ["words=%22", "words=***", f"words={'x' * 10_000}", "year=never", "code=nothing:at all", "step=none", "page=0",
     "round=unknown", "disagreement=perhaps"],
)  # fmt: skip
def test_an_invalid_search_shows_an_error_on_the_page(lead: TestClient, query: str) -> None:
    answer = lead.get(f"/evidence?{query}")
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "Search</button>" in answer.text


def test_the_page_says_when_the_search_index_is_being_built(tmp_path: Path) -> None:
    study = searched_study(tmp_path / "study")
    index_folder(study).mkdir(parents=True)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        opened = as_(app, study, Role.LEAD)
        with lock_folder(index_folder(study), "a test"):
            assert "Building the search index" in opened.get("/evidence").text
            assert opened.get("/evidence.csv").status_code == 409
        build_index(study, lambda *told: None)
        assert "7 items" in opened.get("/evidence").text


def test_before_the_funnel_ran_the_search_page_names_the_command(tmp_path: Path) -> None:
    study = searched_study(tmp_path / "study")
    (study.funnel_folder / "funnel.json").unlink()
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        page = as_(app, study, Role.LEAD).get("/evidence").text
    assert "<code>quaestor funnel</code>" in page


def test_an_item_page_shows_its_history_and_links_to_its_codes(lead: TestClient) -> None:
    page = lead.get(f"/evidence/item?item={ITEMS[2]}").text
    assert "How to load weights" in page
    assert "passed <a" in page
    assert f"{TELLING} of rater-2" in page
    assert 'href="/evidence?code=relevance%3Akeep"' in page
    assert lead.get("/evidence/item?item=forum/question/99").status_code == 409


def test_a_reviewer_finds_all_items_without_names(reviewer: TestClient) -> None:
    for path in ("/evidence?disagreement=any", f"/evidence/item?item={ITEMS[2]}", "/evidence.csv"):
        text = reviewer.get(path).text
        assert "How to load weights" in text, path
        assert not [name for name in ("rater-1", "rater-2", "third-person", LEAD, WROTE) if name in text], path


def test_all_search_results_can_be_downloaded_as_csv(lead: TestClient) -> None:
    answer = lead.get("/evidence.csv?words=how&order=newest&page=1")
    assert answer.headers["content-disposition"] == 'attachment; filename="evidence.csv"'
    rows = list(csv.DictReader(answer.text.splitlines()))
    assert [row["item"] for row in rows] == ITEMS[:6]
    assert rows[3]["title"].startswith("'=cmd")
    assert rows[0]["decided: relevance"] == "keep"


def act(opened: TestClient, **fields: str) -> int:
    data = {"csrf": csrf_in(opened.get("/evidence?words=layer").text), "query": "words=layer&page=2", **fields}
    return int(opened.post("/evidence/filters", data=data, headers={"origin": HERE}).status_code)


def test_a_saved_filter_is_visible_only_to_its_owner(app: Starlette, study: Study, lead: TestClient) -> None:
    assert act(lead, act="save", name="all layers") == 303
    page = lead.get("/evidence").text
    assert 'href="/evidence?words=layer">all layers</a>' in page
    number = page.partition('name="number" value="')[2].partition('"')[0]
    viewer = as_(app, study, Role.VIEWER)
    assert "all layers" not in viewer.get("/evidence").text
    assert act(viewer, act="delete", number=number) == 303
    assert act(viewer, act="rename", number=number, name="taken") == 409
    assert act(lead, act="rename", number=number, name="layers & more") == 303
    assert "layers &amp; more" in lead.get("/evidence").text
    assert act(lead, act="delete", number=number) == 303
    assert "layers &amp; more" not in lead.get("/evidence").text
    for wrong in ({"act": "save", "name": " "}, {"act": "paint"}, {"act": "delete", "number": "x"}):
        assert act(lead, **wrong) == 409


def test_a_reviewer_cannot_save_filters(reviewer: TestClient) -> None:
    assert "My filters" not in reviewer.get("/evidence").text
    data = {"csrf": csrf_in(reviewer.get("/me").text), "act": "save", "name": "x", "query": ""}
    answer = reviewer.post("/evidence/filters", data=data, headers={"origin": HERE})
    assert answer.status_code == 409
    assert "is read-only" in answer.text


@pytest.mark.parametrize("role", [Role.LEAD, Role.VIEWER, Role.REVIEWER])
def test_no_search_page_shows_answers_of_an_open_round(tmp_path: Path, role: Role) -> None:
    study = with_open_round(searched_study(tmp_path / "study"))
    build_index(study, lambda *told: None)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        opened = as_(app, study, role)
        paths = ["/evidence", "/evidence.csv", "/evidence?round=main", "/evidence?code=keep",
                 "/evidence?disagreement=any", "/evidence.csv?disagreement=any", "/evidence.csv?code=phase:training",
                 *(f"/evidence/item?item={item}" for item in ITEMS)]  # fmt: skip
        for path in paths:
            text = opened.get(path).text
            assert TELLING not in text, path
            assert "exclude" not in text, path
            assert "model training" not in text or "no item was coded" in text, path


@pytest.fixture(scope="module")
def address(study: Study) -> Iterator[str]:
    with serving(study.root) as base:
        yield base


@pytest.mark.browser
def test_search_pages_are_accessible_and_fit_in_both_themes(browser: Browser, address: str, study: Study) -> None:
    state = session_after(f"{address}join/{invited(study.root, Role.LEAD, LEAD)}")
    context = browser.new_context(storage_state=state)
    page = context.new_page()
    complaints = complaints_of(page, address)
    for path in ("evidence?words=layer&tag=keras&code=relevance:keep", "evidence", f"evidence/item?item={ITEMS[2]}",
                 "evidence?words=nothingatall"):  # fmt: skip
        page.goto(f"{address}{path}")
        assert_for_everyone(page)
    assert complaints == []
    context.close()


@pytest.mark.browser
def test_searching_saving_and_opening_an_item_work_by_keyboard_without_javascript(
    browser: Browser, address: str, study: Study
) -> None:
    state = session_after(f"{address}join/{invited(study.root, Role.VIEWER)}")
    context = browser.new_context(storage_state=state, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}evidence")
    page.get_by_role("searchbox").focus()
    page.keyboard.type("freez*")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="2 items")).to_be_visible()
    page.get_by_label("Save this search as").fill("frozen")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="frozen")).to_be_visible()
    page.get_by_role("link", name="How to freeze a layer").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("How to freeze a layer")
    context.close()
