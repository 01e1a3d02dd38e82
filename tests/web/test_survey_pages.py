"""Answering a survey through its pages: kept before the next one comes, and a kind word where there is none."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from starlette.applications import Starlette
from starlette.testclient import TestClient

from desk import HERE, QUICK, SetClock, browser, closing_app, signed_in
from quaestor.instruments.records import Standing
from quaestor.people.passwords import Passwords
from quaestor.study.folder import open_study
from quaestor.study.surveys.fielding import close_survey, open_survey, open_surveys
from quaestor.web.app import make_app
from quaestor.web.survey_pages import MOST_BEGUN
from small_survey import FORMS, NAME, QUESTIONNAIRE, Form, answered, fielded, small_survey

START = f"/s/{NAME}"


@contextmanager
def asking(folder: Path, text: str = QUESTIONNAIRE) -> Iterator[Starlette]:
    with fielded(folder, text):
        pass
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app:
        yield app


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


def begun(opened: TestClient, language: str = "en") -> str:
    """The address of a response that was just begun."""
    answer = sent_again(opened, START, {"language": language}, {})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def fields_on(page: str) -> dict[str, str]:
    """What a page's form sends by itself."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))


def send(opened: TestClient, link: str, form: Form, **changed: str) -> Response:
    """Open the page that comes next, fill it in and send it."""
    return sent_again(opened, link, {**fields_on(opened.get(link).text), **changed}, form)


def sent_again(opened: TestClient, link: str, own: Mapping[str, str], form: Form) -> Response:
    data: dict[str, Sequence[str]] = {**{name: [value] for name, value in own.items()}, **form}
    headers = {"origin": str(opened.base_url).rstrip("/"), "content-type": "application/x-www-form-urlencoded"}
    return opened.post(link.partition("?")[0], content=urlencode(data, doseq=True), headers=headers)


def kept(folder: Path, link: str) -> tuple[Standing, dict[str, object], list[str]]:
    """Standing, answers, and the pages of the journal of the response behind a link."""
    with open_surveys(open_study(folder)) as surveys:
        found = surveys.answers.find(link.split("/")[3])
        assert found is not None
        return found.standing, dict(found.answers), [page for _, page, _ in surveys.answers.journal(found.id)]


def test_a_whole_survey_is_answered_and_kept_page_by_page(app: Starlette, respondent: TestClient, folder: Path) -> None:
    about = respondent.get(START)
    assert "How models travel" in about.text
    assert "about 4 minutes" in about.text
    link = begun(respondent)
    for number, (page, form) in enumerate(FORMS.items(), start=1):
        shown = respondent.get(link)
        assert f"Page {number} of 4" in shown.text
        assert shown.headers["cache-control"] == "no-store"
        assert "script-src" not in shown.headers["content-security-policy"]
        answer = send(respondent, link, form)
        assert answer.status_code == 303, answer.text
        assert page in kept(folder, link)[2]
    assert answer.headers["location"] == f"{link}/end"
    standing, answers, pages = kept(folder, link)
    assert (standing, pages) == (Standing.FINISHED, list(FORMS))
    assert answers["used"] == {
        "choices": ["onnx-the-exchange-format", "other"],
        "texts": {"other": "a tool, of our own"},
    }
    end = respondent.get(f"{link}/end").text
    assert "Thank you: this helps." in end
    assert link in end
    assert respondent.get(link).headers["location"] == f"{link}/end"


def test_a_paid_survey_leads_to_its_payment_part(folder: Path, app: Starlette, respondent: TestClient) -> None:
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


def test_what_is_wrong_is_said_and_nothing_typed_is_lost(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    send(respondent, link, FORMS["consent"])
    own = fields_on(respondent.get(link).text)
    wrong = sent_again(respondent, link, own, {"q.years": ["a <few>"], "q.role.other.text": ['Teach"ing']})
    assert wrong.status_code == 422
    assert "Please look again at 2 questions" in wrong.text
    assert '<a href="#q-converted">' in wrong.text
    assert 'value="a &lt;few&gt;"' in wrong.text
    assert 'value="Teach&#34;ing"' in wrong.text
    assert 'aria-describedby="problem-years" aria-invalid="true"' in wrong.text
    assert fields_on(wrong.text)["since"] == own["since"]
    assert kept(folder, link)[2] == ["consent"]


def test_back_shows_what_was_sent_and_what_is_sent_then_counts(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    for page in ("consent", "you"):
        send(respondent, link, FORMS[page])
    assert f'href="{link}?page=you"' in respondent.get(link).text
    shown = respondent.get(f"{link}?page=you").text
    assert re.search(r'value="other" checked', shown)
    assert 'value="Teaching"' in shown
    assert "No answer" not in shown  # both choices of this page are required
    changed = send(respondent, f"{link}?page=you", {**FORMS["you"], "q.years": ["7,5"]})
    assert changed.headers["location"] == link
    _, answers, pages = kept(folder, link)
    assert answers["years"] == {"number": "7.5"}
    assert pages == ["consent", "you", "you"]
    assert send(respondent, f"{link}?page=consent", FORMS["consent"]).headers["location"] == f"{link}?page=you"
    assert "<h1>Tools</h1>" in respondent.get(f"{link}?page=words").text  # no way past what has not been answered


def test_the_same_page_twice_is_one_answer_and_two_tabs_are_two_entries(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    send(respondent, link, FORMS["consent"])
    one, other = (fields_on(respondent.get(link).text) for _ in range(2))
    assert one["key"] != other["key"]
    for _ in range(3):
        assert sent_again(respondent, link, one, FORMS["you"]).status_code == 303
    assert kept(folder, link)[2] == ["consent", "you"]
    later = {**FORMS["you"], "q.role": ["research"], "q.role.other.text": [""]}
    assert sent_again(respondent, link, other, later).status_code == 303
    _, answers, pages = kept(folder, link)
    assert answers["role"] == {"choices": ["research"]}
    assert pages == ["consent", "you", "you"]


def test_an_old_form_that_was_changed_is_taken_and_after_the_end_it_is_told_that_it_was_not(
    respondent: TestClient, folder: Path
) -> None:
    """A browser that goes back may show the form it had, with the key it had."""
    link = begun(respondent)
    send(respondent, link, FORMS["consent"])
    own = fields_on(respondent.get(link).text)
    for years in ("4", "44", "44", "4", "7"):
        assert sent_again(respondent, link, own, {**FORMS["you"], "q.years": [years]}).status_code == 303
        assert kept(folder, link)[1]["years"] == {"number": years}
    assert kept(folder, link)[2] == ["consent", *["you"] * 4]
    send(respondent, link, FORMS["tools"])
    last = fields_on(respondent.get(link).text)
    assert sent_again(respondent, link, last, FORMS["words"]).status_code == 303
    before = kept(folder, link)
    late = sent_again(respondent, link, last, {**FORMS["words"], "q.hardest": ["Something else."]})
    assert (late.status_code, "finished" in late.text) == (409, True)
    assert kept(folder, link) == before


def test_an_old_page_does_not_empty_a_question_that_it_did_not_show(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    for page in ("consent", "you"):
        send(respondent, link, FORMS[page])
    old = fields_on(respondent.get(link).text)
    assert "why-none" not in old["shown"].split()
    none = {name: values for name, values in FORMS["tools"].items() if not name.startswith("q.used")}
    send(respondent, link, {**none, "q.used": ["none"]})
    send(respondent, link, {**none, "q.used": ["none"], "q.why-none": ["No need."]})
    assert sent_again(respondent, link, old, {**none, "q.used": ["none"]}).status_code == 303
    assert kept(folder, link)[1]["why-none"] == {"text": "No need."}


def test_two_windows_at_the_same_moment_are_both_taken(app: Starlette, folder: Path) -> None:
    """Each page is read against what the other one left, whichever comes first."""

    async def both(number: int) -> str:
        async with AsyncClient(transport=ASGITransport(app=app), base_url=HERE, headers={"origin": HERE}) as client:
            link = str((await client.post(START, data={})).headers["location"])
            for page in ("consent", "you"):
                await client.post(link, data={"page": page, "key": f"{number}-{page}", **FORMS[page]})
            pages = [("you", {**FORMS["you"], "q.years": ["9"]}), ("tools", FORMS["tools"])]
            sending = [
                client.post(link, data={"page": page, "key": f"{number}-{page}-2", **form}) for page, form in pages
            ]
            assert [one.status_code for one in await asyncio.gather(*sending)] == [303, 303]
        return link

    async def many() -> list[str]:
        return await asyncio.gather(*map(both, range(8)))

    for link in asyncio.run(many()):
        _, answers, pages = kept(folder, link)
        assert answers["years"] == {"number": "9"}
        assert "used" in answers
        assert sorted(pages) == ["consent", "tools", "you", "you"]


def test_no_two_parts_of_a_page_have_the_same_id(folder: Path) -> None:
    clash = QUESTIONNAIRE.replace('id = "years"', 'id = "role-research"')
    with asking(folder, clash) as app, closing(browser(app)) as opened:
        link = begun(opened)
        send(opened, link, FORMS["consent"])
        found = re.findall(r' id="([^"]+)"', opened.get(link).text)
        assert "q-role-research" in found
        assert len(found) == len(set(found))


def test_who_sends_the_last_page_twice_or_another_one_after_it_changes_nothing(
    respondent: TestClient, folder: Path
) -> None:
    link = begun(respondent)
    for page in ("consent", "you", "tools"):
        old = fields_on(respondent.get(link).text)
        send(respondent, link, FORMS[page])
    last = fields_on(respondent.get(link).text)
    for _ in range(2):
        assert sent_again(respondent, link, last, FORMS["words"]).headers["location"] == f"{link}/end"
    before = kept(folder, link)
    late = sent_again(respondent, link, {**old, "key": "another"}, FORMS["tools"])
    assert late.status_code == 409
    assert "finished" in late.text
    assert kept(folder, link) == before


def test_a_question_that_follows_on_the_same_page_comes_before_the_next(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    for page in ("consent", "you"):
        send(respondent, link, FORMS[page])
    none = {name: values for name, values in FORMS["tools"].items() if not name.startswith("q.used")}
    assert "Why none?" not in respondent.get(link).text
    assert send(respondent, link, {**none, "q.used": ["none"]}).headers["location"] == link
    again = respondent.get(link).text
    assert 'one more question on this page: <a href="#q-why-none">' in again
    assert "Why none?" in again
    assert "why-none" not in kept(folder, link)[1]
    send(respondent, link, {**none, "q.used": ["none"], "q.why-none": ["No need."]})
    assert kept(folder, link)[1]["why-none"] == {"text": "No need."}
    assert "In your own words" in respondent.get(link).text


@pytest.mark.parametrize(
    ("form", "standing", "words"),
    [
        ({"consent": {"q.consent": ["decline"]}}, Standing.DECLINED, "nothing more is asked of you"),
        ({"you": {"q.converted": ["no"], "q.role": ["research"]}}, Standing.SCREENED_OUT, "people who have converted"),
    ],
)
def test_who_is_asked_no_more_is_told_kindly(
    respondent: TestClient, folder: Path, form: Mapping[str, Form], standing: Standing, words: str
) -> None:
    link = begun(respondent)
    for page in ("consent", "you"):
        if kept(folder, link)[0] is Standing.OPEN:
            send(respondent, link, {**FORMS, **form}[page])
    assert kept(folder, link)[0] is standing
    end = respondent.get(link, follow_redirects=True).text
    assert words in end
    assert "/claim/" not in end


def test_a_survey_speaks_the_language_that_was_chosen(respondent: TestClient) -> None:
    about = respondent.get(f"{START}?language=de").text
    assert '<html lang="de">' in about
    assert "Welche Werkzeuge" in about
    assert respondent.get(f"{START}?language=xx").text.startswith('<!doctype html>\n<html lang="en">')
    shown = respondent.get(begun(respondent, "de")).text
    assert '<html lang="de">' in shown
    assert "Nehmen Sie teil?" in shown
    assert '<div class="going" lang="en">' in shown


def test_whoever_withdraws_is_asked_first_and_then_nothing_is_left(respondent: TestClient, folder: Path) -> None:
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


def test_unknown_surveys_and_codes_say_what_to_do(respondent: TestClient) -> None:
    link = begun(respondent)
    code = link.split("/")[3]
    for path in ("/s/nothing", f"{link}x", f"{link}x/end", f"{link}x/withdraw", f"/s/other/{code}"):
        answer = respondent.get(path)
        assert answer.status_code == 404, path
        assert "link is not whole" in answer.text or "link is whole" in answer.text


def test_a_survey_that_is_not_open_says_so(folder: Path) -> None:
    small_survey(folder)
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app, closing(browser(app)) as opened:
        answer = opened.get(START)
        assert (answer.status_code, "has not been opened yet" in answer.text) == (409, True)
        assert "How models travel" not in answer.text.partition("<main")[2]
        assert not (folder / "answers.db").exists()
        assert not (folder / "study.db").exists()


def test_a_closed_survey_takes_nothing_more_and_keeps_what_it_has(respondent: TestClient, folder: Path) -> None:
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


def test_a_survey_by_invitation_is_begun_by_no_stranger(folder: Path) -> None:
    with asking(folder, with_settings("by_invitation = true")) as app, closing(browser(app)) as opened:
        assert "people who were invited" in opened.get(START).text
        assert sent_again(opened, START, {}, {}).status_code == 409
        with open_surveys(open_study(folder)) as surveys:
            assert sum(surveys.answers.counts(NAME).values()) == 0
            code, _ = answered(surveys, forms={})
        assert send(opened, f"{START}/{code}", FORMS["consent"]).status_code == 303


def test_when_enough_have_finished_nobody_begins_and_who_has_begun_finishes(folder: Path) -> None:
    with asking(folder, with_settings("most = 1")) as app, closing(browser(app)) as opened:
        link = begun(opened)
        with open_surveys(open_study(folder)) as surveys:
            answered(surveys)
        assert "As many people have answered as are needed" in opened.get(START).text
        assert [send(opened, link, form).status_code for form in FORMS.values()] == [303] * 4
        assert kept(folder, link)[0] is Standing.FINISHED


def test_a_group_that_is_full_is_thanked_and_another_goes_on(folder: Path) -> None:
    quota = '\n[[survey.quotas]]\nof = "role = other"\nmost = 1\n\n[research]'
    with asking(folder, QUESTIONNAIRE.replace("\n[research]", quota, 1)) as app, closing(browser(app)) as opened:
        early = begun(opened)
        for page in ("consent", "you"):
            send(opened, early, FORMS[page])
        with open_surveys(open_study(folder)) as surveys:
            answered(surveys)
        full, free = begun(opened), begun(opened)
        for link in (full, free):
            send(opened, link, FORMS["consent"])
        assert send(opened, full, FORMS["you"]).headers["location"] == f"{full}/end"
        assert kept(folder, full)[0] is Standing.SCREENED_OUT
        send(opened, free, {"q.converted": ["yes"], "q.role": ["research"]})
        assert kept(folder, free)[0] is Standing.OPEN
        assert send(opened, early, FORMS["tools"]).headers["location"] == early  # was let in while there was room


def test_after_its_last_day_a_survey_is_over(folder: Path) -> None:
    with asking(folder, with_settings('closes = "2100-01-01"')) as app, closing(browser(app)) as opened:
        assert "open until 2100-01-01" in opened.get(START).text
        link = begun(opened)
    with closing(sqlite3.connect(folder / "answers.db")) as file, file:  # the day passes
        file.execute("UPDATE versions SET text = replace(text, '2100-01-01', '2020-01-01')")
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app, closing(browser(app)) as opened:
        for path in (START, link):
            answer = opened.get(path)
            assert (answer.status_code, "until 2020-01-01" in answer.text) == (410, True)


def test_a_field_that_people_do_not_see_is_kept_as_a_mark(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    send(respondent, link, {**FORMS["consent"], "website": ["buy this"]})
    assert kept(folder, link)[1]["_trap"] == {"text": "buy this"}
    other = begun(respondent)
    send(respondent, other, {**FORMS["consent"], "website": [""]})
    assert "_trap" not in kept(folder, other)[1]


def test_too_many_beginnings_from_one_address_wait_and_others_do_not(folder: Path) -> None:
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


def test_the_time_spent_is_counted_and_the_hour_is_not_kept(folder: Path) -> None:
    with fielded(folder):
        pass
    clock = SetClock()
    with (
        closing_app(make_app(folder, clock=clock, passwords=Passwords(QUICK))) as app,
        closing(browser(app)) as opened,
    ):
        link = begun(opened)
        own = fields_on(opened.get(link).text)
        clock.pass_by(seconds=42)
        sent_again(opened, link, own, FORMS["consent"])
        own = fields_on(opened.get(link).text)
        clock.now += timedelta(days=3)
        sent_again(opened, link, {**own, "since": own["since"]}, FORMS["you"])
        with open_surveys(open_study(folder)) as surveys:
            found = surveys.answers.find(link.split("/")[3])
        assert found is not None
        assert found.seconds == pytest.approx(42 + 3600, abs=1)
    for file in folder.glob("answers.db*"):
        assert own["since"].encode() not in file.read_bytes()


def test_where_nothing_can_be_written_the_answers_stand_on_the_page_again(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    for page in ("consent", "you", "tools"):
        send(respondent, link, FORMS[page])
    own = fields_on(respondent.get(link).text)
    with full_disk(folder):
        answer = sent_again(respondent, link, own, FORMS["words"])
    assert answer.status_code == 503
    assert "could not be saved" in answer.text
    assert "Custom layers.\nThey never fit." in answer.text.replace("\r", "")
    assert kept(folder, link)[2] == ["consent", "you", "tools"]
    again = sent_again(respondent, link, fields_on(answer.text), FORMS["words"])
    assert again.headers["location"] == f"{link}/end"


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Nothing can be added to the file meanwhile: a trigger stands in for a disk without room."""
    with closing(sqlite3.connect(folder / "answers.db")) as file:
        file.execute("CREATE TRIGGER full BEFORE INSERT ON saves BEGIN SELECT RAISE(FAIL, 'no room'); END")
        file.commit()
        yield
        file.execute("DROP TRIGGER full")
        file.commit()


def test_a_page_without_a_key_or_from_elsewhere_is_refused(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    own = fields_on(respondent.get(link).text)
    assert sent_again(respondent, link, {**own, "key": ""}, FORMS["consent"]).status_code == 400
    for headers in ({"origin": "http://other.test"}, {"sec-fetch-site": "cross-site"}, {}):
        for path in (link, START, f"{link}/withdraw"):
            elsewhere = respondent.post(path, data={**own, "q.consent": "agree"}, headers=headers)
            assert elsewhere.status_code == 403
    assert kept(folder, link)[2] == []


def test_a_page_that_is_not_to_be_answered_now_leads_back_to_the_one_that_is(
    respondent: TestClient, folder: Path
) -> None:
    link = begun(respondent)
    own = fields_on(respondent.get(link).text)
    for page in ("words", "nothing"):
        answer = sent_again(respondent, link, {**own, "page": page}, FORMS["words"])
        assert answer.status_code == 409
        assert "not the one to be answered now" in answer.text
        assert f'href="{link}"' in answer.text
    assert kept(folder, link)[2] == []


def test_a_respondent_gets_no_cookie_and_needs_none(respondent: TestClient) -> None:
    pages = [respondent.get(START)]
    link = begun(respondent)
    for form in FORMS.values():
        pages += [respondent.get(link), send(respondent, link, form)]
    pages += [respondent.get(f"{link}/end"), respondent.get(f"{link}/withdraw")]
    assert not [page.url for page in pages if "set-cookie" in page.headers]


def test_the_lead_who_answers_keeps_their_place(app: Starlette, folder: Path) -> None:
    with closing(signed_in(app, folder)) as lead:
        link = begun(lead)
        assert send(lead, link, FORMS["consent"]).status_code == 303
        assert lead.get("/me").status_code == 200


def test_two_hundred_respondents_at_once_lose_nothing(app: Starlette, folder: Path) -> None:
    async def answer_all(number: int) -> str:
        async with AsyncClient(transport=ASGITransport(app=app), base_url=HERE, headers={"origin": HERE}) as client:
            link = str((await client.post(START, data={})).headers["location"])
            for page, form in FORMS.items():
                own = {"page": page, "key": f"{number}-{page}", "since": ""}
                mine = {**form, "q.hardest": [f"words of {number}"]} if page == "words" else form
                tries = 1 + number % 2  # every other one sends each page twice, at the same moment
                answers = await asyncio.gather(*(client.post(link, data={**own, **mine}) for _ in range(tries)))
                assert [one.status_code for one in answers] == [303] * tries
        return link

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*map(answer_all, range(200)))

    links = asyncio.run(all_at_once())
    with open_surveys(open_study(folder)) as surveys:
        found = [surveys.answers.find(link.split("/")[3]) for link in links]
        said = [one.answers["hardest"]["text"] for one in found if one]
        assert said == [f"words of {number}" for number in range(200)]
        assert surveys.answers.counts(NAME)[Standing.FINISHED] == 200
        pages = [len(surveys.answers.journal(one.id)) for one in found if one]
    assert pages == [len(FORMS)] * 200


def test_who_has_begun_keeps_the_version_they_had(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    small_survey(folder, QUESTIONNAIRE.replace("Do you agree to take part?", "Will you take part?"))
    with open_surveys(open_study(folder)) as surveys:
        assert open_survey(surveys, NAME).number == 2
    assert "Do you agree to take part?" in respondent.get(link).text
    assert "Will you take part?" in respondent.get(begun(respondent)).text
