"""The survey overview: status, next step, changes of a new version and responses per day."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, answered, fielded, small_survey

from quaestor.base.errors import InputError
from quaestor.surveys.lifecycle import close_survey, open_survey
from quaestor.surveys.model.conditions import read_condition
from quaestor.surveys.model.in_words import condition_in_words
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Questionnaire, ResponseStatus
from quaestor.surveys.pages.overview import has_surveys, periods, survey_lines, survey_overview
from quaestor.surveys.pages.version_changes import ADDED, CHANGED, REMOVED, changes_between
from quaestor.surveys.respond import withdraw


def questionnaire(*changes: tuple[str, str]) -> Questionnaire:
    text = QUESTIONNAIRE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return parse_questionnaire(text, NAME)


def changed(*changes: tuple[str, str]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """What a new version changes, by what it concerns."""
    found = changes_between(questionnaire(), questionnaire(*changes))
    return {one.what.partition(":")[0]: (one.kind, one.details) for one in found}


def test_each_status_of_a_survey_has_its_next_step(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "study")
    (draft,) = survey_lines(study, None)
    assert (draft.status, draft.version, draft.can_open) == ("draft", None, True)
    assert draft.next.startswith("Check the preview")
    with fielded(tmp_path / "study") as surveys:
        (line,) = survey_lines(study, surveys)
        assert (line.status, line.next, line.can_open) == ("open", "Send people the link", False)
        code, _ = answered(surveys, seconds=20)
        answered(surveys, seconds=40)
        answered(surveys, forms={"consent": FORMS["consent"]})
        withdraw(surveys, code)
        one = survey_overview(study, surveys, NAME)
        assert one.line.tally[:2] == [(ResponseStatus.FINISHED, "finished", 1), (ResponseStatus.OPEN, "in progress", 1)]
        assert (one.line.responses, one.line.survey_status.erased, one.median_seconds) == (2, 1, 160)
        assert [period.count for period in one.periods] == [2]
        assert one.line.next.startswith("Follow the responses")
        small_survey(study.root, QUESTIONNAIRE.replace("Why none?", "Why none of them?"))
        one = survey_overview(study, surveys, NAME)
        assert (one.line.changed, one.line.can_open) == (True, True)
        assert [change.what for change in one.changes] == ["why-none: “Why none of them?”"]
        assert open_survey(surveys, NAME).number == 2
        close_survey(surveys, NAME)
        one = survey_overview(study, surveys, NAME)
        assert (one.line.status, one.line.next, one.changes) == ("closed", "Read the results", ())


def test_a_full_survey_suggests_closing_it(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE.replace("minutes = 4", "minutes = 4\nmost = 1")) as surveys:
        answered(surveys)
        (line,) = survey_lines(surveys.study, surveys)
    assert line.next == "It accepts no more responses: close it"


def test_a_change_of_comments_only_is_reported_as_such(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        small_survey(surveys.study.root, f"# A note of its author.\n{QUESTIONNAIRE}")
        (change,) = survey_overview(surveys.study, surveys, NAME).changes
    assert change.what.startswith("only comments")


def test_an_unreadable_questionnaire_does_not_hide_others(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "study")
    small_survey(study.root, "[survey]", "unread")
    whole, unread = survey_lines(study, None)
    assert whole.can_open
    assert (unread.can_open, unread.title) == (False, "unread")
    assert "instruments/unread.toml" in unread.next
    assert str(study.root) not in unread.next
    with pytest.raises(InputError, match="there is no questionnaire 'tool'"):
        survey_overview(study, None, "tool")


def test_a_study_has_surveys_if_a_questionnaire_or_stored_answers_exist(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        study = surveys.study
    assert has_surveys(study)
    (study.root / "instruments" / f"{NAME}.toml").unlink()
    assert has_surveys(study)
    (study.root / "answers.db").unlink()
    assert not has_surveys(study)


def test_added_removed_and_changed_questions_are_named() -> None:
    asked = '[[pages.questions]]\nid = "new"\nkind = "text"\ntext = "And now?"\n\n[[pages.questions]]\nid = "order"'
    found = changed(('[[pages.questions]]\nid = "order"', asked), ('id = "years"', 'id = "for-years"'))
    assert found["new"] == (ADDED, ("text",))
    assert found["years"] == (REMOVED, ())
    assert found["for-years"][0] == ADDED
    assert changed() == {}


@pytest.mark.parametrize(
    ("old", "new", "what", "detail"),
    [
        ('"TorchScript",', '"TorchScript", "TensorRT",', "used", "option “TensorRT” added"),
        ('"TorchScript",', "", "used", "option “TorchScript” removed"),
        ('rows = ["Wrong results", "A crash"', 'rows = ["A crash", "Wrong results"', "met", "rows in another order"),
        ('"Often"]', '{ code = "often", label = "Very often" }]', "met", "step “Very often” was “Often”"),
        ('kind = "number"', 'kind = "text"', "years", "was number, is text"),
        ('text = "Why none?"', 'text = "Why not?"', "why-none", "text was “Why none?”, is “Why not?”"),
        ("required = true\nshuffle", "shuffle", "met", "no longer required"),
        ('id = "years"', 'id = "years"\nshow_if = "converted = yes"', "years",
         "shown if “Have you converted a model?” is “Yes”"),
        ("minutes = 4", "minutes = 9", "the duration", "was 4, is 9"),
        ('title = "Tools"', 'title = "Your tools"', "page tools", "title differs"),
    ],
)  # fmt: skip
def test_a_change_is_described_in_words(old: str, new: str, what: str, detail: str) -> None:
    assert changed((old, new)) == {what: (CHANGED, (detail,))}


def moved(name: str, before: str) -> Questionnaire:
    """The questionnaire with one question put before another."""
    parts = QUESTIONNAIRE.split("[[pages.questions]]\n")
    question = next(part for part in parts if part.startswith(f'id = "{name}"')).partition("[[pages]]")[0]
    text = QUESTIONNAIRE.replace(f"[[pages.questions]]\n{question}", "")
    there = f'[[pages.questions]]\nid = "{before}"'
    return parse_questionnaire(text.replace(there, f"[[pages.questions]]\n{question}{there}"), NAME)


@pytest.mark.parametrize(
    ("name", "before", "detail"),
    [("years", "order", "moved from the page you to words"), ("careful", "used", "moved")],
)
def test_only_the_moved_question_is_reported_as_moved(name: str, before: str, detail: str) -> None:
    (change,) = changes_between(questionnaire(), moved(name, before))
    assert (change.kind, change.what.partition(":")[0], change.details) == (CHANGED, name, (detail,))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("converted = yes", "“Have you converted a model?” is “Yes”"),
        ("years >= 3 and not (used includes none)",
         "“For how many years?” is at least 3 and not (“Which have you used, as {role}?” includes “None of these”)"),
        ("met.a-crash = often or (years < 2 and role answered)",
         "“A crash” of “How often did you meet these?” is “Often” or "
         "(“For how many years?” is less than 2 and “What describes you best?” is answered)"),
        ("unknown != thing", "unknown is not thing"),
    ],
)  # fmt: skip
def test_a_condition_is_described_with_the_texts_of_its_questions(condition: str, words: str) -> None:
    assert condition_in_words(read_condition(condition), questionnaire()) == words


def test_every_kind_of_answer_is_shown_in_lines(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answers = answered(surveys)[1].answers
    asked = questionnaire()
    lines = {one.id: kind_of(one).lines(one, answers.get(one.id, {})) for one in asked.questions()}
    assert lines["used"] == ["ONNX, the exchange format", "Other: a tool, of our own"]
    assert lines["met"] == [
        "Wrong results: Often",
        "A crash: Never",
        "Missing operators: Sometimes",
        "licences: Rarely",
    ]
    assert lines["order"] == ["1. Accuracy", "2. Speed", "3. Size"]
    assert (lines["years"], lines["why-none"]) == (["4 years"], [])
    met = asked.question("met")
    assert met is not None
    assert kind_of(met).lines(met, {"texts": {"other": "licences"}}) == ["Other: licences"]


def test_days_without_responses_are_included_and_many_days_become_weeks() -> None:
    assert periods({}) == []
    assert [(period.words, period.count) for period in periods({"2026-03-01": 2, "2026-03-03": 1})] == [
        ("2026-03-01", 2), ("2026-03-02", 0), ("2026-03-03", 1),
    ]  # fmt: skip
    weeks = periods({"2026-01-01": 1, "2026-01-08": 4, "2026-12-31": 3, "": 7})
    assert len(weeks) == 53
    assert [week.count for week in weeks[:2]] == [1, 4]
    assert sum(week.count for week in weeks) == 8
