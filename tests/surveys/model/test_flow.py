"""The flow of a survey: next page, going back, accepted answers, and reasons for missing ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from quaestor.surveys.model.flow import (
    fill_in_answers,
    find_page,
    in_order,
    missing_reason,
    next_page,
    page_before,
    progress,
    shown_pages,
    validate_page,
)
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import MatrixRow, Missing, Option, Question, Questionnaire, Response, ResponseStatus

ASKED = parse_questionnaire(
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
    return Response("r", "tools", 1, ResponseStatus.OPEN, {})


def send(response: Response, page: str, **fields: str) -> Response:
    """The response after a page was sent, as the file of answers would keep it."""
    found = find_page(ASKED, response, page)
    assert found is not None, page
    read = validate_page(ASKED, response, found, {f"q.{name}": [value] for name, value in fields.items()})
    assert read.problems == {}
    sent = response.sent if page in response.sent else (*response.sent, page)
    answers = {name: said for name, said in {**response.answers, **read.answers}.items() if name not in read.left}
    return replace(response, standing=read.standing, sent=sent, answers=answers)


def upcoming(response: Response) -> str:
    page = next_page(ASKED, response)
    return "" if page is None else page.id


def asked_on(response: Response, name: str) -> list[str]:
    return [one.id for page in shown_pages(ASKED, response.answers) if page.id == name for one in page.questions]


def whole_way() -> Response:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    response = send(send(response, "break"), "problems", met="yes")
    return send(send(response, "problems", met="yes", which="crashes"), "end", remedy="wait")


def test_a_respondent_is_led_through_every_page_to_the_end() -> None:
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
    assert (response.standing, upcoming(response)) == (ResponseStatus.FINISHED, "")


def test_a_page_whose_condition_is_false_is_skipped() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="no", size="small")
    assert upcoming(send(response, "break")) == "end"


def test_a_page_is_shown_again_with_its_follow_up_questions() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    response = send(send(response, "break"), "problems", met="yes")
    assert upcoming(response) == "problems"
    assert asked_on(response, "problems") == ["met", "which"]
    response = send(response, "problems", met="yes", which="crashes")
    assert upcoming(response) == "end"
    assert response.answers["which"] == {"text": "crashes"}


def test_declining_and_screened_out_respondents_get_no_more_pages() -> None:
    assert send(respondent(), "start", consent="decline").standing is ResponseStatus.DECLINED
    begun = send(respondent(), "start", consent="agree")
    assert send(begun, "tools", size="none").standing is ResponseStatus.SCREENED_OUT


def test_going_back_reaches_sent_pages_and_the_next_page_only() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    for page in ("start", "tools", "break"):
        found = find_page(ASKED, response, page)
        assert found is not None
        assert found.id == page
    assert find_page(ASKED, response, "problems") is None
    assert find_page(ASKED, response, "end") is None
    assert page_before(ASKED, response, "start") is None
    before = page_before(ASKED, response, "break")
    assert before is not None
    assert before.id == "tools"
    assert progress(ASKED, response, "break") == (2, 5)


def test_an_answer_on_an_abandoned_path_is_dropped_and_asked_again_on_return() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    response = send(send(response, "break"), "problems", met="yes")
    response = send(response, "problems", met="yes", which="crashes")
    assert asked_on(response, "end") == ["remedy", "words"]
    response = send(response, "tools", onnx="no", size="small")
    assert asked_on(response, "end") == ["words"]
    assert {"met", "which"}.isdisjoint(response.answers)
    back = send(response, "tools", onnx="yes", size="small")
    assert upcoming(back) == "problems"
    done = send(response, "end", words="no")
    assert done.standing is ResponseStatus.FINISHED
    assert {"met", "which"}.isdisjoint(done.answers)
    reasons = {question.id: missing_reason(ASKED, done, question) for question in ASKED.questions()}
    assert (reasons["met"], reasons["which"], reasons["remedy"]) == (Missing.NOT_SHOWN,) * 3


def test_a_form_changes_only_questions_it_showed() -> None:
    response = send(send(respondent(), "start", consent="agree"), "tools", onnx="yes", size="small")
    response = send(send(response, "break"), "problems", met="yes")
    response = send(response, "problems", met="yes", which="crashes")
    page = find_page(ASKED, response, "problems")
    assert page is not None
    old = validate_page(ASKED, response, page, {"shown": ["met"], "q.met": ["yes"]})
    assert old.answers == {"met": {"choices": ["yes"]}}
    emptied = validate_page(ASKED, response, page, {"shown": ["met which"], "q.met": ["yes"]})
    assert emptied.answers["which"] == {}
    begun = send(respondent(), "start", consent="agree")
    tools = find_page(ASKED, begun, "tools")
    assert tools is not None
    unasked = validate_page(ASKED, begun, tools, {"shown": ["onnx"], "q.onnx": ["yes"]})
    assert (unasked.problems, "size" in unasked.answers) == ({}, False)  # the page comes again, and asks for it


def test_declining_discards_other_answers_on_the_page() -> None:
    text = "[[pages.questions]]\nid = 'why'\nkind = 'text'\ntext = 'Why?'"
    header = (
        "[survey]\ntitle = 'T'\n[[pages]]\npage = 'p'\n[[pages.questions]]\nid = 'c'\nkind = 'consent'\ntext = '?'\n"
    )
    asked = parse_questionnaire(header + text, "t")
    read = validate_page(asked, respondent(), asked.pages[0], {"q.c": ["decline"], "q.why": ["my secret"]})
    assert read.answers == {"c": {"choices": ["decline"]}, "why": {}}


def test_missing_or_invalid_answers_are_reported_and_others_kept() -> None:
    response = send(respondent(), "start", consent="agree")
    page = find_page(ASKED, response, "tools")
    assert page is not None
    read = validate_page(ASKED, response, page, {"q.onnx": ["yes"]})
    assert read.problems == {"size": "Please answer this question."}
    assert read.answers["onnx"] == {"choices": ["yes"]}
    wrong = validate_page(ASKED, response, page, {"q.onnx": ["maybe"], "q.size": ["small"]})
    assert wrong.problems == {"onnx": "'maybe' is not an option of 'onnx'."}


def test_a_missing_answer_has_a_reason() -> None:
    def reasons(response: Response) -> list[Missing | None]:
        return [missing_reason(ASKED, response, question) for question in ASKED.questions()]

    begun = send(respondent(), "start", consent="agree")
    assert reasons(begun) == [None, *[Missing.NOT_REACHED] * 6]
    without = send(begun, "tools", onnx="no", size="small")
    assert reasons(without)[3:] == [Missing.NOT_SHOWN, Missing.NOT_SHOWN, Missing.NOT_SHOWN, Missing.NOT_REACHED]
    left_out = send(send(send(begun, "tools", onnx="yes", size="small"), "break"), "problems", met="no")
    assert reasons(left_out)[3:] == [None, Missing.NOT_SHOWN, Missing.NOT_SHOWN, Missing.NOT_REACHED]
    assert reasons(whole_way()) == [None, None, None, None, None, None, Missing.SKIPPED]
    declined = send(respondent(), "start", consent="decline")
    assert reasons(declined)[1:] == [Missing.NOT_REACHED] * 6


def test_earlier_answers_are_filled_into_later_texts() -> None:
    text = "What do you do about {which}, {onnx} and {nothing}?"
    assert fill_in_answers(text, ASKED, whole_way().answers) == "What do you do about crashes, Yes and {nothing}?"
    assert fill_in_answers("About {which}?", ASKED, {}) == "About …?"
    assert fill_in_answers("{which}", ASKED, {"which": {"text": "a" * 20_000}}) == "a" * 199 + "…"


@pytest.mark.parametrize("kind", ["single", "matrix"])
def test_a_shuffled_order_differs_by_respondent_and_is_stable(kind: str) -> None:
    codes = list("abcdefgh")
    options = (*(Option(code, code) for code in codes), Option("none", "None", alone=True), Option("x", "X", text=True))
    rows = (*(MatrixRow(code, code) for code in codes), MatrixRow("x", "X", text=True))
    question = Question("q", kind, "?", options=options, rows=rows if kind == "matrix" else (), shuffle=True)
    orders = [[one.code for one in _shuffled(in_order(question, seed))] for seed in range(50)]
    assert orders == [[one.code for one in _shuffled(in_order(question, seed))] for seed in range(50)]
    assert all(sorted(order[:8]) == codes and order[-1] == "x" for order in orders)
    assert len({tuple(order) for order in orders}) > 40
    assert len(Counter(order[0] for order in orders)) > 4
    assert in_order(replace(question, shuffle=False), 3) == replace(question, shuffle=False)


def _shuffled(question: Question) -> tuple[Option, ...] | tuple[MatrixRow, ...]:
    return question.rows if question.kind == "matrix" else question.options


def test_the_scale_of_a_matrix_is_never_shuffled() -> None:
    scale = (Option("never", "Never"), Option("often", "Often"))
    question = Question(
        "q", "matrix", "?", options=scale, rows=(MatrixRow("a", "A"), MatrixRow("b", "B")), shuffle=True
    )
    assert all(in_order(question, seed).options == scale for seed in range(9))


def test_without_conditions_every_page_is_shown() -> None:
    plain = Questionnaire("plain", "Plain", tuple(replace(page, show_if=None) for page in ASKED.pages[:2]))
    assert [page.id for page in shown_pages(plain, {})] == ["start", "tools"]


WAYS = """
[survey]
title = "Ways"
[[pages]]
page = "consent"
[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree?"
[[pages]]
page = "use"
[[pages.questions]]
id = "uses"
kind = "yes-no"
text = "Do you use it?"
[[pages]]
page = "why"
show_if = "uses = yes"
[[pages.questions]]
id = "why"
kind = "text"
text = "Why?"
"""


def test_a_survey_ends_only_with_the_page_announced_as_last() -> None:
    asked = parse_questionnaire(WAYS, "ways")
    response = Response("one", "ways", 1, ResponseStatus.OPEN, {"consent": {"choices": ["agree"]}}, sent=("consent",))
    use, why = asked.pages[1:]
    assert progress(asked, response, "use") == (1, 3), "a page more may come"
    no = {"q.uses": ["no"], "last": ["no"]}
    first = validate_page(asked, response, use, no)
    assert first.standing is ResponseStatus.OPEN, "its button said Next"
    response = replace(response, answers={**response.answers, **first.answers}, sent=("consent", "use"))
    assert next_page(asked, response) is None
    assert progress(asked, response, "use") == (1, 2), "now it is the last"
    assert validate_page(asked, response, use, {**no, "last": ["yes"]}).standing is ResponseStatus.FINISHED
    changed = validate_page(asked, response, use, {"q.uses": ["yes"], "last": ["yes"]})
    assert changed.standing is ResponseStatus.OPEN
    response = replace(response, answers={**response.answers, **changed.answers})
    assert (
        validate_page(asked, response, why, {"q.why": ["speed"], "last": ["yes"]}).standing is ResponseStatus.FINISHED
    )


def test_going_back_does_not_finish_a_response() -> None:
    questionnaire = parse_questionnaire(WAYS, "ways")
    answers = {"consent": {"choices": ["agree"]}, "uses": {"choices": ["no"]}}
    response = Response("one", "ways", 1, ResponseStatus.OPEN, answers, sent=("consent", "use"))
    agreed = validate_page(questionnaire, response, questionnaire.pages[0], {"q.consent": ["agree"]})
    assert agreed.standing is ResponseStatus.OPEN
