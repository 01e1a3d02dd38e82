"""Answers as pages send them: of every kind, in one form, the same when they are sent again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.answers_of_kinds import check, in_words, lacking, read_form, write_form

from quaestor.base.errors import InputError
from quaestor.surveys.model.answer_cells import LONGEST_TEXT
from quaestor.surveys.model.question_kinds import QUESTION_KINDS
from quaestor.surveys.model.question_kinds.ranking import read_place
from quaestor.surveys.model.records import MatrixRow, Option, Question

CODES = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,8}", fullmatch=True)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=40)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    kind = draw(st.sampled_from(list(QUESTION_KINDS)))
    texts = kind not in ("ranking", "matrix")
    codes = draw(st.lists(CODES, min_size=2, max_size=6, unique=True))
    options = tuple(
        Option(code, draw(WORDS), text=texts and draw(st.booleans()), alone=draw(st.integers(0, 9)) == 0)
        for code in codes
    )
    rows = tuple(
        MatrixRow(code, draw(WORDS), text=draw(st.booleans()))
        for code in draw(st.lists(CODES, max_size=4, unique=True))
    )
    bare = kind in ("number", "text", "long-text")
    return Question(draw(CODES), kind, "?", options=() if bare else options, rows=rows if kind == "matrix" else ())


@st.composite
def said_to(draw: st.DrawFn, question: Question) -> dict[str, Any]:
    """Something that can be said to a question, not in its one form yet."""
    codes = [option.code for option in question.options]
    if question.kind == "matrix":
        rows = {row.code: draw(st.sampled_from(["", *codes])) for row in question.rows}
        return {"rows": rows, "texts": {row.code: draw(WORDS) for row in question.rows}}
    if question.kind == "ranking":
        return {"ranks": draw(st.lists(st.sampled_from(codes), unique=True))}
    if question.kind == "number":
        return {
            "number": str(
                draw(st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6).map(lambda x: round(x, 3))))
            )
        }
    if question.kind in ("text", "long-text"):
        return {"text": draw(WORDS)}
    most = None if question.kind == "multiple" else 1
    chosen = draw(st.lists(st.sampled_from(codes), unique=True, max_size=most))
    if any(option.alone for option in question.options if option.code in chosen):
        chosen = chosen[:1]
    return {"choices": chosen, "texts": {code: draw(WORDS) for code in chosen}}


@given(st.data())
@settings(max_examples=70, deadline=None)
def test_checking_or_resending_an_answer_does_not_change_it(data: st.DataObject) -> None:
    question = data.draw(questions())
    answer = check(question, data.draw(said_to(question)))
    assert check(question, answer) == answer
    assert read_form(question, write_form(question, answer)) == answer
    assert isinstance(in_words(question, answer), str)


@given(st.data())
@settings(max_examples=70, deadline=None)
def test_any_form_input_gives_an_answer_or_a_one_sentence_error(data: st.DataObject) -> None:
    question = data.draw(questions())
    fields = [
        f"q.{question.id}",
        *(f"q.{question.id}.{option.code}.{end}" for option in question.options for end in ("text", "rank")),
    ]
    fields += [f"q.{question.id}.{row.code}" for row in question.rows]
    codes = [option.code for option in question.options]
    values = st.lists(st.one_of(st.text(max_size=12), st.sampled_from([*codes, "1", "2"])), max_size=3)
    form = data.draw(st.dictionaries(st.sampled_from(fields), values))
    try:
        answer = read_form(question, form)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert read_form(question, write_form(question, answer)) == answer


def test_a_line_break_in_an_unknown_choice_leaves_the_error_on_one_line() -> None:
    with pytest.raises(InputError, match=r"^'a b' is not an option") as refused:
        read_form(OTHER, {"q.tool": ["a\n b"]})
    assert "\n" not in str(refused.value)


OTHER = Question(
    "tool",
    "multiple",
    "?",
    options=(Option("a", "A"), Option("x", "Other", text=True), Option("n", "None", alone=True)),
)


def test_text_for_an_unticked_other_option_is_an_answer() -> None:
    assert read_form(OTHER, {"q.tool.x.text": [" mine "]}) == {"choices": ["x"], "texts": {"x": "mine"}}
    assert in_words(OTHER, {"choices": ["a", "x"], "texts": {"x": "mine"}}) == "A; Other: mine"


@pytest.mark.parametrize(
    ("question", "form", "words"),
    [
        (OTHER, {"q.tool": ["a", "n"]}, "cannot be combined with other answers"),
        (
            Question("one", "single", "?", options=OTHER.options),
            {"q.one": ["a"], "q.one.x.text": ["mine"]},
            "please choose only one answer, or clear the text next to 'Other'",
        ),
        (OTHER, {"q.tool": ["b"]}, "'b' is not an option of 'tool'"),
        (Question("y", "number", "?"), {"q.y": ["many"]}, "'many' is not a number"),
        (Question("y", "number", "?"), {"q.y": ["nan"]}, "'nan' is not a number"),
        (Question("y", "number", "?", whole=True), {"q.y": ["1.5"]}, "not a whole number"),
        (Question("y", "number", "?", low=0), {"q.y": ["-1"]}, "less than 0"),
        (Question("y", "number", "?", high=9), {"q.y": ["10"]}, "more than 9"),
        (Question("t", "text", "?"), {"q.t": ["x" * (LONGEST_TEXT + 1)]}, "shorten it to 20,000"),
        (
            Question("r", "ranking", "?", options=(Option("a", "A"), Option("b", "B"))),
            {"q.r.a.rank": ["1"], "q.r.b.rank": ["1"]},
            "two options have rank 1",
        ),
        (
            Question("r", "ranking", "?", options=(Option("a", "A"), Option("b", "B"), Option("c", "C"))),
            {"q.r.a.rank": ["1"], "q.r.c.rank": ["3"]},
            "no option has rank 2",
        ),
    ],
)
def test_an_answer_that_is_not_offered_is_refused(question: Question, form: dict[str, list[str]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_form(question, form)


def test_a_missing_required_part_is_named() -> None:
    rows = (MatrixRow("a", "Speed"), MatrixRow("b", "Size"), MatrixRow("x", "Other", text=True))
    steps = (Option("low", "Low"), Option("high", "High"))
    scale = Question("m", "matrix", "?", required=True, options=steps, rows=rows)
    assert lacking(scale, {"rows": {"a": "low"}}) == "Please choose an answer for: Size."
    assert lacking(scale, {"rows": {"a": "low", "b": "high"}}) == ""
    assert lacking(Question("t", "text", "?", required=True), {}) == "Please answer this question."
    assert lacking(Question("t", "text", "?"), {}) == ""


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("1 000", "1000"), ("1,5", "1.5"), ("\u22123", "-3"), (" 7 ", "7"), ("0,125", "0.125"), ("-0,125", "-0.125"),
        ("1,234,567", "1234567"), ("1.234", "1.234"), ("12 000,5", "12000.5"), ("\u2212 3", "-3"), (",5", ".5"),
        ("12,3456", "12.3456"), ("1e5", "1e5"), ("0", "0"), ("1000000000000000", "1000000000000000"),
        ("-0", "0"), ("-0,0", "0.0"), ("\uff11\uff12", "12"), ("\u0663", "3"), ("\u0661\u066b\u0665", "1.5"),
    ],
)  # fmt: skip
def test_numbers_are_accepted_in_usual_notations(typed: str, taken: str) -> None:
    assert read_form(Question("y", "number", "?"), {"q.y": [typed]}) == {"number": taken}


@pytest.mark.parametrize("typed", ["1.234,5", "1,234.5", "1,234", "12,000", "1 2", "5 10", "1,2,3", "1.5,"])
def test_an_ambiguous_number_is_refused(typed: str) -> None:
    with pytest.raises(InputError, match="is ambiguous: write it without thousands separators"):
        read_form(Question("y", "number", "?"), {"q.y": [typed]})


def test_a_whole_number_with_one_separator_is_asked_for_again() -> None:
    years = Question("y", "number", "?", whole=True)
    assert read_form(years, {"q.y": ["1,234,567"]}) == {"number": "1234567"}
    for typed in ("1.000", "1,000", "12,000"):
        with pytest.raises(InputError, match="is ambiguous"):
            read_form(years, {"q.y": [typed]})
    with pytest.raises(InputError, match="not a whole number"):
        read_form(years, {"q.y": ["0,125"]})


@pytest.mark.parametrize("typed", ["1e308", "-1e16", "1e-300", "5e-324", "1e999", "inf"])
def test_an_extreme_number_is_refused(typed: str) -> None:
    with pytest.raises(InputError, match="too large or too small"):
        read_form(Question("y", "number", "?"), {"q.y": [typed]})


@pytest.mark.parametrize("text", ["000001" + "0" * 5000, "0000019", "1.0", "-1", "\u00b9", "", "0", "4"])
def test_an_invalid_rank_is_refused(text: str) -> None:
    question = Question("q", "ranking", "?", options=tuple(Option(code, code) for code in "abc"))
    assert not 1 <= read_place(text) <= 3
    if text:
        with pytest.raises(InputError, match="a rank is a number from 1 to 3"):
            read_form(question, {"q.q.a.rank": [text]})
    assert read_form(question, {"q.q.a.rank": ["02"], "q.q.b.rank": ["1"]}) == {"ranks": ["b", "a"]}
