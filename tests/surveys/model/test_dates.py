"""Date questions: asked with a native field, stored as ISO dates, counted by month or year."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.answering import asking, begun, kept, send
from tests.support.desk import browser, signed_in
from tests.support.small_survey import NAME, answered, fielded, small_survey

from quaestor.base.errors import InputError
from quaestor.people.roles import Role
from quaestor.render.tables.files import to_markdown
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import Surveys, open_surveys
from quaestor.surveys.model.conditions import read_condition
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.question_kinds import QUESTION_KINDS, kind_of
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Question
from quaestor.surveys.results.compute import survey_results
from quaestor.surveys.results.counting import ResponseSelection
from quaestor.surveys.results.export import results_json, write_results
from quaestor.surveys.results.sentences import write_notes
from quaestor.surveys.results.tables import build_table
from quaestor.synth.simulated_respondents import simulate_responses

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
kind = "date"
text = "When did you begin?"
earliest = 2020-01-01
latest = "2026-12-31"

[[pages.questions]]
id = "team"
kind = "yes-no"
text = "In a team?"

[[pages]]
page = "early"
show_if = "began < 2023-01-01"

[[pages.questions]]
id = "why"
kind = "text"
text = "Why so early?"
"""
DAYS = (("2022-03-02", "yes"), ("2022-03-31", "no"), ("2022-05-09", "yes"), ("2023-02-01", "no"), ("", "yes"))


def question_of(**keys: str) -> Question:
    return Question("began", "date", "When?", **keys)  # type: ignore[arg-type]


def form_of(day: str, team: str) -> dict[str, dict[str, list[str]]]:
    when = {"q.began": [day], "q.team": [team]}
    return {"consent": {"q.consent": ["agree"]}, "when": when, "early": {"q.why": [""]}}


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as opened:
        for day, team in DAYS:
            answered(opened, NAME, form_of(day, team))
        yield opened


@pytest.mark.parametrize(
    ("typed", "stored"),
    [("2024-02-29", "2024-02-29"), (" 2024-01-05 ", "2024-01-05"), ("٢٠٢٤-٠١-٠٥", "2024-01-05"), ("  ", None)],
)
def test_a_date_is_stored_as_an_iso_date(typed: str, stored: str | None) -> None:
    answer = QUESTION_KINDS["date"].check(question_of(), {"date": typed})
    assert answer == ({} if stored is None else {"date": stored})


@pytest.mark.parametrize("typed", ["2023-02-29", "tomorrow", "20240105", "2024-W01-1", "01/05/2024", "0024-01-05"])
def test_what_is_not_a_date_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(InputError, match="is not a date: write it as year-month-day, such as 2026-03-31"):
        QUESTION_KINDS["date"].check(question_of(), {"date": typed})


def test_dates_outside_the_bounds_are_refused() -> None:
    kind, question = QUESTION_KINDS["date"], question_of(earliest="2024-01-01", latest="2024-12-31")
    assert kind.check(question, {"date": "2024-01-01"}) == {"date": "2024-01-01"}
    assert kind.check(question, {"date": "2024-12-31"}) == {"date": "2024-12-31"}
    with pytest.raises(InputError, match="2023-12-31' is before 2024-01-01"):
        kind.check(question, {"date": "2023-12-31"})
    with pytest.raises(InputError, match="2025-01-01' is after 2024-12-31"):
        kind.check(question, {"date": "2025-01-01"})


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("began = 2024-05-06", True),
        ("began != 2024-05-06", False),
        ("began > 2024-05-05", True),
        ("began >= 2024-05-07", False),
        ("began < 2024-05-07", True),
        ("began <= 2024-05-05", False),
        ("began > 3", False),
        ("began answered", True),
    ],
)
def test_conditions_compare_dates(condition: str, holds: bool) -> None:
    assert read_condition(condition).holds({"began": {"date": "2024-05-06"}}) is holds
    assert not read_condition("years > 2024-05-05").holds({"years": {"number": "3000000"}})


def test_paths_follow_dates_on_both_sides_of_a_condition() -> None:
    questionnaire = parse_questionnaire(QUESTIONNAIRE, NAME)
    assert find_problems(questionnaire) == []
    every = {path.questions for path in paths(questionnaire)}
    assert every == {("consent", "began", "team", "why"), ("consent", "began", "team"), ("consent",)}


@pytest.mark.parametrize(
    ("before", "after", "words", "grave"),
    [
        ('latest = "2026-12-31"', 'latest = "2026-02-30"', "latest is '2026-02-30', which is not a date", True),
        ('latest = "2026-12-31"', 'latest = "2019-01-01"', "so no date is valid: swap them", True),
        ("began < 2023-01-01", "began < 3", "compares the date 'began' with '3': write a date", True),
        ("began < 2023-01-01", "began includes x", "asks what the date 'began' includes", True),
        ("began < 2023-01-01", "began < 2019-06-01", "can never hold", True),
        (
            'text = "In a team?"',
            'text = "In a team?"\nlatest = "2026-12-31"',
            "earliest or latest has no effect",
            False,
        ),
    ],
)
def test_unusable_bounds_and_comparisons_are_reported(before: str, after: str, words: str, grave: bool) -> None:
    problems = find_problems(parse_questionnaire(QUESTIONNAIRE.replace(before, after), NAME))
    assert [problem.grave for problem in problems if words in problem.words] == [grave], problems


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_dates_are_unchanged_after_export_and_import(surveys: Surveys, tmp_path: Path, wide: bool, suffix: str) -> None:
    file = tmp_path / f"answers.{suffix}"
    export_answers(surveys, NAME, file, wide=wide)
    with open_surveys(small_survey(tmp_path / "elsewhere", QUESTIONNAIRE)) as elsewhere:
        done = import_answers(elsewhere, NAME, file, None)
        assert (done.responses, done.unread, done.unmapped_columns) == (5, (), ())
        stored = {response.id: response.answers for response in elsewhere.answers.responses(NAME)}
        assert stored == {response.id: response.answers for response in surveys.answers.responses(NAME)}


def test_a_date_with_midnight_is_imported_from_a_survey_service(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        rows = [["began", "team"], ["2022-03-02 00:00:00", "Yes"], ["2022-03-03T00:00", "No"], ["03/04/2022", "No"]]
        csv.writer(opened).writerows(rows)
    mapping = tmp_path / "mapping.toml"
    mapping.write_text('consented = true\nheader_rows = 1\n[columns]\nbegan = "began"\nteam = "team"\n', "utf-8")
    with open_surveys(small_survey(tmp_path / "study", QUESTIONNAIRE)) as surveys:
        done = import_answers(surveys, NAME, file, mapping)
        stored = [response.answers.get("began", {}).get("date") for response in surveys.answers.responses(NAME)]
    assert sorted(filter(None, stored)) == ["2022-03-02", "2022-03-03"]
    assert [remark.said for remark in done.unread] == ["03/04/2022"]


def test_dates_are_counted_by_month_with_median_and_range(surveys: Surveys, tmp_path: Path) -> None:
    results = survey_results(surveys, NAME, by="team")
    began = results.question("began")
    assert began is not None
    assert began.base == 4
    counts = {line.key: line.share.count for line in began.rows[0].lines}
    assert counts == {**dict.fromkeys([f"2022-{month:02}" for month in range(3, 13)], 0), "2023-01": 0,
                      "2022-03": 2, "2022-05": 1, "2023-02": 1}  # fmt: skip
    dates = next(one for one in results_json(results)["questions"] if one["question"] == "began")["dates"]
    assert (dates["median"]["value"], dates["least"], dates["most"]) == ("2022-04-19", "2022-03-02", "2023-02-01")
    assert [group["value"] for group in dates["groups"]] == ["2022-04-05", "2022-08-31"]
    notes = " ".join(write_notes(began))
    assert "Median 2022-04-19" in notes
    assert "2022-03-02 to 2023-02-01" in notes
    table = to_markdown(build_table(results, began))
    assert "2022-03" in table
    assert "50.0%" in table
    assert any(path.name == "began.svg" for path in write_results(surveys, results, tmp_path / "results"))


def test_a_count_of_a_month_opens_its_responses(surveys: Surveys) -> None:
    counted = survey_results(surveys, NAME).counted
    assert ResponseSelection("began", option="2022-03").mask(counted).sum() == 2
    assert ResponseSelection("began", option="2022").mask(counted).sum() == 3
    assert ResponseSelection("began").mask(counted).sum() == 4
    with pytest.raises(InputError, match="unknown month or year: 'spring'"):
        ResponseSelection("began", option="spring").mask(counted)


def test_dates_far_apart_are_counted_by_year(tmp_path: Path) -> None:
    text = QUESTIONNAIRE.replace("earliest = 2020-01-01\n", "")
    with fielded(tmp_path / "study", text) as surveys:
        for day in ("1987-06-05", "1990-01-01", "1990-12-31"):
            answered(surveys, NAME, form_of(day, "no"))
        began = survey_results(surveys, NAME).question("began")
    assert began is not None
    assert [(line.key, line.share.count) for line in began.rows[0].lines] == [
        ("1987", 1), ("1988", 0), ("1989", 0), ("1990", 2),
    ]  # fmt: skip


def test_simulated_respondents_choose_dates_within_the_bounds(tmp_path: Path) -> None:
    with fielded(tmp_path / "study", QUESTIONNAIRE) as surveys:
        simulate_responses(surveys, NAME, seed=2, responses=30)
        days = {response.answers.get("began", {}).get("date", "") for response in surveys.answers.responses(NAME)}
    assert len(days) > 10
    assert all("2020-01-01" <= day <= "2026-12-31" for day in days if day)


def test_the_page_asks_with_a_native_date_field(tmp_path: Path) -> None:
    with asking(tmp_path / "study", QUESTIONNAIRE) as app:
        respondent = browser(app)
        link = begun(respondent)
        send(respondent, link, {"q.consent": ["agree"]})
        page = respondent.get(link).text
        assert '<input class="date" type="date" id="q-began" name="q.began" value=""' in page
        assert 'min="2020-01-01" max="2026-12-31"' in page
        refused = send(respondent, link, {"q.began": ["2019-12-31"]})
        assert refused.status_code == 422
        assert "is before 2020-01-01" in refused.text
        assert send(respondent, link, {"q.began": ["2024-02-03"]}).status_code == 303
        assert kept(tmp_path / "study", link)[1]["began"] == {"date": "2024-02-03"}
        results = signed_in(app, tmp_path / "study", Role.REVIEWER).get(f"/surveys/{NAME}/results?unfinished=1").text
    assert '<th scope="row">2024-02</th>' in results
    assert "Median 2024-02-03" in results


def test_every_kind_reads_what_it_writes_into_its_form() -> None:
    question = question_of()
    form = kind_of(question).write_form(question, {"date": "2024-02-03"})
    assert kind_of(question).read_form(question, form) == {"date": "2024-02-03"}
