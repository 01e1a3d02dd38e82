"""The handbook in a real browser, under the rules the desk serves it with, and from a folder without a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.support.windows import assert_for_everyone

from quaestor.publication.handbook.records import Handbook
from quaestor.publication.handbook.site import build_handbook

pytestmark = pytest.mark.browser

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGES = [
    "index.html", "codes/data.html", "codes/data-image.html", "codes/data-tensor-slice.html",
    "codes/training-loss.html", "contents.html", "about.html",
]  # fmt: skip


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder below /handbook/ and nothing elsewhere."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/handbook") if path.startswith("/handbook/") else "/nowhere")

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/handbook/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test if the browser had anything to complain about, or was sent elsewhere."""
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    opened.on(
        "request",
        lambda request: (
            None if request.url.startswith(("http://127.0.0.1:", "file:")) else complaints.append(request.url)
        ),
    )
    yield opened
    opened.close()
    assert complaints == []


def search(page: Page, text: str) -> list[str]:
    page.locator("#search-text").fill(text)
    page.wait_for_function("text => document.querySelector('.search-results').dataset.text === text", arg=text)
    return page.locator(".search-results .result-title").all_inner_texts()


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible_and_fit_their_width_in_both_themes(page: Page, address: str, path: str) -> None:
    page.goto(address + path)
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    assert_for_everyone(page)


@pytest.mark.parametrize("path", ["index.html", "codes/data.html"])
def test_search_shows_results_while_typing_and_opens_the_page(page: Page, address: str, path: str) -> None:
    page.goto(address + path)
    assert search(page, "how do I reshape a tensor?") == ["(reshape/squeeze/flatten) tensor"]
    assert page.locator(".search-count").inner_text() == "1 page"
    assert_for_everyone(page)
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.search-results') !== null")
    page.keyboard.press("Enter")
    page.wait_for_url(address + "codes/data-tensor-reshape.html")


def test_search_finds_words_of_posts_and_reports_no_results(page: Page, address: str) -> None:
    page.goto(address)
    assert "Image" in search(page, "freeze layer")
    assert search(page, "xylophone") == []
    assert page.locator(".search-count").inner_text() == "0 pages"
    page.keyboard.press("Escape")
    assert page.locator(".search-answer").is_hidden()
    assert page.locator("#search-text").input_value() == ""


def test_enter_opens_the_first_result(page: Page, address: str) -> None:
    page.goto(address)
    search(page, "image")
    page.keyboard.press("Enter")
    page.wait_for_url(address + "codes/data-image.html")


def test_hostile_words_in_results_are_shown_as_text(page: Page, address: str) -> None:
    page.goto(address)
    assert search(page, "quarkword") == ["Loss"]
    excerpt = page.locator(".result-excerpt")
    assert "quarkword" in excerpt.inner_text()
    assert page.locator(".search-results :is(script, img)").count() == 0
    assert page.evaluate("[...document.querySelectorAll('.result-excerpt *')].every(one => one.nodeName === 'MARK')")


def test_a_tile_of_the_map_opens_its_page(page: Page, address: str) -> None:
    page.goto(address)
    page.locator(".map.wide a[aria-label^='Tensor, 300 posts']").click()
    page.wait_for_url(address + "codes/data-tensor.html")
    page.set_viewport_size({"width": 320, "height": 800})
    page.goto(address)
    assert page.locator(".map.wide").is_hidden()
    page.locator(".map.narrow a[aria-label^='Image']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(address + "codes/data-image.html")


def test_the_contents_are_filtered_while_typing(page: Page, address: str) -> None:
    page.goto(address + "contents.html")
    page.locator("#filter-text").fill("tensor resh")
    assert page.locator(".letter li:visible").count() == 1
    assert page.locator("#filter-count").inner_text() == "1 shown"
    page.locator("#filter-text").fill("")
    assert page.locator(".letter li:visible").count() == 11


def test_search_in_a_local_folder_covers_only_titles_and_says_so(page: Page, site: Path) -> None:
    page.goto((site / "codes" / "data.html").as_uri())
    assert search(page, "the tensor") == ["Tensor", "(reshape/squeeze/flatten) tensor", "Slice tensor"]
    assert "titles only: full-text search needs a web server" in page.locator(".search-count").inner_text()
    page.locator(".search-results a").first.click()
    page.wait_for_url((site / "codes" / "data-tensor.html").as_uri())


def test_everything_is_reachable_without_javascript(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.locator("#search-text").fill("tensor")
    page.keyboard.press("Enter")
    page.wait_for_url(address + "contents.html?q=tensor")
    assert page.locator(".letter li").count() == 11
    assert page.locator(".filter").is_hidden()
    page.get_by_role("link", name="Image", exact=True).click()
    page.wait_for_url(address + "codes/data-image.html")
    context.close()


def test_a_page_prints_without_screen_controls(page: Page, address: str) -> None:
    page.goto(address + "codes/data-tensor.html")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".search").is_hidden()
    assert page.locator(".neighbours").is_hidden()
    assert page.locator(".numbers").is_visible()
    assert page.locator(".posts li").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 28, 26)"
    assert len(page.pdf(format="A4")) > 10_000


def test_a_handbook_from_printed_figures_is_accessible(page: Page, printed: Handbook, tmp_path: Path) -> None:
    build_handbook(printed, tmp_path / "site", lambda what, done, total: None)
    with served(tmp_path / "site") as address:
        for name in ("index.html", "codes/data-tensor-slice.html"):
            page.goto(address + name)
            assert_for_everyone(page)
