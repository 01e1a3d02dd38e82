"""Questions that are asked only under a condition: on the rating page with and without scripts, and when settling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join
from tests.support.desk import browser as visitor
from tests.support.small_study import ITEMS, small_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_item
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

MORE = """
[facets.topic]
kind = "single"
question = "Which part of the framework?"
options = ["data", "model", "other"]
ask_if = { relevance = "keep" }

[facets.why]
kind = "text"
question = "Which other part?"
required = false
ask_if = { topic = "other" }

[facets.reason]
kind = "single"
question = "How do you know?"
options = ["log", "words"]
ask_if = { relevance = "exclude" }

[[rounds]]
round = "asked"
items = { after = "how-to" }
facets = ["relevance", "topic", "why", "reason"]
raters = ["rater-1", "rater-2"]
"""
KEPT, EXCLUDED = {"relevance": "keep", "topic": "data"}, {"relevance": "exclude: crash", "reason": "log"}
PRACTICE = """
practice = [{ item = "forum/question/13", answers = { relevance = "keep", topic = "data" }, feedback = "It is data." }]
"""


def make_study(folder: Path, more: str = MORE) -> Study:
    small_study(folder)
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(more)
    study = open_study(folder)
    run_funnel(study)
    import_codebook(study)
    open_by_name(study, "asked", None)
    return study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_study(tmp_path / "study")


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def rater(app: Starlette, study: Study) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, Role.RATER, "rater-1"))
    return opened


def send(rater: TestClient, fields: dict[str, Any], item: str = ITEMS[0]) -> Any:
    page = rater.get(f"/rounds/asked/rate?item={item}")
    data = {"csrf": csrf_in(page.text), "item": item, "key": f"key{abs(hash(str(fields)))}", **fields}
    return rater.post("/rounds/asked/ratings", data=data, headers={"origin": HERE})


def hidden(page: str) -> set[str]:
    """The questions that a page hides, and whose answers it does not send."""
    fieldsets = [part.partition(">")[0] for part in page.split("<fieldset")[1:]]
    return {part.split('data-facet="')[1].partition('"')[0] for part in fieldsets if part.endswith(" hidden disabled")}


def recorded(study: Study, item: str = ITEMS[0]) -> Any:
    with open_coding(study) as coding:
        rating = coding.state.round("asked").current("rater-1", item)
        return rating and dict(rating.answers)


def test_a_form_shows_the_question_that_an_answer_leads_to_before_it_is_saved(rater: TestClient, study: Study) -> None:
    assert hidden(rater.get("/rounds/asked/rate").text) == {"topic", "why", "reason"}
    answer = send(rater, {"answer.relevance": "keep", "memo": "a thought"})
    assert answer.status_code == 422
    assert "Not saved yet. Your answers lead to another question: Which part of the framework?" in answer.text
    assert hidden(answer.text) == {"why", "reason"}
    assert 'value="keep" checked' in answer.text
    assert "a thought" in answer.text
    assert recorded(study) is None

    fields = {"answer.relevance": "keep", "answer.topic": "other", "shown": ["topic"]}
    answer = send(rater, fields)
    assert "another question: Which other part?" in answer.text, "an optional question is shown too"
    assert recorded(study) is None
    assert send(rater, {**fields, "shown": ["topic", "why"]}).status_code == 303
    assert recorded(study) == {"relevance": {"answer": "keep"}, "topic": "other"}
    assert hidden(rater.get(f"/rounds/asked/rate?item={ITEMS[0]}").text) == {"reason"}


def test_a_form_accepts_no_answer_to_a_question_that_is_not_asked(rater: TestClient, study: Study) -> None:
    fields = {"answer.relevance": "exclude: crash", "answer.topic": "data", "answer.reason": "log", "shown": ["reason"]}
    answer = send(rater, fields)
    assert answer.status_code == 422
    assert "topic is asked only if relevance is keep" in answer.text
    assert hidden(answer.text) == {"topic", "why"}
    assert recorded(study) is None
    answer = send(rater, {"answer.relevance": "keep", "shown": ["topic"]})
    assert answer.status_code == 422
    assert "topic has no answer" in answer.text


def test_a_script_is_refused_in_the_same_way(rater: TestClient, study: Study) -> None:
    headers = {"x-csrf-token": csrf_in(rater.get("/rounds/asked/rate").text), "origin": HERE}
    for answers, problem in (
        ({"relevance": "keep"}, "topic has no answer"),
        ({"relevance": "exclude: crash", "reason": "log", "topic": "data"}, "topic is asked only if relevance is keep"),
    ):
        record = {"item": ITEMS[0], "key": f"k{len(answers)}", "answers": answers}
        answer = rater.post("/rounds/asked/ratings", json=record, headers=headers)
        assert answer.status_code == 422
        assert problem in answer.json()["refused"]
    assert recorded(study) is None


def test_practice_says_which_question_was_not_asked_because_of_a_wrong_answer(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", MORE + PRACTICE)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        rater = visitor(app)
        join(rater, invited(study.root, Role.RATER, "rater-1"))
        fields = {"answer.relevance": "exclude: crash", "answer.reason": "log", "shown": ["reason"], "practice": "yes"}
        page = send(rater, fields, "forum/question/13").text
    assert "Not quite" in page
    assert "not asked, because of another answer" in page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("asked") / "study").root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def session(address: str, folder: Path) -> Any:
    return session_after(f"{address}join/{invited(folder, Role.RATER, 'rater-1')}")


@pytest.fixture
def page(browser: Browser, address: str, session: Any) -> Iterator[Page]:
    context = browser.new_context(storage_state=session, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    complaints = complaints_of(page, address)
    page.goto(f"{address}rounds/asked/rate")
    yield page
    assert complaints == []
    context.close()


def shown(page: Page) -> list[str]:
    return page.evaluate(
        "[...document.querySelectorAll('.facet')].filter(f => f.checkVisibility()).map(f => f.dataset.facet)"
    )


def active(page: Page) -> str:
    return str(page.evaluate("document.querySelector('.facet.active').dataset.facet"))


@pytest.mark.browser
def test_a_question_appears_at_once_and_is_next_by_keyboard(page: Page, folder: Path) -> None:
    assert shown(page) == ["relevance"]
    page.keyboard.press("1")  # keep
    assert (shown(page), active(page)) == (["relevance", "topic"], "topic")
    page.keyboard.press("Enter")
    assert "choose an answer" in page.locator("#saved").inner_text()
    page.keyboard.press("3")  # other
    assert (shown(page), active(page)) == (["relevance", "topic", "why"], "why")
    assert_for_everyone(page)
    page.get_by_label("Which other part?").fill("the docs")
    page.get_by_text("installation").click()  # by mouse: exclude
    assert shown(page) == ["relevance", "reason"]
    page.get_by_text("keep", exact=True).first.click()
    assert shown(page) == ["relevance", "topic", "why"], "answers return with their question"
    page.get_by_text("installation").click()
    page.get_by_text("words").click()
    item = page.locator("form.sheet").get_attribute("data-item")
    assert item
    page.locator("h1").click()
    page.keyboard.press("Enter")
    page.locator("#saved", has_text="aved").wait_for()
    study = open_study(folder)
    expected = {"relevance": {"answer": "exclude", "reason": "installation"}, "reason": "words"}
    assert recorded(study, item) == expected, "a hidden question sends no answer"
    assert (shown(page), active(page)) == (["relevance"], "relevance"), "the next sheet starts without them"
    page.keyboard.press("z")
    assert shown(page) == ["relevance", "reason"]


@pytest.mark.browser
def test_without_scripts_the_next_question_follows_on_the_page_that_is_sent_back(
    browser: Browser, address: str, session: Any, folder: Path
) -> None:
    context = browser.new_context(
        storage_state=session, java_script_enabled=False, viewport={"width": 320, "height": 800}
    )
    page = context.new_page()
    page.goto(f"{address}rounds/asked/rate")
    item = page.locator("input[name=item]").get_attribute("value")
    assert item
    assert page.get_by_text("Which part of the framework?").is_hidden()
    page.get_by_text("keep", exact=True).first.click()
    page.get_by_role("button", name="Save and next").click()
    assert page.get_by_role("alert").inner_text().startswith("Not saved yet.")
    page.get_by_text("model", exact=True).click()
    page.get_by_role("button", name="Save and next").click()
    assert page.get_by_role("alert").count() == 0
    assert recorded(open_study(folder), item) == {"relevance": {"answer": "keep"}, "topic": "model"}
    context.close()


def test_the_list_and_the_page_of_a_case_say_who_was_not_asked(app: Starlette, study: Study) -> None:
    with open_coding(study) as coding:
        for item in ITEMS:
            rate(coding, "asked", "rater-1", item, KEPT if item == ITEMS[0] else EXCLUDED)
            rate(coding, "asked", "rater-2", item, EXCLUDED)
    close_by_name(study, "asked", None)
    lead = visitor(app)
    join(lead, invited(study.root, Role.LEAD))
    address = "/rounds/asked/disagreements"
    csrf = csrf_in(lead.get(address).text)
    assert lead.post(address, data={"csrf": csrf}, headers={"origin": HERE}).status_code == 303
    assert "topic" not in lead.get(address).text, "the disagreement is on the relevance"
    settle_item(study, "asked", "lead", ITEMS[0], "relevance", "keep", "one-person", "it is no crash")
    listing = lead.get(address).text
    assert "<span>data</span>" in listing
    assert "<span>not asked</span>" in listing
    case = lead.get(address, params={"item": ITEMS[0], "facet": "topic"}).text
    assert "Asked only if relevance is keep." in case
    assert "Not asked, because of another answer: rater-2." in case
    assert "topic only if relevance is keep; why only if topic is other" in lead.get("/rounds/asked").text
    settle_item(study, "asked", "lead", ITEMS[0], "topic", "other", "one-person", "neither")
    settle_item(study, "asked", "lead", ITEMS[0], "relevance", "exclude: crash", "one-person", "it is one")
    assert "topic" not in lead.get(address).text, "nothing is left to settle about the topic"


def test_a_case_that_nobody_was_asked_about_can_be_settled_on_its_page(app: Starlette, study: Study) -> None:
    with open_coding(study) as coding:
        for item in ITEMS:
            for rater in ("rater-1", "rater-2"):
                judged = item != ITEMS[0] or rater == "rater-1"
                rate(coding, "asked", rater, item, EXCLUDED if judged else {"relevance": "cannot judge"})
    close_by_name(study, "asked", None)
    settle_item(study, "asked", "lead", ITEMS[0], "relevance", "keep", "one-person", "it is no crash")
    lead = visitor(app)
    join(lead, invited(study.root, Role.LEAD))
    address = f"/rounds/asked/disagreements?item={ITEMS[0]}&facet=topic"
    page = lead.get(address).text
    assert "Asked only if relevance is keep: no rater was asked." in page
    fields = {"item": ITEMS[0], "facet": "topic", "key": "k1", "seen": "0", "other": "model", "how": "one-person"}
    data = {"csrf": csrf_in(page), "reason": "read it", **fields}
    assert lead.post("/rounds/asked/decisions", data=data, headers={"origin": HERE}).status_code == 303
    with open_coding(study) as coding:
        assert coding.state.round("asked").last_decisions("topic")[ITEMS[0]].answer == "model"
