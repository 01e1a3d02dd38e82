"""The demo's page while it is built: every state, the sign-in links, and the desk they lead to."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.demo_makers import ALL
from tests.support.desk import CHOSEN, HERE, QUICK, invited, post
from tests.support.desk import browser as visitor
from tests.support.small_study import small_study
from tests.support.windows import assert_for_everyone, complaints_of

from quaestor.base.errors import StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.session import open_coding
from quaestor.demo.folder import VISITOR, JoinLinks
from quaestor.demo.progress import (
    DemoFailed,
    DemoFinished,
    Event,
    InterviewsCoded,
    RoundOpened,
    StepAdvanced,
    SurveyOpened,
)
from quaestor.demo.survey import open_demo_survey
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app
from quaestor.web.demo.progress_pages import DemoPages
from quaestor.web.server import Stop, serve_on_this_machine

BEFORE = ALL[:5]
OPENED = ALL[:12]
FAILED = [*BEFORE, DemoFailed(StateError("there is no room: make some"))]


def opened_study(folder: Path) -> Study:
    study = small_study(folder)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        open_demo_survey(coding, seed=7)
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return opened_study(tmp_path_factory.mktemp("under-way") / "study")


def after(page: DemoPages, events: list[Event], study: Study) -> JoinLinks:
    """Record events, and let people in where their round is open; the links."""
    doors = JoinLinks(None, None)
    for event in events:
        page.record_event(event)
        if isinstance(event, RoundOpened):
            doors = JoinLinks(invited(study.root, Role.RATER), invited(study.root, Role.LEAD))
            page.hand_over(make_app(study.root, passwords=Passwords(QUICK)), doors)
    return doors


@pytest.fixture
def page(study: Study) -> DemoPages:
    return DemoPages(study.root)


@pytest.fixture
def client(page: DemoPages) -> Iterator[TestClient]:
    with visitor(page) as opened:
        yield opened


def test_every_address_redirects_to_the_demo_page_while_the_demo_starts(client: TestClient) -> None:
    for path in ("/", "/sign-in", "/rounds/pilot/rate"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/demo")
    shown = client.get("/demo")
    assert shown.status_code == 200
    assert "Starting." in shown.text
    for name in ("tokens.css", "desk.css", "under_way.css", "under_way.js", "mark.svg"):
        assert f"/static/{name}" in shown.text
        assert client.get(f"/static/{name}").status_code == 200


def test_the_demo_page_shows_finished_running_and_future_steps(
    page: DemoPages, client: TestClient, study: Study
) -> None:
    after(page, [*BEFORE[:4]], study)
    shown = client.get("/demo").text
    assert "Step 2 of 17: A synthetic dump." in shown
    assert 'max="1000" value="250"' in shown
    assert "A new study in a folder" in shown
    assert "The handbook" in shown
    assert "join/" not in shown
    assert "data-going" in shown
    page.record_event(StepAdvanced("posts", 1, 0))
    assert "<progress aria-label" in client.get("/demo").text, "nobody knows how long"


def test_join_links_appear_when_the_round_opens_and_work_once(
    page: DemoPages, client: TestClient, study: Study
) -> None:
    doors = after(page, OPENED, study)
    shown = client.get("/demo").text
    assert f"/join/{doors.visitor}" in shown
    assert f"/join/{doors.lead}" in shown
    entered = post(client, f"/join/{doors.visitor}", {"password": CHOSEN, "again": CHOSEN})
    assert entered.headers["location"] == "/"
    assert client.get("/").status_code == 200
    assert "how to save layer" in client.get("/rounds/pilot/rate").text
    again = client.get("/demo").text
    assert str(doors.visitor) not in again
    assert f"/join/{doors.lead}" in again


def test_the_demo_page_shows_the_survey_links_and_the_number_of_responses(
    page: DemoPages, client: TestClient, study: Study
) -> None:
    after(page, OPENED[:8], study)
    assert "/s/onnx" not in client.get("/demo").text, "it is not open yet"
    after(page, OPENED[8:], study)
    shown = client.get("/demo").text
    assert 'href="/s/onnx"' in shown
    assert 'href="/surveys/onnx/results"' in shown
    assert "92 simulated respondents have answered it, and nobody else yet." in shown
    assert "Synthetic evidence" in shown
    assert '<rect class="part" width="42.4" height="4"/>' in shown


def test_a_visitors_survey_response_is_counted(tmp_path: Path) -> None:
    own = opened_study(tmp_path / "study")
    page = DemoPages(own.root)
    with visitor(page) as opened:
        after(page, OPENED, own)
        place, form = "/s/onnx", {}
        while not place.endswith("/end"):
            shown = opened.get(place).text
            form = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', shown))
            said = {"q.consent": "agree", "q.platform": "regularly", "q.uses-onnx": "yes", "q.problems": "crashes"}
            mine = {name: value for name, value in said.items() if f'name="{name}"' in shown}
            sent = opened.post(place.partition("?")[0], data=form | mine, headers={"origin": HERE})
            place = sent.headers["location"]
        assert form["page"] == "problems"
        shown = opened.get("/demo").text
    assert "92 simulated respondents have answered it, and one person." in shown
    assert '<span class="number">40</span>' in shown


def next_step(page: str) -> tuple[str, str]:
    found = re.search(r'Next: <a href="([^"]+)">([^<]+)</a>', page)
    return (found[1], found[2]) if found else ("", "")


def test_a_visitor_always_sees_the_next_step(tmp_path: Path) -> None:
    own = small_study(tmp_path / "study")
    own.file.write_text(own.file.read_text("utf-8").replace('"rater-1"', f'"{VISITOR}"'), "utf-8")
    own = open_study(own.root)
    import_codebook(own)
    open_by_name(own, "pilot", None)
    with open_coding(own) as coding:
        open_demo_survey(coding, seed=7)
    page = DemoPages(own.root)
    with visitor(page) as opened:
        for event in OPENED[:-1]:
            page.record_event(event)
        assert next_step(opened.get("/demo").text) == ("", "")
        page.record_event(RoundOpened())
        doors = JoinLinks(invited(own.root, Role.RATER, VISITOR), invited(own.root, Role.LEAD))
        page.hand_over(make_app(own.root, passwords=Passwords(QUICK)), doors)
        assert next_step(opened.get("/demo").text) == (f"/join/{doors.visitor}", "Join as a visitor")
        post(opened, f"/join/{doors.visitor}", {"password": CHOSEN, "again": CHOSEN})
        for path in ("/demo", "/", "/codebook"):
            assert next_step(opened.get(path).text) == ("/rounds/pilot/rate", "Rate 4 posts"), path
        with open_coding(own) as coding:
            for item in coding.state.round("pilot").plan.items:
                rate(coding, "pilot", VISITOR, item, {"relevance": "keep"})
        for path in ("/demo", "/", "/rounds/pilot/rate", "/s/onnx"):
            assert next_step(opened.get(path).text) == ("/s/onnx", "Answer the survey"), path
        page.record_event(SurveyOpened(""))  # as if somebody had answered it
        lead = (f"/join/{doors.lead}", "Sign in as the lead and see the whole study")
        assert next_step(opened.get("/rounds/pilot/rate").text) == lead
        post(opened, f"/join/{doors.lead}", {"password": CHOSEN, "again": CHOSEN})
        assert next_step(opened.get("/").text)[1] == "Follow the remaining steps until the report is built"
        page.record_event(DemoFinished())
        assert next_step(opened.get("/demo").text) == ("/report/", "Read the report")


def test_the_demo_page_shows_the_coded_interviews_and_links_to_them(
    page: DemoPages, client: TestClient, study: Study
) -> None:
    after(page, OPENED, study)
    assert "/interviews" not in client.get("/demo").text, "they are not coded yet"
    after(page, [event for event in ALL if isinstance(event, InterviewsCoded)], study)
    shown = client.get("/demo").text
    assert "3 of 3 planted codes were found; nothing new came up after interview 2." in " ".join(shown.split())
    assert "the loss: <strong>above 10</strong>" in shown
    assert 'href="/interviews"' in shown
    assert 'href="/interviews/themes"' in shown


def test_a_signed_out_visitor_sees_the_demo_page_and_must_sign_in_elsewhere(
    page: DemoPages, client: TestClient, study: Study
) -> None:
    after(page, OPENED, study)
    assert client.get("/").headers["location"] == "/demo"
    assert client.get("/me").headers["location"].startswith("/sign-in")
    assert client.get("/sign-in").status_code == 200


def test_the_finished_demo_shows_planted_and_recovered_numbers(
    page: DemoPages, client: TestClient, study: Study
) -> None:
    after(page, ALL, study)
    shown = client.get("/demo").text
    assert "All 17 steps are done." in shown
    assert "data-going" not in shown
    assert "http-equiv" not in shown
    assert 'class="number differs">8<' in shown
    assert "of which two fit" in shown
    assert "All is there." in shown
    assert 'href="/handbook/strands.html"' in shown


def test_a_failure_is_shown_before_the_demo_process_ends(page: DemoPages, client: TestClient, study: Study) -> None:
    page.wait_until_failure_is_shown(seconds=600)  # nobody has looked: nobody is waited for
    client.get("/demo")
    after(page, FAILED, study)
    waiting = threading.Thread(target=page.wait_until_failure_is_shown, kwargs={"seconds": 600})
    waiting.start()
    shown = client.get("/demo").text
    waiting.join(timeout=30)
    assert not waiting.is_alive()
    assert "there is no room: make some" in shown
    assert "Stopped at step 2 of 17." in shown
    assert "data-going" not in shown


def test_the_demo_page_is_served_only_to_this_machine_with_strict_headers(page: DemoPages, client: TestClient) -> None:
    assert client.get("/demo", headers={"host": "elsewhere.example"}).status_code == 400
    headers = client.get("/demo").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "script-src 'self';" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"
    assert "script-src" not in client.get("/").headers["content-security-policy"]


def test_an_ordinary_desk_has_no_demo_page(study: Study) -> None:
    app = make_app(study.root)
    with visitor(app) as opened:
        assert opened.get("/demo").headers["location"].startswith("/sign-in")


def test_the_desk_is_closed_when_the_demo_ends_without_a_visitor(study: Study) -> None:
    page = DemoPages(study.root)
    ended: list[str] = []
    with visitor(page):
        page.hand_over(_ending(ended), JoinLinks(None, None))
        assert ended == []
    assert ended == ["ended"]


def _ending(ended: list[str]) -> Starlette:
    @asynccontextmanager
    async def lasting(app: Starlette) -> AsyncIterator[None]:
        yield
        ended.append("ended")

    return Starlette(lifespan=lasting)


class Shown:
    """A page that is served in a thread; its address."""

    def __init__(self, study: Study) -> None:
        self.page = DemoPages(study.root)
        told: Future[tuple[str, Stop]] = Future()

        def begin(address: str, stop: Stop) -> DemoPages:
            told.set_result((address, stop))
            return self.page

        self._pool = ThreadPoolExecutor(1)
        self._serving = self._pool.submit(serve_on_this_machine, 0, begin)
        self.address, self._stop = told.result()

    def end(self) -> None:
        self._stop()
        self._serving.result()
        self._pool.shutdown()


@pytest.fixture
def shown(study: Study) -> Iterator[Shown]:
    made = Shown(study)
    yield made
    made.end()


@pytest.mark.browser
@pytest.mark.parametrize("events", [BEFORE[:4], OPENED, ALL, FAILED], ids=["before", "opened", "all", "failed"])
def test_the_demo_page_is_accessible_fits_its_width_and_loads_nothing_external(
    browser: Browser, shown: Shown, study: Study, events: list[Event]
) -> None:
    after(shown.page, events, study)
    context = browser.new_context()
    opened = context.new_page()
    complaints = complaints_of(opened, shown.address)
    opened.goto(shown.address)
    assert_for_everyone(opened)
    assert complaints == []
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_the_demo_page_updates_itself_and_keeps_the_focus(
    browser: Browser, shown: Shown, study: Study, scripts: bool
) -> None:
    context = browser.new_context(java_script_enabled=scripts)
    opened = context.new_page()
    opened.goto(shown.address)
    expect(opened.get_by_text("Starting.")).to_be_visible(timeout=30_000)
    after(shown.page, OPENED, study)
    door = opened.get_by_role("link", name="Rate as a visitor")
    expect(door).to_be_visible(timeout=30_000)
    if scripts:
        door.focus()
    for event in ALL[12:]:
        shown.page.record_event(event)
    expect(opened.get_by_text("All 17 steps are done.")).to_be_visible(timeout=30_000)
    if scripts:
        expect(door).to_be_focused(timeout=30_000)
    door.click()
    expect(opened.get_by_label("Choose a password")).to_be_visible(timeout=30_000)
    context.close()
