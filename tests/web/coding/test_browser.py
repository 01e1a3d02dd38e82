"""The pages in a real browser: readable at every width, in both themes, without a single axe violation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, StorageState
from tests.support.desk import invited
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.demo.run import STUDY
from quaestor.evidence.funnel import last_result, run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.study.templates import new_study
from quaestor.synth.stackexchange import synthesise

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "demo"
    new_study(folder, STUDY)
    synthesise(folder / "dump", posts=30_000, seed=9)
    study = open_study(folder)
    ingest_source(study, "stackoverflow")
    run_funnel(study)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, folder: Path) -> StorageState:
    """The cookies of a browser in which the lead is signed in."""
    return session_after(f"{address}join/{invited(folder, Role.LEAD)}")


def open_page(browser: Browser, address: str, width: int, scheme: str, state: StorageState) -> tuple[Page, list[str]]:
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        storage_state=state,
    )
    page = context.new_page()
    return page, complaints_of(page, address)


@pytest.mark.parametrize("path", ["", "steps/2/kept", "steps/1/dropped", "nowhere"])
def test_pages_are_accessible_fit_their_width_and_load_nothing_external(
    browser: Browser, address: str, state: StorageState, path: str
) -> None:
    page, complaints = open_page(browser, address, 320, "light", state)
    page.goto(address + path)
    for details in page.locator("details").all()[:2]:
        details.evaluate("element => element.open = true")
    assert_for_everyone(page)
    assert [complaint for complaint in complaints if "404" not in complaint] == []
    page.context.close()


def test_a_number_of_the_funnel_opens_its_items_by_keyboard(
    browser: Browser, address: str, folder: Path, state: StorageState
) -> None:
    found = last_result(open_study(folder))
    assert found is not None
    page, _ = open_page(browser, address, 1280, "light", state)
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    link = page.get_by_role("link", name=f"{found[0].steps[1].kept:,}").first
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/steps/2/kept")
    assert page.locator(".post").count() == 50
    assert all("how to" in title.lower() for title in page.locator(".post .title").all_inner_texts())
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**page=2")
    page.context.close()


def test_opening_an_example_shows_the_post(browser: Browser, address: str, state: StorageState) -> None:
    page, _ = open_page(browser, address, 320, "light", state)
    page.goto(f"{address}funnel")
    summary = page.locator("#step-2 summary").first
    summary.click()
    assert page.locator("#step-2 .reading").first.is_visible()
    page.context.close()


def test_the_start_page_loads_less_than_150_kb(browser: Browser, address: str, state: StorageState) -> None:
    page, _ = open_page(browser, address, 1280, "light", state)
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(address, wait_until="networkidle")
    assert sum(sizes) < 150_000
    page.context.close()
