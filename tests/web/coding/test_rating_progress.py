"""What a rater sees of their own progress: counter, pace, page title, practice and their own ratings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support.desk import QUICK, closing_app, invited, join, signed_in
from tests.support.desk import browser as visitor
from tests.support.small_study import small_study
from tests.support.windows import assert_for_everyone, serving, session_after

from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, list_rater_items, open_by_name
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

PRACTICE = """practice = [
  { item = "forum/question/1", answers = { phase = "training" }, feedback = "A layer learns while it is trained." },
  { item = "forum/question/2", answers = { phase = "setting" } },
]
"""
LONG = "\n\n".join(f"Paragraph {number} of the instructions, which take a few lines." for number in range(8))


def prepare(folder: Path) -> Study:
    """A round on phases with practice, long instructions and codes with definitions."""
    study = small_study(folder)
    text = study.file.read_text("utf-8").replace(
        'round = "phases"\nitems = { kept_by = "main" }',
        f'round = "phases"\n{PRACTICE}instructions = """{LONG}"""\nitems = {{ sample = "pilot" }}',
    )
    study.file.write_text(text, "utf-8")
    book = study.root / "codebook.toml"
    defined = book.read_text("utf-8").replace(
        'name = "model training"', 'name = "model training"\ndefinition = "Everything that happens while it learns."'
    )
    book.write_text(defined, "utf-8")
    study = open_study(study.root)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    open_by_name(study, "phases", None)
    return study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("progress") / "study").root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture
def page(browser: Browser, address: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The window of a rater, 1280 × 900."""
    name = getattr(request, "param", "rater-1")
    context = browser.new_context(
        storage_state=session_after(f"{address}join/{invited(folder, Role.RATER, name)}"),
        viewport={"width": 1280, "height": 900},
    )
    yield context.new_page()
    context.close()


@pytest.mark.browser
def test_counter_pace_and_title_follow_each_rating(page: Page, address: str) -> None:
    with page.expect_response("**/ahead*"):
        page.goto(f"{address}rounds/pilot/rate")
    titles = [page.title()]
    for number in (1, 2, 3):
        page.wait_for_timeout(1100)  # the pace counts whole seconds
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(page.locator("#saved")).to_have_text("All saved")
        expect(page.locator(".count")).to_have_text(f"{number} of 4")
        assert (
            page.locator("progress").get_attribute("value") == str(number)
            or page.evaluate("document.querySelector('progress').value") == number
        )
        expect(page.locator(".pace")).to_contain_text(" s per item, about 1 min left")
        heading = page.locator("h1").inner_text()
        assert page.title() == f"pilot · {heading}"
        titles.append(page.title())
    assert len(set(titles)) == 4
    page.keyboard.press("z")  # an item that is rated again is not counted twice
    expect(page.locator(".count")).to_have_text("3 of 4")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator(".count")).to_have_text("3 of 4")


@pytest.mark.browser
@pytest.mark.parametrize("page", ["rater-2"], indirect=True)
def test_practice_goes_on_with_enter_and_explains_a_mistake(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}rounds/phases/rate")
    page.keyboard.press("2")
    assert page.locator("input:checked").get_attribute("value") == "setting"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not quite")
    shown = page.locator("main").inner_text()
    for words in (
        "You answered", "model setting", "Right answer", "model training", "Everything that happens while it learns.",
        "A layer learns while it is trained.",
    ):  # fmt: skip
        assert words in shown
    assert_for_everyone(page)
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("Practice")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Right")
    page.keyboard.press("Enter")
    expect(page.locator(".count")).to_have_text("0 of 4")
    expect(page.locator(".notice")).to_have_count(0)
    for width, height in ((1280, 900), (320, 640)):
        page.set_viewport_size({"width": width, "height": height})
        for part in (
            page.get_by_role("button", name="Save and next"),
            page.locator("progress"),
            page.locator(".count"),
        ):
            box = part.bounding_box()
            assert box is not None
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height
    assert_for_everyone(page)
    page.get_by_role("link", name="My ratings").first.click()
    page.wait_for_url("**/mine*")


def test_own_ratings_stay_reachable_and_show_titles(tmp_path: Path) -> None:
    study = prepare(tmp_path / "study")
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        rater = visitor(app)
        join(rater, invited(study.root, Role.RATER, "rater-1"))
        for path in ("/", "/codebook", "/me", "/rounds/pilot/rate"):
            assert 'href="/mine"' in rater.get(path).text, path
        assert "no items rated" in rater.get("/mine").text
        items = [row["item"] for row in list_rater_items(study, "pilot", "rater-1", left_only=True)]
        with open_coding(study) as coding:
            for name in ("rater-1", "rater-2"):
                for item in items:
                    rate(coding, "pilot", name, item, {"relevance": "keep"})
        assert "pilot" in rater.get("/mine").text
        own = rater.get("/rounds/pilot/mine").text
        assert all(f"how to save layer {item.rpartition('/')[2]}<" in own for item in items)
        assert f"?item={items[0].replace('/', '%2F')}" in own or f"?item={items[0]}" in own
        close_by_name(study, "pilot", None)
        closed = rater.get("/rounds/pilot/mine").text
        assert "how to save layer" in closed
        assert "?item=" not in closed, "a rating of a closed round cannot be changed"
        assert 'href="/mine"' not in signed_in(app, study.root, Role.LEAD).get("/").text, "the lead rates nowhere"
