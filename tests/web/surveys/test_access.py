"""Who can start a survey, how it ends and how a respondent withdraws, each with a polite message."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.answering import START, asking, begun, fields_on, kept, send, sent_again
from tests.support.desk import QUICK, SetClock, browser, closing_app, signed_in
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, Form, answered, fielded, small_survey

from quaestor.people.credentials import Passwords
from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import close_survey, open_survey, open_surveys
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.store.page_submission import MOST_SAVES
from quaestor.web.app import make_app
from quaestor.web.surveys.respond import MOST_BEGUN


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "study"


@pytest.fixture
def app(folder: Path) -> Iterator[Starlette]:
    with asking(folder) as opened:
        yield opened


@pytest.fixture
def respondent(app: Starlette) -> Iterator[TestClient]:
    with closing(browser(app)) as opened:
        yield opened


def test_the_last_page_of_a_paid_survey_links_to_the_payment_form(
    folder: Path, app: Starlette, respondent: TestClient
) -> None:
    with open_surveys(open_study(folder)) as surveys:
        code, _ = answered(surveys)
        screened, _ = answered(surveys, forms={**FORMS, "you": {"q.converted": ["no"], "q.role": ["research"]}})
    end = respondent.get(f"{START}/{code}/end").text
    assert "A gift card of 10 USD is yours." in end
    # Else the log of a proxy would say which code asked for which claim.
    way = re.search(r'href="(/claim/tools/[^"]+)" referrerpolicy="no-referrer"', end)
    assert way
    assert code not in way[1]
    assert way[0] in respondent.get(f"{START}/{code}/end").text
    assert "/claim/" not in respondent.get(f"{START}/{screened}/end").text


@pytest.mark.parametrize(
    ("form", "standing", "words"),
    [
        ({"consent": {"q.consent": ["decline"]}}, ResponseStatus.DECLINED, "there are no questions for you"),
        (
            {"you": {"q.converted": ["no"], "q.role": ["research"]}},
            ResponseStatus.SCREENED_OUT,
            "people who have converted",
        ),
    ],
)
def test_screened_out_and_declining_respondents_see_a_polite_end_page(
    respondent: TestClient, folder: Path, form: Mapping[str, Form], standing: ResponseStatus, words: str
) -> None:
    link = begun(respondent)
    for page in ("consent", "you"):
        if kept(folder, link)[0] is ResponseStatus.OPEN:
            send(respondent, link, {**FORMS, **form}[page])
    assert kept(folder, link)[0] is standing
    end = respondent.get(link, follow_redirects=True).text
    assert words in end
    assert "/claim/" not in end


def test_a_withdrawal_needs_a_confirmation_and_erases_all_answers(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    send(respondent, link, FORMS["consent"])
    assert "Erase your answers?" in respondent.get(f"{link}/withdraw").text
    assert kept(folder, link)[2] == ["consent"]
    own = fields_on(respondent.get(f"{link}/withdraw").text)
    assert sent_again(respondent, f"{link[:-3]}/withdraw", own, {}).status_code == 404, "a link that is not whole"
    assert sent_again(respondent, link.replace(NAME, "other", 1) + "/withdraw", own, {}).status_code == 404
    assert kept(folder, link)[2] == ["consent"]
    assert "Your answers are erased" in sent_again(respondent, f"{link}/withdraw", own, {}).text
    assert "they were withdrawn" in sent_again(respondent, f"{link}/withdraw", own, {}).text
    assert respondent.get(link).status_code == 404
    assert sent_again(respondent, link, {**own, "page": "you", "key": "k"}, FORMS["you"]).status_code == 404
    with open_surveys(open_study(folder)) as surveys:
        assert surveys.answers.erased(NAME) == 1


def test_unknown_surveys_and_links_show_what_to_do(respondent: TestClient) -> None:
    link = begun(respondent)
    code = link.split("/")[3]
    for path in ("/s/nothing", f"{link}x", f"{link}x/end", f"{link}x/withdraw", f"/s/other/{code}"):
        answer = respondent.get(path)
        assert answer.status_code == 404, path
        assert "the link is incomplete" in answer.text or "the link is complete" in answer.text


def test_an_unopened_survey_says_that_it_is_not_open(folder: Path) -> None:
    small_survey(folder)
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app, closing(browser(app)) as opened:
        answer = opened.get(START)
        assert (answer.status_code, "has not been opened yet" in answer.text) == (409, True)
        assert "How models travel" not in answer.text.partition("<main")[2]
        assert not (folder / "answers.db").exists()
        assert not (folder / "study.db").exists()


def test_a_closed_survey_rejects_answers_and_keeps_earlier_ones(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    send(respondent, link, FORMS["consent"])
    own = fields_on(respondent.get(link).text)
    with open_surveys(open_study(folder)) as surveys:
        close_survey(surveys, NAME)
    for answer in (respondent.get(START), respondent.get(link), sent_again(respondent, link, own, FORMS["you"])):
        assert answer.status_code == 410
        assert "This survey is closed" in answer.text
    assert "/withdraw" in answer.text
    assert kept(folder, link)[2] == ["consent"]
    assert respondent.get(f"{link}/withdraw").status_code == 200


def with_settings(more: str) -> str:
    return QUESTIONNAIRE.replace("minutes = 4", f"minutes = 4\n{more}", 1)


def test_a_survey_by_invitation_cannot_be_started_without_one(folder: Path) -> None:
    with asking(folder, with_settings("by_invitation = true")) as app, closing(browser(app)) as opened:
        assert "This survey is for invited people" in opened.get(START).text
        assert sent_again(opened, START, {}, {}).status_code == 409
        with open_surveys(open_study(folder)) as surveys:
            assert sum(surveys.answers.counts(NAME).values()) == 0
            code, _ = answered(surveys, forms={})
        assert send(opened, f"{START}/{code}", FORMS["consent"]).status_code == 303


def test_a_full_survey_accepts_no_new_respondents_but_others_can_finish(folder: Path) -> None:
    with asking(folder, with_settings("most = 1")) as app, closing(browser(app)) as opened:
        link = begun(opened)
        with open_surveys(open_study(folder)) as surveys:
            answered(surveys)
        assert "We have received enough answers" in opened.get(START).text
        assert [send(opened, link, form).status_code for form in FORMS.values()] == [303] * 4
        assert kept(folder, link)[0] is ResponseStatus.FINISHED


def test_a_respondent_of_a_full_quota_group_is_thanked_and_others_continue(folder: Path) -> None:
    quota = '\n[[survey.quotas]]\nof = "role = other"\nmost = 1\n\n[research]'
    with asking(folder, QUESTIONNAIRE.replace("\n[research]", quota, 1)) as app, closing(browser(app)) as opened:
        early = begun(opened)
        for page in ("consent", "you"):
            send(opened, early, FORMS[page])
        with open_surveys(open_study(folder)) as surveys:
            assert answered(surveys)[1].standing is ResponseStatus.SCREENED_OUT
        full, free = begun(opened), begun(opened)
        for link in (full, free):
            send(opened, link, FORMS["consent"])
        assert send(opened, full, FORMS["you"]).headers["location"] == f"{full}/end"
        assert kept(folder, full)[0] is ResponseStatus.SCREENED_OUT
        send(opened, free, {"q.converted": ["yes"], "q.role": ["research"]})
        assert kept(folder, free)[0] is ResponseStatus.OPEN
        assert send(opened, early, FORMS["tools"]).headers["location"] == early  # was let in while there was room


def test_a_survey_ends_after_its_closing_date(folder: Path) -> None:
    with asking(folder, with_settings('closes = "2100-01-01"')) as app, closing(browser(app)) as opened:
        assert "open until 2100-01-01" in opened.get(START).text
        link = begun(opened)
    with closing(sqlite3.connect(folder / "answers.db")) as file, file:  # the day passes
        file.execute("UPDATE versions SET text = replace(text, '2100-01-01', '2020-01-01')")
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app, closing(browser(app)) as opened:
        for path in (START, link):
            answer = opened.get(path)
            assert (answer.status_code, "until 2020-01-01" in answer.text) == (410, True)


def test_an_address_that_starts_too_many_responses_must_wait_and_others_need_not(folder: Path) -> None:
    with fielded(folder):
        pass
    clock = SetClock()
    with closing_app(make_app(folder, clock=clock, passwords=Passwords(QUICK))) as app:
        crowd, other = browser(app, client="192.0.2.7"), browser(app, client="192.0.2.8")
        for _ in range(MOST_BEGUN):
            begun(crowd)
        refused = sent_again(crowd, START, {"language": "en"}, {})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "61")
        assert "Please wait a minute" in refused.text
        begun(other)
        clock.pass_by(minutes=1)
        begun(crowd)
        crowd.close()
        other.close()


def test_a_respondent_who_saves_a_page_too_often_is_refused_politely_and_can_continue(
    respondent: TestClient, folder: Path
) -> None:
    link = begun(respondent)
    own = fields_on(respondent.get(link).text)
    for number in range(MOST_SAVES):
        assert sent_again(respondent, link, {**own, "key": f"key-{number}"}, FORMS["consent"]).status_code == 303
    refused = sent_again(respondent, link, {**own, "key": "one-more"}, FORMS["consent"])
    assert (refused.status_code, "What you sent last is kept" in refused.text) == (409, True)
    assert link in refused.text
    assert len(kept(folder, link)[2]) == MOST_SAVES
    assert send(respondent, link, FORMS["you"]).status_code == 303


def test_respondents_get_no_cookies(respondent: TestClient) -> None:
    pages = [respondent.get(START)]
    link = begun(respondent)
    for form in FORMS.values():
        pages += [respondent.get(link), send(respondent, link, form)]
    pages += [respondent.get(f"{link}/end"), respondent.get(f"{link}/withdraw")]
    assert not [page.url for page in pages if "set-cookie" in page.headers]


def test_a_lead_who_answers_stays_signed_in(app: Starlette, folder: Path) -> None:
    with closing(signed_in(app, folder)) as lead:
        link = begun(lead)
        assert send(lead, link, FORMS["consent"]).status_code == 303
        assert lead.get("/me").status_code == 200


def test_a_respondent_keeps_the_version_they_started_with(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    small_survey(folder, QUESTIONNAIRE.replace("Do you agree to take part?", "Will you take part?"))
    with open_surveys(open_study(folder)) as surveys:
        assert open_survey(surveys, NAME).number == 2
    assert "Do you agree to take part?" in respondent.get(link).text
    assert "Will you take part?" in respondent.get(begun(respondent)).text
