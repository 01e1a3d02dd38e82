"""Answering a survey page by page: answers are saved before the next page is shown."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.answering import START, asking, begun, fields_on, kept, send, sent_again
from tests.support.desk import HERE, QUICK, SetClock, browser, closing_app
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, fielded

from quaestor.people.credentials import Passwords
from quaestor.store.records import new_key
from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.store.answers import AnswerFile
from quaestor.web.app import make_app


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


def test_a_survey_is_answered_and_saved_page_by_page(app: Starlette, respondent: TestClient, folder: Path) -> None:
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
    assert (standing, pages) == (ResponseStatus.FINISHED, list(FORMS))
    assert answers["used"] == {
        "choices": ["onnx-the-exchange-format", "other"],
        "texts": {"other": "a tool, of our own"},
    }
    end = respondent.get(f"{link}/end").text
    assert "Thank you: this helps." in end
    assert link in end
    assert respondent.get(link).headers["location"] == f"{link}/end"


def test_a_page_reads_its_response_once_before_it_is_recorded(
    respondent: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    find, read_by_id = AnswerFile.find, AnswerFile.response
    monkeypatch.setattr(AnswerFile, "find", lambda file, code: (reads.append(code), find(file, code))[1])
    monkeypatch.setattr(AnswerFile, "response", lambda file, name: (reads.append(name), read_by_id(file, name))[1])
    link = begun(respondent)
    reads.clear()
    own = fields_on(respondent.get(link).text)
    assert len(reads) == 1
    reads.clear()
    assert sent_again(respondent, link, own, FORMS["consent"]).status_code == 303
    assert len(reads) == 1


def test_invalid_answers_are_reported_and_typed_text_is_kept(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    send(respondent, link, FORMS["consent"])
    own = fields_on(respondent.get(link).text)
    wrong = sent_again(respondent, link, own, {"q.years": ["a <few>"], "q.role.other.text": ['Teach"ing']})
    assert wrong.status_code == 422
    assert "Please check 2 questions" in wrong.text
    assert '<a href="#q-converted">' in wrong.text
    assert 'value="a &lt;few&gt;"' in wrong.text
    assert 'value="Teach&#34;ing"' in wrong.text
    assert 'aria-describedby="problem-years" aria-invalid="true"' in wrong.text
    assert fields_on(wrong.text)["since"] == own["since"]
    assert kept(folder, link)[2] == ["consent"]


def test_a_saved_page_can_be_reopened_and_the_new_answers_count(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    for page in ("consent", "you"):
        send(respondent, link, FORMS[page])
    assert 'name="go" value="back"' in respondent.get(link).text
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


def test_the_same_page_sent_twice_is_saved_once_and_two_tabs_are_saved_separately(
    respondent: TestClient, folder: Path
) -> None:
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


def test_a_changed_old_form_is_saved_before_the_end_and_rejected_after_it(respondent: TestClient, folder: Path) -> None:
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


def test_an_old_page_does_not_clear_a_question_it_did_not_show(respondent: TestClient, folder: Path) -> None:
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


def test_two_pages_sent_at_the_same_moment_are_both_saved(app: Starlette, folder: Path) -> None:
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


def test_element_ids_of_a_page_are_unique(folder: Path) -> None:
    clash = QUESTIONNAIRE.replace('id = "years"', 'id = "role-research"')
    with asking(folder, clash) as app, closing(browser(app)) as opened:
        link = begun(opened)
        send(opened, link, FORMS["consent"])
        found = re.findall(r' id="([^"]+)"', opened.get(link).text)
        assert "q-role-research" in found
        assert len(found) == len(set(found))


def test_resending_the_last_or_an_earlier_page_after_the_end_changes_nothing(
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


def test_a_follow_up_question_on_the_same_page_comes_before_the_next_page(respondent: TestClient, folder: Path) -> None:
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


def test_a_survey_is_shown_in_the_chosen_language(respondent: TestClient) -> None:
    about = respondent.get(f"{START}?language=de").text
    assert '<html lang="de">' in about
    assert "Welche Werkzeuge" in about
    assert respondent.get(f"{START}?language=xx").text.startswith('<!doctype html>\n<html lang="en">')
    shown = respondent.get(begun(respondent, "de")).text
    assert '<html lang="de">' in shown
    assert "Nehmen Sie teil?" in shown
    assert ">Weiter</button>" in shown
    assert "Ich stimme nicht zu" in shown


def test_a_filled_hidden_field_is_stored_as_a_mark(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    send(respondent, link, {**FORMS["consent"], "website": ["buy this"]})
    assert kept(folder, link)[1]["_trap"] == {"text": "buy this"}
    other = begun(respondent)
    send(respondent, other, {**FORMS["consent"], "website": [""]})
    assert "_trap" not in kept(folder, other)[1]


def test_time_spent_is_stored_without_the_time_of_day(folder: Path) -> None:
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
        assert own["since"].partition(".")[0].encode() not in file.read_bytes()


def test_a_respondent_cannot_forge_the_time_spent(folder: Path) -> None:
    with fielded(folder):
        pass
    clock = SetClock()
    with (
        closing_app(make_app(folder, clock=clock, passwords=Passwords(QUICK))) as app,
        closing(browser(app)) as opened,
    ):

        def spent(link: str) -> float:
            with open_surveys(open_study(folder)) as surveys:
                found = surveys.answers.find(link.split("/")[3])
            assert found is not None
            return found.seconds

        link, other = begun(opened), begun(opened)
        own, theirs = fields_on(opened.get(link).text), fields_on(opened.get(other).text)
        moment, _, rest = own["since"].partition(".")
        for made_up in (
            "",
            "0",
            f"{int(moment) - 600}.{rest}",
            f"{moment}.9000000.{rest[-32:]}",
            "1.é",
            theirs["since"],
        ):
            clock.pass_by(seconds=5)
            sent_again(opened, link, {**own, "since": made_up, "key": new_key()}, FORMS["consent"])
            assert spent(link) == 0
        for _ in range(3):  # one page, sent again and again, counts for as long as it was there
            clock.pass_by(seconds=10)
            sent_again(opened, link, {**own, "key": new_key()}, FORMS["consent"])
        assert spent(link) == pytest.approx(6 * 5 + 3 * 10, abs=1)


def test_if_nothing_can_be_written_the_page_shows_the_answers_again(respondent: TestClient, folder: Path) -> None:
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
    """Make every insert fail, as on a full disk, by a trigger."""
    with closing(sqlite3.connect(folder / "answers.db")) as file:
        file.execute("CREATE TRIGGER full BEFORE INSERT ON saves BEGIN SELECT RAISE(FAIL, 'no room'); END")
        file.commit()
        yield
        file.execute("DROP TRIGGER full")
        file.commit()


def test_a_page_without_a_key_or_from_another_site_is_rejected(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    own = fields_on(respondent.get(link).text)
    assert sent_again(respondent, link, {**own, "key": ""}, FORMS["consent"]).status_code == 400
    for headers in ({"origin": "http://other.test"}, {"sec-fetch-site": "cross-site"}, {}):
        for path in (link, START, f"{link}/withdraw"):
            elsewhere = respondent.post(path, data={**own, "q.consent": "agree"}, headers=headers)
            assert elsewhere.status_code == 403
    assert kept(folder, link)[2] == []


def test_a_page_that_cannot_be_answered_now_links_to_the_current_one(respondent: TestClient, folder: Path) -> None:
    link = begun(respondent)
    own = fields_on(respondent.get(link).text)
    for page in ("words", "nothing"):
        answer = sent_again(respondent, link, {**own, "page": page}, FORMS["words"])
        assert answer.status_code == 409
        assert "This page cannot be answered now" in answer.text
        assert f'href="{link}"' in answer.text
    assert kept(folder, link)[2] == []


@pytest.mark.slow
def test_two_hundred_simultaneous_respondents_lose_no_answers(app: Starlette, folder: Path) -> None:
    async def answer_all(number: int) -> str:
        async with AsyncClient(transport=ASGITransport(app=app), base_url=HERE, headers={"origin": HERE}) as client:
            link = str((await client.post(START, data={})).headers["location"])
            for page, form in FORMS.items():
                own = {"page": page, "key": f"{number}-{page}", "since": ""}
                mine = {**form, "q.hardest": [f"words of {number}"]} if page == "words" else form
                tries = 1 + number % 2  # every other one sends each page twice, at the same moment
                answers = await asyncio.gather(*(client.post(link, data={**own, **mine}) for _ in range(tries)))
                assert [answer.status_code for answer in answers] == [303] * tries
        return link

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*map(answer_all, range(200)))

    links = asyncio.run(all_at_once())
    with open_surveys(open_study(folder)) as surveys:
        found = [surveys.answers.find(link.split("/")[3]) for link in links]
        said = [one.answers["hardest"]["text"] for one in found if one]
        assert said == [f"words of {number}" for number in range(200)]
        assert surveys.answers.counts(NAME)[ResponseStatus.FINISHED] == 200
        pages = [len(surveys.answers.journal(one.id)) for one in found if one]
    assert pages == [len(FORMS)] * 200
