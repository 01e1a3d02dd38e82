"""The names page: the lead answers matches one by one, with or without JavaScript, and nobody else sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.command_line import in_this_process
from tests.support.desk import QUICK, closing_app, invited, post, signed_in
from tests.support.small_interviews import a_study, with_transcript
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.interviews.conduct.conversation_state import read_conversation
from quaestor.interviews.names.known_names import add_name, list_names
from quaestor.interviews.names.matches import list_proposals
from quaestor.interviews.participants.people import Contact, set_contact
from quaestor.interviews.repository import open_interviews
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.store.sealed_file import NewEntry
from quaestor.study.folder import open_study
from quaestor.web.app import make_app

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
        return [f"{proposal.interview} {proposal.words}" for proposal in list_proposals(room)]


def test_name_matches_are_shown_in_context_and_answered_by_form(lead: TestClient, folder: Path) -> None:
    page = lead.get(PAGE).text
    assert "At <mark>Obviax GmbH</mark> &lt;b&gt;I&lt;/b&gt; ask Wexla Brimm." in page
    assert ">0</strong> of 7 matches answered" in page
    assert act(lead, act="confirm", place="P1/00000:6-13") == 303
    assert act(lead, act="refuse", place="P1/00001:3-14") == 303
    assert "P1 Zanthor" not in left(folder)
    assert ">2</strong> of 7 matches answered" in lead.get(PAGE).text
    assert "Obviax GmbH" in lead.get(f"{PAGE}?state=refused").text
    assert act(lead, act="confirm-all", name="person-1", interview="") == 303
    assert [one for one in left(folder) if "Wexla" in one] == []
    assert act(lead, **{"act": "refuse-all", "doubtful": "yes", "of-interview": "P1"}) == 303
    assert left(folder) == ["P2 Obviax"]
    refused = post(lead, ACTS, {"act": "confirm", "place": "P1/00001:0-1"}, page=PAGE)
    assert (refused.status_code, "There is no name at P1/00001:0-1" in refused.text) == (422, True)


def test_a_name_of_two_people_is_asked_about_and_left_out_of_replace_all(lead: TestClient, folder: Path) -> None:
    assert act(lead, act="add", kind="person", forms="Wexla Grelvan") == 303
    page = lead.get(PAGE).text
    assert page.count("also the name of [person 2]") == page.count("also the name of [person 1]") == 2
    assert "Replace all 4 that are sure" in page
    assert "None of all 7 is a name" in page
    assert act(lead, act="confirm-all", name="", interview="") == 303
    assert left(folder) == ["P1 Wexla", "P1 Wexla", "P1 Zanthr", "P2 Wexla", "P2 Wexla"]
    (at,) = set(re.findall(r"P2/[0-9]{5}:[0-9-]+(?==person-2)", page))
    assert act(lead, act="confirm", place=at) == 422
    assert act(lead, act="refuse", place=f"{at}=person-1") == 303
    assert left(folder)[-2:] == ["P1 Zanthr", "P2 Wexla"]
    assert act(lead, act="confirm", place=f"{at}=person-2") == 303
    assert left(folder)[-1] == "P1 Zanthr"


def test_names_are_added_changed_and_removed(lead: TestClient, folder: Path) -> None:
    sent = {"act": "add", "kind": "product", "forms": "the data\r\n data set", "shown": ""}
    made = post(lead, ACTS, sent, page=PAGE)
    assert (made.status_code, made.headers["location"]) == (303, f"{PAGE}?added=product-1")
    assert re.search(
        r"Added as <strong>\[product A\]</strong>: <a [^>]+>1 place found</a>", lead.get(f"{PAGE}?added=product-1").text
    )
    assert "<mark>the data</mark>" in lead.get(f"{PAGE}?name=product-1").text
    assert act(lead, act="change", name="product-1", kind="product", forms="the model", shown="[a thing]") == 303
    with open_interviews(open_study(folder)) as room:
        told = next(name for name in list_names(room) if name.id == "product-1")
        assert (told.forms, told.shown) == (("the model",), "[a thing]")
    again = post(lead, ACTS, {"act": "add", "kind": "person", "forms": "WEXLA brimm"}, page=PAGE)
    assert (again.status_code, "already known" in again.text, "WEXLA brimm" in again.text) == (422, True, True)
    assert re.search(r'id="add-heading">Add a name</h2>\s*<p class="refused" role="alert">[A-Z“]', again.text)
    assert again.text.index("add-heading") < again.text.index("known-heading")
    assert act(lead, act="remove", name="product-1") == 303
    assert "[a thing]" not in lead.get(PAGE).text


def test_names_in_notes_are_replaced_by_a_button_and_by_a_command(lead: TestClient, folder: Path) -> None:
    assert "Replace in notes and memos" not in lead.get(PAGE).text
    with open_interviews(open_study(folder)) as room:
        said = [{"question": "stages", "text": text} for text in ("Wexla Brimm again.", "Nobody.", "Obviax GmbH!")]
        room.file.add(*(NewEntry("note", "lead", one, "P1", "P1", room.now()) for one in said))
    page = lead.get(PAGE).text
    assert "note 1 of P1 on the question" in page
    assert "Replace in notes and memos" in page
    assert act(lead, act="replace-written") == 303
    assert "Replace in notes and memos" not in lead.get(PAGE).text
    with open_interviews(open_study(folder)) as room:
        assert [note.text for note in read_conversation(room, "P1").notes] == [
            "[person 1] again.",
            "Nobody.",
            "[organisation A]!",
        ]
    done = in_this_process("interview", "names", "replace-written", "--study", folder)
    assert done.exit_code == 0
    assert "No known names in these texts" in done.output


def test_a_transcript_without_names_can_be_marked_as_checked(lead: TestClient) -> None:
    assert "I have read it: no other names" in lead.get(PAGE).text
    assert act(lead, act="looked", interview="P3") == 303
    assert "checked" in lead.get(PAGE).text
    assert act(lead, act="looked", interview="P1") == 422
    line = lead.get("/interviews/P3").text
    assert "checked: no names" in line


def test_a_transcript_is_done_only_after_it_was_read(lead: TestClient) -> None:
    """To answer what was found says nothing about names that nobody knows."""
    assert act(lead, act="confirm-all", doubtful="yes") == 303
    page = lead.get(PAGE).text
    assert "All matches are answered. Next: read each transcript" in page
    assert page.count("not read yet") == 3
    assert 'href="/interviews/P1/transcript">Read the transcript<' in page
    assert "all answered: read the transcript once more" in lead.get("/interviews/P1").text
    for name in ("P1", "P2", "P3"):
        assert act(lead, act="looked", interview=name) == 303
    assert "every transcript is read. Next: create items for raters with <code>quaestor interview items</code>" in (
        lead.get(PAGE).text
    )
    assert "replaced by pseudonyms" in lead.get("/interviews/P1").text


def test_only_the_lead_sees_the_names_page(app: Starlette, folder: Path, lead: TestClient) -> None:
    interviewer = signed_in(app, folder, Role.INTERVIEWER)
    refused = interviewer.get(PAGE)
    assert (refused.status_code, interviewer.post(ACTS).status_code) == (403, 403)
    assert "has no access to this page" in refused.text
    assert "the lead does this" in interviewer.get("/interviews/P1").text
    assert "(the lead does this)" in interviewer.get("/").text
    for path in ("/", "/interviews", "/interviews/P3", "/participants/P1"):
        assert not re.search("Quellix|Obviax|Wexla", interviewer.get(path).text), path


def test_a_study_without_transcripts_has_nothing_to_check(tmp_path: Path) -> None:
    a_study(tmp_path)
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        assert "Nothing to check yet" in signed_in(app, tmp_path).get(PAGE).text


def test_names_can_be_checked_by_keyboard(browser: Browser, folder: Path) -> None:
    with serving(folder) as address:
        window = browser.new_context(storage_state=session_after(f"{address}join/{invited(folder, Role.LEAD)}"))
        page = window.new_page()
        complaints = complaints_of(page, address)
        page.goto(f"{address}interviews/names")
        page.keyboard.press("j")
        page.keyboard.press("y")
        expect(page.locator("#place-1")).to_have_class(re.compile("answered"))
        expect(page.locator("#place-2")).to_be_focused()
        expect(page.locator(".far")).to_contain_text("1 of 7 matches answered")
        expect(page.locator(".far")).to_contain_text("1 replaced, 0 no name")
        expect(page.locator(".far .fill")).to_have_attribute("width", "143")
        page.keyboard.press("n")
        expect(page.locator(".told")).to_have_text("5 left on this page")
        page.keyboard.press("a")
        expect(page.locator(".far")).to_contain_text("5 of 7 matches answered")
        expect(page.locator("#place-1")).to_be_focused()
        page.keyboard.press("j")
        expect(page.locator("#place-2")).to_be_focused()
        assert "P1 Obviax" not in left(folder), "a part of what was refused is refused with it"
        assert not [one for one in left(folder) if "Wexla" in one]
        with open_interviews(open_study(folder)) as room:
            for surname in ("Vexil", "Grelvan"):
                add_name(room, "person", [f"Nothing {surname}"])
        page.reload()
        expect(page.get_by_text("also the name of [person 3]")).to_be_visible()
        assert_for_everyone(page)
        page.get_by_role("button", name="Replace Nothing by [person 3] in turn 1 of P2").click()
        expect(page.locator(".place.answered")).to_have_count(2)
        expect(page.locator(".told")).to_have_text("2 left on this page")
        assert "P2 Nothing" not in left(folder), "one answer closes the place"
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
        page.locator("#forms").fill("decides")
        page.get_by_role("button", name="Add and search").click()
        expect(page.get_by_text(re.compile("Added as .*: 1 place found"))).to_be_in_viewport()
        still.close()
