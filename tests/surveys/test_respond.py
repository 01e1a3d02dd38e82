"""Concurrent windows, abandoned paths and changed answers: only answers on the current path count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_survey import fielded, send

from quaestor.store.records import new_key
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.respond import SurveyPage, begin_response, show_page, submit_page
from quaestor.surveys.results.counting import CountingCache
from quaestor.surveys.store.page_submission import PageSubmission

NAME = "ways"
ASKED = """
[survey]
title = "Ways"

[[survey.quotas]]
of = "group = many"
most = 1

[[pages]]
page = "consent"
questions = [{ id = "consent", kind = "consent", text = "May we?" }]

[[pages]]
page = "first"
questions = [
    { id = "onnx", kind = "yes-no", text = "Do you use it?" },
    { id = "group", kind = "single", text = "Which group?", options = ["Few", "Many"] },
]

[[pages]]
page = "second"
questions = [
    { id = "why", kind = "single", text = "Why?", options = ["X", "Y"], show_if = "onnx = yes" },
    { id = "also", kind = "text", text = "Anything else?" },
]

[[pages]]
page = "last"
questions = [{ id = "words", kind = "text", text = "A last word?" }]
"""


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path / "study", ASKED, NAME) as opened:
        yield opened


def come_to_the_last(surveys: Surveys, onnx: str) -> str:
    code, _ = begin_response(surveys, NAME)
    send(surveys, code, "consent", {"q.consent": ["agree"]})
    send(surveys, code, "first", {"q.onnx": [onnx]})
    send(surveys, code, "second", {"q.why": ["x"], "q.also": ["A"]} if onnx == "yes" else {"q.also": ["A"]})
    return code


@pytest.mark.parametrize(("was", "becomes"), [("yes", "no"), ("no", "yes")])
def test_a_page_overtaken_by_another_window_is_validated_again(surveys: Surveys, was: str, becomes: str) -> None:
    code = come_to_the_last(surveys, was)
    one = submit_page(surveys, code, "first", {"q.onnx": [becomes]}, new_key())
    key = new_key()
    other = submit_page(surveys, code, "last", {"q.words": ["z"]}, key)
    surveys.answers.submissions.record()
    assert isinstance(one, PageSubmission)
    assert isinstance(other, PageSubmission)
    assert (one.overtaken, other.overtaken) == (False, True)
    if becomes == "no":
        after = send(surveys, code, "last", {"q.words": ["z"]}, key=key)
        assert (after.standing, "why" in after.answers) == (ResponseStatus.FINISHED, False)
    else:  # what came in has to be asked first
        page = show_page(surveys, code)
        assert isinstance(page, SurveyPage)
        assert page.page.id == "second"


def test_an_answer_that_is_no_longer_shown_is_not_counted_but_kept_in_the_journal(surveys: Surveys) -> None:
    code = come_to_the_last(surveys, "yes")
    after = send(surveys, code, "first", {"q.onnx": ["no"]})
    assert (after.standing, "why" in after.answers) == (ResponseStatus.OPEN, False)
    assert CountingCache().counted(surveys, NAME, unfinished=True).column("why").answered.sum() == 0
    assert any(said.get("why") for _, _, said in surveys.answers.journal(after.id))
    send(surveys, code, "first", {"q.onnx": ["yes"]})
    page = show_page(surveys, code)
    assert isinstance(page, SurveyPage)
    assert page.page.id == "second"  # it is asked again


def test_returning_to_an_abandoned_path_shows_the_earlier_answers(surveys: Surveys) -> None:
    code = come_to_the_last(surveys, "yes")
    for onnx in ("no", "yes"):
        send(surveys, code, "first", {"q.onnx": [onnx]})
    page = show_page(surveys, code)
    assert isinstance(page, SurveyPage)
    assert (page.page.id, page.form["q.why"], page.form["q.also"]) == ("second", ["x"], ["A"])
    assert "why" not in page.response.answers  # nothing counts before it is sent
    assert send(surveys, code, "second", page.form).answers["why"] == {"choices": ["x"]}


def test_a_respondent_of_a_full_group_keeps_no_answers_of_an_abandoned_path(surveys: Surveys) -> None:
    earlier = come_to_the_last(surveys, "no")
    send(surveys, earlier, "first", {"q.onnx": ["no"], "q.group": ["many"]})
    assert send(surveys, earlier, "last", {}).standing is ResponseStatus.FINISHED
    code = come_to_the_last(surveys, "yes")
    after = send(surveys, code, "first", {"q.onnx": ["no"], "q.group": ["many"]})
    assert (after.standing, "why" in after.answers) == (ResponseStatus.SCREENED_OUT, False)


def test_declining_later_keeps_only_the_consent_answer(surveys: Surveys) -> None:
    code = come_to_the_last(surveys, "yes")
    for _ in range(2):
        after = send(surveys, code, "consent", {"q.consent": ["decline"]}, key="declined")
    assert after.standing is ResponseStatus.DECLINED
    assert {name for name, said in after.answers.items() if said} == {"consent"}
    assert [page for _, page, _ in surveys.answers.journal(after.id)] == ["consent"]
