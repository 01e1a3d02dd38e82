"""The rating page by form, script and keyboard: no rating is lost, duplicated or shown to others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join
from tests.support.desk import browser as visitor
from tests.support.small_study import small_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating import try_practice
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import list_rater_items, open_by_name
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

TELLING = "tellingword"


def opened_study(folder: Path) -> Study:
    """The pilot is open, and rater-2 has said everything."""
    study = small_study(folder)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        for item in coding.state.rounds["pilot"].plan.items:
            rate(coding, "pilot", "rater-2", item, {"relevance": "exclude: crash"}, memo=TELLING)
    return study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return opened_study(tmp_path / "study")


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def rater(app: Starlette, study: Study) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, Role.RATER, "rater-1"))
    return opened


def left(study: Study, rater: str = "rater-1") -> list[str]:
    return [row["item"] for row in list_rater_items(study, "pilot", rater, left_only=True)]


def recorded_answers(study: Study, rater: str = "rater-1") -> dict[str, object]:
    with open_coding(study) as coding:
        given = coding.state.rounds["pilot"].ratings.get(rater, {})
        return {item: ratings[-1].answers["relevance"] for item, ratings in given.items()}


def test_rating_by_form_redirects_to_the_next_item(rater: TestClient, study: Study) -> None:
    first, second = left(study)[:2]
    page = rater.get("/rounds/pilot/rate").text
    assert first in page
    fields = {"csrf": csrf_in(page), "item": first, "key": "one", "answer.relevance": "exclude: crash", "memo": "hm"}
    answer = rater.post("/rounds/pilot/ratings", data=fields, headers={"origin": HERE})
    assert answer.status_code == 303
    assert recorded_answers(study) == {first: {"answer": "exclude", "reason": "crash"}}
    assert second in rater.get(answer.headers["location"]).text
    again = rater.get(f"/rounds/pilot/rate?item={first}").text
    assert "already rated" in again
    assert 'value="exclude: crash" checked' in again
    assert "hm" in again


def test_a_rating_sent_twice_is_recorded_once_with_the_same_response(rater: TestClient, study: Study) -> None:
    page = rater.get("/rounds/pilot/rate").text
    record = {"key": "same", "item": left(study)[0], "answers": {"relevance": "keep"}, "seconds": 3.2}
    headers = {"x-csrf-token": csrf_in(page), "origin": HERE}
    first, second = (rater.post("/rounds/pilot/ratings", json=record, headers=headers) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    with open_coding(study) as coding:
        assert len(coding.state.rounds["pilot"].ratings["rater-1"][record["item"]]) == 1


@pytest.mark.parametrize(
    ("record", "status"),
    [
        ({"key": "k", "item": "forum/question/13", "answers": {"relevance": "keep"}}, 422),
        ({"key": "k", "item": "forum/question/1", "answers": {"relevance": "maybe"}}, 422),
        ({"key": "k", "item": "forum/question/1", "answers": {}}, 422),
        ({"key": "k", "item": "forum/question/1"}, 400),
        ({"item": "x", "answers": {"relevance": "keep"}}, 400),
        ([], 400),
    ],
)
def test_an_invalid_rating_is_rejected_with_a_reason(rater: TestClient, record: object, status: int) -> None:
    headers = {"x-csrf-token": csrf_in(rater.get("/rounds/pilot/rate").text), "origin": HERE}
    answer = rater.post("/rounds/pilot/ratings", json=record, headers=headers)
    assert answer.status_code == status
    if status == 422:
        assert answer.json()["refused"]


def test_a_rating_without_the_csrf_token_is_rejected(rater: TestClient, study: Study) -> None:
    record = {"key": "k", "item": left(study)[0], "answers": {"relevance": "keep"}}
    assert rater.post("/rounds/pilot/ratings", json=record, headers={"origin": HERE}).status_code == 403
    assert recorded_answers(study) == {}


def test_no_page_shows_a_rater_the_ratings_of_others(rater: TestClient, study: Study) -> None:
    first = left(study)[0]
    for path in ("/", "/rounds/pilot/rate", f"/rounds/pilot/ahead?after={first}", "/rounds/pilot/mine"):
        answer = rater.get(path)
        assert answer.status_code == 200, path
        assert TELLING not in answer.text
        assert "rater-2" not in answer.text


def test_prefetched_sheets_are_the_unrated_items_in_the_raters_order(rater: TestClient, study: Study) -> None:
    mine = left(study)
    ahead = rater.get("/rounds/pilot/ahead", params={"after": mine[0]}).json()["sheets"]
    assert [one["item"] for one in ahead] == mine[1:]
    assert all(one["item"] in one["html"] for one in ahead)
    few = rater.get("/rounds/pilot/ahead", params={"after": mine[0], "most": "2"}).json()["sheets"]
    assert [one["item"] for one in few] == mine[1:3]
    assert len(rater.get("/rounds/pilot/ahead", params={"after": mine[0], "most": "nine"}).json()["sheets"]) > 2


def test_people_who_do_not_rate_in_a_round_cannot_open_its_sheets(app: Starlette, study: Study) -> None:
    lead = visitor(app)
    join(lead, invited(study.root, Role.LEAD))
    answer = lead.get("/rounds/pilot/rate")
    assert answer.status_code == 409
    assert TELLING not in answer.text


def test_an_unknown_round_is_rejected(rater: TestClient) -> None:
    assert rater.get("/rounds/nothing/rate").status_code == 409


def test_a_finished_rater_sees_that_all_items_are_rated(rater: TestClient, study: Study) -> None:
    with open_coding(study) as coding:
        for item in left(study):
            rate(coding, "pilot", "rater-1", item, {"relevance": "keep"})
    assert "You have rated all your items in pilot" in rater.get("/rounds/pilot/rate").text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return opened_study(tmp_path_factory.mktemp("rating") / "study").root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, folder: Path) -> StorageState:
    return session_after(f"{address}join/{invited(folder, Role.RATER, 'rater-1')}")


def open_desk(browser: Browser, address: str, state: StorageState, **more: object) -> tuple[Page, list[str]]:
    context = browser.new_context(storage_state=state, **more)  # type: ignore[arg-type]
    page = context.new_page()
    complaints = complaints_of(page, address)
    page.goto(f"{address}rounds/pilot/rate")
    return page, complaints


@pytest.mark.browser
def test_rating_pages_are_accessible_and_fit_their_width(browser: Browser, address: str, state: StorageState) -> None:
    page, complaints = open_desk(browser, address, state)
    for path in ("rounds/pilot/rate", "rounds/pilot/mine", ""):
        page.goto(f"{address}{path}")
        assert_for_everyone(page)
    assert complaints == []
    page.context.close()


@pytest.mark.browser
def test_rating_by_keyboard_survives_a_connection_loss(
    browser: Browser, address: str, state: StorageState, folder: Path
) -> None:
    study = open_study(folder)
    items = left(study)
    page, _ = open_desk(browser, address, state)
    expect(page.locator("#saved")).to_have_text("All saved")
    with page.expect_response("**/ahead*"):
        page.reload()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text("All saved")
    assert recorded_answers(study) == {items[0]: {"answer": "keep"}}
    page.context.set_offline(True)
    for key in ("2", "3"):
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_contain_text("2 not yet saved")
    assert len(recorded_answers(study)) == 1
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_have_text("All saved", timeout=20_000)
    assert recorded_answers(study) == {
        items[0]: {"answer": "keep"},
        items[1]: {"answer": "exclude", "reason": "crash"},
        items[2]: {"answer": "exclude", "reason": "installation"},
    }
    page.goto(f"{address}rounds/pilot/mine")
    assert_for_everyone(page)
    page.context.close()


def test_practice_items_come_first_give_feedback_and_are_not_counted(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    practice = 'practice = [{ item = "forum/question/1", answers = { relevance = "keep" }, feedback = "It asks how." }]'
    text = study.file.read_text("utf-8").replace('instructions = "Read the title."', practice)
    study.file.write_text(text, "utf-8")
    study = open_study(study.root)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        opened = visitor(app)
        join(opened, invited(study.root, Role.RATER, "rater-1"))
        page = opened.get("/rounds/pilot/rate").text
        assert "this does not count" in page
        fields = {"csrf": csrf_in(page), "item": "forum/question/1", "practice": "yes", "answer.relevance": "keep"}
        answer = opened.post("/rounds/pilot/ratings", data=fields, headers={"origin": HERE})
        assert "<h1>Right</h1>" in answer.text
        assert "It asks how." in answer.text
        assert recorded_answers(study) == {}
        assert "this does not count" not in opened.get("/rounds/pilot/rate").text
        assert try_practice(study, "pilot", "rater-2", "forum/question/1", {"relevance": "exclude: crash"}) == {
            "item": "forum/question/1", "right": {"relevance": False}, "answers": {"relevance": "keep"},
            "feedback": "It asks how.", "left": 0,
            "explained": [{
                "facet": "relevance", "question": "Does it ask how to write something?",
                "given": "exclude: crash", "expected": "keep", "definitions": {},
            }],
        }  # fmt: skip
