"""Dates, sliders, limited choices and patterns in a real browser: without scripts, by keyboard, and accessible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.support.small_survey import NAME, answered, fielded
from tests.support.windows import assert_for_everyone, complaints_of, serving

from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import open_surveys

pytestmark = pytest.mark.browser
QUESTIONNAIRE = """
[survey]
title = "Fields of every kind"
languages = ["en", "de", "ar"]

[[pages]]
page = "consent"

[[pages.questions]]
id = "channel"
kind = "link-value"
text = "Where the link was published"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "fields"

[[pages.questions]]
id = "variant"
kind = "variant"
text = "Wording"
options = ["A", "B"]

[[pages.questions]]
id = "began"
kind = "date"
text = "When did you begin?"
hint = "Roughly."
earliest = 2020-01-01

[[pages.questions]]
id = "ease"
kind = "slider"
text = "How easy was it?"
low = 0
high = 10
low_label = "very hard, and nobody could help"
high_label = "very easy, it worked at once"

[[pages.questions]]
id = "speed"
kind = "slider"
text = "How fast was it?"
low = 0
high = 100
step = 5

[[pages.questions]]
id = "calm"
kind = "slider"
text = "How calm were you?"
low = 0
high = 4

[[pages.questions]]
id = "tools"
kind = "multiple"
text = "Which two do you use most?"
min_choices = 2
max_choices = 2
options = ["Ant", "Bazel", "CMake"]

[[pages.questions]]
id = "release"
kind = "text"
text = "Which release?"
pattern = '[0-9]+\\.[0-9]+'
pattern_message = "Write it like 2.1."
pattern_example = "2.1"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fields") / "study"
    with fielded(folder, QUESTIONNAIRE):
        pass
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield f"{base}s/"


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_the_fields_work_by_keyboard_without_scripts_at_320_pixels(
    browser: Browser, address: str, folder: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 700}, locale="en-GB")
    page = context.new_page()
    page.goto(f"{address}{NAME}?channel=forum")
    assert "Where the link was published: forum" in page.inner_text("main")
    page.get_by_role("button", name="Begin").click()
    link = page.url
    assert "Where the link was published: forum" in page.inner_text("main")
    page.get_by_label("I agree", exact=True).focus()
    press(page, "Space", "Enter")
    page.wait_for_url(link)
    page.get_by_label("When did you begin?").focus()
    page.keyboard.type("02022024")  # the same day in every order of month and day
    page.get_by_role("slider", name="How easy was it?").focus()
    press(page, "ArrowRight", "ArrowRight")
    page.get_by_label("The slider is in the right place").nth(2).focus()
    press(page, "Space")
    page.get_by_label("Ant").focus()
    press(page, "Space")
    page.get_by_label("Which release?").fill("two")
    page.get_by_role("button", name="Send").click()
    text = page.inner_text("main")
    assert "You chose 1: please choose at least 2." in text
    assert "Write it like 2.1." in text
    assert page.get_by_role("slider", name="How easy was it?").input_value() == "7"
    page.get_by_label("Bazel").check()
    page.get_by_label("Which release?").fill("2.1")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(f"{link}/end")
    context.close()
    with open_surveys(open_study(folder)) as surveys:
        response = surveys.answers.find(link.rpartition("/")[2])
    assert response is not None
    answers = {name: answer for name, answer in response.answers.items() if name != "variant"}
    assert answers == {
        "channel": {"text": "forum"},
        "consent": {"choices": ["agree"]},
        "began": {"date": "2024-02-02"},
        "ease": {"number": "7"},
        "speed": {},
        "calm": {"number": "2"},
        "tools": {"choices": ["ant", "bazel"]},
        "release": {"text": "2.1"},
    }


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_fields_are_accessible_at_every_width(browser: Browser, address: str, folder: Path, language: str) -> None:
    with open_surveys(open_study(folder)) as surveys:
        forms = {"consent": {"q.consent": ["agree"]}}
        code, _ = answered(surveys, NAME, forms, language=language)
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    complaints = complaints_of(page, address.removesuffix("s/"))
    page.goto(f"{address}{NAME}?channel=forum&language={language}")
    assert_for_everyone(page)
    page.goto(f"{address}{NAME}/{code}")
    assert_for_everyone(page)
    page.get_by_label("Which release?").fill("two")
    page.get_by_label("Ant").check()
    page.get_by_role("button").first.click()
    assert "Write it like 2.1." in page.inner_text("main")
    assert_for_everyone(page)
    assert [complaint for complaint in complaints if "status of 422" not in complaint] == []
    page.close()
