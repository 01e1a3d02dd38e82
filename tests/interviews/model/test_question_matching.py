"""Rephrased guide questions are matched in a transcript, and other turns are not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.interviews.model.guide_file import parse_guide
from quaestor.interviews.model.question_matching import match_questions, stem_words

GUIDE = parse_guide(
    """+++
title = "Models"
minutes = 30
+++
# One {#one minutes=10}
## What is your position, and how long have you been in it? {#position}
## Which deep-learning frameworks have you used? {#frameworks}
## What are you responsible for in your daily work? {#duties}
# Two {#two minutes=10}
## Which stages does the development of a model go through? {#stages}
- Which stage takes longest?
## Which operations in a training script do you change most often? {#operations}
## Which factors do you weigh when you choose an architecture? {#factors .reference}
- [ ] Size of the data {#data}
## When would you call a model illegitimate? {#illegal}
- By which indicator, and above which threshold?
# Three {#three minutes=10}
## Which defects of a framework have hurt you most? {#defects}
## How do you report a defect to the developers of a framework? {#reporting}
## What would you like future frameworks to do better? {#expectations}
## What advice would you give to somebody who begins? {#advice}
""",
    "models",
)
TALK: list[tuple[str, str]] = [
    ("", "Hello, and thanks for coming. Can you hear me well?"),
    ("position", "Great. So first, could you tell me your current position and how long you have been doing it?"),
    ("", "Okay. And before that?"),
    ("frameworks", "Which of the deep learning frameworks did you use so far?"),
    ("", "Mm-hm. Since when?"),
    ("duties", "And in your daily work, what are your responsibilities?"),
    ("", "I see, that sounds like a lot."),
    ("stages", "Let us move on. When you develop a model, which stages do you go through?"),
    ("", "Can you give me an example?"),
    ("operations", "In the script that trains it, which operations are those that you change often?"),
    ("", "Right, right."),
    ("factors", "If you have to choose an architecture, which factors are you weighing?"),
    ("", "Anything else that comes to mind?"),
    ("illegal", "Interesting. Now, when is a model illegitimate, as you would call it?"),
    ("", "And you check that by hand?"),
    ("defects", "Thank you. What defects in frameworks have hurt you the most?"),
    ("reporting", "Do you report defects like that to the framework developers, and how?"),
    ("", "How long did it take until they answered?"),
    ("expectations", "Nearly done: in the future, what would you like the frameworks to do better?"),
    ("advice", "Last one. Your advice for somebody beginning now?"),
    ("", "Thank you so much, that was very helpful. I will stop the recording now."),
]


def test_rephrased_questions_are_matched_and_small_talk_is_not() -> None:
    found = {
        question.turn: question.question
        for question in match_questions([(place, words) for place, (_, words) in enumerate(TALK)], GUIDE)
    }
    planted = {place: question for place, (question, _) in enumerate(TALK) if question}
    right = sum(planted.get(turn) == question for turn, question in found.items())
    assert right == len(found), {turn: one for turn, one in found.items() if planted.get(turn) != one}
    assert right >= 0.9 * len(planted), set(planted.values()) - set(found.values())


def test_manual_matches_are_kept_and_others_are_fitted_around_them() -> None:
    turns = [
        (0, "Which stages does the development of a model go through?"),
        (1, "And the factors you weigh?"),
        (2, "So?"),
    ]
    assert [question.question for question in match_questions(turns, GUIDE)] == ["stages", "factors"]
    assert [(one.turn, one.question) for one in match_questions(turns, GUIDE, {0: ""})] == [(1, "factors")]
    assert [(one.turn, one.question) for one in match_questions(turns, GUIDE, {1: ""})] == [(0, "stages")]
    assert match_questions(turns, GUIDE, {0: "duties", 1: ""}) == []


def test_a_repeated_question_is_matched_again() -> None:
    turns = [
        (0, "When would you call a model illegitimate?"),
        (3, "Which stages does the development of a model go through?"),
        (7, "So again, when would you call a model illegitimate?"),
    ]
    assert [(question.turn, question.question) for question in match_questions(turns, GUIDE)] == [
        (0, "illegal"),
        (3, "stages"),
        (7, "illegal"),
    ]


def test_the_order_of_the_guide_decides_between_similar_questions() -> None:
    guide = parse_guide(
        "+++\ntitle = 'x'\nminutes = 2\n+++\n# A {#a minutes=1}\n## What could the tools improve? {#first}\n"
        "## Where is the time lost? {#between}\n# B {#b minutes=1}\n## What could the tools improve? {#second}\n",
        "x",
    )
    alike, between = "What could the tools improve?", "Where is the time lost?"
    assert [question.question for question in match_questions([(0, alike), (2, between), (4, alike)], guide)] == [
        "first",
        "between",
        "second",
    ]
    assert [one.question for one in match_questions([(0, alike), (2, between)], guide)] == ["first", "between"]
    assert [one.question for one in match_questions([(0, between), (2, alike)], guide)] == ["between", "second"]


def test_text_without_spaces_is_compared_by_character_pairs() -> None:
    assert stem_words("模型训练") == {"模型", "型训", "训练"}
    guide = parse_guide(
        "+++\ntitle = 'x'\nminutes = 2\n+++\n# A {#a minutes=2}\n"
        "## 什么时候模型不合法? {#illegal}\n## 你给什么建议? {#advice}\n",
        "x",
    )
    assert [question.question for question in match_questions([(0, "你认为什么时候模型不合法?")], guide)] == ["illegal"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=12))
def test_each_turn_matches_at_most_one_guide_question(said: list[str]) -> None:
    questions = match_questions(list(enumerate(said)), GUIDE)
    assert len({question.turn for question in questions}) == len(questions)
    assert all(GUIDE.question(one.question) is not None and 0 <= one.score <= 1.0001 for one in questions)
