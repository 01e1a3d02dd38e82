"""Interview pages: participants, consent, and access to contact details."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Response
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, browser, closing_app, invited, post, signed_in
from tests.support.small_interviews import AGREEMENT, a_study, with_interview, with_participant, with_transcript
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.interviews.participants.consent import find_consent, find_consent_request, make_link
from quaestor.interviews.participants.people import Contact, read_contact, set_contact
from quaestor.interviews.repository import open_interviews
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.web.app import make_app

NAMED = Contact("Wilhelmina Xanthe", "w.xanthe@example.org", "+41 555 0199", "Prefers mornings.")
TELLING = ("Xanthe", "w.xanthe", "555 0199", "mornings")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """P1 with a transcript and contact data, P2 who was not asked yet."""
    with open_interviews(a_study(tmp_path / "study")) as room:
        with_transcript(room)
        with_participant(room, role="researcher", consent=False)
        set_contact(room, "P1", NAMED)
    return tmp_path / "study"


@pytest.fixture
def app(folder: Path) -> Iterator[Starlette]:
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def lead(app: Starlette, folder: Path) -> TestClient:
    return signed_in(app, folder)


@pytest.fixture
def interviewer(app: Starlette, folder: Path) -> TestClient:
    return signed_in(app, folder, Role.INTERVIEWER)


def test_a_study_without_participants_explains_how_to_add_one(tmp_path: Path) -> None:
    a_study(tmp_path)
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        opened = signed_in(app, tmp_path)
        assert "No participants yet" in opened.get("/interviews").text
        assert "Add the first participant" in opened.get("/").text
        drafted = opened.get("/interviews/agreement")
        assert (drafted.status_code, "not in force yet" in drafted.text) == (200, True)
        assert "Put it into force" not in drafted.text
        assert not (tmp_path / "interviews.db").exists(), "to look makes no files"
        (tmp_path / "instruments" / "guide.md").unlink()
        assert "No interview guides yet" in opened.get("/interviews").text
        assert 'href="/interviews"' not in opened.get("/").text


def test_the_list_shows_the_progress_of_each_participant(lead: TestClient) -> None:
    page = lead.get("/interviews").text
    assert re.search(r'<li class="done">.*?</span>Transcript</li>\s*<li class="now">.*?</span>Names', page)
    assert "engineer · 5 years · compilers" in page
    assert "No interview planned. Consent: not asked" in page
    assert 'href="/interviews/P1"' in lead.get("/").text


def test_a_form_sent_twice_adds_one_participant(interviewer: TestClient) -> None:
    shown = interviewer.get("/interviews").text
    key = re.search(r'name="key" value="([^"]+)"', shown)
    assert key
    fields = {"role": "maintainer", "years": "2,5", "field": "runtimes", "key": key[1]}
    for _ in range(2):
        done = post(interviewer, "/interviews/participants", fields, page="/interviews")
        assert (done.status_code, done.headers["location"]) == (303, "/participants/P3")
    assert "maintainer · 2.5 years · runtimes" in interviewer.get("/participants/P3").text
    wrong = post(interviewer, "/interviews/participants", {"years": "many"}, page="/interviews")
    assert (wrong.status_code, "is not a number of years" in wrong.text) == (422, True)


def test_declared_attributes_of_a_participant_are_entered_in_their_form(lead: TestClient, folder: Path) -> None:
    file = folder / "study.toml"
    text = '[interviews.attributes]\n"company size" = ["small", "large"]\ncountry = []\n'
    file.write_text(file.read_text("utf-8") + text, "utf-8")
    page = lead.get("/participants/P2").text
    assert '<select id="attribute-1" name="attribute company size">' in page
    sent = {"act": "change", "role": "researcher", "attribute company size": "large", "attribute country": "<b>"}
    assert post(lead, "/participants/P2/acts", sent, page="/participants/P2").status_code == 303
    page = lead.get("/participants/P2").text
    assert "company size: large · country: &lt;b&gt;" in page
    assert "<option selected>large</option>" in page
    wrong = post(lead, "/participants/P2/acts", {**sent, "attribute company size": "huge"}, page="/participants/P2")
    assert (wrong.status_code, "choose from: small or large" in wrong.text) == (422, True)
    added = post(lead, "/interviews/participants", {"key": "k", "attribute country": "CH"}, page="/interviews")
    assert added.headers["location"] == "/participants/P3"
    assert "country: CH" in lead.get("/interviews").text


def test_an_interviewer_records_consent_and_plans_an_interview(interviewer: TestClient, folder: Path) -> None:
    def act(**fields: str) -> int:
        return post(interviewer, "/participants/P2/acts", fields, page="/participants/P2").status_code

    assert act(act="consent", what="accepted", how="", version="1") == 422
    assert act(act="consent", what="accepted", how="e-mail of <3 May>", version="1") == 303
    for _ in range(2):
        assert act(act="plan", guide="guide", key="the-same-form-twice") == 303
    assert act(act="change", role="senior researcher", years="", field="graphs") == 303
    assert act(act="consent", what="perhaps", how="spoken", version="1") == 422
    assert act(act="erase") == 422
    assert re.search(r'href="/interviews/P2/conduct">Interviewer.{1,5}s desk', interviewer.get("/").text)
    page = interviewer.get("/participants/P2").text
    assert "senior researcher · graphs" in page
    assert "version 1 of the" in page
    assert "e-mail of &lt;3 May&gt;" in page
    with open_interviews(open_study(folder)) as room:
        assert [interview.id for interview in room.interviews()] == ["P1", "P2"]
        last = [entry for entry in room.file.read_entries(participant="P2") if entry.kind == "consent"][-1]
        assert (last.actor, last.content["how"]) == ("interviewer", "e-mail of <3 May>")


def test_a_planned_interview_can_be_cancelled_until_something_is_recorded(
    interviewer: TestClient, lead: TestClient
) -> None:
    def act(**fields: str) -> Response:
        return post(interviewer, "/participants/P1/acts", fields, page="/participants/P1")

    act(act="plan", guide="guide", key="another")
    assert "Cancel interview P1-2" in interviewer.get("/participants/P1").text
    assert act(act="cancel", interview="P1-2").status_code == 303
    assert "Cancel interview" not in interviewer.get("/participants/P1").text
    gone = interviewer.get("/interviews/P1-2")
    assert (gone.status_code, "P1-2 was cancelled" in gone.text) == (409, True)
    refused = act(act="cancel", interview="P1")
    assert (refused.status_code, "has begun" in refused.text) == (409, True)
    act(act="plan", guide="guide", key="a third")
    assert interviewer.get("/interviews/P1-3").status_code == 200, "a name is not given twice"


def test_reloading_after_creating_a_link_keeps_the_link_valid(lead: TestClient, folder: Path) -> None:
    def link() -> str:
        return post(lead, "/participants/P2/lead", {"act": "link", "key": "one-form"}, page="/participants/P2").text

    told = re.search(r'/c/([^"]+)"', link())
    assert told
    assert "create a new one only if it is lost" in link()
    with open_interviews(open_study(folder)) as room:
        assert find_consent_request(room, told[1]), "the first one holds"


def test_contact_details_are_shown_on_one_page_of_the_lead_only(
    lead: TestClient, interviewer: TestClient, folder: Path
) -> None:
    assert all(word in lead.get("/participants/P1/contact").text for word in TELLING)
    paths = ("/", "/interviews", "/interviews/P1", "/participants/P1", "/interviews/agreement", "/people", "/results")
    for opened in (lead, interviewer):
        for path in paths:
            page = opened.get(path)
            assert not [word for word in TELLING if word in page.text], path
    for method in ("GET", "POST"):
        assert interviewer.request(method, "/participants/P1/contact").status_code == 403
    given = {"act": "contact", "telephone": "+41 555 0777", "more": "After six."}
    done = post(interviewer, "/participants/P1/acts", given, page="/participants/P1")
    shown = interviewer.get(done.headers["location"]).text
    assert "Stored encrypted" in shown
    assert "0777" not in shown
    assert post(interviewer, "/participants/P1/acts", {"act": "contact"}, page="/participants/P1").status_code == 422
    page = lead.get("/participants/P1/contact").text
    assert all(word in page for word in ("555 0777", "After six.", "Prefers mornings.", "w.xanthe@example.org"))
    refused = post(lead, "/participants/P1/contact", {"name": "W", "email": "nobody"})
    assert (refused.status_code, 'value="nobody"' in refused.text) == (422, True)
    assert post(lead, "/participants/P1/contact", {"email": "new@example.org"}).status_code == 303
    with open_interviews(open_study(folder)) as room:
        assert read_contact(room, "P1") == Contact(email="new@example.org")


def test_a_consent_link_is_shown_once_and_works_without_an_account(lead: TestClient, app: Starlette) -> None:
    made = post(lead, "/participants/P2/lead", {"act": "link"}, page="/participants/P2")
    found = re.search(r'value="(http://127\.0\.0\.1/c/[^"]+)" readonly', made.text)
    assert found
    assert found[1] not in lead.get("/participants/P2").text
    assert "Invitation to an interview" in browser(app).get(found[1]).text


def test_erasing_a_participant_needs_the_typed_pseudonym(lead: TestClient) -> None:
    def erase(sure: str) -> int:
        fields = {"act": "withdraw", "sure": sure}
        return post(lead, "/participants/P1/lead", fields, page="/participants/P2").status_code

    assert erase("P2") == 422
    assert lead.get("/participants/P1").status_code == 200
    assert erase("P1") == 303
    assert (lead.get("/participants/P1").status_code, lead.get("/interviews/P1").status_code) == (409, 409)
    assert "P1 on 2" in lead.get("/interviews").text
    assert "A participant withdrew from the interviews" in lead.get("/").text


def test_only_the_lead_puts_a_changed_consent_form_into_force(
    lead: TestClient, interviewer: TestClient, folder: Path
) -> None:
    (folder / "instruments" / "agreement.md").write_text(f"{AGREEMENT}\n<b>The talk is recorded.</b>\n", "utf-8")
    assert "has changed since version 1" in interviewer.get("/interviews").text
    assert "Put version 2 into force" not in interviewer.get("/interviews/agreement").text
    assert post(interviewer, "/interviews/agreement/versions", {}, page="/interviews").status_code == 403
    done = post(lead, "/interviews/agreement/versions", {}, page="/interviews/agreement")
    assert done.status_code == 303
    page = lead.get("/interviews/agreement").text
    assert "Version 2, in force since" in page
    assert "&lt;b&gt;The talk is recorded.&lt;/b&gt;" in page
    assert "1 participant answered an earlier version" in lead.get("/interviews").text


@pytest.mark.browser
def test_interview_pages_are_accessible(browser: Browser, tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        with_transcript(room)
        with_interview(room, with_participant(room, role="an unusually-long-word-" * 5, consent=False))
        with_participant(room)
        set_contact(room, "P1", NAMED)
        link = make_link(room, "P2").code
        (tmp_path / "instruments" / "agreement.md").write_text(f"{AGREEMENT}\n## And more\n\n1. One.\n", "utf-8")
    with serving(tmp_path) as address:
        state = session_after(f"{address}join/{invited(tmp_path, Role.LEAD)}")
        page = browser.new_context(storage_state=state).new_page()
        complaints = complaints_of(page, address)
        pages = ("", "interviews", "interviews/P1", "participants/P1", "participants/P1/contact")
        for path in (*pages, "interviews/agreement", f"c/{link}"):
            page.goto(address + path)
            assert_for_everyone(page)
        page.goto(f"{address}participants/P3")
        for one in page.locator("summary").all():
            one.click()
        page.get_by_role("button", name="Create link").click()
        assert_for_everyone(page)
        assert complaints == []


@pytest.mark.browser
def test_a_participant_consents_by_keyboard_without_javascript_at_320_pixels(browser: Browser, tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        link = make_link(room, with_participant(room, consent=False)).code
    with serving(tmp_path) as address:
        context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 700})
        page = context.new_page()
        page.goto(f"{address}c/{link}")
        button = page.get_by_role("button", name="I agree")
        for _ in range(6):
            page.keyboard.press("Tab")
            if button.evaluate("one => one === document.activeElement"):
                break
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert "You agreed on" in page.inner_text("main")
    with open_interviews(open_study(tmp_path)) as room:
        assert find_consent(room, "P1").accepted
