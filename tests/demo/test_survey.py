"""The demo's survey: open to anybody, answered as planted, and the visitor's response is counted too."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.small_study import small_study
from tests.support.small_survey import answered

from quaestor.coding.session import open_coding
from quaestor.demo.survey import SURVEY, count_survey_responses, open_demo_survey
from quaestor.study.folder import Study
from quaestor.surveys.lifecycle import open_surveys

FORMS = {
    "consent": {"q.consent": ["agree"]},
    "platform": {"q.platform": ["regularly"]},
    "about-you": {"q.size": ["small"]},
    "tools": {"q.uses-onnx": ["yes"]},
    "reasons": {"q.purposes": ["deployment"]},
    "problems": {"q.problems": ["crashes", "other"], "q.problems.other.text": ["a lost layer"]},
}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    small = small_study(tmp_path / "demo")
    assert count_survey_responses(small) is None
    with open_coding(small) as coding:
        open_demo_survey(coding, seed=7)
    return small


def bars(study: Study) -> dict[str, tuple[int, list[int]]]:
    so_far = count_survey_responses(study)
    assert so_far is not None
    return {question.id: (question.base, [bar.count for bar in question.bars]) for question in so_far.questions}


def test_the_planted_counts_are_found(study: Study) -> None:
    assert bars(study) == {"uses-onnx": (92, [39, 53]), "problems": (54, [22, 19, 19, 6])}
    so_far = count_survey_responses(study)
    assert so_far is not None
    assert (so_far.simulated, so_far.people) == (92, 0)
    assert so_far.questions[0].bars[0].share == 39 / 92


def test_a_visitors_response_changes_the_results(study: Study) -> None:
    with open_surveys(study) as surveys:
        assert not surveys.questionnaire(SURVEY).by_invitation
        _, response = answered(surveys, SURVEY, FORMS)
        assert response.standing == "finished"
    assert bars(study) == {"uses-onnx": (93, [40, 53]), "problems": (55, [22, 20, 19, 7])}
    so_far = count_survey_responses(study)
    assert so_far is not None
    assert (so_far.simulated, so_far.people) == (92, 1)


def test_unfinished_responses_are_not_counted(study: Study) -> None:
    with open_surveys(study) as surveys:
        answered(surveys, SURVEY, {name: form for name, form in FORMS.items() if name != "problems"})
    assert bars(study)["uses-onnx"] == (92, [39, 53])
