"""Problems of a questionnaire are found before it opens, each in one sentence with a remedy."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.answers_of_kinds import check, lacking, write_form

from quaestor.base.errors import Problem
from quaestor.surveys.model.conditions import read_condition
from quaestor.surveys.model.flow import is_shown, next_page, validate_page
from quaestor.surveys.model.paths import find_reach, paths
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import (
    AGREE,
    DECLINE,
    Answer,
    MatrixRow,
    Option,
    Page,
    Question,
    Questionnaire,
    Response,
    ResponseStatus,
)

SOUND = """
[survey]
title = "Tools"
quotas = [{ of = "onnx = yes", most = 40 }]

[research]
rq1 = "Which tools?"

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
answers = ["rq1"]
[[pages.questions]]
id = "size"
kind = "single"
text = "How large?"
options = ["Small", "Large", "None"]
[[pages.questions]]
id = "years"
kind = "number"
text = "How many years?"
low = 0
high = 60

[[pages]]
page = "more"
show_if = "onnx = yes"
[[pages.questions]]
id = "often"
kind = "matrix"
text = "You said {onnx}: how often?"
options = ["Never", "Sometimes", "Often"]
rows = ["Crashes", "Speed"]
centre = "sometimes"
[[pages.questions]]
id = "why"
kind = "long-text"
text = "Why?"
show_if = "years > 3 and often.crashes != never"
[[pages.questions]]
id = "order"
kind = "ranking"
text = "What matters most?"
options = ["Speed", "Size"]
"""


def problems_after(old: str, new: str) -> list[Problem]:
    assert SOUND.count(old) >= 1, old
    return find_problems(parse_questionnaire(SOUND.replace(old, new, 1), "tools"))


def test_a_valid_questionnaire_has_no_problems() -> None:
    assert find_problems(parse_questionnaire(SOUND, "tools")) == []


CONSENT = '[[pages.questions]]\nid = "consent"\nkind = "consent"\ntext = "May we?"\n'
WHY = "years > 3 and often.crashes != never"
PAGE = 'show_if = "onnx = yes"'
GRAVE = [
    # What a condition looks at
    (WHY, "yeers > 3", "question why", "depends on 'yeers', which is not a question, nearest: years"),
    (WHY, "why answered", "question why", "depends on 'why', which is asked later"),
    (WHY, "order answered", "question why", "depends on 'order', which is asked later: move"),
    (PAGE, 'show_if = "often answered"', "page more", "depends on 'often', which is asked later"),
    (WHY, "size = medium", "question why", "looks for 'medium', which is no option of 'size': there are small"),
    (WHY, "often.crash = never", "question why", "depends on the row 'crash', which 'often' has not: there are"),
    (WHY, "often.crashes = nevr", "question why", "looks for 'nevr', which is no step of 'often': there are never"),
    (WHY, "often = never", "question why", "without a row: write which, as in `often.crashes = …`"),
    (WHY, "size.x = small", "question why", "depends on the row 'x' of 'size', which has no rows"),
    (WHY, "years = many", "question why", "compares the number 'years' with 'many': write a number"),
    (WHY, "years includes 3", "question why", "asks what the number 'years' includes"),
    (WHY, "size > 3", "question why", "compares 'size' with the number 3, but it has options"),
    (WHY, "often.crashes > 3", "question why", "compares 'often' with the number 3, but it has steps"),
    ('["Speed", "Size"]', '["Speed", "Size"]\nshow_if = "why = x"', "question order", "is `why answered`"),
    ('of = "onnx = yes"', 'of = "onyx = yes"', "quota onyx = yes", "depends on 'onyx', which is not a question"),
    # Questions that nobody gets to
    (WHY, "size = small and size = large", "question why", "nobody is shown this question, because its condition"),
    (WHY, "years > 60", "question why", "`years > 60` can never hold: change it"),
    (WHY, "years > 5 and years < 4", "question why", "can never hold"),
    (WHY, "onnx = no", "question why", "`onnx = no` can never hold"),
    (WHY, "not (onnx = no or onnx = yes or not onnx answered)", "question why", "can never hold"),
    (PAGE, 'show_if = "onnx = yes and onnx = no"', "page more", "nobody reaches this page, because its condition"),
    (
        '["Speed", "Size"]', '["Speed", "Size"]\nshow_if = "often.speed = never and often.speed = often"',
        "question order", "and none of its options can be chosen, because its condition",
    ),
    (
        'options = ["Small", "Large", "None"]',
        'required = true\noptions = [{label = "Small", ends = true}, {label = "Large", ends = true}]',
        "page more", "because every path ends before it",
    ),
    # Names
    ('page = "more"', 'page = "tools"', "page tools", "two pages with this id"),
    ('id = "size"', 'id = "onnx"', "question onnx", "two questions with this id"),
    ('["Small", "Large", "None"]', '["Small", "Large", "small"]', "question size", "have the code 'small'"),
    ('["Crashes", "Speed"]', '["Crashes", "crashes"]', "question often", "two of its rows have the code 'crashes'"),
    # Options, rows, numbers
    ('options = ["Small", "Large", "None"]', "", "question size", "it has no options: give it some"),
    ('options = ["Never", "Sometimes", "Often"]', "", "question often", "it has no steps"),
    ('["Never", "Sometimes", "Often"]', '["Sometimes"]', "question often", "one of its steps only"),
    ('rows = ["Crashes", "Speed"]', "", "question often", "it has no rows"),
    ('options = ["Speed", "Size"]', 'options = ["Speed"]', "question order", "one of its options only"),
    ('kind = "yes-no"', 'kind = "yes-no"\noptions = ["Yes", "No", "Both"]', "question onnx", "it has 3 options"),
    ('centre = "sometimes"', 'centre = "middle"', "question often", "centre is 'middle', which is not one of its"),
    ('text = "How large?"', 'text = "How large?"\nattention = "x"', "question size", "attention is 'x'"),
    ("high = 60", "high = -1", "question years", "low is 0 and high is -1, so no number is valid"),
    # Words
    ('text = "Why?"', 'text = " "', "question why", "it has no text"),
    ('title = "Tools"', 'title = ""', "survey", "it has no title"),
    ('["Small", "Large", "None"]', '["Small", {code = "l", label = ""}]', "question size", "'l' has no label"),
    ('["Crashes", "Speed"]', '["Crashes", {code = "s", label = ""}]', "question often", "the row 's' has no label"),
    ("{onnx}", "{onyx}", "question often", "contains {onyx}, which is not a question, nearest: onnx"),
    ("{onnx}", "{order}", "question often", "contains {order}, which is not answered on an earlier page"),
    ('page = "tools"', 'page = "tools"\ntext = "{onnx}"', "page tools", "contains {onnx}, which is not answered"),
    # Consent
    (CONSENT, "", "survey", "there is no consent question"),
    (
        CONSENT, '[[pages.questions]]\nid = "early"\nkind = "text"\ntext = "Who?"\n' + CONSENT,
        "question early", "asked before consent: move it after 'consent'",
    ),
    ('page = "start"', 'page = "start"\nshow_if = "onnx = yes"', "question consent", "not everybody is asked"),
    ('text = "May we?"', 'text = "May we?"\noptions = ["agree", "maybe"]', "question consent", "nobody can decline"),
    ('text = "May we?"', 'text = "May we?"\noptions = ["yes", "decline"]', "question consent", "nobody can agree"),
    # The rest
    ('answers = ["rq1"]', 'answers = ["rq2"]', "question onnx", "answers 'rq2', which is not a research question"),
    ('title = "Tools"', 'title = "Tools"\ncloses = "2027-02-30"', "survey", "'2027-02-30', which is not a date"),
    ('title = "Tools"', 'title = "Tools"\nlanguages = ["en", "en"]', "survey", "'en' is listed twice"),
    ('title = "Tools"', 'title = "Tools"\nstrata = ["a", "a"]', "survey", "the stratum 'a' is listed twice"),
]  # fmt: skip
LOOK = [
    ('id = "order"', 'id = "language"', "question language", "exports have a column 'language' of their own"),
    ('answers = ["rq1"]', "", "research rq1", 'add answers = ["rq1"] to a question'),
    ('rq1 = "Which tools?"', 'rq1 = ""', "research rq1", "has no text"),
    ('"None"]', '{label = "None", alone = true}]', "question size", "'none' is `alone`, which has no effect"),
    ('["Small", "Large", "None"]', '["Small"]', "question size", "there is one option only"),
    ('["Small", "Large"', '["Small", {code = "l", label = "Small"}', "question size", "read 'Small'"),
    ('"Often"]', '{label = "Often", ends = true}]', "question often", "`ends` of 'often' has no effect in a matrix"),
    ('text = "Why?"', 'text = "Why?"\noptions = ["a", "b"]', "question why", "options has no effect"),
    ('text = "Why?"', 'text = "Why?"\nlow = 3', "question why", "low, high, whole or unit has no effect"),
    ('text = "How large?"', 'text = "How large?"\nrows = ["a"]', "question size", "rows has no effect"),
    ('page = "tools"', 'page = "empty"\n[[pages]]\npage = "tools"', "page empty", "this page is empty"),
    (
        'title = "Tools"', 'title = "Tools"\nminutes = 1\nleast_seconds = 90',
        "survey", "survey.least_seconds is 90, more than the 1 minutes",
    ),
    ("[research]", "[pay]\namount = 10\nbudget = 5\n[research]", "survey", "nobody can be paid"),
    (
        "[research]", "most = 8\n[pay]\namount = 10\nbudget = 70\n[research]",
        "survey", "pay.budget pays for 7 responses, but survey.most is 8",
    ),
    (
        '[research]', 'anonymous = false\n[pay]\namount = 10\n[research]',
        "survey", "connect payment addresses to answers",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "where", "words"), GRAVE)
def test_a_serious_problem_is_found_and_described(old: str, new: str, where: str, words: str) -> None:
    problems = problems_after(old, new)
    assert [one for one in problems if one.where == where and words in one.words and one.grave], problems


@pytest.mark.parametrize(("old", "new", "where", "words"), LOOK)
def test_a_warning_does_not_prevent_opening(old: str, new: str, where: str, words: str) -> None:
    problems = problems_after(old, new)
    assert [problem for problem in problems if problem.where == where and words in problem.words], problems
    assert not [problem for problem in problems if problem.grave], problems


def test_a_question_on_the_consent_page_gives_a_warning() -> None:
    beside = CONSENT + '[[pages.questions]]\nid = "beside"\nkind = "text"\ntext = "Who?"\n'
    (one,) = problems_after(CONSENT, beside)
    assert (one.where, one.grave) == ("question beside", False)
    assert "respondents who decline see it too" in one.words


def test_a_cause_is_reported_once_and_its_consequences_name_it() -> None:
    order = '["Speed", "Size"]\nshow_if = "why answered"'
    text = SOUND.replace(WHY, "size = small and size = large").replace('["Speed", "Size"]', order)
    problems = find_problems(parse_questionnaire(text, "tools"))
    assert [problem.where for problem in problems] == ["question why", "question order"]
    assert "depends on 'why', which is never shown: fix that question first" in problems[1].words


def test_an_unreachable_page_is_reported_once_and_not_for_each_question() -> None:
    problems = problems_after(PAGE, 'show_if = "onnx = yes and onnx = no"')
    assert [problem.where for problem in problems] == ["page more"]


def test_conditions_on_forty_questions_are_checked_in_bounded_time() -> None:
    """Forty questions on which one depends have a trillion answers between them, and two ends."""
    many = tuple(Question(f"q{place}", "yes-no", "?", options=_options("yes", "no")) for place in range(40))
    last = Question("last", "text", "?", show_if=read_condition(" and ".join(f"{one.id} = yes" for one in many)))
    never = Question("never", "text", "?", show_if=read_condition("q3 = yes and q3 = no"))
    asked = Questionnaire(
        "many", "Many", (_consent(), Page("many", questions=many), Page("end", "", "", (last, never)))
    )
    assert [problem.where for problem in find_problems(asked)] == ["question never"]
    assert len(paths(asked)) == 3


def test_an_incomplete_path_search_is_reported_and_makes_no_claims() -> None:
    switches = tuple(Question(f"q{place}", "yes-no", "?", options=_options("yes", "no")) for place in range(9))
    depending = tuple(
        Question(f"d{switch.id}", "text", "?", show_if=read_condition(f"{switch.id} = yes")) for switch in switches
    )
    asked = Questionnaire("many", "Many", (_consent(), Page("a", questions=switches), Page("b", questions=depending)))
    some = paths(asked, most=50)
    assert (len(some), some.whole) == (50, False)
    whole = paths(asked, most=1_000)
    assert (len(whole), whole.whole) == (2**9 + 1, True)
    assert [problem for problem in find_problems(asked) if problem.grave] == []


# Questionnaires that were generated


def _options(*codes: str, ends: str = "") -> tuple[Option, ...]:
    return tuple(Option(code, code.title(), ends=code == ends) for code in codes)


def _consent() -> Page:
    options = (Option(AGREE, "Yes"), Option(DECLINE, "No", ends=True))
    return Page("start", questions=(Question("consent", "consent", "May we?", required=True, options=options),))


@st.composite
def questions(draw: st.DrawFn, name: str) -> Question:
    kind = draw(st.sampled_from(["single", "multiple", "number", "text", "yes-no", "matrix"]))
    required = draw(st.booleans())
    if kind == "number":
        return Question(name, kind, "How many?", required=required, low=0, high=3, whole=True)
    if kind == "text":
        return Question(name, kind, "What?", required=required)
    if kind == "yes-no":
        return Question(name, kind, "Is it?", required=required, options=_options("yes", "no"))
    if kind == "matrix":
        rows = (MatrixRow("r", "Row"), MatrixRow("s", "Other", text=True))
        return Question(name, kind, "How often?", required=required, options=_options("a", "b"), rows=rows)
    ends = draw(st.sampled_from(["", "", "c"]))
    return Question(name, kind, "Which?", required=required, options=_options("a", "b", "c", ends=ends))


def _tests(question: Question) -> list[str]:
    if question.kind == "number":
        return [f"{question.id} >= 2", f"{question.id} < 2", f"{question.id} = 1", f"{question.id} != 3"]
    if question.kind == "text":
        return [f"{question.id} answered"]
    if question.kind == "matrix":
        rows = [f"{question.id}.{row} {test}" for row in "rs" for test in ("= a", "!= a", "answered")]
        return [*rows, f"{question.id} answered"]
    codes = [option.code for option in question.options if not option.ends]
    return [f"{question.id} {compare} {codes[-1]}" for compare in ("=", "includes")] + [f"{question.id} answered"]


@st.composite
def questionnaires(draw: st.DrawFn, sound: bool) -> Questionnaire:
    """Pages of questions with conditions on earlier pages; where it is sound, each of them can hold."""
    earlier: list[Question] = []
    pages = [_consent()]
    for number in range(draw(st.integers(1, 3))):
        made = [draw(questions(f"q{number}{place}")) for place in range(draw(st.integers(1, 2)))]
        conditions = [draw(_conditions(earlier, sound)) for _ in made]
        pages.append(Page(f"p{number}", questions=tuple(_with(*both) for both in zip(made, conditions, strict=True))))
        earlier += made
    return Questionnaire("made", "Made", tuple(pages))


@st.composite
def _conditions(draw: st.DrawFn, earlier: list[Question], sound: bool) -> str:
    tests = [test for one in earlier for test in _tests(one)]
    if not tests or draw(st.booleans()):
        return ""
    first, second = draw(st.sampled_from(tests)), draw(st.sampled_from(tests))
    shapes = [first, f"{first} or {second}"] + ([] if sound else [f"{first} and {second}", f"not {first} and {second}"])
    return draw(st.sampled_from(shapes))


def _with(question: Question, condition: str) -> Question:
    return replace(question, show_if=read_condition(condition)) if condition else question


@settings(max_examples=60, deadline=None)
@given(questionnaires(sound=True))
def test_a_valid_questionnaire_has_no_serious_problem_and_reaches_every_question(asked: Questionnaire) -> None:
    assert [problem for problem in find_problems(asked) if problem.grave] == []
    found = paths(asked)
    assert found.whole
    assert {name for one in found for name in one.questions} == {question.id for question in asked.questions()}


@settings(max_examples=60, deadline=None)
@given(questionnaires(sound=False))
def test_the_paths_equal_those_of_all_possible_answers(asked: Questionnaire) -> None:
    found = paths(asked, most=10_000)
    assert found.whole
    walked = {(one.questions, one.standing) for one in found}
    assert len(walked) == len(found)
    expected = _all_ways(asked)
    assert walked == expected
    assert find_reach(asked).questions == {name for way, _ in expected for name in way}


@settings(max_examples=20, deadline=None)
@given(questionnaires(sound=False))
def test_answering_as_a_path_says_leads_along_that_path(asked: Questionnaire) -> None:
    for path in paths(asked):
        response = Response("r", "made", 1, ResponseStatus.OPEN, {})
        while response.standing is ResponseStatus.OPEN:
            page = next_page(asked, response)
            assert page is not None
            form: dict[str, Any] = {}
            for question in page.questions:
                form |= write_form(question, path.answers[question.id])
            read = validate_page(asked, response, page, form)
            assert read.problems == {}
            answers = {**response.answers, **read.answers}
            response = Response("r", "made", 1, read.standing, answers, sent=(*response.sent, page.id))
        assert tuple(one.id for one in asked.questions() if one.id in response.answers) == path.questions
        assert response.standing is path.standing


def _all_ways(asked: Questionnaire) -> set[tuple[tuple[str, ...], ResponseStatus]]:
    """Every way, by trying every answer there is to every question; of answers nobody asks for again one will do."""
    looked_at = {test.question for one in asked.questions() if one.show_if for test in one.show_if.tests()}
    found: set[tuple[tuple[str, ...], ResponseStatus]] = set()
    begun: dict[str, tuple[tuple[str, ...], dict[str, Answer]]] = {"": ((), {})}
    for page in asked.pages:
        ended_or_not = [_page_ways(page, way, said) for way, said in begun.values()]
        begun = {}
        for way, said, standing in (one for some in ended_or_not for one in some):
            if standing is ResponseStatus.OPEN:
                kept = {name: answer for name, answer in said.items() if name in looked_at}
                begun[repr((way, kept))] = (way, kept)
            else:
                found.add((way, standing))
    return found | {(way, ResponseStatus.FINISHED) for way, _ in begun.values()}


def _page_ways(
    page: Page, way: tuple[str, ...], said: dict[str, Answer]
) -> list[tuple[tuple[str, ...], dict[str, Answer], ResponseStatus]]:
    shown = [one for one in page.questions if is_shown(one, said)]
    made = []
    for answers in product(*(_all_answers(one) for one in shown)):
        standing = ResponseStatus.OPEN
        for question, answer in zip(shown, answers, strict=True):
            ends = [option for option in question.options if option.ends and option.code in answer.get("choices", ())]
            if ends and standing is ResponseStatus.OPEN:
                standing = ResponseStatus.DECLINED if question.kind == "consent" else ResponseStatus.SCREENED_OUT
        names = tuple(one.id for one in shown)
        made.append(((*way, *names), {**said, **dict(zip(names, answers, strict=True))}, standing))
    unique: dict[Any, Any] = {}
    for one in made:
        unique.setdefault(repr(one), one)
    return list(unique.values())


def _all_answers(question: Question) -> list[Answer]:
    codes = [option.code for option in question.options]
    said: list[dict[str, Any]] = {
        "number": [{"number": str(value)} for value in range(4)],
        "text": [{"text": "x"}],
        "matrix": [{"rows": {"r": first, "s": second}} for first, second in product(["a", "b", ""], repeat=2)],
        "multiple": [
            {"choices": [code for code, taken in zip(codes, some, strict=True) if taken]}
            for some in product([True, False], repeat=len(codes))
        ],
    }.get(question.kind, [{"choices": [code]} for code in codes])
    answers = [check(question, one) for one in said]
    return [one for one in [*answers, {}] if not lacking(question, one)]
