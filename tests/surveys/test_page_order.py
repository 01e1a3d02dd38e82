"""Random order of pages: drawn when a response begins, kept until it ends, exported, and checked before opening."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from tests.support.answering import asking, begun, fields_on, kept, send
from tests.support.desk import browser, signed_in
from tests.support.small_survey import NAME, answered, fielded, small_survey

from quaestor.people.roles import Role
from quaestor.surveys.exchange.export import PAGE_ORDER, export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.flow import order_pages
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.pages.version_changes import changes_between
from quaestor.surveys.respond import SurveyPage, begin_response, show_page

QUESTIONNAIRE = """
[survey]
title = "Three tasks"

[[pages]]
page = "consent"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "a"
shuffle = true

[[pages.questions]]
id = "a"
kind = "text"
text = "Task A"

[[pages]]
page = "b"
shuffle = true

[[pages.questions]]
id = "b"
kind = "text"
text = "Task B"

[[pages]]
page = "c"
shuffle = true

[[pages.questions]]
id = "c"
kind = "text"
text = "Task C"

[[pages]]
page = "end"
show_if = "b answered"

[[pages.questions]]
id = "end"
kind = "text"
text = "How was it?"
"""
FORMS = {
    "consent": {"q.consent": ["agree"]},
    "a": {"q.a": ["one"]},
    "b": {"q.b": ["two"]},
    "c": {"q.c": ["three"]},
    "end": {"q.end": ["fine"]},
}


def change_page(page: str, more: str) -> str:
    return QUESTIONNAIRE.replace(f'page = "{page}"', f'page = "{page}"\n{more}')


def test_shuffled_pages_come_in_every_order_and_the_others_keep_their_places(tmp_path: Path) -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    orders = Counter("".join(page.id for page in order_pages(questionnaire, seed).pages) for seed in range(1, 601))
    assert {order[:7] + order[-3:] for order in orders} == {"consentend"}
    assert len(orders) == 6
    assert all(60 < count < 140 for count in orders.values())
    assert order_pages(questionnaire, 0) is questionnaire


def test_runs_of_shuffled_pages_are_separate() -> None:
    apart = parse_questionnaire(QUESTIONNAIRE.replace('page = "b"\nshuffle = true', 'page = "b"'), NAME)
    assert {tuple(page.id for page in order_pages(apart, seed).pages) for seed in range(1, 40)} == {
        ("consent", "a", "b", "c", "end")
    }


def test_next_back_and_progress_follow_the_order_of_the_response(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent, orders = browser(app), set()
        for _ in range(8):
            link, seen = begun(respondent), []
            for done in range(5):
                page = respondent.get(link).text
                at = fields_on(page)["page"]
                assert fields_on(respondent.get(link).text)["page"] == at  # the same page on reload
                assert f"Page {done + 1} of 5" in page
                seen.append(at)
                if done == 2:  # back leads to the page before, in this response's order
                    answer = send(respondent, link, {}, go="back")
                    assert answer.headers["location"].endswith(f"?page={seen[1]}")
                    send(respondent, answer.headers["location"], FORMS[seen[1]])
                send(respondent, link, FORMS[at])
            assert (seen[0], seen[-1]) == ("consent", "end")
            assert kept(tmp_path / "study", link)[0] is ResponseStatus.FINISHED
            orders.add(tuple(seen))
        assert len(orders) > 1


def test_the_order_is_exported_and_survives_an_import(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        for _ in range(4):
            answered(surveys, NAME, FORMS)
        orders = {}
        for wide in (True, False):
            file = tmp_path / f"answers-{wide}.csv"
            export_answers(surveys, NAME, file, wide=wide)
            rows = list(csv.DictReader(file.read_text("utf-8").splitlines()))
            orders[wide] = {row["response"]: row[PAGE_ORDER] for row in rows}
        assert orders[True] == orders[False]
        for response in surveys.answers.responses(NAME):
            assert orders[True][response.id] == " ".join(response.sent)
        unfinished = answered(surveys, NAME, {"consent": FORMS["consent"]})[1]
        export_answers(surveys, NAME, tmp_path / "all.csv", wide=True, everything=True)
        with open_surveys(small_survey(tmp_path / "elsewhere", QUESTIONNAIRE)) as elsewhere:
            done = import_answers(elsewhere, NAME, tmp_path / "all.csv", None)
            assert (done.unread, done.odd, done.unmapped_columns) == ((), (), ())
            again = {response.id: (response.seed, response.sent) for response in elsewhere.answers.responses(NAME)}
        assert again == {response.id: (response.seed, response.sent) for response in surveys.answers.responses(NAME)}
        assert again[unfinished.id][1] == ("consent",)


def test_a_survey_without_shuffled_pages_has_no_column_for_their_order(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE.replace("shuffle = true", "")) as surveys:
        answered(surveys, NAME, FORMS)
        export_answers(surveys, NAME, tmp_path / "answers.csv", wide=True)
    assert PAGE_ORDER not in (tmp_path / "answers.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        (
            change_page("c", 'show_if = "a answered"'),
            "page c",
            "its condition depends on 'a', which may be asked later",
        ),
        (change_page("c", 'text = "You wrote {a}."'), "page c", r"its text contains {a}, which may be asked later"),
        (
            QUESTIONNAIRE.replace('text = "Task C"', 'text = "Task C"\nshow_if = "a answered"'),
            "question c",
            "its condition depends on 'a', which may be asked later",
        ),
        (change_page("a", 'show_if = "c answered"'), "page a", "depends on 'c', which is asked later"),
        (change_page("consent", "shuffle = true"), "page consent", "consent must come first"),
    ],
)
def test_an_order_that_could_put_a_condition_before_its_question_is_refused(text: str, where: str, words: str) -> None:
    grave = [problem for problem in find_problems(parse_questionnaire(text, NAME)) if problem.grave]
    assert [problem.where for problem in grave] == [where]
    assert words in grave[0].words


def test_shuffling_a_page_alone_is_pointed_out() -> None:
    alone = QUESTIONNAIRE.replace("shuffle = true", "", 2)
    assert ["no effect" in problem.words for problem in find_problems(parse_questionnaire(alone, NAME))] == [True]
    assert find_problems(parse_questionnaire(QUESTIONNAIRE, NAME)) == []


def test_the_desk_says_which_pages_have_a_random_order(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        lead = signed_in(app, tmp_path / "study", Role.LEAD)
        assert lead.get(f"/surveys/{NAME}").text.count("In random order") == 3
        assert "this is one of the possible ones" in lead.get(f"/surveys/{NAME}/preview").text
    before, after = (
        parse_questionnaire(text, NAME) for text in (QUESTIONNAIRE.replace("shuffle = true", "", 1), QUESTIONNAIRE)
    )
    assert [change.details for change in changes_between(before, after)] == [("now shuffled",)]


def test_a_response_keeps_the_order_of_its_seed(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        code, response = begin_response(surveys, NAME)
        page = show_page(surveys, code)
        assert isinstance(page, SurveyPage)
        assert page.questionnaire.pages == order_pages(surveys.questionnaire(NAME, 1), response.seed).pages
