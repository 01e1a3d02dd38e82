"""A new kind of question needs its class, its template and one line of registration: here a day of the calendar."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from jinja2 import ChoiceLoader, DictLoader, FileSystemLoader
from tests.support.answering import begun
from tests.support.answering import send as send_page
from tests.support.desk import QUICK, browser, closing_app, signed_in
from tests.support.small_survey import answered, fielded, small_survey

from quaestor.base.errors import InputError
from quaestor.measures.survey_answers import single_shares
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.render.table_model import Column as TableColumn
from quaestor.render.table_model import Group
from quaestor.render.table_model import Row as TableRow
from quaestor.render.tables.files import to_markdown
from quaestor.surveys.check_questionnaire import check_survey
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import Surveys, open_surveys
from quaestor.surveys.model.answer_columns import AnswerColumn, Flags, build_column, nested_field, valid
from quaestor.surveys.model.conditions import Condition
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.question_kinds import QUESTION_KINDS
from quaestor.surveys.model.question_kinds.base import QuestionKind
from quaestor.surveys.model.question_results import (
    SHARE_COLUMNS,
    Counting,
    Distribution,
    Groups,
    QuestionResult,
    ResultLine,
    share_cells,
)
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Answer, Question, ResponseStatus
from quaestor.surveys.model.wording.catalogue import read_texts
from quaestor.surveys.pages.results import results_page
from quaestor.surveys.respond import SurveyPage, begin_response, submit_page
from quaestor.surveys.results.compute import survey_results
from quaestor.surveys.results.counting import CountingCache, list_texts
from quaestor.surveys.results.export import results_json, write_results
from quaestor.surveys.results.tables import build_table
from quaestor.synth.simulated_respondents import simulate_responses
from quaestor.web.app import build_templates, make_app

NAME = "begun"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
QUESTIONNAIRE = """
[survey]
title = "When it began"

[[pages]]
page = "consent"

[[pages.questions]]
id = "consent"
kind = "consent"
text = "Do you agree to take part?"

[[pages]]
page = "when"

[[pages.questions]]
id = "began"
kind = "day"
text = "When did you begin?"
required = true

[[pages]]
page = "why"

[[pages.questions]]
id = "why"
kind = "text"
text = "Why on {began}?"
show_if = "began answered"
"""
TEMPLATE = """
{% from "question_kinds/parts.html" import typed, value_of %}
{% from "question_kinds/result_parts.html" import shares with context %}
{% macro fields(question, form, problem, words) %}
{% call typed(question, problem, words) %}
<input type="date" id="q-{{ question.id }}" name="q.{{ question.id }}" value="{{ value_of(form, "q." ~ question.id) }}">
{% endcall %}
{% endmacro %}
{% macro table(one, question) %}{{ shares(one, question) }}{% endmacro %}
"""


class Day(QuestionKind):
    """A day of the calendar, counted by the day of the week."""

    name = "day"
    field = "day"
    holds_in_words = "a day as YYYY-MM-DD"
    stub = "weekday"

    def examples(self, question: Question, tests: Sequence[Condition]) -> Iterator[Answer]:
        yield {self.field: "2026-03-02"}

    def check(self, question: Question, answer: Mapping[str, Any]) -> Answer:
        text = str(answer.get(self.field, "")).strip()
        if not text:
            return {}
        try:
            return {self.field: date.fromisoformat(text).isoformat()}
        except ValueError:
            raise InputError(f"{text[:40]!r} is no day: write it as 2026-03-31") from None

    def read_column(self, question: Question, answers: pa.StructArray, here: Flags) -> AnswerColumn:
        days = nested_field(answers, self.field)
        answered = valid(days) & here
        weekdays = np.full((len(here), 1), -1, np.int16)
        texts = days.filter(pa.array(answered)).to_pylist()
        weekdays[answered, 0] = [date.fromisoformat(text).weekday() for text in texts]
        return build_column(question, answered, places=weekdays)

    def count(self, column: AnswerColumn, counting: Counting, result: QuestionResult) -> QuestionResult:
        shares = single_shares(column.places[counting.used, 0], len(WEEKDAYS))
        lines = tuple(ResultLine(name.lower(), name, share) for name, share in zip(WEEKDAYS, shares, strict=True))
        return replace(result, rows=(Distribution("", "", result.base, result.missing, lines),))

    def as_json(self, result: QuestionResult) -> dict[str, Any]:
        return {"weekdays": {line.key: line.share.count for line in result.rows[0].lines}}

    def table(self, result: QuestionResult, groups: Groups | None) -> tuple[tuple[TableColumn, ...], tuple[Group, ...]]:
        rows = [TableRow(line.key, line.label, tuple(share_cells(line.share))) for line in result.rows[0].lines]
        return SHARE_COLUMNS, (Group("", tuple(rows)),)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(QUESTION_KINDS, Day.name, Day())


@pytest.fixture
def surveys(registered: None, tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path / "study", QUESTIONNAIRE, NAME) as opened:
        for day, why in (("2026-03-02", "a Monday"), ("2026-03-03", ""), ("2026-03-09", "")):
            forms = {"consent": {"q.consent": ["agree"]}, "when": {"q.began": [day]}, "why": {"q.why": [why]}}
            _, response = answered(opened, NAME, forms)
            assert response.standing is ResponseStatus.FINISHED
            assert response.answers["began"] == {"day": day}
        yield opened


def test_an_unregistered_question_kind_is_refused_with_the_allowed_ones() -> None:
    with pytest.raises(InputError, match=r"question began, kind: 'day' is not allowed, use .*single"):
        parse_questionnaire(QUESTIONNAIRE, NAME)


def test_every_kind_has_a_form_template_and_a_table_if_it_is_counted() -> None:
    environment = build_templates().env
    for name, kind in QUESTION_KINDS.items():
        macros = environment.get_template(f"question_kinds/{name}.html").make_module()
        assert hasattr(macros, "fields"), name
        assert hasattr(macros, "table") or kind.is_free_text or kind.asks_consent, name


@pytest.mark.usefixtures("registered")
def test_a_questionnaire_with_a_new_kind_is_parsed_and_checked(tmp_path: Path) -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    assert find_problems(questionnaire) == []
    small_survey(tmp_path / "study", QUESTIONNAIRE, NAME)
    assert check_survey(tmp_path / "study" / "instruments" / f"{NAME}.toml").problems == ()
    compared = parse_questionnaire(QUESTIONNAIRE.replace("began answered", "began = 2026-03-02"), NAME)
    assert "all that can be tested is `began answered`" in find_problems(compared)[0].words
    assert [path.questions for path in paths(questionnaire)] == [("consent", "began", "why"), ("consent",)]


def test_an_answer_of_a_new_kind_is_validated_and_stored(surveys: Surveys) -> None:
    code, _ = begin_response(surveys, NAME)
    consent = submit_page(surveys, code, "consent", {"q.consent": ["agree"]}, "first")
    assert not isinstance(consent, SurveyPage)
    surveys.answers.submissions.record()
    consent.result()
    for typed, words in (("2026-13-01", read_texts("en")["not-offered"]), ("", read_texts("en")["please-answer"])):
        page = submit_page(surveys, code, "when", {"q.began": [typed]}, f"second {typed}")
        assert isinstance(page, SurveyPage)
        assert page.problems["began"] == words
        assert page.form["q.began"] == [typed]


@pytest.mark.parametrize("wide", [True, False])
def test_answers_of_a_new_kind_are_unchanged_after_export_and_import(
    surveys: Surveys, tmp_path: Path, wide: bool
) -> None:
    file = tmp_path / "answers.csv"
    export_answers(surveys, NAME, file, wide=wide)
    with file.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    days = [row["began"] for row in rows] if wide else [row["text"] for row in rows if row["question"] == "began"]
    assert sorted(days) == ["2026-03-02", "2026-03-03", "2026-03-09"]
    with open_surveys(small_survey(tmp_path / "elsewhere", QUESTIONNAIRE, NAME)) as elsewhere:
        done = import_answers(elsewhere, NAME, file, None)
        assert (done.responses, done.unread, done.unmapped_columns) == (3, (), ())
        stored = {response.id: response.answers for response in elsewhere.answers.responses(NAME)}
        assert stored == {response.id: response.answers for response in surveys.answers.responses(NAME)}
        counted = results_json(survey_results(elsewhere, NAME))
    assert counted == results_json(survey_results(surveys, NAME))


def test_answers_of_a_new_kind_are_counted_and_printed(surveys: Surveys, tmp_path: Path) -> None:
    results = survey_results(surveys, NAME)
    began = results.question("began")
    assert began is not None
    assert began.base == 3
    (whole,) = began.rows
    assert [line.share.count for line in whole.lines] == [2, 1, 0, 0, 0, 0, 0]
    assert results_json(results)["questions"][0]["weekdays"]["monday"] == 2
    table = to_markdown(build_table(results, began))
    assert "| Monday" in table
    assert "66.7%" in table
    files = write_results(surveys, results, tmp_path / "results")
    assert {".csv", ".md"} <= {path.suffix for path in files if path.stem.endswith("began")}
    assert sorted(list_texts(surveys, results.counted, "began")) == ["2026-03-02", "2026-03-03", "2026-03-09"]
    page = results_page(surveys, NAME, by="", unfinished=False, room=CountingCache())
    assert page.questions[0].sizes == ()
    assert page.comparable == ()


@pytest.mark.usefixtures("registered")
def test_simulated_respondents_answer_a_new_kind(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE, NAME) as opened:
        simulated = simulate_responses(opened, NAME, seed=1, responses=12)
        assert simulated.truth["began"].answered == 12
        assert survey_results(opened, NAME).questions[1].base == 12


def test_a_new_kind_is_shown_with_its_template(
    surveys: Surveys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_template(folder: Path) -> ChoiceLoader:
        return ChoiceLoader([FileSystemLoader(folder), DictLoader({"question_kinds/day.html": TEMPLATE})])

    monkeypatch.setattr("quaestor.web.app.FileSystemLoader", with_template)
    monkeypatch.setattr("tests.support.answering.START", f"/s/{NAME}")
    study = surveys.study.root
    with closing_app(make_app(study, passwords=Passwords(QUICK))) as app:
        respondent = browser(app)
        link = begun(respondent)
        assert send_page(respondent, link, {"q.consent": ["agree"]}).status_code == 303
        assert '<input type="date" id="q-began" name="q.began" value="">' in respondent.get(link).text
        refused = send_page(respondent, link, {"q.began": ["tomorrow"]})
        assert 'value="tomorrow"' in refused.text
        results = signed_in(app, study, Role.REVIEWER).get(f"/surveys/{NAME}/results").text
        assert '<th scope="row">Monday</th>' in results
