"""The whole way of a study at the desk, by keyboard alone: four people in browsers of their own, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.support.desk import CHOSEN, invited
from tests.support.small_study import ITEMS, small_study
from tests.support.windows import serving

from quaestor.coding.rating_files import export_decisions, export_ratings
from quaestor.coding.session import open_coding
from quaestor.people.roles import Role
from quaestor.study.folder import Study

pytestmark = pytest.mark.browser
SAID = {"1": "keep", "2": "exclude: crash", "3": "exclude: installation"}
DISPUTED = {"forum/question/3": "3", "forum/question/8": "1"}
"""Where rater-2 says something else, and with which key."""
FARTHEST = 200


def key_of(rater: str, item: str, name: str) -> str:
    if rater == "rater-2" and name == "main" and item in DISPUTED:
        return DISPUTED[item]
    return "1" if int(item.rpartition("/")[2]) % 2 else "2"


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Study:
    store = request.getfixturevalue("postgresql") if request.param == "PostgreSQL" else ""
    return small_study(tmp_path / "study", store)


@pytest.fixture
def address(study: Study) -> Iterator[str]:
    with serving(study.root) as base:
        yield base


class Person:
    """Somebody with a keyboard and no mouse."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.page: Page = browser.new_context().new_page()
        self._address = address

    def go(self, path: str) -> None:
        self.page.goto(path if path.startswith("http") else f"{self._address}{path}")

    def reach(self, wanted: Locator) -> None:
        """Tab until there: what cannot be reached so cannot be used so."""
        expect(wanted).to_have_count(1)
        handle = wanted.element_handle()
        for _ in range(FARTHEST):
            if self.page.evaluate("one => one === document.activeElement", handle):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{wanted} is not reached by Tab")

    def press(self, role: str, name: str) -> None:
        self.reach(self.page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]
        self.enter()

    def enter(self, keys: str = "Enter") -> None:
        with self.page.expect_navigation():
            self.page.keyboard.press(keys)

    def write(self, label: str, words: str) -> None:
        self.reach(self.page.get_by_label(label, exact=True))
        self.page.keyboard.type(words)

    def join(self, link: str) -> None:
        self.go(link)
        self.write("Choose a password", CHOSEN)
        self.write("Repeat password", CHOSEN)
        self.enter()

    def rate_all(self, rater: str, name: str) -> None:
        """Start over page to the last item, each with the key that it is to get."""
        self.go("")
        self.press("link", "Start")
        expect(self.page.locator("#saved")).to_have_text("All saved")
        while self.page.get_by_role("heading", name="All rated").count() == 0:
            sheet = self.page.locator("form.sheet")
            item = sheet.get_attribute("data-item") or ""
            self.page.keyboard.press(key_of(rater, item, name))
            self.page.keyboard.press("Enter")
            other = self.page.locator(f"form.sheet:not([data-item='{item}'])")
            expect(other.or_(self.page.get_by_role("heading", name="All rated"))).to_be_visible()


def test_a_study_is_completed_from_the_first_invitation_to_the_last_decision(
    browser: Browser, address: str, study: Study
) -> None:
    lead, first, second, breaker = (Person(browser, address) for _ in range(4))
    lead.join(f"{address}join/{invited(study.root, Role.LEAD)}")
    invite_all(lead, {"rater-1": first, "rater-2": second, "tie-breaker": breaker})

    round_of(lead, "pilot", "Open pilot")
    first.rate_all("rater-1", "pilot")
    second.rate_all("rater-2", "pilot")
    round_of(lead, "pilot", "Close pilot")

    round_of(lead, "main", "Open main")
    first.rate_all("rater-1", "main")
    expect(first.page.get_by_role("heading", name="All rated")).to_be_visible()
    lead.go("")
    expect(lead.page.get_by_text("12 of 12").first).to_be_visible()
    second.rate_all("rater-2", "main")
    round_of(lead, "main", "Close main")

    lead.go("rounds/main/disagreements")
    lead.press("button", "View and record it")
    break_ties(breaker)
    settle(first, second, breaker)
    assert_on_record(study)
    lead.go("")
    expect(lead.page.get_by_text("settled").first).to_be_visible()
    for person in (lead, first, second, breaker):
        person.page.context.close()


def invite_all(lead: Person, people: dict[str, Person]) -> None:
    """The lead makes a link for each; each comes in with it, once."""
    lead.press("link", "People")
    for name, person in people.items():
        lead.press("button", f"Invite {name}")
        link = lead.page.get_by_label("Copy it now: it is not shown again").input_value()
        person.join(link)
        assert name in person.page.locator(".who").inner_text()


def round_of(lead: Person, name: str, act: str) -> None:
    lead.go("rounds")
    lead.press("link", name)
    lead.press("button", act)


def break_ties(breaker: Person) -> None:
    """One opinion for each case; what the tie-breaker reads names nobody."""
    breaker.go("")
    breaker.press("link", "Start")
    for _ in DISPUTED:
        text = breaker.page.content()
        assert "rater-1" not in text
        assert "rater-2" not in text
        breaker.page.keyboard.press("1")
        breaker.enter()
    expect(breaker.page.get_by_text("2 of 2")).to_be_visible()


def settle(first: Person, second: Person, breaker: Person) -> None:
    """One of the pair says why, the other proposes the first answer in each case, and the others assent."""
    first.go("rounds/main/disagreements")
    first.press("button", "View and record it")
    first.press("link", "Start with the first open case")
    first.page.keyboard.press("c")
    first.page.keyboard.type("It says how in its title.")
    first.enter("Control+Enter")
    expect(first.page.get_by_text("It says how in its title.")).to_be_visible()
    second.go("rounds/main/disagreements")
    second.press("button", "View and record it")
    for item in DISPUTED:
        second.go(f"rounds/main/disagreements?item={quote(item, safe='')}&facet=relevance")
        second.page.keyboard.press("1")
        second.page.keyboard.press("r")
        second.page.keyboard.type("We read it again.")
        second.press("button", "Settle ↵")
        expect(second.page.get_by_role("alert")).to_have_count(0)
    for person, page in ((first, "disagreements"), (breaker, "ties")):
        for item in DISPUTED:
            person.go(f"rounds/main/{page}?item={quote(item, safe='')}&facet=relevance")
            person.press("button", "Assent")
    first.go("rounds/main/disagreements")
    expect(first.page.get_by_text("2 of 2 settled").first).to_be_visible()


def assert_on_record(study: Study) -> None:
    """Compare journal and export with the pressed keys, item by item."""
    with open_coding(study) as coding:
        ratings = export_ratings(coding, "main", coding.lead)
        decisions = export_decisions(coding.state, "main")
    said = {(row["rater"], row["item"]): row["relevance"] for row in ratings}
    raters = ("rater-1", "rater-2")
    assert said == {(rater, item): SAID[key_of(rater, item, "main")] for rater in raters for item in ITEMS}
    assert len(ratings) == 2 * len(ITEMS)
    assert {row["item"] for row in decisions} == set(ITEMS)
    for row in decisions:
        agreed = SAID[key_of("rater-1", row["item"], "main")]
        disputed = row["item"] in DISPUTED
        assert row["how"] == ("together" if disputed else "agreement")
        either = {agreed, SAID[key_of("rater-2", row["item"], "main")]}
        assert row["answer"] in either
