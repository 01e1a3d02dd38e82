"""Tables in a real browser: nothing axe complains about, nothing lost on a narrow screen."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from quaestor.render.design_tokens import TOKENS
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.render.tables.html import STYLE, html_page, to_html
from quaestor.render.tables.layout import Link

pytestmark = pytest.mark.browser


def around(*fragments: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tables</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{TOKENS.read_text('utf-8')}</style><style>{STYLE.read_text('utf-8')}</style></head>"
        f"<body><main><h1>Tables</h1>{''.join(fragments)}</main></body></html>"
    )


def shown(browser: Browser, content: str, width: int, scheme: str = "light") -> Page:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_content(content)
    return page


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1280, "dark")])
def test_axe_finds_no_accessibility_problem(
    browser: Browser,
    journal_table: Table,
    hostile_table: Table,
    empty_table: Table,
    link: Link,
    width: int,
    scheme: str,
) -> None:
    fragments = [to_html(table, link) for table in (journal_table, hostile_table, empty_table)]
    page = shown(browser, around(*fragments), width, scheme)
    assert Axe().run(page).response["violations"] == []
    page.context.close()


def test_axe_finds_no_accessibility_problem_on_a_standalone_page(browser: Browser, journal_table: Table) -> None:
    page = shown(browser, html_page(journal_table), 320, "dark")
    assert Axe().run(page).response["violations"] == []
    page.context.close()


def test_right_to_left_text_keeps_its_order_and_row_titles_stay_visible(browser: Browser) -> None:
    said = "ندرب النموذج. (3) نعم!"
    columns = tuple(Column(f"{name}", "long heading " * 3, numeric=False) for name in "abc")
    rows = (Row("a", said, tuple(Cell((said,)) for _ in columns)),)
    page = shown(browser, around(to_html(Table("1", "Words", "who", columns, (Group(said, rows),)))), 320)
    for one in page.locator("tbody td, tbody th[scope=row], tr.group span").all():
        assert one.evaluate("one => getComputedStyle(one).direction") == "rtl"
    region = page.locator(".scroll")
    region.evaluate("one => one.scrollTo({left: 10000, behavior: 'instant'})")
    stub, around_it = page.locator("th[scope=row]").bounding_box(), region.bounding_box()
    assert stub is not None
    assert around_it is not None
    assert abs(stub["x"] - around_it["x"]) < 1
    page.context.close()


def test_on_a_narrow_screen_the_table_scrolls_and_not_the_page(browser: Browser, journal_table: Table) -> None:
    page = shown(browser, around(to_html(journal_table)), 320)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    region = page.locator(".scroll")
    assert region.evaluate("one => one.scrollWidth > one.clientWidth")
    page.keyboard.press("Tab")
    assert region.evaluate("one => one === document.activeElement")
    region.evaluate("one => one.scrollTo({left: 10000, behavior: 'instant'})")
    stub = page.locator("th[scope=row]", has_text="Image").bounding_box()
    last = page.locator("tr:has-text('Image') td").last.bounding_box()
    assert stub is not None
    assert last is not None
    assert stub["x"] >= 0, "the title of a row stays in sight"
    assert last["x"] + last["width"] <= 320.5, "the last column comes into sight"
    assert stub["x"] + stub["width"] <= last["x"]
    page.context.close()


def test_numbers_line_up_with_and_without_marks_and_parts(browser: Browser, journal_table: Table) -> None:
    page = shown(browser, around(to_html(journal_table)), 1280)
    ends = page.evaluate(
        """() => [1, 4].map(place => [...document.querySelectorAll('tbody tr:not(.group)')].map(row => {
            const range = document.createRange()
            const first = document.createTreeWalker(row.cells[place], NodeFilter.SHOW_TEXT).nextNode()
            range.selectNodeContents(first)
            const text = first.textContent.trimEnd().length
            range.setEnd(first, text)
            return Math.round(range.getBoundingClientRect().right)
        }))"""
    )
    for column in ends:
        assert max(column) - min(column) <= 1, ends
    page.context.close()
