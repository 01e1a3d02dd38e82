"""Answering in a real browser: by keyboard alone, without scripts, on a narrow screen, and readable by everybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, answered, fielded, small_survey
from tests.support.windows import assert_for_everyone, complaints_of, serving, width_of

from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.mailing import MailRequest, plan_mails
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.recipients import add_recipients

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def links() -> dict[str, str]:
    """Addresses of responses by how far they have come, filled by the study below."""
    return {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, links: dict[str, str]) -> Path:
    folder = tmp_path_factory.mktemp("answering") / "study"
    small_survey(folder, QUESTIONNAIRE, "later")
    asked = {"begun": 0, "you": 1, "tools": 2, "words": 3, "finished": 4}
    with fielded(folder) as surveys:
        for state, pages in asked.items():
            links[state] = answered(surveys, forms=dict(list(FORMS.items())[:pages]))[0]
        links["declined"] = answered(surveys, forms={"consent": {"q.consent": ["decline"]}})[0]
        out = {**FORMS, "you": {"q.converted": ["no"], "q.role": ["research"]}}
        links["screened"] = answered(surveys, forms=out)[0]
        links["german"] = answered(surveys, forms={}, language="de")[0]
        people = folder.with_name("people.csv")
        people.write_text("e-mail\nanna@example.org\n", "utf-8")
        add_recipients(surveys, NAME, people, "first", "pro")
        [anna] = plan_mails(surveys, MailRequest(NAME)).people
        links["invitation by e-mail"], links["no more e-mails"] = anna.token, f"{anna.token}/stop"
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield f"{base}s/"


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until a field has the focus, and see that one can see it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if has_focus(wanted):
            assert wanted.evaluate("one => getComputedStyle(one).outlineStyle") != "none"
            return
    raise AssertionError(f"no way by keyboard to {wanted}")


def go_on(page: Page, button: str = "Next") -> None:
    tab_to(page, page.get_by_role("button", name=button))
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert width_of(page) <= 320


def has_focus(wanted: Locator) -> bool:
    return bool(wanted.evaluate("one => one === document.activeElement"))


def test_a_survey_can_be_answered_by_keyboard_without_javascript_at_320_pixels(
    browser: Browser, address: str, folder: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 700})
    page = context.new_page()
    complaints = complaints_of(page, address.removesuffix("s/"))
    page.goto(f"{address}{NAME}")
    go_on(page, "Begin")
    link = page.url
    tab_to(page, page.get_by_label("I agree", exact=True))
    page.keyboard.press("Space")
    go_on(page)
    answer_about_oneself(page)
    assert "You said: Other: Teaching." in page.inner_text("main")
    answer_about_tools(page)
    answer_in_words(page)
    assert page.url == f"{link}/end"
    assert "Thank you: this helps." in page.inner_text("main")
    assert [complaint for complaint in complaints if "status of 422" not in complaint] == []
    context.close()
    with open_surveys(open_study(folder)) as surveys:
        found = surveys.answers.find(link.rpartition("/")[2])
    assert found is not None
    assert found.standing is ResponseStatus.FINISHED
    assert found.answers["role"] == {"choices": ["other"], "texts": {"other": "Teaching"}}
    assert found.answers["used"] == {"choices": ["torchscript", "other"], "texts": {"other": "ours"}}
    assert found.answers["order"] == {"ranks": ["speed", "accuracy", "size"]}
    assert found.answers["hardest"] == {"text": "Custom layers.\nAlways."}
    assert set(found.answers["met"]["rows"].values()) == {"rarely"}
    assert "_trap" not in found.answers


def answer_about_oneself(page: Page) -> None:
    go_on(page)  # nothing is answered: the summary says so and has the focus
    summary = page.get_by_role("alert")
    assert "Please check 2 questions" in summary.inner_text()
    assert has_focus(summary)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # its first link leads to the question
    page.keyboard.press("Tab")
    assert has_focus(page.get_by_label("Yes"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_label("Research"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("Other", exact=True).is_checked()
    tab_to(page, page.get_by_label("Other: What describes you best?"))
    page.keyboard.type("Teaching")
    tab_to(page, page.get_by_label("For how many years?"))
    page.keyboard.type("4")
    go_on(page)


def answer_about_tools(page: Page) -> None:
    tab_to(page, page.get_by_label("TorchScript"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_label("Other: Which have you used"))
    page.keyboard.type("ours")
    rows = ("Wrong results", "A crash", "Missing operators")
    for _ in rows:  # in whatever order they come
        page.keyboard.press("Tab")
        while page.locator(":focus").get_attribute("type") != "radio":
            page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
    for row in rows:
        assert page.get_by_role("group", name=row, exact=True).get_by_label("Rarely").is_checked()
    go_on(page)


def answer_in_words(page: Page) -> None:
    for place, option in enumerate(("Speed", "Accuracy", "Size"), start=1):
        tab_to(page, page.get_by_label(option))
        page.keyboard.type(str(place))
    label = page.get_by_text("Accuracy").bounding_box()
    assert label is not None
    assert label["width"] > label["height"], "the place leaves no room for what is ranked"
    tab_to(page, page.get_by_label("What was hardest?"))
    page.keyboard.type("Custom layers.")
    page.keyboard.press("Enter")
    page.keyboard.type("Always.")
    go_on(page, "Send")


STATES = (
    "begin", "begun", "you", "wrong", "tools", "words", "finished", "declined", "screened", "german", "withdraw",
    "no such survey", "no such code", "not open yet", "invitation by e-mail", "no more e-mails",
)  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_respondent_pages_are_accessible_at_every_width(
    browser: Browser, address: str, links: dict[str, str], state: str
) -> None:
    elsewhere = {
        "begin": NAME,
        "wrong": f"{NAME}/{links['you']}",
        "withdraw": f"{NAME}/{links['finished']}/withdraw",
        "no such survey": "nothing",
        "no such code": f"{NAME}/nothing",
        "not open yet": "later",
        **{state: f"../i/{links[state]}" for state in ("invitation by e-mail", "no more e-mails")},
    }
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    complaints = complaints_of(page, address.removesuffix("s/"))
    page.goto(f"{address}{elsewhere.get(state) or NAME + '/' + links[state]}")
    if state == "wrong":
        page.get_by_label("For how many years?").fill("a few")
        page.get_by_role("button", name="Next").click()
        assert page.get_by_label("For how many years?").input_value() == "a few"
    assert_for_everyone(page)
    assert [complaint for complaint in complaints if "the server responded with a status of 4" not in complaint] == []
    page.close()
