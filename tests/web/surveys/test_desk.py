"""The lead's desk for surveys: preview, opened and closed, versions, responses, flags, decisions, invitations."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, invited, post, signed_in
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, answered, fielded, small_survey
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import Surveys, close_survey, open_surveys
from quaestor.web.app import make_app

PAGES = ("", "/preview", "/responses", "/flags", "/invitations")
NEWER = QUESTIONNAIRE.replace('"TorchScript",', '"TorchScript", "TensorRT",')
SLOW, FAST = 30, 2
"""Seconds on each page; the questionnaire flags who is faster than 20 in all."""


def filled(surveys: Surveys) -> dict[str, str]:
    """Somebody in every standing; their responses by what they did."""
    other = {**FORMS, "you": {**FORMS["you"], "q.role": ["research"], "q.role.other.text": [""]}}
    return {
        "finished": answered(surveys, seconds=SLOW)[1].id,
        "fast": answered(surveys, forms=other, seconds=FAST)[1].id,
        "under way": answered(surveys, forms={"consent": FORMS["consent"]})[1].id,
        "declined": answered(surveys, forms={"consent": {"q.consent": ["decline"]}})[1].id,
        "screened out": answered(
            surveys, forms={**FORMS, "you": {"q.converted": ["no"], "q.role": ["research"]}}
        )[1].id,
    }  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_survey(tmp_path / "study")


@pytest.fixture
def answered_survey(tmp_path: Path) -> tuple[Study, dict[str, str]]:
    """The survey is open and was answered in every way."""
    with fielded(tmp_path / "study") as surveys:
        return surveys.study, filled(surveys)


def opened(study: Study) -> Starlette:
    return make_app(study.root, passwords=Passwords(QUICK))


@pytest.fixture
def lead(study: Study) -> Iterator[TestClient]:
    with closing_app(opened(study)) as app:
        yield signed_in(app, study.root)


@pytest.fixture
def following(answered_survey: tuple[Study, dict[str, str]]) -> Iterator[TestClient]:
    """The lead of the survey that was answered."""
    with closing_app(opened(answered_survey[0])) as app:
        yield signed_in(app, answered_survey[0].root)


def act(lead: TestClient, act: str, name: str = NAME) -> int:
    return post(lead, f"/surveys/{name}/acts", {"act": act}, f"/surveys/{name}").status_code


def test_a_study_without_questionnaires_explains_how_to_write_one(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "study")
    (study.root / "instruments" / f"{NAME}.toml").unlink()
    with closing_app(opened(study)) as app:
        page = signed_in(app, study.root).get("/surveys")
    assert "instruments/NAME.toml" in page.text
    assert "--template onnx-interoperability" in page.text
    assert ">Surveys</a>" not in page.text


def test_viewing_a_draft_writes_nothing(lead: TestClient, study: Study) -> None:
    for path in ("/surveys", *(f"/surveys/{NAME}{more}" for more in ("", "/preview", "/invitations"))):
        assert lead.get(path).status_code == 200, path
        assert f'/surveys/{NAME}/responses"' not in lead.get(path).text, path
    assert lead.get(f"/surveys/{NAME}/responses").status_code == 409
    assert {path.name for path in study.root.iterdir()} == {"study.toml", "instruments", "people.db"} | {
        path.name for path in study.root.glob("people.db-*")
    }


def test_a_survey_is_opened_closed_and_reopened(lead: TestClient, study: Study) -> None:
    page = lead.get(f"/surveys/{NAME}").text
    assert "Anyone with the link can answer from now on" in page
    assert act(lead, "open") == 303
    assert f"{HERE}/s/{NAME}" in lead.get(f"/surveys/{NAME}").text
    assert lead.get(f"/s/{NAME}").status_code == 200
    assert act(lead, "open") == 409
    assert act(lead, "close") == 303
    assert act(lead, "close") == 409
    assert "can finish" in lead.get(f"/surveys/{NAME}").text
    assert act(lead, "open") == 303
    assert act(lead, "sink") == 422
    with open_surveys(study) as surveys:
        assert (surveys.fielding(NAME).status, surveys.fielding(NAME).version) == ("open", 1)


def test_a_survey_by_invitation_shows_invitations_instead_of_a_public_link(lead: TestClient, study: Study) -> None:
    small_survey(study.root, QUESTIONNAIRE.replace("minutes = 4", "minutes = 4\nby_invitation = true"))
    assert act(lead, "open") == 303
    page = lead.get(f"/surveys/{NAME}").text
    assert "Invite people" in page
    assert "create invitations" in page
    assert f"{HERE}/s/{NAME}" not in page


def test_a_serious_problem_prevents_opening_and_an_unreadable_file_is_reported(lead: TestClient, study: Study) -> None:
    small_survey(study.root, QUESTIONNAIRE.replace('kind = "consent"', 'kind = "yes-no"'))
    page = lead.get(f"/surveys/{NAME}").text
    assert "Check results" in page
    assert "<summary>Open it" not in page
    assert post(lead, f"/surveys/{NAME}/acts", {"act": "open"}, "/me").status_code == 409
    small_survey(study.root, "[survey]\ntitle = 3")
    page = lead.get(f"/surveys/{NAME}")
    assert page.status_code == 200
    assert "The file cannot be read" in page.text
    assert str(study.root) not in page.text
    assert lead.get("/surveys").status_code == 200
    assert lead.get(f"/surveys/{NAME}/preview").status_code == 422


def test_a_changed_questionnaire_shows_its_changes_and_is_opened_as_a_new_version(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    study, responses = answered_survey
    assert "Changes in the file" not in following.get(f"/surveys/{NAME}").text
    small_survey(study.root, NEWER)
    page = following.get(f"/surveys/{NAME}").text
    assert "Changes in the file since version 1" in page
    assert "option “TensorRT” added" in page
    assert "Open version 2" in page
    assert act(following, "open") == 303
    assert "Changes in the file" not in following.get(f"/surveys/{NAME}").text
    with open_surveys(study) as surveys:
        assert surveys.fielding(NAME).version == 2
        kept = surveys.answers.response(responses["finished"])
    assert kept is not None
    assert kept.version == 1


def test_opening_a_version_asks_whether_a_replaced_option_is_the_same(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    study, _ = answered_survey
    file = study.root / "instruments" / f"{NAME}.toml"
    text = file.read_text("utf-8").replace('"Sometimes"', '"Now and then"').replace('unit = "years"', 'unit = "months"')
    file.write_text(text, "utf-8")
    page = following.get(f"/surveys/{NAME}").text
    assert "“Sometimes”; is “Now and then” the same step, reworded?" in page
    assert "the unit is now “months”: how are they converted?" in page
    step, unit = "edit:met:option:sometimes", "edit:years:unit:years"

    def form(fields: dict[str, str]) -> tuple[str, dict[str, str], str]:
        return f"/surveys/{NAME}/acts", {"act": "open", **fields}, f"/surveys/{NAME}"

    unanswered = post(following, *form({step: "", unit: ""}))
    assert unanswered.status_code == 409
    assert "the same step, reworded?" in unanswered.text
    done = post(following, *form({step: "now-and-then", unit: "12"}))
    assert done.status_code == 303
    written = file.read_text("utf-8")
    assert '{code = "sometimes", label = "Now and then"}' in written
    assert 'convert = {years = "12"}' in written
    page = following.get(f"/surveys/{NAME}/results").text
    assert "In version 1, “Now and then” read “Sometimes”." in page
    assert "multiplied by 12." in page


def test_a_reworded_option_can_be_opened_although_conditions_name_its_earlier_code(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    study, _ = answered_survey
    file = study.root / "instruments" / f"{NAME}.toml"
    assert 'show_if = "used = none"' in file.read_text("utf-8")
    text = file.read_text("utf-8").replace('{ code = "none", label = "None of these", alone = true }', '"No tool"')
    file.write_text(text, "utf-8")
    with open_surveys(study) as surveys:
        answered(surveys, forms={**FORMS, "tools": {**FORMS["tools"], "q.used": ["none"], "q.used.other.text": []}})
    page = following.get(f"/surveys/{NAME}").text
    assert "which is no option of" in page
    assert "<button>Open version 2</button>" in page
    fields = {"act": "open", "edit:used:option:none": "no-tool"}
    done = post(following, f"/surveys/{NAME}/acts", fields, f"/surveys/{NAME}")
    assert done.status_code == 303, done.text
    assert '{code = "none", label = "No tool"}' in file.read_text("utf-8")


def test_options_of_two_versions_are_merged_and_separated_at_the_desk(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    study, _ = answered_survey
    file = study.root / "instruments" / f"{NAME}.toml"
    assert "Options of earlier versions" not in following.get(f"/surveys/{NAME}").text
    file.write_text(file.read_text("utf-8").replace('"TorchScript"', '"Torch Script"'), "utf-8")
    assert act(following, "open") == 303
    page = following.get(f"/surveys/{NAME}").text
    assert "Count “TorchScript” as" in page
    offered = page.partition("Count “TorchScript” as")[2].partition("</select>")[0]
    assert re.findall(r'<option value="([^"]*)">', offered) == ["", "torch-script"]
    part = {"question": "used", "part": "option", "code": "torchscript"}

    def send_act(fields: dict[str, str]) -> int:
        return post(following, f"/surveys/{NAME}/acts", fields, f"/surveys/{NAME}").status_code

    assert send_act({"act": "merge", **part, "into": "none"}) == 409
    assert send_act({"act": "merge", **part, "into": "torch-script"}) == 303
    assert "“TorchScript” is counted as “Torch Script”" in following.get(f"/surveys/{NAME}").text
    assert "“Torch Script” read “TorchScript”." in following.get(f"/surveys/{NAME}/results").text
    assert send_act({"act": "undo merge", **part}) == 303
    assert "is counted as" not in following.get(f"/surveys/{NAME}").text


def test_a_deleted_questionnaire_file_leaves_the_open_survey_intact(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    (answered_survey[0].root / "instruments" / f"{NAME}.toml").unlink()
    for path in ("/surveys", f"/surveys/{NAME}", f"/surveys/{NAME}/responses"):
        assert following.get(path).status_code == 200, path
    assert "no longer exists" in following.get(f"/surveys/{NAME}").text


def test_the_questionnaire_is_shown_with_its_conditions_in_words(lead: TestClient) -> None:
    page = lead.get(f"/surveys/{NAME}").text
    assert "Shown if “Which have you used, as {role}?” is" in page
    assert "exclusive" in page
    assert "ends the survey" in page
    assert "For research question: Which tools carry models?" in page


def walked(lead: TestClient, page: str, fields: Mapping[str, object], step: str = "next") -> str:
    """Send a preview page as a browser does, with its hidden fields and current values."""
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page)
    data: dict[str, object] = {}
    for name, value in hidden:
        found = data.setdefault(name, [])
        assert isinstance(found, list)
        found.append(value)
    answer = lead.post(
        f"/surveys/{NAME}/preview", data={**data, **fields, "step": step}, headers={"origin": HERE}
    )  # fmt: skip
    assert answer.status_code == 200, answer.text
    return answer.text


def test_the_preview_shows_every_page_and_stores_nothing(lead: TestClient, study: Study) -> None:
    page = lead.get(f"/surveys/{NAME}/preview").text
    assert "Page 1 of 4" in page
    page = walked(lead, page, {"q.consent": "agree"})
    page = walked(lead, page, {"q.converted": "yes", "q.years": "many"})
    assert "Please check 2 questions" in page
    assert 'value="many"' in page
    page = walked(
        lead, page, {"q.converted": "yes", "q.role": "other", "q.role.other.text": "Teaching", "q.years": "4"}
    )
    assert "You said: Other: Teaching." in page
    assert "hidden with these answers" in page
    page = walked(lead, page, {}, "back")
    assert "Page 2 of 4" in page
    assert 'value="Teaching"' in page
    page = walked(lead, page, dict(FORMS["you"]))
    page = walked(lead, page, dict(FORMS["tools"]))
    page = walked(lead, page, {"q.hardest": "x"})
    assert "Thank you: this helps." in page
    assert "finished after 4 pages" in page
    assert "Page 4 of 4" in walked(lead, page, {}, "back")
    assert not (study.root / "answers.db").exists()
    assert not (study.root / "study.db").exists()


def test_the_preview_shows_a_page_again_with_its_follow_up_question(lead: TestClient) -> None:
    page = walked(lead, lead.get(f"/surveys/{NAME}/preview").text, {"q.consent": "agree"})
    page = walked(lead, page, dict(FORMS["you"]))
    said = {**FORMS["tools"], "q.used": ["none"], "q.used.other.text": [""]}
    page = walked(lead, page, said)
    assert "Page 3 of 4" in page
    assert 'name="q.why-none"' in page
    assert "Page 4 of 4" in walked(lead, page, {**said, "q.why-none": ["no need"]})


def test_the_preview_ends_like_a_real_response_and_in_the_chosen_language(lead: TestClient) -> None:
    page = lead.get(f"/surveys/{NAME}/preview?language=de").text
    assert "Nehmen Sie teil?" in page
    assert "declined after 1 page" in walked(lead, page, {"q.consent": "decline"})
    page = walked(lead, page, {"q.consent": "agree"})
    assert "for people who have converted a model" in walked(lead, page, {"q.converted": "no", "q.role": "research"})
    assert lead.get(f"/surveys/{NAME}/preview?language=fr").status_code == 422


def test_responses_are_filtered_by_status(following: TestClient, answered_survey: tuple[Study, dict[str, str]]) -> None:
    responses = answered_survey[1]
    page = following.get(f"/surveys/{NAME}/responses").text
    assert all(response in page for response in responses.values())
    for query, wanted in (
        ("standing=finished", {"finished", "fast"}),
        ("standing=open", {"under way"}),
        ("standing=screened+out", {"screened out"}),
        ("shown=flagged", {"fast"}),
        ("standing=declined&shown=flagged", set()),
    ):
        page = following.get(f"/surveys/{NAME}/responses?{query}").text
        assert {name for name, response in responses.items() if response in page} == wanted, query
    assert following.get(f"/surveys/{NAME}/responses?page=2").status_code == 404
    assert following.get(f"/surveys/{NAME}/responses?standing=odd").status_code == 409
    assert "2 finished, 1 declined" in re.sub(r"1 (in progress|screened out), ", "", following.get("/surveys").text)


def test_a_response_is_shown_with_its_answers_and_reasons_for_missing_ones(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    page = following.get(f"/surveys/{NAME}/responses/{answered_survey[1]['finished']}").text
    for words in ("Other: Teaching", "ONNX, the exchange format", "Wrong results: Often", "licences: Rarely",
                  "1. Accuracy", "4 years", "not shown", "Custom layers.\nThey never fit."):  # fmt: skip
        assert words in page, words
    page = following.get(f"/surveys/{NAME}/responses/{answered_survey[1]['under way']}").text
    assert "not reached" in page
    assert following.get(f"/surveys/{NAME}/responses/unknown").status_code == 409


def test_a_flagged_response_waits_for_a_decision_that_is_recorded_with_its_reason(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    study, responses = answered_survey
    fast, path = responses["fast"], f"/surveys/{NAME}/responses/{responses['fast']}"
    page = following.get(f"/surveys/{NAME}/flags").text
    assert fast in page
    assert "less than 20" in page
    assert "1 flagged response is waiting" in following.get(f"/surveys/{NAME}").text
    for fields, words in (
        ({"decision": "leave out", "why": " "}, "give a reason for keeping or excluding"),
        ({"why": "because"}, "choose whether"),
    ):
        refused = post(following, f"{path}/decision", fields, path)
        assert refused.status_code == 422
        assert words in refused.text
    done = post(following, f"{path}/decision", {"decision": "leave out", "why": "read nothing", "from": "flags"}, path)
    assert (done.status_code, done.headers["location"]) == (303, f"/surveys/{NAME}/flags")
    assert "All flags are decided" in following.get(f"/surveys/{NAME}/flags").text
    assert fast in following.get(f"/surveys/{NAME}/flags?every=yes").text
    assert fast in following.get(f"/surveys/{NAME}/responses?shown=left+out").text
    assert "read nothing" in following.get(path).text
    with open_surveys(study) as surveys:
        assert not surveys.fielding(NAME).decisions[fast].keep


def test_erasing_a_response_needs_a_reason_and_a_confirmation(
    following: TestClient, answered_survey: tuple[Study, dict[str, str]]
) -> None:
    study, responses = answered_survey
    path = f"/surveys/{NAME}/responses/{responses['finished']}"
    for fields, words in (
        ({"why": "asked"}, "confirm that you are sure"),
        ({"why": " ", "sure": "yes"}, "give a reason for erasing"),
    ):
        refused = post(following, f"{path}/erasure", fields, path)
        assert (refused.status_code, words in refused.text) == (422, True)
    done = post(following, f"{path}/erasure", {"why": "asked to by letter", "sure": "yes"}, path)
    assert (done.status_code, done.headers["location"]) == (303, f"/surveys/{NAME}/responses")
    assert responses["finished"] not in following.get(f"/surveys/{NAME}/responses").text
    assert "it may have been" in following.get(path).text
    with open_surveys(study) as surveys:
        assert surveys.answers.response(responses["finished"]) is None


def test_invitation_links_of_a_batch_are_shown_once_and_counted(lead: TestClient, study: Study) -> None:
    path = f"/surveys/{NAME}/invitations"
    made = post(lead, path, {"batch": "first", "stratum": "pro", "labels": "one\r\n=two\r\n"})
    assert made.headers["content-type"].startswith("text/csv")
    assert "attachment" in made.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(made.text)))
    assert [row["label"] for row in rows] == ["one", "'=two"]
    assert all(row["link"].startswith(f"{HERE}/i/") for row in rows)
    assert post(lead, path, {"batch": "second", "stratum": "normal", "count": "38"}).status_code == 200
    page = lead.get(path).text
    assert "0 of 40 invited people responded" in page
    token = rows[0]["link"].rpartition("/")[2]
    assert token not in page
    for fields in ({"batch": "third", "stratum": "pro", "count": "many"}, {"batch": "third", "stratum": "pro"}):
        refused = post(lead, path, fields)
        assert refused.status_code == 422
        assert 'value="third"' in refused.text


def test_readers_see_only_the_results_of_a_survey(answered_survey: tuple[Study, dict[str, str]]) -> None:
    study, responses = answered_survey
    with closing_app(opened(study)) as app:
        reader = signed_in(app, study.root, Role.REVIEWER)
        page = reader.get("/surveys").text
        assert ">Surveys</a>" in page
        assert "2 finished" in page
        assert f'"/surveys/{NAME}"' not in page
        assert not [response for response in responses.values() if response in page]
        assert ">Surveys</a>" not in signed_in(app, study.root, Role.RATER).get("/").text


def test_html_in_answers_is_shown_as_text(answered_survey: tuple[Study, dict[str, str]]) -> None:
    hostile = "<script>alert(1)</script>{{ 7 * 7 }}"
    study = answered_survey[0]
    forms = {**FORMS, "words": {"q.hardest": [hostile]}, "you": {**FORMS["you"], "q.role.other.text": [hostile]}}
    with open_surveys(study) as surveys:
        response = answered(surveys, forms=forms)[1].id
    with closing_app(opened(study)) as app:
        page = signed_in(app, study.root).get(f"/surveys/{NAME}/responses/{response}").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}" in page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An open survey whose file has changed, one that is closed, and a draft with problems."""
    root = tmp_path_factory.mktemp("surveys") / "study"
    with fielded(root) as surveys:
        filled(surveys)
    with fielded(root, name="over") as surveys:
        close_survey(surveys, "over")
    small_survey(root, NEWER)
    small_survey(root, QUESTIONNAIRE.replace('kind = "consent"', 'kind = "yes-no"'), "draft")
    return root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, folder: Path) -> StorageState:
    return session_after(f"{address}join/{invited(folder, Role.LEAD)}")


@pytest.mark.browser
def test_survey_desk_pages_are_accessible_and_fit_their_width(
    browser: Browser, address: str, state: StorageState
) -> None:
    context = browser.new_context(storage_state=state)
    page = context.new_page()
    complaints = complaints_of(page, address)
    page.goto(f"{address}surveys/{NAME}/flags")
    response = page.locator("main h2 a").first.get_attribute("href") or ""
    others = ("surveys", "surveys/draft", response[1:])
    for path in (*others, *(f"surveys/{NAME}{more}" for more in PAGES)):
        page.goto(f"{address}{path}")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert_for_everyone(page)
        assert len(page.content()) < 150_000
    assert complaints == []
    context.close()


@pytest.mark.browser
def test_a_survey_is_previewed_and_opened_by_keyboard_without_javascript(
    browser: Browser, address: str, state: StorageState, folder: Path
) -> None:
    context = browser.new_context(storage_state=state, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}surveys")
    page.get_by_role("link", name="Preview of How models travel").nth(1).press("Enter")
    page.get_by_label("I agree", exact=True).press("Space")
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.get_by_text("Page 2 of 4")).to_be_visible()
    page.get_by_role("button", name="Back").press("Enter")
    expect(page.get_by_label("I agree", exact=True)).to_be_checked()
    page.goto(f"{address}surveys/over")
    page.get_by_text("Reopen survey", exact=True).press("Enter")
    page.get_by_role("button", name="Open over").press("Enter")
    expect(page.get_by_text("Send people the link")).to_be_visible()
    with open_surveys(open_study(folder)) as surveys:
        assert surveys.fielding("over").status == "open"
    context.close()
