"""How many options of a multiple choice must and may be chosen: checked on the server, and said on the page."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.support.answering import asking, begun, send
from tests.support.desk import browser
from tests.support.small_survey import NAME, fielded, small_survey

from quaestor.base.errors import InputError
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.question_kinds import QUESTION_KINDS
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Option, Question
from quaestor.surveys.model.wording.catalogue import load_wording
from quaestor.synth.simulated_respondents import simulate_responses

QUESTIONNAIRE = """
[survey]
title = "Tools"

[[pages]]
page = "consent"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "tools"

[[pages.questions]]
id = "tools"
kind = "multiple"
text = "Which tools do you use most?"
required = true
min_choices = 2
max_choices = 3
options = ["Ant", "Bazel", "CMake", "Docker", { code = "none", label = "None", alone = true }]

[[pages]]
page = "why"
show_if = "tools includes bazel"

[[pages.questions]]
id = "why"
kind = "text"
text = "Why Bazel?"
"""
OPTIONS = (*(Option(code, code.upper()) for code in "abcd"), Option("none", "None", alone=True))
QUESTION = Question("tools", "multiple", "Which?", options=OPTIONS, min_choices=2, max_choices=3)


@pytest.mark.parametrize("codes", [[], ["a", "b"], ["b", "c", "d"], ["none"]])
def test_as_many_choices_as_asked_for_are_accepted(codes: list[str]) -> None:
    assert QUESTION_KINDS["multiple"].check(QUESTION, {"choices": codes}).get("choices", []) == codes


def test_too_few_and_too_many_choices_are_refused_with_the_number() -> None:
    with pytest.raises(InputError, match="you chose 1: please choose at least 2"):
        QUESTION_KINDS["multiple"].check(QUESTION, {"choices": ["a"]})
    with pytest.raises(InputError, match="you chose 4: please choose at most 3"):
        QUESTION_KINDS["multiple"].check(QUESTION, {"choices": ["a", "b", "c", "d"]})


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (2, 3, "Choose 2 to 3."),
        (2, 0, "Choose at least 2."),
        (0, 3, "Choose at most 3."),
        (3, 3, "Choose exactly 3."),
        (1, 0, ""),
        (0, 0, ""),
    ],
)
def test_the_page_says_how_many_to_choose(least: int, most: int, words: str) -> None:
    question = Question("tools", "multiple", "Which?", options=OPTIONS, min_choices=least, max_choices=most)
    instruction = QUESTION_KINDS["multiple"].instruction(question)
    assert (load_wording().say(instruction[0], **instruction[1]) if instruction else "") == words


@pytest.mark.parametrize(
    ("before", "after", "words", "grave"),
    [
        ("min_choices = 2", "min_choices = 4", "at least 4 and at most 3", True),
        ("max_choices = 3", "max_choices = 5", "max_choices is 5, but only 4 options can be combined", False),
        ("min_choices = 2\nmax_choices = 3", "min_choices = 5", "min_choices is 5, but only 4", True),
        ('kind = "text"', 'kind = "text"\nmax_choices = 2', "min_choices or max_choices has no effect", False),
    ],
)
def test_impossible_numbers_of_choices_are_reported(before: str, after: str, words: str, grave: bool) -> None:
    problems = find_problems(parse_questionnaire(QUESTIONNAIRE.replace(before, after, 1), NAME))
    assert grave in [problem.grave for problem in problems if words in problem.words], problems


def test_paths_choose_enough_options() -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    assert find_problems(questionnaire) == []
    every = list(paths(questionnaire))
    assert {path.questions for path in every} == {("consent", "tools", "why"), ("consent", "tools"), ("consent",)}
    assert all(len(path.answers["tools"]["choices"]) in (1, 2, 3) for path in every if "tools" in path.answers)


def test_an_import_keeps_and_reports_answers_with_too_many_choices(tmp_path: Path) -> None:
    file, mapping = tmp_path / "answers.csv", tmp_path / "mapping.toml"
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows([["tools"], ["Ant, Bazel"], ["Ant, Bazel, CMake, Docker"]])
    mapping.write_text('consented = true\nheader_rows = 1\n[columns]\ntools = "tools"\n', "utf-8")
    with open_surveys(small_survey(tmp_path / "study", QUESTIONNAIRE)) as surveys:
        done = import_answers(surveys, NAME, file, mapping)
        stored = [len(response.answers["tools"]["choices"]) for response in surveys.answers.responses(NAME)]
    assert sorted(stored) == [2, 4]
    assert done.unread == ()
    assert ["you chose 4: please choose at most 3" in remark.why for remark in done.odd] == [True]


def test_simulated_respondents_choose_as_many_as_asked_for(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        simulate_responses(surveys, NAME, seed=5, responses=40)
        chosen = [response.answers["tools"]["choices"] for response in surveys.answers.responses(NAME)]
    assert len(chosen) == 40
    assert all(2 <= len(codes) <= 3 or codes == ["none"] for codes in chosen)


def test_a_page_with_too_many_choices_is_shown_again(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent = browser(app)
        link = begun(respondent)
        send(respondent, link, {"q.consent": ["agree"]})
        assert "Choose 2 to 3." in respondent.get(link).text
        refused = send(respondent, link, {"q.tools": ["ant", "bazel", "cmake", "docker"]})
        assert refused.status_code == 422
        assert "You chose 4: please choose at most 3." in refused.text
        assert send(respondent, link, {"q.tools": ["ant", "cmake"]}).status_code == 303
