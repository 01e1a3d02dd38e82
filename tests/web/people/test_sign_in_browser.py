"""Sign-in pages in a real browser: readable at every width and in both themes, usable by keyboard, without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState
from tests.support.desk import CHOSEN, invited
from tests.support.small_study import small_study
from tests.support.windows import assert_for_everyone, chromium, complaints_of, cookies_after, serving

from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import open_by_name
from quaestor.people.roles import Role
from quaestor.study.folder import open_study

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium("--host-resolver-rules=MAP desk.test 127.0.0.1") as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small_study(tmp_path_factory.mktemp("sign-in") / "study").root
    import_codebook(open_study(folder))
    open_by_name(open_study(folder), "pilot", None)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder, "--allow-host", "desk.test") as base:
        yield base


@pytest.fixture(scope="module")
def rater(browser: Browser, address: str, folder: Path) -> StorageState:
    return cookies_after(browser, f"{address}join/{invited(folder, Role.RATER)}")


@pytest.mark.parametrize("name", ["sign-in", "wrong", "join", "reviewer", "ended", "me", "forbidden", "rounds"])
def test_sign_in_pages_are_accessible_fit_their_width_and_load_nothing_external(
    browser: Browser, address: str, folder: Path, rater: StorageState, name: str
) -> None:
    inside = {"me": "me", "forbidden": "steps/1/kept", "rounds": ""}
    outside = {"sign-in": "sign-in", "wrong": "sign-in", "ended": "join/unknown"}
    links = {"join": Role.TIE_BREAKER, "reviewer": Role.REVIEWER}
    path = {**inside, **outside}.get(name) if name not in links else f"join/{invited(folder, links[name])}"
    context = browser.new_context(
        storage_state=rater if name in inside else None,
    )
    page = context.new_page()
    complaints = complaints_of(page, address)
    page.goto(f"{address}{path}")
    if name == "wrong":
        page.get_by_label("Name").fill("nobody")
        page.get_by_label("Password").fill("not the password")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("alert").wait_for()
    assert_for_everyone(page)
    assert [complaint for complaint in complaints if "the server responded with a status of 4" not in complaint] == []
    context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_joining_signing_out_and_signing_in_work_by_keyboard(
    browser: Browser, address: str, folder: Path, scripts: bool
) -> None:
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{address}join/{invited(folder, Role.TIE_BREAKER)}")
    page.get_by_label("Choose a password").focus()
    page.keyboard.type(CHOSEN)
    page.keyboard.press("Tab")
    page.keyboard.type(CHOSEN)
    page.keyboard.press("Enter")
    page.wait_for_url(address)
    page.goto(f"{address}me")
    page.get_by_role("button", name="Sign out everywhere").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}sign-in")
    page.goto(f"{address}me")
    assert page.url == f"{address}sign-in?next=%2Fme"
    page.get_by_label("Name").focus()
    page.keyboard.type("tie-breaker")
    page.keyboard.press("Tab")
    page.keyboard.type(CHOSEN)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}me")
    context.close()


def test_a_form_is_accepted_by_its_origin_header_alone(browser: Browser, address: str, folder: Path) -> None:
    """Over plain HTTP under a host name, browsers send only the Origin header with a form."""
    base = address.replace("127.0.0.1", "desk.test")
    state = cookies_after(browser, f"{base}join/{invited(folder, Role.VIEWER)}")
    assert state["cookies"][0]["domain"] == "desk.test"


def test_a_page_of_another_site_cannot_sign_a_person_out(
    browser: Browser, address: str, rater: StorageState, tmp_path: Path
) -> None:
    context = browser.new_context(storage_state=rater)
    page = context.new_page()
    trap = tmp_path / "trap.html"
    trap.write_text(f'<form method="post" action="{address}sign-out-everywhere"><button>Win a prize</button></form>')
    page.goto(trap.as_uri())
    page.get_by_role("button").click()
    page.wait_for_url(address)  # the form is sent without the cookie, so the rater stays signed in
    page.goto(f"{address}me")
    assert page.url == f"{address}me"
    context.close()


def test_a_desk_behind_a_path_prefix_works(browser: Browser, folder: Path) -> None:
    with serving(folder, "--root-path", "/desk", path="/desk/") as base:
        state = cookies_after(browser, f"{base}join/{invited(folder, Role.REVIEWER)}")
        assert state["cookies"][0]["path"] == "/desk"
        context = browser.new_context(storage_state=state)
        page = context.new_page()
        complaints = complaints_of(page, base)
        page.goto(base)
        page.get_by_role("link", name="reviewer").click()
        page.wait_for_url(f"{base}me")
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url(f"{base}sign-in")
        assert complaints == []
        context.close()
