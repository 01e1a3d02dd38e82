"""Hostile posts in a real browser, on desk pages and in published results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, StorageState
from tests.support.desk import invited
from tests.support.hostile_posts import hostile_posts, hostile_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.people.roles import Role
from quaestor.publication.handbook.records import Entry, Handbook, Post
from quaestor.publication.handbook.site import build_handbook
from quaestor.publication.report.parts import LastBuild, ReportParts
from quaestor.publication.report.write import Report, write_report
from quaestor.render.report_parts import ItemColumns, ListedItem
from quaestor.web.html.evidence import clean

pytestmark = pytest.mark.browser

POSTS = hostile_posts()
FOUND = """() => {
  const ours = new Set(["nofollow noopener noreferrer"])
  const wrong = []
  for (const reading of document.querySelectorAll(".reading")) {
    for (const one of reading.querySelectorAll("*")) {
      if (one.namespaceURI !== "http://www.w3.org/1999/xhtml") wrong.push(one.outerHTML)
      if (one.matches("script, style, form, input, button, img, iframe, object, embed, svg, math, link, meta, base, "
          + "template, textarea, select, h1, [id], [name], [style], [target], [download]")) wrong.push(one.outerHTML)
      for (const attribute of one.attributes) if (attribute.name.startsWith("on")) wrong.push(one.outerHTML)
      if (one.localName === "a" && (!["http:", "https:", "mailto:"].includes(one.protocol) || !ours.has(one.rel)
          || one.host === location.host || one.username)) wrong.push(one.outerHTML)
    }
  }
  return {
    wrong, hit: window.hit ?? null, readings: document.querySelectorAll(".reading").length,
    wide: document.documentElement.scrollWidth, forms: document.querySelectorAll("main form").length,
    tokens: document.querySelectorAll("[name=csrf]").length,
    text: [...document.querySelectorAll(".reading")].map(one => one.textContent).join(""),
  }
}"""

SHOW_ALL = """async () => {
  const desk = document.getElementById("desk")
  const seen = new Set([desk.querySelector("form").dataset.item])
  for (let after = [...seen][0], before = 0; seen.size > before;) {
    before = seen.size
    const answer = await fetch(`${desk.dataset.ahead}?after=${encodeURIComponent(after)}`)
    for (const { item, html } of (await answer.json()).sheets) {
      if (!seen.has(item)) desk.append(...new DOMParser().parseFromString(html, "text/html").body.childNodes)
      seen.add(item)
      after = item
    }
  }
  for (const one of desk.querySelectorAll(".answer")) one.open = true
  return seen.size
}"""


def watched(page: Page, address: str) -> list[str]:
    """What a page complains of, asks for elsewhere, or asks its reader."""
    found = complaints_of(page, address)

    def asked(dialog: object) -> None:
        found.append("a dialog")
        dialog.dismiss()  # type: ignore[attr-defined]

    page.on("dialog", asked)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_study(tmp_path_factory.mktemp("hostile") / "study").root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def lead(browser: Browser, address: str, folder: Path) -> StorageState:
    return session_after(f"{address}join/{invited(folder, Role.LEAD)}")


@pytest.fixture(scope="module")
def rater(browser: Browser, address: str, folder: Path) -> StorageState:
    return session_after(f"{address}join/{invited(folder, Role.RATER, 'rater-1')}")


def opened(browser: Browser, state: StorageState, width: int, scheme: str) -> Page:
    context = browser.new_context(
        storage_state=state,
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    return context.new_page()


def test_cleaning_alone_keeps_hostile_posts_from_running_or_loading_anything(browser: Browser) -> None:
    """No policy protects this page, so that it is the cleaning alone that is tried; as they came, the posts do run."""
    page = browser.new_page()
    page.route("**", lambda route: route.abort())
    complaints = watched(page, "about:blank")
    readings = "".join(f'<div class="reading">{clean(post.body, post.tags)}</div>' for post in POSTS)
    page.set_content(f"<!doctype html>{readings}")
    page.evaluate("html => { document.body.insertAdjacentHTML('beforeend', html) }", readings)
    page.evaluate("document.querySelectorAll('.reading *').forEach(one => one.dispatchEvent(new Event('focus')))")
    found = page.evaluate(FOUND)
    assert found["wrong"] == []
    assert found["readings"] == 2 * len(POSTS)
    assert found["hit"] is None
    assert complaints == []
    page.set_content("".join(f"<div>{post.body}</div>" for post in POSTS if "https://evil" not in post.body))
    page.wait_for_function("window.hit === 1")
    page.close()


def test_a_lead_can_open_every_hostile_post_safely(browser: Browser, address: str, lead: StorageState) -> None:
    page = opened(browser, lead, 320, "light")
    complaints = watched(page, address)
    seen = 0
    for path in ("", "steps/1/kept", "steps/1/kept?page=2"):
        page.set_viewport_size({"width": 320, "height": 800})
        page.goto(f"{address}{path}")
        page.evaluate("document.querySelectorAll('.post details').forEach(one => { one.open = true })")
        found = page.evaluate(FOUND)
        assert found["wrong"] == []
        assert found["hit"] is None
        assert found["wide"] <= 320, path
        assert found["forms"] == 0
        if path:
            assert_for_everyone(page)
            seen += found["readings"]
    assert seen == len(POSTS)
    assert complaints == []
    page.context.close()


def test_a_rater_gets_every_hostile_post_safely_with_one_form_each(
    browser: Browser, address: str, rater: StorageState
) -> None:
    """All sheets on one page, put there the way the desk's own script does it."""
    page = opened(browser, rater, 320, "light")
    page.goto(f"{address}rounds/main/rate")
    complaints = watched(page, address)
    shown = page.evaluate(SHOW_ALL)
    found = page.evaluate(FOUND)
    assert shown == len(POSTS)
    assert (found["wrong"], found["hit"]) == ([], None)
    answers = sum(bool(clean(post.body, post.tags).strip()) for post in POSTS)  # of the others nothing is left to show
    assert (found["forms"], found["tokens"], found["readings"]) == (shown, shown, shown + answers)
    assert found["wide"] <= 320
    assert [post.name for post in POSTS if found["text"].count(post.keeps) < 2] == []
    assert complaints == []
    page.context.close()


def test_a_sheet_with_an_unusual_post_is_complete_and_accessible(
    browser: Browser, address: str, rater: StorageState
) -> None:
    page = opened(browser, rater, 320, "light")
    for name in (
        "code that is wide",
        "a wide table",
        "headings that take over",
        "the end of a form that it did not open",
        "letters that are not seen",
    ):
        number = 1 + [post.name for post in POSTS].index(name)
        page.set_viewport_size({"width": 320, "height": 800})
        page.goto(f"{address}rounds/main/rate?item=stackoverflow/question/{number}")
        page.locator(".answer summary").click()
        found = page.evaluate(FOUND)
        assert (found["wrong"], found["forms"], found["tokens"], found["readings"]) == ([], 1, 1, 2), name
        assert found["wide"] <= 320, name
        assert_for_everyone(page)
    page.context.close()


def test_prefetched_sheets_are_equally_safe(browser: Browser, address: str, rater: StorageState) -> None:
    page = opened(browser, rater, 1280, "light")
    complaints = watched(page, address)
    with page.expect_response("**/ahead*"):
        page.goto(f"{address}rounds/main/rate")
    first = page.locator(".item h1").inner_text()
    for _ in range(3):
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.wait_for_function("title => document.querySelector('.item h1').innerText !== title", arg=first)
        first = page.locator(".item h1").inner_text()
        found = page.evaluate(FOUND)
        assert (found["wrong"], found["hit"]) == ([], None)
        assert found["readings"] in (1, 2)
    assert complaints == []
    page.context.close()


def texts() -> list[str]:
    """Everything hostile as a title: bodies too, on one line, without what no file of text can hold."""
    bodies = (post.body.replace("\x00", "") for post in POSTS)
    return [
        *(post.title for post in POSTS),
        *(" ".join(body.split()) for body in bodies),
        *(post.author for post in POSTS),
    ]


def test_a_report_lists_hostile_titles_as_text(browser: Browser, tmp_path: Path) -> None:
    items = tuple(
        ListedItem(f"forum/{number}", text, "javascript:window.hit=1", text, text, "", None, None, None)
        for number, text in enumerate(texts())
    )
    report = Report(
        title=POSTS[0].body, description=POSTS[0].body, notices=(POSTS[0].body,), facts=(), findings=(), sections=(),
        threats=(POSTS[0].body,), missing={}, columns=ItemColumns(items, {}), generated_by="a test",
    )  # fmt: skip
    (tmp_path / "report").mkdir()
    with ReportParts(LastBuild(tmp_path / "report")) as parts:
        write_report(report, tmp_path / "report", parts, lambda words: None)
    page = browser.new_page()
    complaints = watched(page, f"file://{tmp_path}")
    for name in ("index.html", "items.html"):
        page.goto(f"file://{tmp_path}/report/{name}")
        assert page.evaluate("window.hit ?? null") is None
    while page.locator("#more").is_visible():
        page.locator("#more").click()
    assert page.locator("#list .title").all_text_contents() == [item.title for item in items]
    assert page.locator("#list :is(a, script, img, iframe, svg, form, style)").count() == 0
    assert complaints == []
    page.close()


def test_a_handbook_shows_hostile_text_as_text(browser: Browser, tmp_path: Path) -> None:
    found = texts()
    posts = tuple(
        Post(f"forum/{number}", text, "javascript:window.hit=1", text, text) for number, text in enumerate(found)
    )
    entry = Entry("data", "phase", found[0], ("data",), definition=found[1], use=found[2], examples=tuple(found[:5]))
    book = Handbook(
        title=found[0], description=found[1], study=found[2], origin="computed", origin_note=found[3],
        levels=("phase",), entries=(replace(entry, posts=posts, posts_total=len(posts)),), licence_note=found[4],
        generated_by="a test",
    )  # fmt: skip
    build_handbook(book, tmp_path / "handbook", lambda words, done, total: None)
    page = browser.new_page()
    complaints = watched(page, f"file://{tmp_path}")
    for name in ("index.html", "codes/data.html", "contents.html"):
        page.goto(f"file://{tmp_path}/handbook/{name}")
        assert page.evaluate("window.hit ?? null") is None
        assert page.locator("main :is(img, iframe, object, style)").count() == 0
        assert page.locator("main a[href^='javascript']").count() == 0
    assert complaints == []
    page.close()
