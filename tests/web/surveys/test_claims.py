"""Invitations and pay as respondents, the payer and the lead meet them on their pages."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, browser, closing_app, csrf_in, invited, post, signed_in
from tests.support.small_survey import NAME, QUESTIONNAIRE, answered, fielded, send
from tests.support.windows import cookies_after, serving, width_of

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.surveys.invitations import invite, response_rates
from quaestor.surveys.lifecycle import Surveys, close_survey
from quaestor.surveys.payment import claim_token, payment, submit_claim
from quaestor.web.app import make_app

NAMED = QUESTIONNAIRE.replace("least_seconds = 20", "anonymous = false")


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path / "study") as opened:
        yield opened


@pytest.fixture
def app(surveys: Surveys) -> Iterator[Starlette]:
    with closing_app(make_app(surveys.study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def stranger(app: Starlette) -> Iterator[TestClient]:
    with browser(app) as opened:
        yield opened


def claim_path(surveys: Surveys) -> str:
    code, _ = answered(surveys)
    return f"/claim/{NAME}/{claim_token(surveys, code)}"


def claimed(opened: TestClient, path: str, address: str) -> None:
    answer = post(opened, path, {"address": address, "again": address})
    assert answer.status_code == 303, answer.text


# Invitations


def test_an_invitation_starts_an_anonymous_survey_once(surveys: Surveys, stranger: TestClient) -> None:
    [made] = invite(surveys, NAME, "first", "pro", count=1)
    page = stranger.get(f"/i/{made.token}").text
    assert "You are invited" in page
    assert "about 4 minutes" in page
    begun = post(stranger, f"/i/{made.token}", {})
    assert begun.status_code == 303
    assert re.fullmatch(rf"/s/{NAME}/[\w-]{{24}}", begun.headers["location"])
    assert stranger.get(begun.headers["location"]).status_code == 200
    again = stranger.get(f"/i/{made.token}")
    assert again.status_code == 410
    assert "has been used" in again.text
    assert begun.headers["location"] not in again.text
    assert response_rates(surveys, NAME).whole.used == 1


def test_an_invitation_used_in_two_windows_at_once_starts_one_response(surveys: Surveys, stranger: TestClient) -> None:
    [made] = invite(surveys, NAME, "first", "pro", count=1)
    data = {"csrf": csrf_in(stranger.get(f"/i/{made.token}").text)}
    found: list[str] = []

    def follow() -> None:
        answer = stranger.post(f"/i/{made.token}", data=data, headers={"origin": "http://127.0.0.1"})
        found.append(answer.headers.get("location", str(answer.status_code)))

    threads = [threading.Thread(target=follow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([one for one in found if one.startswith("/s/")]) == 1
    assert len(list(surveys.answers.responses(NAME))) == 1


def test_pressing_begin_twice_starts_one_response_and_admits_nobody_else(
    surveys: Surveys, stranger: TestClient
) -> None:
    [made] = invite(surveys, NAME, "first", "pro", count=1)
    held = {
        path: dict(re.findall(r'name="(csrf|key|language)" value="([^"]+)"', stranger.get(path).text))
        for path in (f"/i/{made.token}", f"/s/{NAME}")
    }
    for path, own in held.items():
        begun = [stranger.post(path, data=own, headers={"origin": HERE}).headers["location"] for _ in range(2)]
        assert begun[0] == begun[1]
        assert stranger.get(begun[0]).status_code == 200
    assert len(list(surveys.answers.responses(NAME))) == 2
    for key in ("f" * 32, ""):
        other = {"csrf": held[f"/i/{made.token}"]["csrf"], "key": key}
        turned = stranger.post(f"/i/{made.token}", data=other, headers={"origin": HERE}).headers["location"]
        assert turned == f"/i/{made.token}"
        assert stranger.get(turned).status_code == 410
    for path in surveys.study.root.glob("*.db*"):
        assert not [own for own in held.values() if own["key"].encode() in path.read_bytes()]


def test_pressing_begin_again_after_a_saved_page_starts_a_new_response(surveys: Surveys, stranger: TestClient) -> None:
    own = dict(re.findall(r'name="(key|language)" value="([^"]+)"', stranger.get(f"/s/{NAME}").text))
    first = stranger.post(f"/s/{NAME}", data=own, headers={"origin": HERE}).headers["location"]
    send(surveys, first.rsplit("/", 1)[1], "consent", {"q.consent": ["agree"]})
    second = stranger.post(f"/s/{NAME}", data=own, headers={"origin": HERE}).headers["location"]
    assert second != first
    assert "Before we begin" in stranger.get(second).text


def test_a_named_invitation_leads_back_to_the_response_from_any_browser(tmp_path: Path) -> None:
    with fielded(tmp_path, NAMED) as surveys:
        [made] = invite(surveys, NAME, "first", "pro", count=1)
        with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app, browser(app) as one:
            begun = post(one, f"/i/{made.token}?language=de", {}).headers["location"]
            send(surveys, begun.rsplit("/", 1)[1], "consent", {"q.consent": ["agree"]})
            with browser(app) as other:
                assert ">Continue<" in other.get(f"/i/{made.token}").text
                assert post(other, f"/i/{made.token}", {}).headers["location"] == begun
                assert "You and your models" in other.get(begun).text
        [response] = surveys.answers.responses(NAME)
        assert response.language == "de"


def test_an_invitation_stays_unused_while_the_survey_is_closed(surveys: Surveys, stranger: TestClient) -> None:
    [made] = invite(surveys, NAME, "first", "pro", count=1)
    close_survey(surveys, NAME)
    assert stranger.get(f"/i/{made.token}").status_code == 410
    assert response_rates(surveys, NAME).whole.used == 0


def test_unknown_links_are_answered_politely(surveys: Surveys, stranger: TestClient) -> None:
    path = claim_path(surveys)
    bad = ("/i/nothing", "/i/%00", f"/claim/{NAME}/nothing", f"{path[:-3]}aaa", path.replace(NAME, "other"))
    for link in (*bad, f"/claim/%2e%2e/{path.rsplit('/', 1)[1]}"):
        answer = stranger.get(link)
        assert answer.status_code == 404, link
        assert "Traceback" not in answer.text


# Claims


def test_a_respondent_gives_a_payment_address_once_and_sees_that_it_was_saved(
    surveys: Surveys, stranger: TestClient
) -> None:
    path = claim_path(surveys)
    for fields, why in (
        ({"address": "a@example.org", "again": "b@example.org"}, "The two entries differ"),
        ({"address": "nowhere", "again": "nowhere"}, "is not an e-mail address"),
        ({"address": " ", "again": ""}, "where the card"),
        ({"address": f"{'x' * 300}@example.org", "again": f"{'x' * 300}@example.org"}, "shorten it"),
    ):
        answer = post(stranger, path, fields)
        assert answer.status_code == 422
        assert why in answer.text
    assert payment(surveys, NAME).counts["waiting"] == 0
    claimed(stranger, path, "somebody@example.org")
    taken = stranger.get(path).text
    assert "you do not need to do anything" in taken
    assert "somebody@example.org" not in taken
    assert "<form" not in taken
    assert payment(surveys, NAME).counts["waiting"] == 1


def test_the_payment_form_is_in_the_language_of_the_response(surveys: Surveys, stranger: TestClient) -> None:
    path = f"{claim_path(surveys)}?language=de"
    assert '<html lang="de">' in stranger.get(path).text
    sent = post(stranger, path, {"address": "x@example.org", "again": "x@example.org"})
    assert sent.headers["location"].endswith("?language=de")
    assert '<html lang="de">' in stranger.get(sent.headers["location"]).text
    assert '<html lang="en">' in stranger.get(path.replace("=de", "=xx")).text


def test_a_claim_sent_from_two_windows_at_once_is_recorded_once(surveys: Surveys, stranger: TestClient) -> None:
    path = claim_path(surveys)
    data = {"csrf": csrf_in(stranger.get(path).text), "address": "x@example.org", "again": "x@example.org"}
    found: list[int] = []

    def claim_it() -> None:
        found.append(stranger.post(path, data=data, headers={"origin": "http://127.0.0.1"}).status_code)

    threads = [threading.Thread(target=claim_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [303] * 6
    assert payment(surveys, NAME).counts["waiting"] == 1


def test_the_payer_releases_exports_and_pays_and_the_lead_sees_no_addresses(
    surveys: Surveys, app: Starlette, stranger: TestClient
) -> None:
    payer, lead = (signed_in(app, surveys.study.root, role) for role in (Role.PAYER, Role.LEAD))
    assert "No claims are waiting for payment" in payer.get("/pay").text
    for number in range(4):
        claimed(stranger, claim_path(surveys), f"four-{number}@example.org")
    early = post(payer, f"/pay/{NAME}/acts", {"act": "release", "most": "4"}, page="/me")
    assert early.status_code == 409
    assert "5 at a time" in early.text
    claimed(stranger, claim_path(surveys), "=1+1@example.org")
    claimed(stranger, claim_path(surveys), "FOUR-0@example.org")
    assert "@" not in payer.get("/pay").text
    assert post(payer, f"/pay/{NAME}/acts", {"act": "release", "most": "6"}, page="/me").status_code == 303
    page = payer.get("/pay").text
    assert page.count("@example.org") == 6
    assert page.count(">in 2 claims<") == 2
    file = post(payer, f"/pay/{NAME}/cards.csv", {}, page="/me")
    assert file.headers["content-type"].startswith("text/csv")
    assert "'=1+1@example.org,10,USD" in file.text
    assert len(file.text.splitlines()) == 7
    pressed = post(payer, f"/pay/{NAME}/cards.csv", {}, page="/me")
    assert (pressed.status_code, "have been exported: export them again" in pressed.text) == (409, True)
    assert "Export them again</button>" in pressed.text
    assert "quaestor survey" not in pressed.text
    assert post(payer, f"/pay/{NAME}/cards.csv", {"again": "yes"}, page="/me").text == file.text
    desk = f"/surveys/{NAME}"
    assert "The budget is used up" not in lead.get(desk).text
    file_of_it = surveys.study.root / "instruments" / f"{NAME}.toml"
    written = file_of_it.read_text("utf-8")
    file_of_it.write_text(written.replace("budget = 500", "budget = 60"), "utf-8")
    assert "The budget is used up" in lead.get(desk).text
    file_of_it.write_text(written, "utf-8")
    shown = lead.get("/pay").text
    assert "60 USD of 500 USD" in shown
    assert "@" not in shown
    assert "<form" not in shown
    for path in (f"/pay/{NAME}/acts", f"/pay/{NAME}/cards.csv"):
        assert post(lead, path, {"act": "release"}, page="/me").status_code == 403
    assert post(payer, f"/pay/{NAME}/acts", {"act": "paid", "count": "6"}, page="/me").status_code == 303
    assert "@" not in payer.get("/pay").text
    assert payment(surveys, NAME).counts["paid"] == 6


def test_cards_exported_in_another_window_are_not_marked_as_paid(
    surveys: Surveys, app: Starlette, stranger: TestClient
) -> None:
    payer = signed_in(app, surveys.study.root, Role.PAYER)
    acts, file = f"/pay/{NAME}/acts", f"/pay/{NAME}/cards.csv"
    for _ in range(2):
        for number in range(5):
            claimed(stranger, claim_path(surveys), f"somebody-{number}@example.org")
        assert post(payer, acts, {"act": "release"}, page="/me").status_code == 303
        assert post(payer, file, {}, page="/me").status_code == 200
    refused = post(payer, acts, {"act": "paid", "count": "5"}, page="/me")
    assert (refused.status_code, "10 cards" in refused.text) == (409, True)
    assert post(payer, acts, {"act": "paid"}, page="/me").status_code == 422
    assert payment(surveys, NAME).counts["paid"] == 0
    seen = re.findall(r'name="count" value="(\d+)"', payer.get("/pay").text)
    assert post(payer, acts, {"act": "paid", "count": seen[0]}, page="/me").status_code == 303
    assert payment(surveys, NAME).counts["paid"] == 10


def test_the_payment_form_says_who_could_link_addresses_to_answers(tmp_path: Path) -> None:
    for folder, text, nobody in (("anonymous", QUESTIONNAIRE, True), ("named", NAMED, False)):
        with fielded(tmp_path / folder, text) as surveys:
            path = claim_path(surveys)
            with closing_app(make_app(tmp_path / folder, passwords=Passwords(QUICK))) as app, browser(app) as one:
                page = one.get(path).text
        assert ("Nothing connects the two, even for somebody who has both" in page) is nobody
        assert ("could find out which answers are yours" in page) is not nobody


def test_the_last_page_says_who_could_link_payments_to_answers(tmp_path: Path) -> None:
    for folder, text, nobody in (("anonymous", QUESTIONNAIRE, True), ("named", NAMED, False)):
        with fielded(tmp_path / folder, text) as surveys:
            code, _ = answered(surveys)
            with closing_app(make_app(tmp_path / folder, passwords=Passwords(QUICK))) as app, browser(app) as one:
                page = one.get(f"/s/{NAME}/{code}/end").text
        assert ("nobody can tell from it what you answered, or that it was you" in page) is nobody
        assert ("could find out which answers are yours" in page) is not nobody


def test_the_payer_sees_only_the_payment_pages(surveys: Surveys, app: Starlette) -> None:
    payer = signed_in(app, surveys.study.root, Role.PAYER)
    home = payer.get("/")
    assert (home.status_code, home.headers["location"]) == (303, "/pay")
    places = re.findall(r'<nav aria-label="Study">(.*?)</nav>', payer.get("/pay").text)[0]
    assert re.findall(r">([^<]+)</a>", places) == ["Pay"]
    for path in ("/codebook", "/surveys", f"/surveys/{NAME}", f"/surveys/{NAME}/responses", "/results", "/people"):
        assert payer.get(path).status_code == 403, path


def test_a_study_without_surveys_has_no_payments(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[study]\nname = "empty"\n')
    with closing_app(make_app(tmp_path, passwords=Passwords(QUICK))) as app:
        assert "No payments due" in signed_in(app, tmp_path, Role.LEAD).get("/pay").text
    assert not (tmp_path / "answers.db").exists()
    assert not (tmp_path / "claims.key").exists()


# In a browser


@pytest.mark.browser
def test_no_request_reveals_a_private_page_as_its_referrer(browser: Browser, tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        [made] = invite(surveys, NAME, "first", "pro", count=1)
        code, _ = answered(surveys)
    with serving(tmp_path / "study") as address:
        page = browser.new_context().new_page()
        asked: list[tuple[str, str]] = []
        page.on("request", lambda one: asked.append((one.url, one.all_headers().get("referer", ""))))
        page.goto(f"{address}i/{made.token}")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url(f"**/s/{NAME}/*")
        answers = page.url
        page.get_by_label("I agree").first.check()
        page.get_by_role("button", name="Next").click()
        page.get_by_role("heading", name="You and your models").wait_for()
        page.goto(f"{address}s/{NAME}/{code}/end")
        page.get_by_role("link", name="Continue to payment").click()
        page.get_by_label("E-mail address").fill("somebody@example.org")
        page.get_by_label("Repeat it").fill("somebody@example.org")
        page.get_by_label("Repeat it").press("Enter")
        page.get_by_role("heading", name="Thank you").wait_for()
        page.context.close()
    assert next(referrer for url, referrer in asked if url == answers) == "", "from the invitation to the answers"
    assert [url for url, _ in asked if "/claim/" in url]
    assert {referrer for _, referrer in asked} <= {"", address}


@pytest.mark.browser
def test_claim_and_invitation_pages_are_accessible(browser: Browser, tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        open_one, used = invite(surveys, NAME, "first", "pro", count=2)
        first, second = claim_path(surveys), claim_path(surveys)
        for number in range(5):
            submit_claim(surveys, NAME, claim_token(surveys, answered(surveys)[0]), f"somebody-{number}@example.org")
    folder = tmp_path / "study"
    with serving(folder) as address:
        states = {
            role: cookies_after(browser, f"{address}join/{invited(folder, role)}") for role in (Role.PAYER, Role.LEAD)
        }
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(f"{address}i/{used.token}")
        page.get_by_role("button", name="Begin").press("Enter")
        page.wait_for_url(f"**/s/{NAME}/*")
        page.goto(f"{address}{first[1:]}")
        page.get_by_label("E-mail address").fill("somebody@example.org")
        page.get_by_label("Repeat it").fill("somebody@example.org")
        page.get_by_label("Repeat it").press("Enter")
        page.get_by_role("heading", name="Thank you").wait_for()
        page.context.close()
        payer = browser.new_context(storage_state=states[Role.PAYER]).new_page()
        payer.goto(f"{address}pay")
        payer.get_by_label("How many of the 6").fill("5")
        payer.get_by_role("button", name="Release").press("Enter")
        payer.get_by_text("somebody", exact=False).first.wait_for()
        payer.context.close()
        by_link = [f"i/{open_one.token}", second[1:]]
        for scheme, more_links in (("light", [f"i/{used.token}"]), ("dark", [first[1:], "i/none"])):
            for role, paths in ((None, [*by_link, *more_links]), (Role.PAYER, ["pay"]), (Role.LEAD, ["pay"])):
                look = browser.new_context(
                    storage_state=states[role] if role else None,
                    color_scheme=scheme,  # type: ignore[arg-type]
                    viewport={"width": 320, "height": 700},
                ).new_page()
                for path in paths:
                    look.goto(f"{address}{path}")
                    assert Axe().run(look).response["violations"] == [], (scheme, path)
                    assert width_of(look) <= 320, (scheme, path)
                look.context.close()
