"""The report in a real browser, from a folder without a server: readable by everybody, every number opens its items."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page
from tests.support.labelled_study import HOSTILE, POSTS
from tests.support.windows import assert_for_everyone

pytestmark = pytest.mark.browser

PAGES = ["index.html", "items.html#3:total:total", "items.html#3:nothing:total", "audit.html", "tables/table-3.html"]
WALK = """async (addresses) => {
  const found = []
  for (const address of addresses) {
    if (decodeURIComponent(location.hash.slice(1)) !== address) await new Promise(resolve => {
      addEventListener('hashchange', resolve, {once: true})
      location.hash = encodeURIComponent(address)
    })
    while (!document.getElementById('more').hidden) document.getElementById('more').click()
    found.push({
      number: document.getElementById('number').textContent,
      title: document.getElementById('which').textContent,
      listed: [...document.querySelectorAll('#list li .meta')].map(one => one.textContent.split(' · ')[0]),
    })
  }
  return found
}"""


class Reader:
    """A page in a browser, and everything it complained about or asked for elsewhere."""

    def __init__(self, browser: Browser, folder: Path, width: int = 1280, scheme: str = "light") -> None:
        self.base = f"file://{folder}/"
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))

    def _asked(self, address: str) -> None:
        if not address.startswith(self.base):
            self.complaints.append(address)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def close(self) -> None:
        self.page.context.close()
        assert self.complaints == []


def linked_counts(page: Page, table: str) -> dict[str, int]:
    """By address the count that a cell of the table shows, its details open or not."""
    found = page.eval_on_selector_all(
        f"#table-{table} td a",
        "links => links.map(link => [link.getAttribute('href').split('#')[1], link.textContent])",
    )
    return {unquote(address): int(shown.replace(",", "")) for address, shown in found}


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible_and_fit_their_width(browser: Browser, report: Path, path: str) -> None:
    reader = Reader(browser, report)
    page = reader.open(path)
    page.evaluate("[...document.querySelectorAll('details')].slice(0, 3).forEach(one => one.open = true)")
    assert_for_everyone(page, preload=False)  # no script may load the style sheets from a folder
    reader.close()


def test_on_a_narrow_screen_tables_and_figures_scroll_inside_their_frames(browser: Browser, report: Path) -> None:
    reader = Reader(browser, report, 320)
    page = reader.open("index.html")
    for region in ("#table-3 .scroll", "#figure-process .scroll"):
        frame = page.locator(region)
        assert frame.evaluate("one => one.scrollWidth > one.clientWidth"), region
        frame.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"document.querySelector('{region}').scrollLeft > 0")
    sizes = page.eval_on_selector_all(
        ".drawing svg text",
        """texts => texts.map(one => {
            const { a, b } = one.getScreenCTM()
            return parseFloat(getComputedStyle(one).fontSize) * Math.hypot(a, b)
        })""",
    )
    assert min(sizes) > 8.5, "letters of a drawing can be read"
    reader.close()


def test_a_keyboard_user_can_skip_scroll_and_unfold(browser: Browser, report: Path) -> None:
    reader = Reader(browser, report)
    for path in ("index.html", "items.html", "audit.html", "tables/table-3.html"):
        page = reader.open(path)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content", path
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0, path
        heading = page.locator("h1").inner_text()
        page.keyboard.press("Enter")
        page.wait_for_url("**#content")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null"), path
        assert page.locator("h1").inner_text() == heading, path
    page = reader.open("index.html")
    folded = page.locator("details.folded").first
    folded.locator("summary").focus()
    page.keyboard.press("Enter")
    assert folded.evaluate("one => one.open")
    assert folded.locator("table").is_visible()
    unreachable = page.eval_on_selector_all(".scroll", "all => all.filter(one => one.tabIndex !== 0).length")
    assert unreachable == 0
    reader.close()


def test_clicking_a_number_lists_that_many_items(browser: Browser, report: Path) -> None:
    reader = Reader(browser, report)
    page = reader.open("index.html")
    cell = page.locator("#table-3 a[href='items.html#3:D3:tensorflow']")
    shown = int(cell.inner_text())
    assert 1 < shown < 100
    cell.click()
    page.wait_for_url("**/items.html#3:D3:tensorflow")
    assert page.locator("h1").inner_text() == "image, tensorflow"
    assert page.locator("#number").inner_text() == f"{shown} items, the most viewed first."
    assert page.locator("#list li").count() == shown
    assert page.locator("#conditions").inner_text() == "phase: data processing; object: image; framework: tensorflow"
    assert page.title().startswith("image, tensorflow · ")
    page.locator("#from").click()
    page.wait_for_url("**/index.html#table-3")
    reader.close()


@pytest.mark.parametrize("table", ["1", "2", "3", "5", "9"])
def test_every_count_of_a_table_opens_that_many_items(browser: Browser, report: Path, table: str) -> None:
    reader = Reader(browser, report)
    counts = linked_counts(reader.open("index.html"), table)
    assert len(counts) > 6
    found = reader.open("items.html").evaluate(WALK, list(counts))
    listed = {address: len(one["listed"]) for address, one in zip(counts, found, strict=True)}
    assert listed == counts
    for one in found:
        assert one["number"].startswith(f"{len(one['listed'])} item")
        assert len(set(one["listed"])) == len(one["listed"])
    reader.close()


def test_the_items_of_a_total_are_the_items_of_its_parts(browser: Browser, report: Path) -> None:
    reader = Reader(browser, report)
    page = reader.open("items.html")
    parts, whole = ["3:D:tensorflow", "3:D:pytorch", "3:D:theano"], "3:D:total"
    *found, total = (set(one["listed"]) for one in page.evaluate(WALK, [*parts, whole]))
    assert set.union(*found) == total
    assert sum(map(len, found)) == len(total)
    reader.close()


def test_a_finding_opens_the_items_of_its_share(browser: Browser, report: Path) -> None:
    findings = json.loads((report / "findings.json").read_text("utf-8"))
    values: dict[str, Any] = {f"{one['finding']}:{value['name']}": value for one in findings for value in one["values"]}
    reader = Reader(browser, report)
    page = reader.open("index.html")
    link = page.locator("#finding-1 a", has_text=values["1:three"]["shown"])
    link.click()
    page.wait_for_url("**/items.html#finding:1:three")
    assert page.locator("h1").inner_text() == f"Finding 1: {values['1:three']['claim']}"
    three, objects, data = page.evaluate(WALK, ["finding:1:three", "finding:2:objects", "3:D:total"])
    assert len(three["listed"]) / POSTS == pytest.approx(values["1:three"]["number"])
    assert len(objects["listed"]) / len(data["listed"]) == pytest.approx(values["2:objects"]["number"])
    reader.close()


def test_more_than_a_hundred_items_are_shown_in_parts_with_the_most_viewed_first(
    browser: Browser, report: Path
) -> None:
    reader = Reader(browser, report)
    page = reader.open("items.html")
    assert page.locator("h1").inner_text() == "All items"
    assert page.locator("#list li").count() == 100
    page.get_by_role("button", name="Show more").click()
    assert page.locator("#list li").count() == POSTS
    assert page.locator("#more").is_hidden()
    assert page.evaluate("[...document.querySelectorAll('#list li')].indexOf(document.activeElement)") == 100
    views = page.eval_on_selector_all(
        "#list .meta", r"all => all.map(one => Number(/([\d,]+) views/.exec(one.textContent)[1].replace(',', '')))"
    )
    assert views == sorted(views, reverse=True)
    reader.close()


@pytest.mark.parametrize(
    "address",
    ["3:D3:nothing", "nothing", "99:D3:total", "constructor:a:b", "3:constructor", "__proto__:a:b", "%E0%A4%A", "<b>x"],
)
def test_an_unknown_cell_address_shows_an_error(browser: Browser, report: Path, address: str) -> None:
    reader = Reader(browser, report)
    page = reader.open(f"items.html#{address}")
    assert page.locator("h1").inner_text() == "No such number"
    assert "The report has no cell" in page.locator("#number").inner_text()
    assert page.locator("#list li").count() == 0
    assert page.locator("#more").is_hidden()
    reader.close()


def test_hostile_titles_are_shown_as_text(browser: Browser, report: Path) -> None:
    reader = Reader(browser, report, 320)
    page = reader.open("items.html")
    page.get_by_role("button", name="Show more").click()
    titles = page.locator("#list .title").all_inner_texts()
    for title in HOSTILE:
        assert unescape(title) in titles, "the authors' data holds titles as HTML"
    assert "owned" not in page.title()
    assert page.locator("#list script, #list img, #list b").count() == 0
    links = page.eval_on_selector_all("#list a", "all => all.map(one => one.protocol)")
    assert set(links) == {"https:"}
    assert len(links) == POSTS
    reader.close()


def test_labels_of_figures_stay_inside_and_do_not_overlap(browser: Browser, report: Path) -> None:
    """Measured with the browser's own fonts, which may be wider than those a drawing was laid out with."""
    reader = Reader(browser, report)
    page = reader.open("index.html")
    found = page.evaluate(
        """() => [...document.querySelectorAll('.drawing svg')].flatMap(svg => {
            const room = svg.getBoundingClientRect()
            const seen = one => one.textContent && one.getAttribute('opacity') !== '0'
            const texts = [...svg.querySelectorAll('text')].filter(seen)
            const boxes = texts.map(one => ({words: one.textContent, ...one.getBoundingClientRect().toJSON()}))
            const outside = boxes.filter(box => box.left < room.left - 1 || box.right > room.right + 1)
            const across = boxes.flatMap((box, at) => boxes.slice(at + 1).filter(other =>
                box.words !== other.words
                && Math.min(box.right, other.right) - Math.max(box.left, other.left) > 3
                && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 7
            ).map(other => `${box.words} on ${other.words}`))
            return [...outside.map(box => `${box.words} outside`), ...across]
        })"""
    )
    assert found == []
    assert page.locator(".drawing").count() >= 5
    reader.close()


def test_on_a_dark_page_figures_are_inverted_unless_labels_are_on_shades(browser: Browser, report: Path) -> None:
    reader = Reader(browser, report, scheme="dark")
    page = reader.open("index.html")
    filters = page.eval_on_selector_all(
        ".drawing", "all => all.map(one => [one.id, getComputedStyle(one.querySelector('svg')).filter !== 'none'])"
    )
    turned = dict(filters)
    assert turned["figure-by-year"]
    assert not turned["figure-heat-map"]
    assert not turned["figure-treemap"]
    reader.close()


def test_a_reader_chooses_percentages_of_the_table_row_or_column(browser: Browser, report: Path) -> None:
    reader = Reader(browser, report)
    page = reader.open("tables/table-3.html")
    total = page.locator("tr.total").last.locator("td").last
    first = page.locator("tbody tr:not(.group)").first.locator("td").last
    shown = first.inner_text()
    page.get_by_label("row share").check()
    assert first.inner_text().split()[-1] == "100.0%"
    page.get_by_label("column share").check()
    assert (first.inner_text(), total.inner_text().split()[-1]) == (shown, "100.0%")
    reader.close()
