"""Each rating is recorded exactly once under its rater, whatever happens to connection, server, tab or browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.support.desk import CHOSEN, invited
from tests.support.small_study import small_study
from tests.support.windows import Server, session_after

from quaestor.coding.rating_files import export_ratings
from quaestor.coding.round_acts import close_by_name, list_rater_items, open_by_name
from quaestor.coding.session import open_coding
from quaestor.people.roles import Role
from quaestor.study.folder import Study

pytestmark = pytest.mark.browser
SAID = {"1": "keep", "2": "exclude: crash", "3": "exclude: installation", "0": "cannot judge"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    found = small_study(tmp_path / "study")
    open_by_name(found, "pilot", None)
    return found


@pytest.fixture
def server(study: Study) -> Iterator[Server]:
    found = Server(study.root)
    yield found
    found.stop()


def seated(browser: Browser, server: Server, study: Study, rater: str) -> BrowserContext:
    """A browser of their own for a rater."""
    link = f"{server.address}join/{invited(study.root, Role.RATER, rater)}"
    return browser.new_context(storage_state=session_after(link))


def at_desk(context: BrowserContext, server: Server) -> Page:
    """The rating page, once the sheets that come next are there."""
    page = context.new_page()
    with page.expect_response("**/ahead*"):
        page.goto(f"{server.address}rounds/pilot/rate")
    return page


def rate_next(page: Page, key: str) -> str:
    """Rate the item shown by keyboard; which one it was."""
    item = page.locator("form.sheet").get_attribute("data-item") or ""
    page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator(f"form.sheet:not([data-item='{item}'])")).to_be_visible()
    return item


def on_record(study: Study, rater: str) -> dict[str, list[str]]:
    """By item, everything that a rater said, superseded or not, as the export of the closed round has it."""
    found: dict[str, list[str]] = {}
    with open_coding(study) as coding:
        for row in export_ratings(coding, "pilot", rater, superseded=True):
            if row["rater"] == rater:
                found.setdefault(row["item"], []).append(row["relevance"])
    return found


def all_saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("All saved", timeout=30_000)


def kept(page: Page) -> list[Any]:
    """What the browser still keeps."""
    names = "Object.keys(localStorage).filter((name) => name.startsWith('quaestor/'))"
    return list(page.evaluate(f"{names}.map((name) => JSON.parse(localStorage.getItem(name)))"))


def test_killing_the_server_while_two_people_rate_loses_no_rating(
    browser: Browser, server: Server, study: Study
) -> None:
    raters = {name: seated(browser, server, study, name) for name in ("rater-1", "rater-2")}
    pages = {name: at_desk(context, server) for name, context in raters.items()}
    said: dict[str, dict[str, list[str]]] = {"rater-1": {}, "rater-2": {}}
    for turn, key in enumerate("123"):
        if turn == 1:
            for page in pages.values():
                all_saved(page)
            server.kill()
        for name, page in pages.items():
            said[name][rate_next(page, key)] = [SAID[key]]
    for page in pages.values():
        expect(page.locator("#saved")).to_contain_text("2 not yet saved")
        assert len(kept(page)) == 2
    server.start()
    for name, page in pages.items():
        all_saved(page)
        assert kept(page) == []
        assert on_record(study, name) == said[name]
    for context in raters.values():
        context.close()


def test_queue_journal_and_export_agree_after_a_connection_loss(browser: Browser, server: Server, study: Study) -> None:
    context = seated(browser, server, study, "rater-1")
    page = at_desk(context, server)
    said: dict[str, list[str]] = {}
    items = [rater_item["item"] for rater_item in list_rater_items(study, "pilot", "rater-1", left_only=True)]
    for number, item in enumerate(items[:-1]):
        if number == 1:
            all_saved(page)
            context.set_offline(True)
        key = "123"[number % 3]
        assert rate_next(page, key) == item
        said[item] = [SAID[key]]
    waiting = {one["item"]: [one["answers"]["relevance"]] for one in kept(page)}
    assert waiting == {one: said[one] for one in items[1:-1]}
    context.set_offline(False)
    all_saved(page)
    assert kept(page) == []
    assert on_record(study, "rater-1") == said
    close_by_name(study, "pilot", None, "one item and a rater are missing")
    with open_coding(study) as coding:
        exported = {row["item"]: [row["relevance"]] for row in export_ratings(coding, "pilot", coding.lead)}
    assert exported == said
    context.close()


def test_two_tabs_of_a_rater_share_unsent_ratings_without_duplicates(
    browser: Browser, server: Server, study: Study
) -> None:
    context = seated(browser, server, study, "rater-1")
    one, other = at_desk(context, server), at_desk(context, server)
    context.set_offline(True)
    first = rate_next(one, "1")
    assert rate_next(other, "2") == first, "both tabs were opened at the same item"
    second = rate_next(one, "3")
    assert len(kept(other)) == 3
    one.close()  # with two ratings that only this tab has seen
    context.set_offline(False)
    all_saved(other)
    assert on_record(study, "rater-1") == {first: ["keep", "exclude: crash"], second: ["exclude: installation"]}
    context.close()


def test_unsent_ratings_are_not_sent_under_another_raters_name(browser: Browser, server: Server, study: Study) -> None:
    context = seated(browser, server, study, "rater-1")
    page = at_desk(context, server)
    context.set_offline(True)
    item = rate_next(page, "2")
    context.clear_cookies()  # before there is a line again: nothing is sent as rater-1 meanwhile
    server.kill()
    context.set_offline(False)
    server.start()
    other = context.new_page()
    other.goto(f"{server.address}join/{invited(study.root, Role.RATER, 'rater-2')}")
    other.get_by_label("Choose a password").fill(CHOSEN)
    other.get_by_label("Repeat password").fill(CHOSEN)
    other.get_by_role("button").click()
    expect(page.locator("#saved")).to_contain_text("sign in as rater-1", timeout=30_000)
    assert on_record(study, "rater-2") == {}
    assert len(kept(page)) == 1
    context.clear_cookies()
    other.goto(f"{server.address}sign-in")
    other.get_by_label("Name").fill("rater-1")
    other.get_by_label("Password").fill(CHOSEN)
    other.get_by_role("button", name="Sign in").click()
    all_saved(page)
    assert on_record(study, "rater-1") == {item: ["exclude: crash"]}
    context.close()


def test_the_last_rating_can_be_corrected_offline(browser: Browser, server: Server, study: Study) -> None:
    context = seated(browser, server, study, "rater-1")
    page = at_desk(context, server)
    context.set_offline(True)
    item = rate_next(page, "1")
    page.keyboard.press("z")
    expect(page.locator("form.sheet")).to_have_attribute("data-item", item)
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)
    assert rate_next(page, "2") == item
    page.keyboard.press("s")
    skipped = page.locator("form.sheet").get_attribute("data-item")
    assert skipped != item
    context.set_offline(False)
    all_saved(page)
    assert on_record(study, "rater-1") == {item: ["keep", "exclude: crash"]}
    context.close()


def test_a_temporary_failure_is_retried_and_a_rejected_rating_can_be_corrected(
    browser: Browser, server: Server, study: Study
) -> None:
    context = seated(browser, server, study, "rater-1")
    page = at_desk(context, server)
    page.route("**/ratings", lambda route: route.fulfill(status=503, json={"later": "not at this moment"}))
    first = rate_next(page, "1")
    expect(page.locator("#saved")).to_have_text("1 not yet saved: the desk cannot save right now, trying again")
    page.reload()
    expect(page.locator("#saved")).to_contain_text("1 not yet saved")
    page.unroute("**/ratings")
    all_saved(page)
    with page.expect_response("**/ahead*"):
        page.goto(f"{server.address}rounds/pilot/rate")
    page.locator("input[data-key='1']").evaluate("(one) => { one.value = 'maybe'; }")
    second = rate_next(page, "1")
    expect(page.locator("#saved")).to_contain_text(f"Not accepted: {second}, ")
    third = rate_next(page, "2")
    expect(page.locator("#saved.refused")).to_contain_text(f"Not accepted: {second}, ")
    expect(page.locator("#saved")).not_to_contain_text("more not saved")
    page.get_by_role("link", name="Rate it again").click()
    expect(page.locator("form.sheet")).to_have_attribute("data-item", second)
    rate_next(page, "3")
    all_saved(page)
    assert kept(page) == []
    assert on_record(study, "rater-1") == {
        first: ["keep"], second: ["exclude: installation"], third: ["exclude: crash"]
    }  # fmt: skip
    context.close()
