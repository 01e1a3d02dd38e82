"""A withdrawal page says that nothing is left only once that is true."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.answering import asking, begun, send, sent_again
from tests.support.desk import HERE, QUICK, browser, closing_app, signed_in
from tests.support.reading_elsewhere import files_with, read_elsewhere
from tests.support.small_interviews import a_study, with_transcript
from tests.support.small_survey import FORMS

from quaestor.interviews.participants.consent import make_link
from quaestor.interviews.repository import open_interviews
from quaestor.people.credentials import Passwords
from quaestor.web.app import make_app

pytestmark = pytest.mark.usefixtures("little_patience")

WORDS = "zebra-words-of-mine"
NOTHING_LEFT, REMAINS = "Nothing you sent is left here", "a copy remains in that file"
STILL_FOUND = "Erased content may still be in the bytes of"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "study"


@pytest.fixture
def app(folder: Path) -> Iterator[Starlette]:
    with asking(folder) as opened:
        yield opened


def answered(opened: TestClient) -> str:
    """The link of somebody who has sent words of their own."""
    link = begun(opened)
    send(opened, link, FORMS["consent"])
    send(opened, link, {**FORMS["you"], "q.role.other.text": [WORDS]})
    return link


def withdraw(opened: TestClient, link: str) -> str:
    return sent_again(opened, f"{link}/withdraw", {}, {}).text


def test_a_withdrawal_page_says_that_nothing_is_left_only_if_that_is_true(app: Starlette, folder: Path) -> None:
    with closing(browser(app)) as opened:
        link = answered(opened)
        assert files_with(folder, WORDS)
        assert NOTHING_LEFT in withdraw(opened, link)
    assert files_with(folder, WORDS) == []


def test_a_withdrawal_page_says_that_a_copy_remains_while_another_program_reads_the_file(
    app: Starlette, folder: Path
) -> None:
    with closing(browser(app)) as opened:
        link, other = answered(opened), begun(opened)
        with read_elsewhere(folder / "answers.db"):
            page = withdraw(opened, link)
            assert files_with(folder, WORDS), "else there is nothing to be told"
            assert NOTHING_LEFT not in page
            assert REMAINS in page
            lead = signed_in(app, folder)
            assert f"{STILL_FOUND} answers.db" in lead.get("/surveys/tools/responses").text
            assert f"{STILL_FOUND} answers.db" in lead.get("/").text
        send(opened, other, FORMS["consent"])  # whatever is written next finishes it
        assert files_with(folder, WORDS) == []
        assert STILL_FOUND not in lead.get("/surveys/tools/responses").text


def test_starting_the_desk_finishes_pending_erasures(folder: Path) -> None:
    with asking(folder) as app, closing(browser(app)) as opened:
        link = answered(opened)
        with read_elsewhere(folder / "answers.db"):
            withdraw(opened, link)
    with TestClient(make_app(folder, passwords=Passwords(QUICK)), base_url=HERE):
        assert files_with(folder, WORDS) == []


def test_a_participant_is_informed_of_a_remaining_copy_while_another_program_reads_the_files(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        with_transcript(room)
        code = make_link(room, "P1").code
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        with read_elsewhere(tmp_path / "identities.db"):
            page = browser(app).post(f"/c/{code}/withdraw", headers={"origin": HERE}).text
            assert "transcripts are erased" not in page
            assert "A copy remains" in page
            lead = signed_in(app, tmp_path)
            listed = lead.get("/interviews").text
            assert f"{STILL_FOUND} identities.db" in listed
            assert "with nothing left but the pseudonym" not in listed
        with open_interviews(a_study(tmp_path)):
            pass  # to open the files finishes it
        assert "with nothing left but the pseudonym" in lead.get("/interviews").text


def test_damaged_answers_are_not_reported_as_a_wrong_link(folder: Path) -> None:
    with asking(folder) as app, closing(browser(app)) as opened:
        link = answered(opened)
    for path in folder.glob("answers.db*"):
        path.unlink()
    (folder / "answers.db").write_bytes(b"not a database " * 1000)
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app, closing(browser(app)) as opened:
        for path in ("/s/tools", link, f"{link}/end", f"{link}/withdraw", "/i/unknown", "/claim/tools/unknown"):
            answer = opened.get(path)
            assert (path, answer.status_code) == (path, 503)
            assert "answers.db" not in answer.text, "a stranger cannot do anything about it"
        for path in ("/s/tools", link, f"{link}/withdraw"):
            assert sent_again(opened, path, {"key": "k", "page": "you"}, {}).status_code == 503


def test_a_damaged_journal_is_not_reported_as_a_wrong_link(folder: Path) -> None:
    with asking(folder) as app, closing(browser(app)) as opened:
        link = answered(opened)
    for path in folder.glob("study.db*"):
        path.unlink()
    (folder / "study.db").write_bytes(b"not a database " * 1000)
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app, closing(browser(app)) as opened:
        for path in ("/s/tools", link, f"{link}/end", f"{link}/withdraw"):
            answer = opened.get(path)
            assert (path, answer.status_code) == (path, 503)
            assert "study.db" not in answer.text


def test_interviews_without_their_key_are_not_reported_as_a_wrong_link(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        with_transcript(room)
        code = make_link(room, "P1").code
    key = (tmp_path / "interviews.key").rename(tmp_path / "elsewhere")
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        for path in (f"/c/{code}", f"/c/{code}/withdraw"):
            answer = browser(app).get(path)
            assert (answer.status_code, "interviews" in answer.text) == (503, False)
        key.rename(tmp_path / "interviews.key")
        (tmp_path / "interviews.db").write_bytes(b"not a database " * 1000)
        assert browser(app).get(f"/c/{code}").status_code == 503
