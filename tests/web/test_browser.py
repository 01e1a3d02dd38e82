"""The pages in a real browser: readable at every width, in both themes, without a single axe violation."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from quaestor.sources.records import no_progress
from quaestor.study.demo import STUDY
from quaestor.study.folder import open_study
from quaestor.study.funnel import run_funnel
from quaestor.study.sources import ingest_source
from quaestor.study.synthetic import synthesise
from quaestor.study.templates import new_study

sys.path.insert(0, str(Path(__file__).parents[1]))

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("browser") / "demo"
    new_study(folder, STUDY)
    synthesise(folder / "dump", posts=None, seed=9, like=STUDY, progress=no_progress)
    study = open_study(folder)
    ingest_source(study, "stackoverflow")
    run_funnel(study)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("quaestor")), "serve", "--study", str(folder), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        base = f"http://127.0.0.1:{port}/"
        _wait_for(base + "health")
        yield base
        server.terminate()


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def open_page(browser: Browser, address: str, width: int, scheme: str) -> tuple[Page, list[str]]:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("request", lambda request: complaints.append(request.url) if not request.url.startswith(address) else None)
    return page, complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("path", ["", "steps/2/kept", "steps/1/dropped", "nowhere"])
def test_a_page_is_accessible_fits_its_width_and_asks_nobody_else(
    browser: Browser, address: str, path: str, width: int, scheme: str
) -> None:
    page, complaints = open_page(browser, address, width, scheme)
    page.goto(address + path)
    for details in page.locator("details").all()[:2]:
        details.evaluate("element => element.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:2]) for one in violations] == []
    assert [one for one in complaints if "404" not in one] == []
    page.context.close()


def test_a_reader_goes_from_a_number_to_its_items_by_keyboard(browser: Browser, address: str) -> None:
    page, _ = open_page(browser, address, 1280, "light")
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    link = page.get_by_role("link", name="14,203").first
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/steps/2/kept")
    assert page.locator(".post").count() == 50
    assert all("how to" in title.lower() for title in page.locator(".post .title").all_inner_texts())
    page.get_by_role("link", name="later").click()
    page.wait_for_url("**page=2")
    page.context.close()


def test_an_example_opens_and_shows_the_post(browser: Browser, address: str) -> None:
    page, _ = open_page(browser, address, 320, "light")
    page.goto(address)
    summary = page.locator("#step-2 summary").first
    summary.click()
    assert page.locator("#step-2 .reading").first.is_visible()
    page.context.close()


def test_pages_stay_light(browser: Browser, address: str) -> None:
    page, _ = open_page(browser, address, 1280, "light")
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(address, wait_until="networkidle")
    assert sum(sizes) < 150_000
    page.context.close()
