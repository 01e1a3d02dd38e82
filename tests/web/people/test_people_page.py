"""The people page: links that are shown once, changed roles, revoked links, removed people, and always a lead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from httpx2 import Response
from playwright.sync_api import Browser, StorageState, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, SetClock, closing_app, csrf_in, invited, join, post
from tests.support.desk import browser as visitor
from tests.support.small_study import STUDY, small_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.base.errors import InputError, StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.directory import Directory
from quaestor.people.membership import PEOPLE_FILE, change_role, remove_person
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    return open_study(tmp_path)


@pytest.fixture
def app(study: Study, clock: SetClock) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, clock, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def lead(app: Starlette, study: Study, clock: SetClock) -> TestClient:
    return joined(app, study, clock, Role.LEAD, "lead")


def joined(app: Starlette, study: Study, clock: SetClock, role: Role, name: str) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, role, name, clock=clock))
    return opened


def act(opened: TestClient, **fields: str) -> Response:
    return post(opened, "/people/acts", fields, "/people")


def link_in(page: str) -> str:
    found = re.search(r'id="link" value="([^"]+)"', page)
    assert found, page
    return unescape(found[1])


def test_a_rater_named_in_a_round_is_invited_with_a_link_that_is_shown_once(lead: TestClient, app: Starlette) -> None:
    page = lead.get("/people").text
    assert page.index("Named in a round") < page.index("rater-2") < page.index("Joined")
    told = act(lead, act="invite", name="rater-2", role="rater")
    assert told.status_code == 200
    link = link_in(told.text)
    assert link.startswith("http://127.0.0.1/join/")
    assert told.headers["cache-control"] == "no-store"
    assert link.rpartition("/")[2] not in lead.get("/people").text
    came = visitor(app)
    join(came, link.rpartition("/")[2])
    assert came.get("/").status_code == 200
    page = lead.get("/people").text
    assert page.index("Joined") < page.index("<h3>rater-2")


def test_an_invitation_link_uses_the_address_of_the_leads_browser(lead: TestClient) -> None:
    csrf = csrf_in(lead.get("/people").text)
    fields = {"csrf": csrf, "act": "invite", "name": "reader", "role": "viewer"}
    answer = lead.post("/people/acts", data=fields, headers={"origin": "https://127.0.0.1"})
    assert link_in(answer.text).startswith("https://127.0.0.1/join/")
    forged = {"origin": "https://elsewhere.example", "sec-fetch-site": "same-origin"}
    answer = lead.post("/people/acts", data=fields, headers=forged)
    assert link_in(answer.text).startswith("http://127.0.0.1/join/")
    assert "elsewhere.example" not in answer.text


def test_a_rater_invited_before_a_round_names_them_joins_and_waits(lead: TestClient, app: Starlette) -> None:
    answer = act(lead, act="invite", name="rater-9", role="rater")
    assert "No round names rater-9 as rater yet" in answer.text
    rater = visitor(app)
    join(rater, link_in(answer.text).rpartition("/")[2])
    assert "in no round yet" in lead.get("/people").text
    assert "No tasks" in rater.get("/").text
    assert rater.get("/mine").status_code == 200
    assert rater.get("/rounds").status_code == 403


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "tie-breaker", "role": "rater"}, "has another role in this study"),
        ({"name": "somebody", "role": "lead"}, "the lead is not invited"),
        ({"name": "rater-1", "role": "viewer"}, "has another role in this study"),
        ({"name": "somebody", "role": "king"}, "there is no role"),
        ({"name": "", "role": "viewer"}, "cannot be the name of a person"),
        ({"name": "somebody", "role": "viewer", "days": "0"}, "a number from 1 to 365"),
        ({"name": "somebody", "role": "viewer", "days": "x"}, "a number from 1 to 365"),
    ],
)
def test_an_invalid_invitation_is_rejected_and_the_form_keeps_its_values(
    lead: TestClient, fields: dict[str, str], words: str
) -> None:
    answer = act(lead, act="invite", **fields)
    assert answer.status_code in (409, 422)
    assert words in unescape(answer.text)
    assert f'name="name" value="{fields["name"]}"' in answer.text
    assert 'id="link"' not in answer.text


def test_an_invitation_link_can_be_revoked(lead: TestClient, app: Starlette) -> None:
    link = link_in(act(lead, act="invite", name="journal", role="reviewer", days="30").text)
    assert "2026-03-31" in lead.get("/people").text
    assert act(lead, act="revoke", name="journal").status_code == 303
    assert visitor(app).get(link).status_code == 404
    assert act(lead, act="revoke", name="journal").status_code == 409


def test_a_removed_person_is_signed_out_and_a_lead_cannot_remove_themselves(
    lead: TestClient, app: Starlette, study: Study, clock: SetClock
) -> None:
    rater = joined(app, study, clock, Role.RATER, "rater-1")
    assert rater.get("/").status_code == 200
    assert act(lead, act="remove", name="rater-1").status_code == 303
    assert rater.get("/").status_code == 303
    refused = act(lead, act="remove", name="lead")
    assert refused.status_code == 409
    assert "you cannot remove yourself here" in refused.text
    assert lead.get("/people").status_code == 200
    assert act(lead, act="dance", name="lead").status_code == 422


def test_a_changed_role_applies_to_the_next_page(
    lead: TestClient, app: Starlette, study: Study, clock: SetClock
) -> None:
    study.file.write_text(STUDY.replace('tie_breaker = "tie-breaker"', 'tie_breaker = "both"').replace(
        'raters = ["rater-1", "rater-2"]\nthreshold', 'raters = ["rater-1", "both"]\nthreshold'), "utf-8")  # fmt: skip
    both = joined(app, study, clock, Role.RATER, "both")
    page = lead.get("/people").text
    assert "<option>tie-breaker</option></select></p><button>Change" in page
    assert "You rate items" in both.get("/me").text
    assert act(lead, act="role", name="both", role="tie-breaker").status_code == 303
    assert "without knowing who gave which answer" in both.get("/me").text
    for role, words in (
        ("viewer", "has another role in this study"),
        ("lead", "set in study.toml"),
        ("reviewer", "no account"),
    ):
        answer = act(lead, act="role", name="both", role=role)
        assert answer.status_code == 422
        assert words in answer.text


def test_the_only_lead_can_be_neither_removed_nor_given_another_role(study: Study, clock: SetClock) -> None:
    with Directory(study.root / PEOPLE_FILE) as directory:
        token, _ = directory.invite("lead", Role.LEAD, clock())
        directory.accept_invitation(token, "hash", clock())
        with pytest.raises(StateError, match="is the only lead"):
            directory.change_role("lead", Role.VIEWER)
        assert directory.read_last_seen() == {"lead": clock()}
        token, _ = directory.invite("other", Role.LEAD, clock())
        directory.accept_invitation(token, "hash", clock())
        assert directory.change_role("other", Role.VIEWER)
        assert not directory.change_role("nobody", Role.VIEWER)
    with pytest.raises(StateError, match="nobody is called"):
        change_role(study, "rater-1", Role.RATER)
    with pytest.raises(InputError, match="has another role in this study"):
        change_role(study, "rater-1", Role.VIEWER)
    remove_person(study, "other", actor="lead")


def test_the_page_says_what_removing_a_person_keeps_and_erases(tmp_path: Path) -> None:
    study = working_study(tmp_path / "study")
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        for role, name in ((Role.RATER, "rater-1"), (Role.LEAD, "lead")):
            opened = visitor(app)
            join(opened, invited(study.root, role, name))
        page = " ".join(opened.get("/people").text.split())
    assert "1 item rated" in page
    assert "Their ratings are kept under their name." in page
    assert "3 items of pilot would be left unrated" in page


def working_study(folder: Path) -> Study:
    study = small_study(folder)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        rate(coding, "pilot", "rater-1", coding.state.rounds["pilot"].plan.items[0], {"relevance": "keep"})
    return study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return working_study(tmp_path_factory.mktemp("people") / "study").root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, folder: Path) -> StorageState:
    session_after(f"{address}join/{invited(folder, Role.RATER)}")
    invited(folder, Role.REVIEWER)
    return session_after(f"{address}join/{invited(folder, Role.LEAD)}")


@pytest.mark.browser
def test_the_people_page_is_accessible_and_fits_its_width(browser: Browser, address: str, state: StorageState) -> None:
    context = browser.new_context(storage_state=state)
    page = context.new_page()
    complaints = complaints_of(page, address)
    page.goto(f"{address}people")
    page.get_by_role("button", name="A new link for journal").press("Enter")
    expect(page.get_by_label("Copy it now")).to_have_value(re.compile(r"^http://127\.0\.0\.1:\d+/join/[\w-]{43}$"))
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert_for_everyone(page)
    assert complaints == []
    context.close()
