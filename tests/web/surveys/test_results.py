"""Survey results: every number opens that many answers, for roles that may read results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, closing_app, invited, signed_in
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, STUDY, answered, fielded
from tests.support.windows import complaints_of, serving, session_after, width_of

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.surveys.invitations import invite
from quaestor.surveys.lifecycle import Surveys
from quaestor.web.app import make_app

RESULTS, ANSWERS = f"/surveys/{NAME}/results", f"/surveys/{NAME}/answers"
HOSTILE = "<script>alert(1)</script> & “quoted”"
WEIGHTS = """
[weights.tools]
method = "post-stratification"
margins = [{ by = "role", targets = { research = 80, other = 20 } }]
"""
NONE = {**FORMS["tools"], "q.used": ["none"], "q.used.other.text": [], "q.why-none": [HOSTILE]}


def filled(surveys: Surveys) -> None:
    for number in range(6):
        tools = NONE if number == 0 else FORMS["tools"]
        role = {**FORMS["you"], "q.role": ["research"], "q.role.other.text": []} if number < 3 else FORMS["you"]
        answered(surveys, forms={**FORMS, "you": role, "tools": tools}, stratum="pro")
    answered(surveys, forms={"consent": FORMS["consent"]})
    invite(surveys, NAME, "first", "pro", 12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("survey-results") / "study"
    found.mkdir()
    (found / "study.toml").write_text(STUDY + WEIGHTS, "utf-8")
    with fielded(found) as surveys:
        filled(surveys)
    return found


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[Starlette]:
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture(scope="module")
def reader(app: Starlette, folder: Path) -> TestClient:
    return signed_in(app, folder, Role.REVIEWER)


@pytest.mark.parametrize("query", ["", "?by=role", "?unfinished=1&by=stratum"])
def test_every_number_opens_that_many_answers(reader: TestClient, query: str) -> None:
    page = reader.get(RESULTS + query)
    assert page.status_code == 200
    links = re.findall(rf'<a href="({ANSWERS}[^"]*)">([\d,]+)</a>', page.text)
    assert len(links) > 25
    for address, count in links:
        behind = reader.get(unescape(address))
        assert behind.status_code == 200, address
        assert re.search(rf"<h1>{count} responses?</h1>", behind.text), address
        assert behind.text.count('<p class="id">') == int(count)


def test_weighted_numbers_are_next_to_the_others(reader: TestClient, folder: Path) -> None:
    page = re.sub(r"<[^>]+>", " ", reader.get(RESULTS).text)
    assert "Weighted by post-stratification: effective sample size 4.4 of 6" in page
    assert re.search(r"Research\s+3\s+50\.0%\s+18\.8% to 81\.2%\s+80\.0%", page)
    file = folder / "study.toml"
    right = file.read_text("utf-8")
    file.write_text(right.replace("other = 20", "engineering = 20"), "utf-8")
    try:
        refused = reader.get(RESULTS)
    finally:
        file.write_text(right, "utf-8")
    assert refused.status_code == 200
    assert (
        "Results are not weighted. study.toml: weights.tools: role = other (3 responses) has no target" in refused.text
    )
    assert "weighted share" not in refused.text


def test_results_state_bases_reasons_and_excluded_responses(reader: TestClient) -> None:
    page = re.sub(r"<[^>]+>", "", reader.get(RESULTS).text)
    assert "6 responses are counted. Not counted: 1 not finished." in page
    assert "1 answered · 5 not shown" in page
    assert "multiple answers possible, so shares can add up to more than 100%" in page
    assert "7 responses are counted." in reader.get(f"{RESULTS}?unfinished=1").text
    compared = reader.get(f"{RESULTS}?by=role").text
    assert "Cramér&#39;s V" in compared
    assert "Interpret with caution" in compared


def test_results_are_filtered_by_an_answer_that_the_page_offers(reader: TestClient) -> None:
    page = reader.get(RESULTS).text
    offered = page.partition('<select id="where"')[2].partition("</select>")[0]
    assert '<optgroup label="What describes you best?"><option value="role=research">Research</option>' in offered
    filtered = reader.get(f"{RESULTS}?where=role=research").text
    assert "3 responses are counted, where role=research. Not counted: 1 not finished, 3 not selected." in filtered
    assert '<option value="role=research" selected>' in filtered


def test_a_filter_that_nobody_meets_can_be_changed(reader: TestClient) -> None:
    page = reader.get(f"{RESULTS}?where=role=engineering").text
    assert "0 responses are counted, where role=engineering." in page
    assert '<select id="where"' in page
    assert "No finished responses yet" not in page


def test_html_in_free_text_answers_is_shown_as_text(reader: TestClient) -> None:
    for page in (reader.get(RESULTS).text, reader.get(f"{ANSWERS}?question=why-none").text):
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; “quoted”" in page


def test_a_figure_is_drawn_only_for_a_question_that_has_one(reader: TestClient) -> None:
    drawn = reader.get(f"/surveys/{NAME}/drawing?question=met")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert "Wrong results" in drawn.text
    assert "n = 6" in drawn.text
    assert ">Research<" in reader.get(f"/surveys/{NAME}/drawing?question=met&by=role").text
    for name in ("hardest", "unknown", ""):
        assert reader.get(f"/surveys/{NAME}/drawing?question={name}").status_code == 404


def test_consent_is_one_line_without_a_table_and_questions_are_not_shortened(reader: TestClient) -> None:
    page = reader.get(RESULTS).text
    assert "Do you agree to take part? <strong>7 agreed</strong>, 0 did not." in page
    assert "Table: Do you agree to take part?" not in page
    assert "Table: How often did you meet these?" in page
    listed = re.findall(r'<li><a href="#question-\d+">([^<]+)</a>', page)
    assert listed[0] == "Have you converted a model?"
    assert "..." not in "".join(listed)


@pytest.mark.parametrize("query", ["", "?by=role"])
def test_figures_are_loaded_with_the_page_and_have_reserved_space(reader: TestClient, query: str) -> None:
    found = r'<(?:img src|source media="[^"]+" srcset)="([^"]+)"([^>]*)>'
    images = re.findall(found, reader.get(RESULTS + query).text)
    assert [("narrow" in address) for address, _ in images] == [True, False] * 2
    for address, attributes in images:
        size = re.search(r'width="(\d+)" height="(\d+)"', reader.get(unescape(address)).text)
        assert size is not None
        assert f'width="{size[1]}" height="{size[2]}"' in attributes
        assert "lazy" not in attributes


def test_an_invalid_request_for_results_is_rejected_in_one_sentence(reader: TestClient) -> None:
    wrong = reader.get(f"{RESULTS}?by=years")
    assert wrong.status_code == 422
    assert "has no options to compare by" in wrong.text
    assert "6 responses are counted" in wrong.text, "the results stand there all the same"
    assert reader.get(f"{ANSWERS}?question=nothing").status_code == 409
    assert reader.get(ANSWERS).status_code == 404
    assert reader.get(f"{ANSWERS}?question=role&page=2").status_code == 404
    assert reader.get("/surveys/unknown/results").status_code == 409


def test_the_lead_sees_links_to_the_other_pages_of_the_survey(app: Starlette, folder: Path) -> None:
    page = signed_in(app, folder, Role.LEAD).get(RESULTS).text
    assert f'<a href="{RESULTS}" aria-current="page">Results</a>' in page
    assert f'href="/surveys/{NAME}/responses"' in page


def test_raters_cannot_see_survey_results(app: Starlette, folder: Path) -> None:
    rater = signed_in(app, folder, Role.RATER)
    for path in (RESULTS, f"{ANSWERS}?question=role", f"/surveys/{NAME}/drawing?question=met"):
        assert rater.get(path).status_code == 403


def test_a_survey_without_answers_shows_what_to_do(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE):
        pass
    with closing_app(make_app(tmp_path / "study", passwords=Passwords(QUICK))) as app:
        page = signed_in(app, tmp_path / "study", Role.VIEWER).get(RESULTS)
    assert page.status_code == 200
    assert "Share the link" in page.text


@pytest.mark.browser
def test_results_are_accessible_and_a_number_opens_its_answers_by_keyboard(browser: Browser, folder: Path) -> None:
    with serving(folder) as address:
        state = session_after(f"{address}join/{invited(folder, Role.VIEWER)}")
        for width, theme in ((320, "dark"), (1280, "light")):
            context = browser.new_context(
                viewport={"width": width, "height": 800}, storage_state=state, color_scheme=theme  # type: ignore[arg-type]
            )  # fmt: skip
            page = context.new_page()
            complaints = complaints_of(page, address)
            for path in (f"{RESULTS[1:]}?by=role", f"{ANSWERS[1:]}?question=role&option=research"):
                page.goto(f"{address}{path}")
                expect(page.get_by_role("heading", level=1)).to_be_visible()
                assert Axe().run(page).response["violations"] == []
                assert width_of(page) <= width
            page.goto(f"{address}{RESULTS[1:]}")
            drawing = page.get_by_role("img", name="Bars of the answers").first
            expect(drawing).to_have_js_property("complete", True)
            assert drawing.evaluate("image => image.naturalWidth") == (300 if width == 320 else 760)
            box = drawing.locator("xpath=ancestor::div")
            assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), "it is read without sideways scrolling"
            page.get_by_role("row", name="Research").get_by_role("link").first.focus()
            page.keyboard.press("Enter")
            expect(page.get_by_role("heading", level=1)).to_have_text("3 responses")
            assert complaints == []
            context.close()
