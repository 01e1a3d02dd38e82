"""A respondent's way: the next page, back and on again, what is taken, and why an answer is missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from quaestor.instruments.flow import (
    in_order,
    missing,
    next_page,
    page_at,
    page_before,
    piped,
    progress,
    shown_pages,
    taken,
)
from quaestor.instruments.questionnaire_file import questionnaire_from
from quaestor.instruments.records import Kind, Missing, Option, Question, Questionnaire, Response, Row, Standing

ASKED = questionnaire_from(
    """
[survey]
title = "Tools"

[[pages]]
page = "start"
[[pages.questions]]
id = "consent"
kind = "consent"
text = "May we?"

[[pages]]
page = "tools"
[[pages.questions]]
id = "onnx"
kind = "yes-no"
text = "Do you use ONNX?"
[[pages.questions]]
id = "size"
kind = "single"
text = "How large?"
required = true
options = ["Small", "Large", { label = "None", ends = true }]

[[pages]]
page = "break"
text = "Half of it is done."

[[pages]]
page = "problems"
show_if = "onnx = yes"
[[pages.questions]]
id = "met"
kind = "yes-no"
text = "Do you meet problems?"
[[pages.questions]]
id = "which"
kind = "text"
text = "Which?"
show_if = "met = yes"

[[pages]]
page = "end"
[[pages.questions]]
id = "remedy"
kind = "text"
text = "What do you do about {which}?"
show_if = "met = yes"
[[pages.questions]]
id = "words"
kind = "text"
text = "Anything else?"
""",
    "tools",
)


def respondent() -> Response:
    return Response("r", "tools", 1, Standing.OPEN, {})


def send(response: Response, page: str, **fields: str) -> Response:
    """The response after a page was sent, as the file of answers would keep it."""
    found = page_at(ASKED, response, page)
    assert found is not None, page
    read = taken(ASKED, response, found, {f"q.{name}": [value] for name, value in fields.items()})
    assert read.problems == {}
    sent = response.sent if page in response.sent else (*response.sent, page)
    return replace(response, standing=read.standing, sent=sent, answers={**response.answers, **read.answers})


def upcoming(response: Response) -> str:
    page = next_page(ASKED, response)
    return "" if page is None else page.id


def asked_on(response: Response, name: str) -> list[str]:
    return [one.id for page in shown_pages(ASKED, response.answers) if page.id == name for one in page.questions]


def whole_way() -> Response:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    response = send(send(response, "break"), "problems", met="yes")
    return send(send(response, "problems", met="yes", which="crashes"), "end", remedy="wait")


def test_the_way_leads_over_every_page_to_the_end() -> None:
    response = respondent()
    assert upcoming(response) == "start"
    response = send(response, "start", consent="agree")
    assert upcoming(response) == "tools"
    response = send(response, "tools", onnx="yes", size="small")
    assert upcoming(response) == "break"
    response = send(response, "break")
    assert upcoming(response) == "problems"
    response = send(response, "problems", met="no")
    assert upcoming(response) == "end"
    assert asked_on(response, "end") == ["words"]
    response = send(response, "end", words="")
    assert (response.standing, upcoming(response)) == (Standing.FINISHED, "")


def test_a_page_whose_condition_does_not_hold_is_left_out() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="no", size="small")
    assert upcoming(send(response, "break")) == "end"


def test_a_page_comes_again_with_what_follows_from_its_own_answers() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    response = send(send(response, "break"), "problems", met="yes")
    assert upcoming(response) == "problems"
    assert asked_on(response, "problems") == ["met", "which"]
    response = send(response, "problems", met="yes", which="crashes")
    assert upcoming(response) == "end"
    assert response.answers["which"] == {"text": "crashes"}


def test_who_declines_and_who_is_not_meant_are_asked_no_more() -> None:
    assert send(respondent(), "start", consent="decline").standing is Standing.DECLINED
    begun = send(respondent(), "start", consent="agree")
    assert send(begun, "tools", size="none").standing is Standing.SCREENED_OUT


def test_back_leads_to_what_was_sent_and_not_further_than_the_next_page() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    for page in ("start", "tools", "break"):
        found = page_at(ASKED, response, page)
        assert found is not None
        assert found.id == page
    assert page_at(ASKED, response, "problems") is None
    assert page_at(ASKED, response, "end") is None
    assert page_before(ASKED, response, "start") is None
    before = page_before(ASKED, response, "break")
    assert before is not None
    assert before.id == "tools"
    assert progress(ASKED, response, "break") == (2, 5)


def test_an_answer_on_a_way_that_was_left_decides_nothing_and_is_taken_back_at_the_end() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    response = send(send(response, "break"), "problems", met="yes")
    response = send(response, "problems", met="yes", which="crashes")
    assert asked_on(response, "end") == ["remedy", "words"]
    response = send(response, "tools", onnx="no", size="small")
    assert asked_on(response, "end") == ["words"]
    assert response.answers["which"] == {"text": "crashes"}
    back = send(response, "tools", onnx="yes", size="small")
    assert asked_on(back, "end") == ["remedy", "words"]
    done = send(response, "end", words="no")
    assert done.standing is Standing.FINISHED
    assert done.answers["met"] == done.answers["which"] == {}
    reasons = {one.id: missing(ASKED, done, one) for one in ASKED.questions()}
    assert (reasons["met"], reasons["which"], reasons["remedy"]) == (Missing.NOT_SHOWN,) * 3


def test_what_is_required_or_wrong_is_said_and_nothing_else_is_lost() -> None:
    response = send(respondent(), "start", consent="agree")
    page = page_at(ASKED, response, "tools")
    assert page is not None
    read = taken(ASKED, response, page, {"q.onnx": ["yes"]})
    assert read.problems == {"size": "Please answer this question."}
    assert read.answers["onnx"] == {"choices": ["yes"]}
    wrong = taken(ASKED, response, page, {"q.onnx": ["maybe"], "q.size": ["small"]})
    assert wrong.problems == {"onnx": "'maybe' is no option of 'onnx'."}


def test_why_an_answer_is_missing() -> None:
    def reasons(response: Response) -> list[Missing | None]:
        return [missing(ASKED, response, one) for one in ASKED.questions()]

    begun = send(respondent(), "start", consent="agree")
    assert reasons(begun) == [
        None, Missing.NOT_REACHED, Missing.NOT_REACHED, Missing.NOT_SHOWN, Missing.NOT_SHOWN, Missing.NOT_SHOWN,
        Missing.NOT_REACHED,
    ]  # fmt: skip
    assert reasons(whole_way()) == [None, None, None, None, None, None, Missing.SKIPPED]
    declined = send(respondent(), "start", consent="decline")
    assert reasons(declined)[1:3] == [Missing.NOT_REACHED, Missing.NOT_REACHED]


def test_an_earlier_answer_stands_in_a_later_text() -> None:
    text = "What do you do about {which}, {onnx} and {nothing}?"
    assert piped(text, ASKED, whole_way().answers) == "What do you do about crashes, Yes and {nothing}?"
    assert piped("About {which}?", ASKED, {}) == "About …?"


@pytest.mark.parametrize("kind", [Kind.SINGLE, Kind.MATRIX])
def test_a_shuffled_order_is_ones_own_and_the_same_every_time(kind: Kind) -> None:
    codes = list("abcdefgh")
    options = (*(Option(code, code) for code in codes), Option("none", "None", alone=True), Option("x", "X", text=True))
    rows = (*(Row(code, code) for code in codes), Row("x", "X", text=True))
    question = Question("q", kind, "?", options=options, rows=rows if kind is Kind.MATRIX else (), shuffle=True)
    orders = [[one.code for one in _shuffled(in_order(question, seed))] for seed in range(50)]
    assert orders == [[one.code for one in _shuffled(in_order(question, seed))] for seed in range(50)]
    assert all(sorted(one[:8]) == codes and one[-1] == "x" for one in orders)
    assert len({tuple(one) for one in orders}) > 40
    assert len(Counter(one[0] for one in orders)) > 4
    assert in_order(replace(question, shuffle=False), 3) == replace(question, shuffle=False)


def _shuffled(question: Question) -> tuple[Option, ...] | tuple[Row, ...]:
    return question.rows if question.kind is Kind.MATRIX else question.options


def test_the_steps_of_a_matrix_keep_their_order() -> None:
    scale = (Option("never", "Never"), Option("often", "Often"))
    question = Question("q", Kind.MATRIX, "?", options=scale, rows=(Row("a", "A"), Row("b", "B")), shuffle=True)
    assert all(in_order(question, seed).options == scale for seed in range(9))


def test_a_questionnaire_without_conditions_shows_everything() -> None:
    plain = Questionnaire("plain", "Plain", tuple(replace(page, show_if=None) for page in ASKED.pages[:2]))
    assert [page.id for page in shown_pages(plain, {})] == ["start", "tools"]
