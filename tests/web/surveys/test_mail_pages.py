"""Pages about e-mails: a recipient reads what is stored and opts out; the lead sees counts and no address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from tests.support.answering import asking
from tests.support.desk import browser, post, signed_in
from tests.support.small_survey import NAME

from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.surveys.invitations import invite
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.mailing import MailRequest, plan_mails, write_merge_file
from quaestor.surveys.recipients import add_recipients

ADDRESSES = [f"person{number}@example.org" for number in range(6)]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Starlette]:
    with asking(tmp_path / "study") as served:
        people = tmp_path / "people.csv"
        people.write_text("e-mail\n" + "\n".join(ADDRESSES), "utf-8")
        with open_surveys(open_study(tmp_path / "study")) as surveys:
            add_recipients(surveys, NAME, people, "first", "pro")
        yield served


def tokens(folder: Path) -> list[str]:
    with open_surveys(open_study(folder)) as surveys:
        return [person.token for person in plan_mails(surveys, MailRequest(NAME, again=True)).people]


def test_a_recipient_opts_out_with_a_button_and_not_by_opening_the_page(app: Starlette, tmp_path: Path) -> None:
    token, *others = tokens(tmp_path / "study")
    stranger = browser(app)
    assert "Your e-mail address is stored encrypted" in stranger.get(f"/i/{token}").text
    page = stranger.get(f"/i/{token}/stop")
    assert "No more e-mails about this survey?" in page.text
    assert tokens(tmp_path / "study") == [token, *others]
    done = post(stranger, f"/i/{token}/stop", {})
    assert (done.status_code, "You get no more e-mails" in done.text) == (200, True)
    assert tokens(tmp_path / "study") == others
    assert "You get no more e-mails" in stranger.get(f"/i/{token}/stop").text
    assert "Your e-mail address" not in stranger.get(f"/i/{token}").text
    assert "Sie bekommen keine E-Mails mehr" in stranger.get(f"/i/{token}/stop?language=de").text


def test_only_links_for_e_mails_have_a_page_to_opt_out(app: Starlette, tmp_path: Path) -> None:
    with open_surveys(open_study(tmp_path / "study")) as surveys:
        [link] = invite(surveys, NAME, "second", "pro", count=1)
    stranger = browser(app)
    assert "Your e-mail address" not in stranger.get(f"/i/{link.token}").text
    assert stranger.get(f"/i/{link.token}/stop").status_code == 404
    assert stranger.get("/i/unknown/stop").status_code == 404


def test_the_lead_sees_counts_and_the_next_command_but_no_address(app: Starlette, tmp_path: Path) -> None:
    lead = signed_in(app, tmp_path / "study", Role.LEAD)
    page = lead.get(f"/surveys/{NAME}").text
    assert "6 recipients, 0 invited, 0 reminded, 0 started" in page
    assert f"quaestor survey mail {NAME}" in page
    with open_surveys(open_study(tmp_path / "study")) as surveys:
        write_merge_file(surveys, plan_mails(surveys, MailRequest(NAME)), tmp_path / "mail.csv", "https://example.org")
    pages = [lead.get(f"/surveys/{NAME}").text, lead.get(f"/surveys/{NAME}/invitations").text]
    assert "6 recipients, 6 invited" in pages[0]
    for text in pages:
        assert f"quaestor survey remind {NAME}" in text
        assert "example.org" not in text
