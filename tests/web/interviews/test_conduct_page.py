"""The interviewer's desk without a script: consent first, a conversation by forms alone, acts as JSON, the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.command_line import in_this_process
from tests.support.desk import QUICK, closing_app, csrf_in, invited, join, post, signed_in
from tests.support.desk import browser as window
from tests.support.paths import ROOT
from tests.support.small_interviews import a_study, with_interview, with_participant

from quaestor.base.files import is_private
from quaestor.interviews.conduct.acts import Stamp, tick_item
from quaestor.interviews.conduct.conversation_state import Conversation, read_conversation
from quaestor.interviews.participants.consent import find_consent, put_consent_form_in_force
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.web.app import make_app

DESK, ACTS, SINCE, PROTOCOL = (
    f"/interviews/P1/{one}" for one in ("conduct", "conduct/acts", "conduct/since", "protocol")
)
ODD = '<script>alert(1)</script> שלום \N{PARTY POPPER} & "quotes"'


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = a_study(tmp_path / "study")
    with open_interviews(made) as interviews:
        with_interview(interviews)
    return made


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def desk(app: Starlette, study: Study) -> TestClient:
    return signed_in(app, study.root, Role.INTERVIEWER)


def conversation_of(study: Study) -> Conversation:
    with open_interviews(study) as interviews:
        return read_conversation(interviews, "P1")


def step(opened: TestClient, stop: int, do: str, **fields: str) -> Response:
    sent = {"act": "step", "stop": str(stop), "do": do, "key": f"{stop}-{do}-{len(fields)}"}
    return post(opened, ACTS, {**sent, **fields}, page=f"{DESK}?stop={stop}")


def send(client: TestClient, act: str = "note", key: str = "k1", **more: Any) -> Response:
    body = {"act": act, "key": key, **({"question": "stages", "text": "data first"} if act == "note" else {}), **more}
    return client.post(ACTS, content=json.dumps(body), headers=script(client))


def script(opened: TestClient) -> dict[str, str]:
    origin = str(opened.base_url).rstrip("/")
    csrf = csrf_in(opened.get(DESK).text)
    return {"origin": origin, "x-csrf-token": csrf, "content-type": "application/json"}


def test_before_consent_no_notes_can_be_taken(app: Starlette, desk: TestClient, study: Study) -> None:
    with open_interviews(study) as interviews:
        with_interview(interviews, with_participant(interviews, consent=False))
    page = desk.get("/interviews/P2/conduct").text
    assert "P2 has not agreed yet" in page
    assert "You may skip every question" in page, "the agreement can be read out"
    assert 'id="note"' not in page
    acts = "/interviews/P2/conduct/acts"
    answer = desk.post(acts, content='{"act": "clock", "what": "start", "key": "k"}', headers=script(desk))
    assert answer.status_code == 422
    assert "has not agreed yet" in answer.json()["refused"]
    declined = {"act": "consent", "what": "declined", "how": "spoken", "key": "k", "version": "1"}
    post(desk, acts, declined, page="/interviews/P2/conduct")
    assert "P2 declined" in desk.get("/interviews/P2/conduct").text
    done = post(desk, acts, {**declined, "what": "accepted"}, page="/interviews/P2/conduct")
    assert done.headers["location"] == "/interviews/P2/conduct"
    assert 'id="note"' in desk.get("/interviews/P2/conduct").text


def test_an_interview_can_be_conducted_with_forms_only(desk: TestClient, study: Study) -> None:
    page = desk.get(DESK).text
    assert "Not started" in page
    assert "Thank you for your time." in page
    post(desk, ACTS, {"act": "clock", "what": "start", "section": "welcome", "key": "c1", "stop": "0"}, page=DESK)
    assert step(desk, 0, "next").headers["location"] == f"{DESK}?stop=1"
    assert step(desk, 1, "save", note=ODD).headers["location"] == f"{DESK}?stop=1"
    assert step(desk, 1, "next", note="And at night?", follow_up="yes").headers["location"] == f"{DESK}?stop=2"
    assert step(desk, 2, "next", **{"item.2": "data", "other.2": "who pays"}).headers["location"] == f"{DESK}?stop=3"
    assert step(desk, 3, "skip").headers["location"] == f"{DESK}?stop=4"
    now = conversation_of(study)
    assert [(note.question, note.text, note.follow_up) for note in now.notes] == [
        ("stages", ODD, False),
        ("stages", "And at night?", True),
    ]
    assert [tick.item or tick.other for tick in now.ticked("factors")] == ["data", "who pays"]
    assert [now.state_of(one) for one in ("stages", "factors", "illegal")] == ["asked", "asked", "skipped"]
    assert now.clock.section == "thanks"
    page = desk.get(f"{DESK}?stop=1").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "Ask it after all" in desk.get(f"{DESK}?stop=3").text
    step(desk, 3, "ask")
    assert conversation_of(study).state_of("illegal") == ""
    done = post(desk, ACTS, {"act": "clock", "what": "end", "key": "c9", "stop": "4"}, page=DESK)
    assert done.headers["location"] == PROTOCOL
    page = desk.get(PROTOCOL).text
    assert "&lt;script&gt;alert(1)" in page
    assert "who pays" in page
    assert "not reached" in page
    file = desk.get(f"{PROTOCOL}.md")
    assert file.headers["content-type"].startswith("text/markdown")
    assert "# Protocol of the interview P1" in file.text


def test_a_note_is_amended_by_form_and_a_rejected_note_keeps_its_text(desk: TestClient, study: Study) -> None:
    step(desk, 1, "save", note="data frist")
    key = conversation_of(study).notes[0].key
    page = desk.get(f"{DESK}?stop=1&amend={key}").text
    assert "Edit your note" in page
    assert "data frist</textarea>" in page
    step(desk, 1, "save", note="data first", amends=key)
    assert [note.text for note in conversation_of(study).notes] == ["data first"]
    refused = step(desk, 1, "save", note="x" * 10_001)
    assert refused.status_code == 422
    assert "x" * 10_001 in refused.text
    assert conversation_of(study).notes[0].amended


def test_saving_a_form_keeps_ticks_that_another_interviewer_made_meanwhile(desk: TestClient, study: Study) -> None:
    desk.get(f"{DESK}?stop=2")
    with open_interviews(study) as interviews:
        tick_item(interviews, "P1", Stamp("second"), "factors", "time")
    step(desk, 2, "save", **{"item.2": "data"})
    assert {tick.item: tick.by for tick in conversation_of(study).ticked("factors")} == {
        "time": "second",
        "data": "interviewer",
    }
    step(desk, 2, "save", **{"was.2": "time", "key": "untick"})
    assert [tick.item for tick in conversation_of(study).ticked("factors")] == ["data"]
    with open_interviews(study) as interviews:
        tick_item(interviews, "P1", Stamp("second"), "factors", "data", on=False)
    step(desk, 2, "save", **{"was.2": "data", "item.2": "data", "key": "as it was shown"})
    assert conversation_of(study).ticked("factors") == []


def test_an_act_or_form_sent_twice_is_recorded_once(desk: TestClient, study: Study) -> None:
    first = send(desk).json()["number"]
    assert first > 0
    assert send(desk).json()["number"] == first
    assert send(desk, text="something else").status_code == 422
    for _ in range(2):
        step(desk, 1, "save", note="once", key="form")
    assert [note.text for note in conversation_of(study).notes] == ["data first", "once"]
    assert send(desk, "clock", "k2", what="pause").json()["number"] == 0, "nothing runs that could be paused"


def test_malformed_acts_are_rejected(desk: TestClient, study: Study) -> None:
    for wrong in (
        b"{",
        b"[]",
        b'{"act": "note"}',
        b'{"act": "note", "key": "", "text": "x"}',
        b'{"act": "note", "key": "a", "question": "stages", "text": "x", "when": "soon"}',
    ):
        assert desk.post(ACTS, content=wrong, headers=script(desk)).status_code == 400, wrong
    assert desk.post(ACTS, content=b" " * 200_001, headers=script(desk)).status_code == 413
    for more in (
        {"act": "sing"},
        {"question": "no"},
        {"act": "mark", "question": "stages", "what": "lost"},
        {"act": "mark", "what": "asked"},
        {"act": "tick", "question": "factors"},
        {"text": ""},
        {"act": "clock", "what": "x"},
    ):
        assert send(desk, **{"key": "a", **more}).status_code == 422, more
    assert send(desk, rater="somebody else").status_code == 409
    assert send(desk, opened="another study").status_code == 409
    assert post(desk, ACTS, {"act": "step", "key": "a"}, page=DESK).status_code == 422
    assert conversation_of(study) == Conversation()


def test_only_interviewers_can_read_new_entries_of_others(app: Starlette, desk: TestClient, study: Study) -> None:
    other = window(app)
    join(other, invited(study.root, Role.INTERVIEWER, "second"))
    seen = desk.get(SINCE).json()["head"]
    send(other, key="k7")
    later = desk.get(f"{SINCE}?after={seen}").json()
    assert [(one["by"], one["act"], one["text"]) for one in later["entries"]] == [("second", "note", "data first")]
    assert later["clock"]["status"] == "planned"
    assert desk.get(f"{SINCE}?after={later['head']}").json()["entries"] == []
    assert desk.get(f"{SINCE}?after=x").status_code == 400
    assert send(desk, key="k8", amends="k7", text="mine").status_code == 422, "only its author amends a note"
    for role in (Role.RATER, Role.VIEWER):
        assert signed_in(app, study.root, role).get(SINCE).status_code == 403


def test_consent_is_recorded_for_the_version_that_was_shown(desk: TestClient, study: Study) -> None:
    with open_interviews(study) as interviews:
        with_interview(interviews, with_participant(interviews, consent=False))
    shown = desk.get("/interviews/P2/conduct").text
    assert 'name="version" value="1"' in shown
    agreement = study.root / "instruments" / "agreement.md"
    agreement.write_text(agreement.read_text() + "\n\nWe also keep a picture of you.\n")
    with open_interviews(study) as interviews:
        put_consent_form_in_force(interviews)
    sent = {"act": "consent", "what": "accepted", "how": "spoken", "key": "k", "version": "1"}
    for path, page in (
        ("/interviews/P2/conduct/acts", "/interviews/P2/conduct"),
        ("/participants/P2/acts", "/participants/P2"),
    ):
        refused = post(desk, path, sent, page=page)
        assert (refused.status_code, "please read it again" in refused.text) == (409, True)
    assert "a picture of you" in post(desk, "/interviews/P2/conduct/acts", sent, page="/interviews/P2/conduct").text
    with open_interviews(study) as interviews:
        assert not find_consent(interviews, "P2").what
    post(desk, "/interviews/P2/conduct/acts", {**sent, "version": "2"}, page="/interviews/P2/conduct")
    with open_interviews(study) as interviews:
        assert find_consent(interviews, "P2").version == 2


def test_a_protocol_without_a_clock_is_shown_with_a_notice(desk: TestClient) -> None:
    assert "The interview has not started" in desk.get(PROTOCOL).text
    step(desk, 1, "save", note="noted before anybody pressed start")
    page = desk.get(PROTOCOL).text
    assert "noted before anybody pressed start" in page
    assert "The clock was never started" in page
    assert '<p id="unstarted" class="notice" role="status">' in desk.get(DESK).text


def test_after_a_withdrawal_notes_are_rejected_with_410(desk: TestClient, study: Study) -> None:
    headers = script(desk)
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    body = json.dumps({"act": "note", "key": "late", "question": "stages", "text": "too late"})
    assert desk.post(ACTS, content=body, headers=headers).status_code == 410
    assert desk.get(SINCE).status_code == 410
    assert "P1 withdrew on" in desk.get(DESK).text


def test_the_bundled_guide_fits_on_a_page_with_every_question(tmp_path: Path) -> None:
    guide = (ROOT / "studies" / "dl-framework-interviews" / "instruments" / "guide.md").read_text()
    study = a_study(tmp_path / "bundled", guide)
    with open_interviews(study) as interviews:
        texts = [question.text for question in interviews.guide_of(with_interview(interviews)).questions()]
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        page = signed_in(app, study.root).get(DESK)
    assert len(page.content) < 150_000
    assert page.text.count('<section class="stop"') == len(texts) + 2
    assert "script-src 'self'" in page.headers["content-security-policy"]


def test_the_protocol_written_by_the_command_is_private(study: Study, desk: TestClient, tmp_path: Path) -> None:
    send(desk, "clock", "c", what="start")
    send(desk)
    path = tmp_path / "protocol.md"
    path.touch(0o644)
    assert in_this_process("interview", "protocol", "P1", "--study", study.root, "--out", path).exit_code == 0
    assert "data first" in path.read_text("utf-8")
    assert is_private(path)
    found = json.loads(in_this_process("interview", "protocol", "P1", "--study", study.root, "--json").stdout)
    assert found["sections"][1]["questions"][0]["notes"][0]["text"] == "data first"
    assert "data first" in in_this_process("interview", "protocol", "P1", "--study", study.root).stdout
