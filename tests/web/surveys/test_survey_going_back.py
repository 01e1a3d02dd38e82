"""Going back and taking an answer back: nothing typed is lost, nothing is asked for, and nothing is decided by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from starlette.testclient import TestClient
from tests.support.answering import asking, begun, fields_on, kept, send, sent_again
from tests.support.desk import browser as visitor
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, Form, fielded
from tests.support.windows import serving

from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.flow import missing_reason
from quaestor.surveys.model.records import Missing, ResponseStatus
from quaestor.surveys.respond import read_questionnaire_for

BACK: Form = {"go": ["back"]}
OPTIONAL = QUESTIONNAIRE.replace("required = true\nshuffle = true", "shuffle = true").replace(
    '["First", "Second"]', '["First", { label = "Second", description = "The one after the first." }]'
)
"""The same survey with a matrix that nobody has to answer, and an option that is described."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "study"


@pytest.fixture
def respondent(folder: Path) -> Iterator[TestClient]:
    with asking(folder, OPTIONAL) as app, closing(visitor(app)) as opened:
        yield opened


def come_to(opened: TestClient, *pages: str) -> str:
    link = begun(opened)
    for page in pages:
        assert send(opened, link, FORMS[page]).status_code == 303
    return link


def test_going_back_saves_typed_answers_without_requiring_others(respondent: TestClient, folder: Path) -> None:
    link = come_to(respondent, "consent")
    own = fields_on(respondent.get(link).text)
    typed = {"q.role": ["other"], "q.role.other.text": ["Teaching"], "q.years": ["4"]}  # one that is required lacks
    for _ in range(2):  # pressed twice it is one sending
        answer = sent_again(respondent, link, own, {**typed, **BACK})
        assert (answer.status_code, answer.headers["location"]) == (303, f"{link}?page=consent")
    standing, answers, pages = kept(folder, link)
    assert (standing, pages) == (ResponseStatus.OPEN, ["consent", "you"])
    assert answers["role"] == {"choices": ["other"], "texts": {"other": "Teaching"}}
    assert "converted" not in answers
    assert send(respondent, f"{link}?page=consent", FORMS["consent"]).headers["location"] == link
    shown = respondent.get(link).text
    assert "<h1>You and your models</h1>" in shown, "the page has to be sent still"
    assert 'value="other" checked' in shown
    assert 'value="Teaching"' in shown
    assert send(respondent, link, typed).status_code == 422
    assert sent_again(respondent, link, own, {**typed, "q.converted": ["yes"]}).headers["location"] == link
    assert "<h1>Tools</h1>" in respondent.get(link).text


def test_a_form_sent_again_after_going_back_is_saved(respondent: TestClient, folder: Path) -> None:
    """A browser may go back to the form it had, with the key it had."""
    link = come_to(respondent, "consent")
    own = fields_on(respondent.get(link).text)
    sent_again(respondent, link, own, {**FORMS["you"], **BACK})
    assert sent_again(respondent, link, own, FORMS["you"]).headers["location"] == link
    assert kept(folder, link)[2] == ["consent", "you", "you"]
    assert "<h1>Tools</h1>" in respondent.get(link).text


def test_an_invalid_answer_is_shown_again_when_going_back(respondent: TestClient, folder: Path) -> None:
    link = come_to(respondent, "consent")
    wrong = send(respondent, link, {"q.years": ["a few"], **BACK})
    assert wrong.status_code == 422
    assert "Please check one question" in wrong.text
    assert 'value="a few"' in wrong.text
    assert kept(folder, link)[2] == ["consent"]


def test_going_back_neither_ends_nor_finishes_a_response(respondent: TestClient, folder: Path) -> None:
    link = come_to(respondent, "consent")
    ends = {"q.converted": ["no"], "q.role": ["research"]}
    send(respondent, link, {**ends, **BACK})
    assert kept(folder, link)[0] is ResponseStatus.OPEN
    for page in ("you", "tools"):
        send(respondent, link, FORMS[page])
    assert send(respondent, link, {**FORMS["words"], **BACK}).headers["location"] == f"{link}?page=tools"
    assert kept(folder, link)[0] is ResponseStatus.OPEN
    send(respondent, f"{link}?page=you", {**ends, **BACK})  # of a page that was sent before
    standing, answers, _ = kept(folder, link)
    assert (standing, answers["converted"]) == (ResponseStatus.OPEN, {"choices": ["no"]})
    assert "<h1>You and your models</h1>" in respondent.get(link).text, "it is not sent any more"
    send(respondent, link, FORMS["you"])
    assert "<h1>In your own words</h1>" in respondent.get(link).text
    assert send(respondent, link, FORMS["words"]).headers["location"] == f"{link}/end"


def test_going_back_without_changes_changes_nothing(respondent: TestClient, folder: Path) -> None:
    link = come_to(respondent, "consent", "you", "tools")
    before = kept(folder, link)
    assert send(respondent, f"{link}?page=tools", {**FORMS["tools"], **BACK}).headers["location"] == f"{link}?page=you"
    assert kept(folder, link)[1] == before[1]
    assert "<h1>In your own words</h1>" in respondent.get(link).text


def test_going_back_does_not_take_a_place_in_a_full_group(folder: Path) -> None:
    quota = '\n[[survey.quotas]]\nof = "role = other"\nmost = 1\n\n[research]'
    with asking(folder, QUESTIONNAIRE.replace("\n[research]", quota, 1)) as app, closing(visitor(app)) as opened:
        first, second = (come_to(opened, "consent") for _ in range(2))
        send(opened, first, FORMS["you"])
        send(opened, second, {**FORMS["you"], **BACK})
        assert kept(folder, second)[0] is ResponseStatus.OPEN
        assert kept(folder, second)[1]["years"] == {"number": "4"}
        send(opened, second, FORMS["you"])
        assert kept(folder, second)[0] is ResponseStatus.SCREENED_OUT


def test_an_optional_answer_can_be_cleared_and_counts_as_skipped(respondent: TestClient, folder: Path) -> None:
    link = come_to(respondent, "consent", "you", "tools")
    shown = respondent.get(f"{link}?page=tools").text
    assert shown.count(">No answer<") == 4 + 1 + 1, "for each row with its heading, and one choice"
    emptied = {**FORMS["tools"], "q.careful": [""], "q.met.a-crash": [""]}
    assert send(respondent, f"{link}?page=tools", emptied).status_code == 303
    answers = kept(folder, link)[1]
    assert answers["careful"] == {}
    assert answers["met"]["rows"].keys() == {"wrong-results", "missing-operators", "other"}  # type: ignore[index]
    emptied |= {name: [""] for name in FORMS["tools"] if name.startswith("q.met")}
    send(respondent, f"{link}?page=tools", emptied)
    with open_surveys(open_study(folder)) as surveys:
        found = surveys.answers.find(link.split("/")[3])
        assert found is not None
        questionnaire = read_questionnaire_for(surveys, found)
        for name in ("careful", "met"):
            question = questionnaire.question(name)
            assert question is not None
            assert missing_reason(questionnaire, found, question) is Missing.SKIPPED


def test_no_answer_together_with_other_text_is_rejected(tmp_path: Path) -> None:
    free = QUESTIONNAIRE.replace('hint = "One answer."\nrequired = true', "")
    with asking(tmp_path, free) as app, closing(visitor(app)) as opened:
        link = come_to(opened, "consent")
        both = {**FORMS["you"], "q.role": [""]}
        answer = send(opened, link, both)
        assert answer.status_code == 422
        assert "clear the text next to &#39;Other&#39;" in answer.text
        assert send(opened, link, {**both, "q.role.other.text": [""]}).status_code == 303
        assert kept(tmp_path, link)[1]["role"] == {}


@pytest.mark.browser
@pytest.mark.parametrize("script", [True, False])
def test_going_back_works_in_a_browser_with_and_without_javascript(
    browser: Browser, tmp_path: Path, script: bool
) -> None:
    folder = tmp_path / "study"
    with fielded(folder, OPTIONAL):
        pass
    with serving(folder) as address:
        context = browser.new_context(java_script_enabled=script, viewport={"width": 320, "height": 700})
        page = context.new_page()
        page.goto(f"{address}s/{NAME}")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url(f"**/s/{NAME}/*")
        link = page.url
        page.get_by_label("I agree", exact=True).check()
        page.get_by_role("button", name="Next").click()
        page.get_by_label("For how many years?").fill("7")
        page.get_by_role("button", name="Back").click()
        page.wait_for_url(f"{link}?page=consent")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_label("For how many years?")).to_have_value("7")
        page.get_by_label("Yes").check()
        page.get_by_label("Research").check()
        page.get_by_label("For how many years?").press("Enter")  # goes on, not back
        page.get_by_text("The one after the first.").click()
        described = page.get_by_role("radio", name="Second", exact=True)
        expect(described).to_be_checked()
        expect(described).to_have_accessible_description("The one after the first.")
        page.get_by_role("group", name="Please choose the second answer.").get_by_label("No answer").check()
        crash = page.get_by_role("group", name="A crash", exact=True)
        crash.get_by_label("Often").check()
        crash.get_by_label("No answer").check()
        page.get_by_role("button", name="Next").click()
        page.get_by_role("heading", name="In your own words").wait_for()
        context.close()
    answers = kept(folder, link.removeprefix(address.rstrip("/")))[1]
    assert (answers["years"], answers["careful"], answers["met"]) == ({"number": "7"}, {}, {})
