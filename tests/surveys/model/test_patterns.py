"""Patterns of text answers: the questionnaire's own message, and no pattern that could keep the server busy."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from tests.support.answering import asking, begun, kept, send
from tests.support.desk import browser
from tests.support.small_survey import NAME, fielded, small_survey

from quaestor.base.errors import InputError
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.answer_cells import LONGEST_TEXT
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.question_kinds import QUESTION_KINDS
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Question
from quaestor.synth.simulated_respondents import simulate_responses

QUESTIONNAIRE = """
[survey]
title = { en = "Versions", de = "Versionen" }
languages = ["en", "de"]

[[pages]]
page = "consent"

[[pages.questions]]
id = "consent"
kind = "consent"
text = { en = "Do you agree to take part?", de = "Nehmen Sie teil?" }

[[pages]]
page = "version"

[[pages.questions]]
id = "version"
kind = "text"
text = { en = "Which version do you use?", de = "Welche Version nutzen Sie?" }
required = true
pattern = '[0-9]+\\.[0-9]+'
pattern_message = { en = "Write it like 2.1.", de = "Schreiben Sie sie wie 2.1." }
pattern_example = "2.1"

[[pages]]
page = "why"
show_if = "version answered"

[[pages.questions]]
id = "why"
kind = "long-text"
text = { en = "Why?", de = "Warum?" }
"""


def question_of(pattern: str) -> Question:
    return Question("version", "text", "Which?", pattern=pattern, pattern_message="Write it like 2.1.")


def test_a_text_must_match_the_whole_pattern() -> None:
    kind, question = QUESTION_KINDS["text"], question_of(r"[0-9]+\.[0-9]+")
    assert kind.check(question, {"text": " 12.0 "}) == {"text": "12.0"}
    assert kind.check(question, {"text": ""}) == {}
    for typed in ("2", "v2.1", "2.1 beta", "2.1\n3"):
        with pytest.raises(InputError, match=r"Write it like 2\.1"):
            kind.check(question, {"text": typed})


@pytest.mark.parametrize(
    "pattern", [r"(a+)+b", r"(a|a)*b", r"(a|aa)+b", r"(.*a){12}b", r"([a-zA-Z]+)*b", r"[ab]{0,900}a[ab]{0,90}c"]
)
def test_patterns_that_ruin_other_engines_are_matched_quickly(pattern: str) -> None:
    question, kind = question_of(pattern), QUESTION_KINDS["text"]
    with pytest.raises(InputError):
        kind.check(question, {"text": "warm up"})
    begun_at = time.perf_counter()
    with pytest.raises(InputError, match="Write it like"):
        kind.check(question, {"text": "a" * LONGEST_TEXT})
    assert time.perf_counter() - begun_at < 1


@pytest.mark.parametrize(
    ("before", "after", "words", "grave"),
    [
        (r"[0-9]+\.[0-9]+", "(?=2)2", "look-around, including look-ahead and look-behind, is not supported", True),
        (r"[0-9]+\.[0-9]+", r"(2)\1", "backreferences are not supported", True),
        (r"[0-9]+\.[0-9]+", "2)|(1", "unopened group", True),
        (r"[0-9]+\.[0-9]+", "[0-9", "unclosed character class", True),
        (r"[0-9]+\.[0-9]+", r"(\w{1000}){1000}", "exceeds size limit", True),
        ('pattern_example = "2.1"', 'pattern_example = "2"', "its pattern does not match pattern_example, '2'", True),
        ('pattern_example = "2.1"\n', "", "it has a pattern without pattern_example", True),
        ('pattern_message = { en = "Write it like 2.1.", de = "Schreiben Sie sie wie 2.1." }\n', "",
         "it has a pattern without pattern_message", True),
        ('kind = "consent"', 'kind = "consent"\npattern = "x"', "pattern has no effect", False),
    ],
)  # fmt: skip
def test_unusable_patterns_are_reported(before: str, after: str, words: str, grave: bool) -> None:
    problems = find_problems(parse_questionnaire(QUESTIONNAIRE.replace(before, after, 1), NAME))
    assert grave in [problem.grave for problem in problems if words in problem.words], problems


def test_paths_and_simulated_respondents_use_the_example(tmp_path: Path) -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    assert not any(problem.grave for problem in find_problems(questionnaire))
    assert {path.questions for path in paths(questionnaire)} == {("consent", "version", "why"), ("consent",)}
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        simulate_responses(surveys, NAME, seed=1, responses=5)
        assert {response.answers["version"]["text"] for response in surveys.answers.responses(NAME)} == {"2.1"}


def test_an_import_keeps_and_reports_texts_that_do_not_match(tmp_path: Path) -> None:
    file, mapping = tmp_path / "answers.csv", tmp_path / "mapping.toml"
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows([["version"], ["2.1"], ["the newest"]])
    mapping.write_text('consented = true\nheader_rows = 1\n[columns]\nversion = "version"\n', "utf-8")
    with open_surveys(small_survey(tmp_path / "study", QUESTIONNAIRE)) as surveys:
        done = import_answers(surveys, NAME, file, mapping)
        stored = {response.answers["version"]["text"] for response in surveys.answers.responses(NAME)}
    assert stored == {"2.1", "the newest"}
    assert [(remark.said, "Write it like 2.1" in remark.why) for remark in done.odd] == [("the newest", True)]


def test_the_page_shows_the_message_in_the_language_of_the_respondent(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent = browser(app)
        for language, message in (("en", "Write it like 2.1."), ("de", "Schreiben Sie sie wie 2.1.")):
            link = begun(respondent, language)
            send(respondent, link, {"q.consent": ["agree"]})
            refused = send(respondent, link, {"q.version": ["<b>two</b>"]})
            assert refused.status_code == 422
            assert message in refused.text
            assert 'value="&lt;b&gt;two&lt;/b&gt;"' in refused.text
            assert send(respondent, link, {"q.version": ["2.1"]}).status_code == 303
            assert kept(tmp_path / "study", link)[1]["version"] == {"text": "2.1"}
