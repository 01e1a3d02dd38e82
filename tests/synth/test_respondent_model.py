"""Simulated respondents answer exactly as planned, whatever is planned, and the same seed draws the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.answers_of_kinds import check
from tests.support.small_survey import QUESTIONNAIRE

from quaestor.base.errors import InputError
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Questionnaire
from quaestor.synth.simulated_respondents import count_planted_answers, draw_respondents
from quaestor.synth.survey_plan import PlantedAnswers, SurveyPlan

CHOICES = """
[survey]
title = "Choices"

[[pages]]
page = "all"

[[pages.questions]]
id = "one"
kind = "single"
text = "One?"
options = ["a", "b", "c"]

[[pages.questions]]
id = "many"
kind = "multiple"
text = "Many?"
options = ["a", "b", { code = "other", label = "Other", text = true }, { code = "none", label = "None", alone = true }]

[[pages.questions]]
id = "then"
kind = "long-text"
text = "And then?"
show_if = "one = a"
"""


@pytest.fixture(scope="module")
def small() -> Questionnaire:
    return parse_questionnaire(QUESTIONNAIRE, "tools")


@pytest.fixture(scope="module")
def choices() -> Questionnaire:
    return parse_questionnaire(CHOICES, "choices")


def planned(responses: int, **questions: PlantedAnswers) -> SurveyPlan:
    return SurveyPlan(responses, questions)


def test_the_same_seed_draws_the_same_respondents_and_another_seed_others(small: Questionnaire) -> None:
    drawn = draw_respondents(small, 40, seed=3)
    assert drawn == draw_respondents(small, 40, seed=3)
    assert drawn != draw_respondents(small, 40, seed=4)


def test_every_simulated_answer_is_valid_for_its_question(small: Questionnaire) -> None:
    for respondent in draw_respondents(small, 60, seed=1):
        for name, answer in respondent.answers.items():
            question = small.question(name)
            assert question is not None
            assert check(question, answer) == answer
        assert respondent.seconds["consent"] > 0


def test_hidden_questions_and_pages_after_the_end_are_not_answered(small: Questionnaire) -> None:
    ended = PlantedAnswers(counts={"yes": 15, "no": 5})
    drawn = draw_respondents(small, 20, seed=2, plan=planned(20, converted=ended))
    out = [response for response in drawn if response.answers["converted"]["choices"] == ["no"]]
    assert len(out) == 5
    assert not any("met" in one.answers or "tools" in one.seconds for one in out)
    for one in drawn:
        assert "why-none" not in one.answers or one.answers["used"]["choices"] == ["none"]


@st.composite
def plans(draw: st.DrawFn) -> SurveyPlan:
    """Any counts that so many respondents can give."""
    single = {code: draw(st.integers(0, 20)) for code in "abc"}
    none = draw(st.integers(0, 20))
    answered = draw(st.integers(0, 30))
    parts = {code: draw(st.integers(0, answered)) for code in ("a", "b", "other")}
    if sum(parts.values()) < answered:
        parts["a"] = answered
    responses = max(sum(single.values()), none + answered, 1) + draw(st.integers(0, 5))
    many = PlantedAnswers(answered=none + answered, counts={**parts, "none": none})
    return planned(responses, one=PlantedAnswers(counts=single), many=many)


@given(plans(), st.integers(0, 1_000))
def test_planned_counts_are_met_exactly(plan: SurveyPlan, seed: int) -> None:
    choices = parse_questionnaire(CHOICES, "choices")
    drawn = draw_respondents(choices, plan.responses, seed, plan)
    truth = count_planted_answers(choices, drawn)
    for name in ("one", "many"):
        assert truth[name].counts == plan.questions[name].counts
    assert truth["many"].answered == plan.questions["many"].answered
    for one in drawn:
        said = one.answers.get("many", {})
        assert said.get("choices") == ["none"] or "none" not in said.get("choices", [])
        assert ("other" in said.get("choices", [])) == ("other" in said.get("texts", {}))


def test_respondents_named_first_in_the_plan_answer_first(choices: Questionnaire) -> None:
    plan = planned(
        20,
        one=PlantedAnswers(counts={"a": 8, "b": 12}),
        many=PlantedAnswers(answered=10, counts={"a": 10}, first={"one": ("b",)}),
    )
    drawn = draw_respondents(choices, 20, 5, plan)
    assert {response.answers["one"]["choices"][0] for response in drawn if "many" in response.answers} == {"b"}


def test_a_plan_for_more_respondents_keeps_its_shares(choices: Questionnaire) -> None:
    plan = planned(10, one=PlantedAnswers(counts={"a": 2, "b": 7}), many=PlantedAnswers(answered=5, counts={"a": 5}))
    truth = count_planted_answers(choices, draw_respondents(choices, 1_000, 1, plan))
    assert (truth["one"].answered, truth["one"].counts) == (900, {"a": 200, "b": 700, "c": 0})
    assert (truth["many"].answered, truth["many"].counts["a"]) == (500, 500)


def test_planned_rows_and_texts_are_met(small: Questionnaire) -> None:
    steps = {"never": 6, "rarely": 2, "sometimes": 1, "often": 1}
    rows = dict.fromkeys(("wrong-results", "a-crash", "missing-operators"), steps)
    plan = planned(10, met=PlantedAnswers(rows=rows), hardest=PlantedAnswers(answered=4, texts=("Shapes.",)))
    drawn = draw_respondents(small, 10, 1, plan)
    counts = count_planted_answers(small, drawn)["met"].counts
    assert {name: count for name, count in counts.items() if name.startswith("a-crash/")} == {
        f"a-crash/{step}": count for step, count in steps.items()
    }
    assert [one.answers["hardest"] for one in drawn if "hardest" in one.answers] == [{"text": "Shapes."}] * 4


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ({"two": PlantedAnswers(answered=1)}, "answers to 'two', which 'choices' does not ask"),
        ({"one": PlantedAnswers(counts={"d": 1})}, "counts 'd' of 'one', which does not offer it"),
        ({"one": PlantedAnswers(answered=3, counts={"a": 2})}, "3 answer 'one' in the plan, but its options sum to 2"),
        ({"one": PlantedAnswers(counts={"a": 11})}, "11 answer 'one' in the plan, but only 10 are asked"),
        ({"many": PlantedAnswers(answered=9, counts={"a": 4, "b": 4})}, "9 answer 'many' in the plan"),
        ({"many": PlantedAnswers(answered=9, counts={"none": 5, "a": 5, "b": 4})}, "9 answer 'many' in the plan"),
        ({"then": PlantedAnswers(counts={"a": 1})}, "counts 'a' of 'then'"),
    ],
)
def test_an_impossible_survey_plan_is_refused(
    choices: Questionnaire, questions: dict[str, PlantedAnswers], words: str
) -> None:
    with pytest.raises(InputError) as refused:
        draw_respondents(choices, 10, 1, SurveyPlan(10, questions))
    assert words in str(refused.value)


def test_zero_responses_are_refused(choices: Questionnaire) -> None:
    with pytest.raises(InputError, match="use at least 1"):
        draw_respondents(choices, 0, 1)
