"""Why an answer is missing, against every way on that a respondent could still take."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.answers_of_kinds import write_form

from quaestor.surveys.model.conditions import read_condition
from quaestor.surveys.model.flow import missing_reason, next_page, shown_pages, validate_page
from quaestor.surveys.model.reachability import can_be_shown
from quaestor.surveys.model.records import (
    Answer,
    Missing,
    Option,
    Page,
    Question,
    Questionnaire,
    Response,
    ResponseStatus,
)

A, B = Option("a", "A"), Option("b", "B")
STOP = Option("stop", "Stop", ends=True)
EVERY_ANSWER: Mapping[str, tuple[Answer, ...]] = {
    "single": ({"choices": ["a"]}, {"choices": ["b"]}, {"choices": ["stop"]}, {}),
    "multiple": ({"choices": ["a"]}, {"choices": ["b"]}, {"choices": ["a", "b"]}, {}),
    "number": ({"number": "0"}, {"number": "1"}, {"number": "2"}, {}),
}


@st.composite
def conditions(draw: st.DrawFn, earlier: list[Question], depth: int = 2) -> str:
    kind = draw(st.sampled_from(["test", "test", "and", "or", "not"])) if depth else "test"
    if kind == "not":
        return f"not ({draw(conditions(earlier, depth - 1))})"
    if kind != "test":
        return f"({draw(conditions(earlier, depth - 1))}) {kind} ({draw(conditions(earlier, depth - 1))})"
    question = draw(st.sampled_from(earlier))
    if question.kind == "number":
        return f"{question.id} {draw(st.sampled_from(['= 1', '> 1', 'answered']))}"
    tests = ["= a", "= b", "!= a", "answered", "includes a", *(["= stop"] if STOP in question.options else [])]
    return f"{question.id} {draw(st.sampled_from(tests))}"


@st.composite
def questionnaires(draw: st.DrawFn) -> Questionnaire:
    earlier: list[Question] = []
    pages = []
    for number in range(draw(st.integers(2, 4))):
        when = read_condition(draw(conditions(earlier))) if earlier and draw(st.booleans()) else None
        asked = []
        for _ in range(draw(st.integers(1, 2))):
            kind = draw(st.sampled_from(list(EVERY_ANSWER)))
            # Another test has a condition on an end of the same page, which the pages sent here never show.
            known = [one for one in earlier if one not in asked or STOP not in one.options]
            show_if = read_condition(draw(conditions(known))) if known and draw(st.booleans()) else None
            options = {"single": (A, B, STOP) if draw(st.booleans()) else (A, B), "multiple": (A, B)}.get(kind, ())
            name = f"q{len(earlier)}"
            asked.append(Question(name, kind, "?", required=draw(st.booleans()), options=options, show_if=show_if))
            earlier.append(asked[-1])
        pages.append(Page(f"p{number}", questions=tuple(asked), show_if=when))
    return Questionnaire("t", "T", tuple(pages))


def ways_on(asked: Questionnaire, response: Response) -> Iterator[Response]:
    """Each response that sending the next page can lead to; what was answered before stays."""
    page = next_page(asked, response)
    assert page is not None
    open_yet = [question for question in page.questions if question.id not in response.answers]
    for said in product(*(EVERY_ANSWER[one.kind] for one in open_yet)):
        answers = {**response.answers, **{one.id: answer for one, answer in zip(open_yet, said, strict=True)}}
        form: dict[str, list[str]] = {}
        for one in page.questions:
            if all(code in [option.code for option in one.options] for code in answers[one.id].get("choices", ())):
                form |= {name: list(values) for name, values in write_form(one, answers[one.id]).items()}
        read = validate_page(asked, response, page, form)
        if read.problems:
            continue
        kept = {name: one for name, one in {**response.answers, **read.answers}.items() if name not in read.left}
        yield replace(response, answers=kept, standing=read.standing, sent=tuple({*response.sent, page.id}))


def shown_at_last(asked: Questionnaire, response: Response) -> set[str]:
    """All questions on any page of any path from here to an end."""
    seen: set[str] = set()
    waiting, known = [response], set()
    while waiting:
        one = waiting.pop()
        key = repr(sorted(one.answers.items()))
        if key in known:
            continue
        known.add(key)
        if one.standing is not ResponseStatus.OPEN or next_page(asked, one) is None:
            seen |= set(one.answers)
            continue
        waiting += ways_on(asked, one)
    return seen


def test_a_question_on_the_page_that_ends_the_survey_is_reachable() -> None:
    first = Question("q0", "single", "?", required=True, options=(A, B, STOP))
    second = Question("q1", "single", "?", options=(A, B), show_if=read_condition("q0 = stop"))
    later = Question("q2", "single", "?", options=(A, B), show_if=read_condition("q0 = stop"))
    asked = Questionnaire("t", "T", (Page("p0", questions=(first, second)), Page("p1", questions=(later,))))
    response = Response("r", "t", 1, ResponseStatus.OPEN, {})
    assert missing_reason(asked, response, second) is Missing.NOT_REACHED
    assert missing_reason(asked, response, later) is Missing.NOT_SHOWN


@settings(max_examples=80, deadline=None)
@given(questionnaires(), st.integers(0, 3), st.integers(0, 2**16))
def test_a_question_counts_as_not_shown_exactly_if_no_path_leads_to_it(
    asked: Questionnaire, pages: int, seed: int
) -> None:
    chance = random.Random(seed)
    response = Response("r", "t", 1, ResponseStatus.OPEN, {})
    for _ in range(pages):
        following = list(ways_on(asked, response)) if next_page(asked, response) else []
        following = [one for one in following if one.standing is ResponseStatus.OPEN]
        if not following:
            break
        response = chance.choice(following)
    expected = shown_at_last(asked, response)
    for question in asked.questions():
        said = response.answers.get(question.id)
        reason = missing_reason(asked, response, question)
        if said:
            assert reason is None
        elif said is not None:
            assert reason is Missing.SKIPPED
        else:
            assert reason is (Missing.NOT_REACHED if question.id in expected else Missing.NOT_SHOWN), question.id
    assert {one.id for page in shown_pages(asked, response.answers) for one in page.questions} >= set(response.answers)


def test_a_condition_on_very_many_questions_counts_as_possibly_true() -> None:
    many = [Question(f"q{number}", "number", "?") for number in range(30)]
    words = " or ".join(f"(q{number} > {number} and q{number + 1} < {number})" for number in range(29))
    last = Question("last", "text", "?", show_if=read_condition(words))
    asked = Questionnaire("t", "T", (Page("p", questions=(*many, last)),))
    assert can_be_shown(asked, Response("r", "t", 1, ResponseStatus.OPEN, {}), last)
