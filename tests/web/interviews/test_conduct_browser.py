"""The interviewer's desk in a real browser: by keyboard, two people at once, a lost connection, a killed server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.support.small_interviews import a_study, with_interview
from tests.support.windows import Server, assert_for_everyone, complaints_of, signed_in, width_of

from quaestor.interviews.conduct.conversation_state import Conversation, read_conversation
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.roles import Role
from quaestor.study.folder import Study

pytestmark = pytest.mark.browser
SOON = 15_000
"""Milliseconds: on an idle machine one sees what the other wrote within two seconds."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return a_study(tmp_path_factory.mktemp("conduct") / "study")


@pytest.fixture(scope="module")
def server(study: Study) -> Iterator[Server]:
    found = Server(study.root)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def people(browser: Browser, server: Server, study: Study) -> Iterator[dict[str, BrowserContext]]:
    with signed_in(browser, server, study.root, Role.INTERVIEWER, "interviewer", "second") as found:
        yield found


@pytest.fixture
def name(study: Study) -> str:
    """An interview of its own."""
    with open_interviews(study) as interviews:
        return with_interview(interviews).id


@pytest.fixture
def page(people: dict[str, BrowserContext], server: Server, name: str) -> Iterator[Page]:
    found = at_desk(people["interviewer"], server, name)
    told = complaints_of(found, server.address)
    yield found
    found.context.set_offline(False)
    found.close()
    expected = ("ERR_INTERNET_DISCONNECTED", "ERR_CONNECTION", "409", "410", "422")
    assert [line for line in told if not any(part in line for part in expected)] == []


def at_desk(context: BrowserContext, server: Server, name: str, stop: int = 0) -> Page:
    page = context.new_page()
    page.goto(f"{server.address}interviews/{name}/conduct?stop={stop}")
    return page


def conversation_of(study: Study, name: str) -> Conversation:
    with open_interviews(study) as interviews:
        return read_conversation(interviews, name)


def write(page: Page, text: str, key: str = "w") -> None:
    page.keyboard.press(key)
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def all_saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("All saved", timeout=30_000)


def kept(page: Page) -> list[Any]:
    """What the browser still keeps."""
    return list(page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('quaestor'))"))


def texts(page: Page) -> list[str]:
    return page.locator(".notes:not([hidden]) .text").all_inner_texts()


def test_typed_text_never_triggers_commands_and_is_not_cut_off(page: Page, study: Study, name: str) -> None:
    press(page, "n", "o")
    page.keyboard.type("cost, a nice aspect")
    press(page, "Escape", "f")
    press(page, "Escape", "W")
    page.keyboard.type("!")
    press(page, "Enter", "Escape")
    expect(page.locator("#unstarted")).to_be_visible()
    press(page, "C")
    expect(page.locator("#unstarted")).to_be_hidden()
    all_saved(page)
    assert [(note.text, note.follow_up) for note in conversation_of(study, name).notes] == [
        ("cost, a nice aspect!", True)
    ]
    page.locator("#note").fill("x" * 10_001)
    page.get_by_role("button", name="Save note").click()
    expect(page.locator("#too-long")).to_be_visible()
    assert len(page.locator("#note").input_value()) == 10_001
    press(page, "Escape", "n", "p")
    assert len(page.locator("#note").input_value()) == 10_001, "it stays the draft of its question"
    page.locator("#note").fill("")
    all_saved(page)


def test_after_enter_the_next_key_is_a_command_again(page: Page, study: Study, name: str) -> None:
    press(page, "n", "w")
    page.keyboard.type("first note")
    press(page, "Enter", "w")
    page.keyboard.type("second note")
    press(page, "Enter", "n")
    assert page.locator("#note").input_value() == ""
    assert page.locator(".stop:not([hidden])").get_attribute("data-stop") == "2"
    press(page, "p")
    assert texts(page) == ["first note", "second note"]
    all_saved(page)


def test_after_the_last_question_notes_are_saved_and_the_end_button_is_focused(
    page: Page, study: Study, name: str
) -> None:
    press(page, "c", "g")
    for _ in range(20):
        press(page, "ArrowDown")
    press(page, "Enter", "w")
    page.keyboard.type("thanks from both")
    press(page, "Escape", "n")
    expect(page.get_by_role("button", name="End interview")).to_be_focused()
    all_saved(page)
    assert [note.text for note in conversation_of(study, name).notes] == ["thanks from both"]


def test_two_windows_of_one_interviewer_keep_separate_drafts(
    page: Page, people: dict[str, BrowserContext], server: Server, name: str
) -> None:
    other = at_desk(people["interviewer"], server, name)
    for one, words in ((page, "half a note"), (other, "another half")):
        press(one, "w")
        one.keyboard.type(words)
    page.reload()
    expect(page.locator("#note")).to_have_value("half a note")
    other.locator("#note").fill("")
    page.locator("#note").fill("")
    all_saved(page)
    other.close()


def test_an_interview_can_be_conducted_by_keyboard_from_start_to_protocol(page: Page, study: Study, name: str) -> None:
    press(page, "c", "n")
    expect(page.get_by_role("heading", name="Which stages does your work have?")).to_be_focused()
    write(page, "three stages")
    write(page, "And at night?", "f")
    press(page, "a")
    page.keyboard.type(" And by day?")
    press(page, "Enter", "Escape", "n", "1", "2", "2", "o")
    page.keyboard.type("who pays")
    press(page, "Enter", "n", "s", "p")
    expect(page.locator("#skip")).to_contain_text("Ask it after all")
    press(page, "c")
    expect(page.locator("#state")).to_have_text("Paused")
    press(page, "c", "g", "ArrowUp", "ArrowUp", "Enter")
    expect(page.get_by_role("heading", name="Which stages does your work have?")).to_be_visible()
    assert texts(page) == ["three stages", "And at night? And by day?"]
    all_saved(page)
    press(page, "?")
    expect(page.locator("#keys")).to_have_attribute("open", "")
    assert_for_everyone(page)
    page.locator("#ending summary").focus()
    press(page, "Enter", "Tab", "Enter")
    page.wait_for_url("**/protocol")
    expect(page.get_by_role("heading", name=f"Protocol of {name}")).to_be_visible()
    assert_for_everyone(page)
    now = conversation_of(study, name)
    assert [(note.text, note.follow_up, note.amended) for note in now.notes] == [
        ("three stages", False, False),
        ("And at night? And by day?", True, True),
    ]
    assert [tick.item or tick.other for tick in now.ticked("factors")] == ["data", "who pays"]
    assert [now.state_of(one) for one in ("stages", "factors", "illegal")] == ["asked", "asked", "skipped"]
    assert (now.clock.status, now.clock.by) == ("ended", "interviewer")
    assert kept(page) == []
    page.go_back()
    expect(page.locator("#turn .words")).to_have_text("Resume")
    expect(page.locator("#turn kbd")).to_be_hidden()
    press(page, "c")
    expect(page.locator("#state")).to_have_text("Ended")
    assert kept(page) == [], "a single key sets nothing running again"


def test_two_interviewers_see_each_others_notes_and_overwrite_nothing(
    page: Page, people: dict[str, BrowserContext], server: Server, study: Study, name: str
) -> None:
    press(page, "c", "n")
    other = at_desk(people["second"], server, name, 1)
    expect(other.locator("#state")).to_have_text("Running")
    expect(other.locator("#take-over")).to_contain_text("follows interviewer")
    other.context.set_offline(True)
    expect(other.locator("#saved")).to_have_text("No connection: keep going, it is kept here")
    write(other, "by the second")
    write(page, "by the first")
    all_saved(page)
    other.context.set_offline(False)
    for one in (page, other):
        expect(one.locator(".notes:not([hidden]) .text")).to_have_count(2, timeout=SOON)
        assert texts(one) == ["by the second", "by the first"], "as it was said, not as it came in"
    expect(page.locator(".note", has_text="by the second").locator(".amend")).to_be_hidden()
    press(other, "a")
    other.keyboard.type(", and more")
    press(other, "Enter", "Escape")
    expect(page.get_by_text("by the second, and more")).to_be_visible(timeout=SOON)
    press(other, "n", "1")
    expect(page.locator("#stop-2 input[value=data]")).to_be_checked(timeout=SOON)
    expect(page.locator("#guide a[data-stop='2'] .mark")).to_have_text("asked")
    assert conversation_of(study, name).clock.section == "practice", "the clock follows who asks, not who takes notes"
    press(other, "n")
    other.get_by_role("button", name="Make the clock follow me").click()
    expect(page.locator("#clock-section .name")).to_have_text("Legitimacy", timeout=SOON)
    other.close()
    assert {note.by for note in conversation_of(study, name).notes} == {"interviewer", "second"}


def test_a_connection_loss_does_not_stop_the_interview_or_lose_notes(page: Page, study: Study, name: str) -> None:
    press(page, "c", "n")
    write(page, "with a line")
    all_saved(page)
    page.context.set_offline(True)
    write(page, "without one \N{PARTY POPPER}")
    press(page, "n", "2")
    write(page, "still none")
    press(page, "a")
    page.keyboard.type(", amended")
    press(page, "Enter", "Escape", "n", "s")
    expect(page.get_by_role("heading", name="Thanks", exact=True)).to_be_visible()
    expect(page.locator("#saved")).to_contain_text("notes not saved yet")
    assert [note.text for note in conversation_of(study, name).notes] == ["with a line"]
    page.context.set_offline(False)
    all_saved(page)
    now = conversation_of(study, name)
    assert [(note.question, note.text) for note in now.notes] == [
        ("stages", "with a line"),
        ("stages", "without one \N{PARTY POPPER}"),
        ("factors", "still none, amended"),
    ]
    assert now.clock.section == "thanks"
    assert [tick.item for tick in now.ticked("factors")] == ["time"]
    assert now.state_of("illegal") == "skipped"
    assert kept(page) == []


def test_amending_a_note_keeps_unsaved_text(page: Page, study: Study, name: str) -> None:
    press(page, "n")
    write(page, "data first")
    press(page, "w")
    page.keyboard.type("half a thought")
    press(page, "Escape", "a")
    expect(page.locator("#note")).to_have_value("data first")
    assert texts(page) == ["data first", "half a thought"]
    page.keyboard.type(", then models")
    press(page, "Escape", "a")
    expect(page.locator("#note")).to_have_value("data first, then models")
    all_saved(page)
    page.reload()
    expect(page.locator("#note")).to_have_value("data first, then models")
    expect(page.locator("#write")).to_contain_text("Edit your note")
    page.locator("#note").press("Enter")
    press(page, "Escape", "n", "o")
    page.keyboard.type("who pays")
    page.reload()
    expect(page.locator("#other-2")).to_have_value("who pays")
    press(page, "n")
    all_saved(page)
    now = conversation_of(study, name)
    assert [(note.text, note.amended) for note in now.notes] == [
        ("data first, then models", True),
        ("half a thought", False),
    ]
    assert [tick.other for tick in now.ticked("factors")] == ["who pays"]
    assert kept(page) == []


def test_the_text_of_every_rejected_note_is_kept(page: Page, study: Study, server: Server, name: str) -> None:
    press(page, "n")
    page.context.set_offline(True)
    write(page, "one")
    expect(page.locator("#saved")).to_contain_text("1 note not saved yet: no connection")
    for text in ("two", "three", "four"):
        write(page, text)
        if text == "two":
            press(page, "n")
    assert "4 notes not saved yet" in page.locator("#saved").inner_text()
    with open_interviews(study) as interviews:
        record_consent(interviews, name, DECLINED, SPOKEN)
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_contain_text("Not accepted", timeout=SOON)
    expect(page.locator("#saved")).to_be_in_viewport()
    page.get_by_role("button", name="Show what is saved").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("declined")
    assert [one for one in kept(page) if one.startswith("quaestor/")] == []
    with open_interviews(study) as interviews:
        record_consent(interviews, name, ACCEPTED, SPOKEN)
    page.goto(f"{server.address}interviews/{name}/conduct?stop=1")
    expect(page.locator("#note")).to_have_value("one\ntwo")
    press(page, "n")
    expect(page.locator("#note")).to_have_value("three\nfour")
    press(page, "n")
    all_saved(page)
    assert [note.text for note in conversation_of(study, name).notes] == ["one\ntwo", "three\nfour"]


def test_no_element_of_the_page_is_covered_or_cut_off(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    press(page, "c", "n", "n")
    for number in range(8):
        press(page, "o")
        page.keyboard.type(f"something else {number}")
        press(page, "Enter")
    items = page.locator(".stop:not([hidden]) .ticks").bounding_box()
    note = page.locator("#write").bounding_box()
    assert items
    assert note
    assert items["y"] + items["height"] <= note["y"]
    page.set_viewport_size({"width": 320, "height": 640})
    page.locator("#ending summary").click()
    button = page.get_by_role("button", name="End interview").bounding_box()
    assert button
    assert button["x"] >= 0
    assert button["x"] + button["width"] <= 320
    assert width_of(page) <= 320


def test_a_killed_server_and_a_closed_tab_lose_no_notes(
    page: Page, people: dict[str, BrowserContext], server: Server, study: Study, name: str
) -> None:
    press(page, "c", "n")
    write(page, "acknowledged")
    all_saved(page)
    server.kill()
    assert [note.text for note in conversation_of(study, name).notes] == ["acknowledged"]
    write(page, "while it was dead")
    press(page, "w")
    page.keyboard.type("half a wor")
    expect(page.locator("#saved")).to_contain_text("1 note not saved yet")
    page.close()
    server.start()
    again = at_desk(people["interviewer"], server, name, 1)
    all_saved(again)
    assert texts(again) == ["acknowledged", "while it was dead"]
    assert [note.text for note in conversation_of(study, name).notes] == ["acknowledged", "while it was dead"]
    expect(again.locator("#note")).to_have_value("half a wor")
    again.close()


def test_a_withdrawal_clears_the_notes_in_the_browser(page: Page, study: Study, name: str) -> None:
    press(page, "n")
    page.context.set_offline(True)
    write(page, "what they take back")
    press(page, "w")
    page.keyboard.type("and what they were about to say")
    expect(page.locator("#saved")).to_contain_text("1 note not saved yet")
    with open_interviews(study) as interviews:
        withdraw(interviews, name)
    page.context.set_offline(False)
    expect(page.locator("#conduct")).to_have_count(0, timeout=15_000)
    assert [one for one in kept(page) if f"/{name}/" in one] == []
