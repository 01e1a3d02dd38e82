"""Simulated respondents in a survey: the store contains what was planted, and every response is marked as synthetic."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.small_survey import NAME, answered, fielded

from quaestor.base.errors import InputError, StateError
from quaestor.study.folder import open_study
from quaestor.study.templates import new_study
from quaestor.surveys.lifecycle import Surveys, open_survey, open_surveys
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.respond import begin_response
from quaestor.synth.simulated_respondents import read_bundled_plan, simulate_responses

STUDY, SURVEY = "onnx-interoperability", "fielded"


def counts_in(surveys: Surveys, name: str, question: str) -> tuple[int, Counter[str]]:
    """How many answered a question, and what they chose, as the store has it."""
    said = [response.answers.get(question, {}) for response in surveys.answers.responses(name)]
    return sum(1 for one in said if one), Counter(code for one in said for code in one.get("choices", ()))


def test_simulated_responses_match_the_published_counts(tmp_path: Path) -> None:
    with open_surveys(open_study(new_study(tmp_path / "study", STUDY))) as surveys:
        open_survey(surveys, SURVEY)
        made = simulate_responses(surveys, SURVEY, seed=7, plan=read_bundled_plan(STUDY, SURVEY))
        assert surveys.answers.counts(SURVEY)[ResponseStatus.FINISHED] == made.responses == 92
        assert all(response.synthetic for response in surveys.answers.responses(SURVEY))
        assert counts_in(surveys, SURVEY, "ml-years") == (89, {"under-1": 8, "1-2": 17, "3-5": 32, "over-5": 32})
        assert counts_in(surveys, SURVEY, "se-years") == (89, {"under-1": 4, "1-2": 12, "3-5": 20, "over-5": 53})
        assert counts_in(surveys, SURVEY, "size") == (89, {"small": 48, "medium": 17, "large": 24})
        assert counts_in(surveys, SURVEY, "uses-onnx") == (92, {"yes": 39, "no": 53})
        answered_it, problems = counts_in(surveys, SURVEY, "problems")
        assert (answered_it, problems) == (54, {"none": 22, "crashes": 19, "performance": 19, "other": 6})
        for question, said in made.truth.items():
            found = {code: count for code, count in said.counts.items() if count}
            assert counts_in(surveys, SURVEY, question) == (said.answered, found), question


def test_every_kind_of_question_can_be_simulated(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        made = simulate_responses(surveys, NAME, seed=2, responses=30)
        assert surveys.answers.counts(NAME)[ResponseStatus.FINISHED] == 30
        found = list(surveys.answers.responses(NAME))
        for question, said in made.truth.items():
            assert sum(1 for one in found if one.answers.get(question)) == said.answered, question
        assert all(one.seconds > 0 and one.sent[0] == "consent" for one in found)
        assert all(surveys.answers.journal(one.id) for one in found)


def test_a_survey_answered_by_people_is_not_simulated(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        simulate_responses(surveys, NAME, seed=2, responses=3)
        simulate_responses(surveys, NAME, seed=3, responses=2)
        answered(surveys)
        with pytest.raises(StateError, match=r"people have already answered 'tools' \(1\)"):
            simulate_responses(surveys, NAME, seed=4, responses=2)
        assert len(list(surveys.answers.responses(NAME))) == 6


def test_a_response_is_not_synthetic_by_default(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        assert not begin_response(surveys, NAME)[1].synthetic


def test_a_study_without_a_survey_plan_is_refused() -> None:
    with pytest.raises(InputError, match="has no plan for a synthetic survey: leave --like out"):
        read_bundled_plan("dl-implementation-issues", "onnx")
    assert read_bundled_plan(STUDY, "a name of one's own") == read_bundled_plan(STUDY, SURVEY)


def test_a_survey_is_simulated_on_the_command_line(tmp_path: Path) -> None:
    with fielded(tmp_path):
        pass
    said = quaestor("synth", "survey", NAME, "--responses", "4", "--seed", "9", "--study", tmp_path, "--json")
    told = json.loads(said.stdout)
    assert (told["survey"], told["responses"], told["synthetic"]) == (NAME, 4, True)
    assert told["planted"]["consent"] == {"answered": 4, "counts": {"agree": 4, "decline": 0}}
    words = quaestor("synth", "survey", NAME, "--responses", "2", "--study", tmp_path).stdout
    assert "2 responses to tools (synthetic, seed 1)" in words
    refused = quaestor("synth", "survey", "tool", "--study", tmp_path)
    assert refused.returncode == 2
    assert "there is no questionnaire 'tool'" in refused.stderr
