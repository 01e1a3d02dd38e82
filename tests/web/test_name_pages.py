"""Names at the desk: the lead answers place by place, with a script or without; nobody else sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient

from desk import QUICK, closing_app, invited, post, signed_in
from quaestor.people.passwords import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.study.interviews.names import add_name, names_of
from quaestor.study.interviews.people import Contact, set_contact
from quaestor.study.interviews.proposals import proposals
from quaestor.study.interviews.room import open_interviews
from quaestor.web.app import make_app
from small_interviews import a_study, with_transcript
from windows import assert_for_everyone, complaints_of, serving, session_after

PAGE, ACTS = "/interviews/names", "/interviews/names/acts"
FIRST = (
    ("Interviewer", "Hello Zanthor, which stages does your work have?"),
    ("Guest", "At Obviax GmbH <b>I</b> ask Wexla Brimm. 🙂 שלום Wexla's team decides. Zanthr too."),
)
SECOND = (("Interviewer", "And Obviax?"), ("Guest", "Nothing about Wexla."))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_interviews(a_study(tmp_path / "study")) as room:
        with_transcript(room, turns=FIRST)
        with_transcript(room, turns=SECOND)
        with_transcript(room)
        set_contact(room, "P1", Contact("Zanthor Quellix"))
        add_name(room, "organisation", ["Obviax GmbH"])
        add_name(room, "person", ["Wexla Brimm"])
    return tmp_path / "study"


@pytest.fixture
def app(folder: Path) -> Iterator[Starlette]:
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def lead(app: Starlette, folder: Path) -> TestClient:
    return signed_in(app, folder)


def act(opened: TestClient, **fields: str) -> int:
    return post(opened, ACTS, fields, page=PAGE).status_code


def left(folder: Path) -> list[str]:
    with open_interviews(open_study(folder)) as room:
        return [f"{one.interview} {one.words}" for one in proposals(room)]


def test_places_are_shown_in_their_words_and_answered_by_form(lead: TestClient, folder: Path) -> None:
    page = lead.get(PAGE).text
    assert "At <mark>Obviax GmbH</mark> &lt;b&gt;I&lt;/b&gt; ask Wexla Brimm." in page
    assert "<strong>0</strong> of 7 places answered" in page
    assert act(lead, act="confirm", place="P1/00000:6-13") == 303
    assert act(lead, act="refuse", place="P1/00001:3-14") == 303
    assert "P1 Zanthor" not in left(folder)
    assert "<strong>2</strong> of 7 places answered" in lead.get(PAGE).text
    assert "Obviax GmbH" in lead.get(f"{PAGE}?state=refused").text
    assert act(lead, act="confirm-all", name="person-1", interview="") == 303
    assert [one for one in left(folder) if "Wexla" in one] == []
    assert act(lead, **{"act": "refuse-all", "doubtful": "yes", "of-interview": "P1"}) == 303
    assert left(folder) == ["P2 Obviax"]
    refused = post(lead, ACTS, {"act": "confirm", "place": "P1/00001:0-1"}, page=PAGE)
    assert (refused.status_code, "nothing is found at" in refused.text) == (422, True)


def test_names_are_added_changed_and_removed(lead: TestClient, folder: Path) -> None:
    sent = {"act": "add", "kind": "product", "forms": "the data\r\n data set", "shown": ""}
    assert act(lead, **sent) == 303
    assert "<mark>the data</mark>" in lead.get(f"{PAGE}?name=product-1").text
    assert act(lead, act="change", name="product-1", kind="product", forms="the model", shown="[a thing]") == 303
    with open_interviews(open_study(folder)) as room:
        told = next(one for one in names_of(room) if one.id == "product-1")
        assert (told.forms, told.shown) == (("the model",), "[a thing]")
    again = post(lead, ACTS, {"act": "add", "kind": "person", "forms": "WEXLA brimm"}, page=PAGE)
    assert (again.status_code, "known already" in again.text, "WEXLA brimm" in again.text) == (422, True, True)
    assert act(lead, act="remove", name="product-1") == 303
    assert "[a thing]" not in lead.get(PAGE).text


def test_a_transcript_without_names_is_looked_through(lead: TestClient) -> None:
    assert "I have read it: no other names" in lead.get(PAGE).text
    assert act(lead, act="looked", interview="P3") == 303
    assert "looked through" in lead.get(PAGE).text
    assert act(lead, act="looked", interview="P1") == 422
    line = lead.get("/interviews/P3").text
    assert "looked through: no names" in line


def test_names_are_on_the_pages_of_the_lead_alone(app: Starlette, folder: Path, lead: TestClient) -> None:
    interviewer = signed_in(app, folder, Role.INTERVIEWER)
    assert (interviewer.get(PAGE).status_code, interviewer.post(ACTS).status_code) == (403, 403)
    for path in ("/", "/interviews", "/interviews/P3", "/participants/P1"):
        assert not re.search("Quellix|Obviax|Wexla", interviewer.get(path).text), path


def test_a_study_without_transcripts_says_where_they_come_from(tmp_path: Path) -> None:
    a_study(tmp_path)
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        assert "There is nothing to look through yet" in signed_in(app, tmp_path).get(PAGE).text


def test_by_keyboard_in_a_browser(browser: Browser, folder: Path) -> None:
    with serving(folder) as address:
        window = browser.new_context(storage_state=session_after(f"{address}join/{invited(folder, Role.LEAD)}"))
        page = window.new_page()
        complaints = complaints_of(page, address)
        page.goto(f"{address}interviews/names")
        page.keyboard.press("j")
        page.keyboard.press("y")
        expect(page.locator("#place-1")).to_have_class(re.compile("answered"))
        expect(page.locator("#place-2")).to_be_focused()
        page.keyboard.press("n")
        expect(page.locator(".told")).to_have_text("5 left on this page")
        page.keyboard.press("a")
        expect(page.locator(".far")).to_contain_text("5 of 7 places answered")
        assert "P1 Obviax" not in left(folder), "a part of what was refused is refused with it"
        assert not [one for one in left(folder) if "Wexla" in one]
        assert_for_everyone(page)
        assert complaints == []
        window.close()
        still = browser.new_context(
            storage_state=session_after(f"{address}join/{invited(folder, Role.LEAD)}"), java_script_enabled=False
        )
        page = still.new_page()
        page.goto(f"{address}interviews/names")
        expect(page.locator(".keys")).to_be_hidden()
        page.get_by_role("button", name=re.compile("^Replace all")).click()
        expect(page.locator(".places")).to_contain_text("Zanthr")
        assert [one for one in left(folder) if "Obviax" in one] == []
        still.close()
