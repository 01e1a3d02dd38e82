"""The page of a participant's link: accept, decline, withdraw, and nothing for guessed links."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, SetClock, browser, closing_app
from tests.support.small_interviews import a_study, with_participant, with_transcript

from quaestor.interviews.participants.consent import find_consent, make_link, put_consent_form_in_force
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.people.credentials import Passwords
from quaestor.web.app import make_app
from quaestor.web.interviews.consent import MOST_TRIES

OURS = {"origin": HERE}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Interviews]:
    with open_interviews(a_study(tmp_path)) as opened:
        with_participant(opened, consent=False)
        yield opened


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def app(room: Interviews, clock: SetClock) -> Iterator[Starlette]:
    with closing_app(make_app(room.study.root, clock=clock, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def path(room: Interviews) -> str:
    return f"/c/{make_link(room, 'P1').code}"


def send_consent(opened: TestClient, path: str, what: str, version: str = "1") -> int:
    return opened.post(path, data={"what": what, "version": version}, headers=OURS).status_code


def test_a_participant_can_accept_decline_and_accept_again(app: Starlette, room: Interviews, path: str) -> None:
    opened = browser(app)
    page = opened.get(path).text
    assert "<h2>Before we talk</h2>" in page
    assert "<strong>Nothing is published with your name.</strong>" in page
    for what, words in (("accepted", "You agreed on"), ("declined", "You declined on"), ("accepted", "You agreed on")):
        assert send_consent(opened, path, what) == 303
        assert words in opened.get(path).text
        assert (find_consent(room, "P1").what, find_consent(room, "P1").how) == (what, "by link")
    assert "I do not agree" not in opened.get(path).text
    assert "I do not agree" in opened.get(f"{path}?again=1").text


def test_an_outdated_consent_version_cannot_be_accepted(app: Starlette, room: Interviews, path: str) -> None:
    opened = browser(app)
    opened.get(path)
    (room.study.root / "instruments" / "agreement.md").write_text("We also film you.", "utf-8")
    put_consent_form_in_force(room)
    assert send_consent(opened, path, "accepted") == 409
    assert not find_consent(room, "P1").accepted
    assert "We also film you." in opened.get(path).text
    assert send_consent(opened, path, "accepted", "2") == 303
    for version in ("", "one", "-1", "9" * 30):
        assert send_consent(opened, path, "accepted", version) == 409
    assert send_consent(opened, path, "perhaps", "2") == 404


def test_a_withdrawal_needs_a_confirmation_and_erases_everything(app: Starlette, room: Interviews) -> None:
    with_transcript(room)
    path = f"/c/{make_link(room, 'P2').code}"
    opened = browser(app)
    assert "Erase all your data?" in opened.get(f"{path}/withdraw").text
    assert [interview.id for interview in room.interviews()] == ["P2"]
    assert "You have withdrawn" in opened.post(f"{path}/withdraw", headers=OURS).text
    assert room.interviews() == []
    assert room.file.list_erased().keys() == {"P2"}
    for gone in (path, f"{path}/withdraw"):
        assert opened.get(gone).status_code == 404
        assert opened.post(gone, headers=OURS).status_code == 404


def test_declining_after_the_interview_explains_what_is_kept_and_how_to_erase_it(
    app: Starlette, room: Interviews, path: str
) -> None:
    opened = browser(app)
    assert send_consent(opened, path, "declined") == 303
    assert "There will be no interview" in opened.get(path).text
    with_transcript(room)
    path = f"/c/{make_link(room, 'P2').code}"
    asking = opened.get(f"{path}?again=1").text
    assert "kept unless you withdraw" in asking
    assert send_consent(opened, path, "declined") == 303
    page = opened.get(path).text
    assert "There will be no interview" not in page
    assert "left out of future results" in page
    assert f'href="{path}/withdraw">' in page.partition("<footer")[0]


def test_a_form_from_another_site_is_rejected(app: Starlette, room: Interviews, path: str) -> None:
    opened = browser(app)
    for headers in ({}, {"origin": "https://elsewhere.example"}, {"sec-fetch-site": "cross-site", **OURS}):
        for at in (path, f"{path}/withdraw"):
            assert opened.post(at, data={"what": "accepted", "version": "1"}, headers=headers).status_code == 403
    assert not find_consent(room, "P1").what


def test_guessing_links_is_slowed_down_but_a_valid_link_still_works(app: Starlette, clock: SetClock, path: str) -> None:
    stranger = browser(app, client="203.0.113.7")
    assert {stranger.get(f"/c/{number}").status_code for number in range(MOST_TRIES)} == {404}
    slowed = stranger.get("/c/again")
    assert (slowed.status_code, int(slowed.headers["retry-after"]) > 0) == (429, True)
    assert stranger.get(path).status_code == 200
    assert browser(app, client="198.51.100.9").get("/c/again").status_code == 404
    clock.pass_by(minutes=2)
    assert stranger.get("/c/again").status_code == 404


def test_before_any_participant_exists_a_link_is_not_found_and_creates_no_file(tmp_path: Path) -> None:
    a_study(tmp_path)
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        assert browser(app).get("/c/abc").status_code == 404
        assert not (tmp_path / "interviews.db").exists()


def test_the_consent_page_sets_no_cookie_and_is_not_cached(app: Starlette, path: str) -> None:
    answer = browser(app).get(path)
    assert "set-cookie" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
    assert len(answer.content) < 20_000
