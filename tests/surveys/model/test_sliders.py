"""Slider questions: a range field without scripts, in which an untouched slider is no answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.answering import asking, begun, kept, send
from tests.support.desk import browser, signed_in
from tests.support.small_survey import NAME, fielded, small_survey

from quaestor.base.errors import InputError
from quaestor.people.roles import Role
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.question_kinds import QUESTION_KINDS
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Question
from quaestor.surveys.model.tidy_layout import build_layout, codebook_lines
from quaestor.surveys.results.compute import survey_results
from quaestor.synth.simulated_respondents import simulate_responses

QUESTIONNAIRE = """
[survey]
title = "How it feels"

[[pages]]
page = "consent"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "ease"

[[pages.questions]]
id = "ease"
kind = "slider"
text = "How easy was it?"
low = 0
high = 10
step = 2.5
low_label = "very hard"
high_label = "very easy"

[[pages]]
page = "hard"
show_if = "ease < 4"

[[pages.questions]]
id = "why"
kind = "text"
text = "What made it hard?"
"""
SLIDER = Question("ease", "slider", "How easy?", low=0, high=10, step=2.5)


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ({"q.ease": ["5"], "q.ease.start": ["5"]}, {}),
        ({"q.ease": ["5"], "q.ease.start": ["5"], "q.ease.set": ["1"]}, {"number": "5"}),
        ({"q.ease": ["7.5"], "q.ease.start": ["5"]}, {"number": "7.5"}),
        ({"q.ease": ["7.5"], "q.ease.start": ["7.5"]}, {}),
        ({"q.ease": ["0"], "q.ease.start": ["5.0"]}, {"number": "0"}),
        ({"q.ease": ["5"], "q.ease.start": ["5.0"]}, {}),
        ({"q.ease": ["5"]}, {}),
        ({"q.ease": ["5"], "q.ease.start": ["nonsense"]}, {}),
        ({}, {}),
    ],
)
def test_only_a_slider_that_was_moved_or_confirmed_is_an_answer(
    form: dict[str, list[str]], answer: dict[str, str]
) -> None:
    assert QUESTION_KINDS["slider"].read_form(SLIDER, form) == answer


def test_a_slider_reads_the_form_it_writes() -> None:
    kind = QUESTION_KINDS["slider"]
    for number in ("0", "5", "7.5"):
        assert kind.read_form(SLIDER, kind.write_form(SLIDER, {"number": number})) == {"number": number}


@pytest.mark.parametrize(("typed", "words"), [("11", "more than 10"), ("-1", "less than 0"), ("4", "steps of 2.5")])
def test_a_value_that_the_slider_does_not_have_is_refused(typed: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        QUESTION_KINDS["slider"].check(SLIDER, {"number": typed})


@pytest.mark.parametrize(
    ("before", "after", "words", "grave"),
    [
        ("low = 0\n", "", "it needs low and high", True),
        ("step = 2.5", "step = 4", "the slider never reaches 10", True),
        ("step = 2.5", "step = 0.001", "10,000 steps", False),
        ("ease < 4", "ease < 0", "can never hold", True),
        ('kind = "text"', 'kind = "text"\nstep = 2', "step, low_label or high_label has no effect", False),
    ],
)
def test_unusable_sliders_are_reported(before: str, after: str, words: str, grave: bool) -> None:
    problems = find_problems(parse_questionnaire(QUESTIONNAIRE.replace(before, after, 1), NAME))
    assert [problem.grave for problem in problems if words in problem.words] == [grave], problems


def test_paths_follow_both_sides_of_a_slider() -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    assert find_problems(questionnaire) == []
    assert {path.questions for path in paths(questionnaire)} == {
        ("consent", "ease", "why"), ("consent", "ease"), ("consent",),
    }  # fmt: skip


def test_sliders_are_exported_imported_and_counted_as_numbers(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        simulate_responses(surveys, NAME, seed=3, responses=20)
        result = survey_results(surveys, NAME).question("ease")
        assert result is not None
        assert result.numbers is not None
        assert result.numbers.most is not None
        assert result.base == result.numbers.summary.n == 19
        for wide in (True, False):
            export_answers(surveys, NAME, tmp_path / f"{wide}.csv", wide=wide)
            with open_surveys(small_survey(tmp_path / f"elsewhere-{wide}", QUESTIONNAIRE)) as elsewhere:
                done = import_answers(elsewhere, NAME, tmp_path / f"{wide}.csv", None)
                assert (done.unread, done.unmapped_columns) == ((), ())
                stored = {response.id: response.answers for response in elsewhere.answers.responses(NAME)}
                assert stored == {response.id: response.answers for response in surveys.answers.responses(NAME)}
        layout = build_layout(surveys.versions(NAME))
        labels = [line[7] for line in codebook_lines(layout) if line[0] == "ease"]
        assert labels == ["0 very hard; 10 very easy"]


def test_the_page_has_a_range_field_and_says_what_its_ends_mean(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent = browser(app)
        link = begun(respondent)
        send(respondent, link, {"q.consent": ["agree"]})
        page = respondent.get(link).text
        assert 'type="range"' in page
        assert 'min="0" max="10" step="2.5" value="5"' in page
        assert "very hard" in page
        assert send(respondent, link, {"q.ease": ["5"], "q.ease.start": ["5"], "q.ease.set": ["1"]}).status_code == 303
        assert kept(tmp_path / "study", link)[1]["ease"] == {"number": "5"}
        again = respondent.get(f"{link}?page=ease").text
        assert 'name="q.ease.set" value="1" checked' in again
        results = signed_in(app, tmp_path / "study", Role.REVIEWER).get(f"/surveys/{NAME}/results?unfinished=1").text
    assert "0 is “very hard”, 10 is “very easy”" in results


def test_a_required_slider_asks_for_an_answer_and_keeps_its_place(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE.replace("step = 2.5", "step = 2.5\nrequired = true")) as app:
        respondent = browser(app)
        link = begun(respondent)
        send(respondent, link, {"q.consent": ["agree"]})
        refused = send(respondent, link, {"q.ease": ["5"], "q.ease.start": ["5"]})
        assert refused.status_code == 422
        assert '<input type="hidden" name="q.ease.start" value="5"' in refused.text
