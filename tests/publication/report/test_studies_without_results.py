"""`report` works for studies that name no final codes: a survey, interviews, or rounds with several codes."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import in_this_process
from tests.support.made_once import study_of
from tests.support.settling import settle_with_assents
from tests.support.themed_interviews import themed_study
from tests.surveys.test_open_answers import rated, rated_study

from quaestor.base.errors import StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.publication.report.make import NotFullyDecided, build_report
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import bundled_studies, new_study
from quaestor.surveys.lifecycle import close_survey, open_surveys
from quaestor.surveys.respond import withdraw


def quiet(words: str) -> None:
    pass


def page_of(study: Study) -> str:
    return (study.published / "report" / "index.html").read_text("utf-8")


def read_table(study: Study, name: str) -> list[dict[str, str]]:
    with (study.published / "report" / "tables" / f"table-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(study: Path, *arguments: str) -> Any:
    return in_this_process(*arguments, "--study", study)


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """A new study with a questionnaire and nothing else."""
    root = new_study(tmp_path / "mine", "blank")
    shutil.copyfile(root / "instruments" / "example.survey.toml", root / "instruments" / "mine.toml")
    return root


def test_a_blank_study_with_a_questionnaire_gets_from_check_to_report_without_a_source(blank: Path) -> None:
    assert study_status(open_study(blank)).next == "quaestor survey check mine, and open it"
    before = str(run(blank, "report").exception)
    assert "no survey has a finished response yet" in before
    assert "[results]" not in before
    assert run(blank, "survey", "open", "mine").exit_code == 0
    assert run(blank, "synth", "survey", "mine", "--responses", "30").exit_code == 0
    assert "close it with `quaestor survey close mine`" in str(run(blank, "report").exception)
    assert run(blank, "survey", "close", "mine").exit_code == 0

    built = run(blank, "report", "--json")
    assert built.exit_code == 0, built.stderr
    assert json.loads(built.stdout)["figures"] == 2
    study = open_study(blank)
    page = page_of(study)
    for words in ("Survey: How people use", "30 of 30 responses to the survey mine are synthetic", "survey responses"):
        assert words in page
    rows = read_table(study, "mine-used")
    results = json.loads(run(blank, "survey", "results", "mine", "--json").stdout)
    used = next(question for question in results["questions"] if question["question"] == "used")
    assert [int(row["n"]) for row in rows] == [option["count"] for option in used["options"]]
    assert "add a source" not in run(blank, "status").stdout
    assert "from 30 survey responses, up to date" in " ".join(run(blank, "status").stdout.split())


def test_a_survey_is_reported_again_after_a_respondent_withdraws(tmp_path: Path) -> None:
    from tests.support.small_survey import NAME, answered, fielded

    with fielded(tmp_path) as surveys:
        codes = [answered(surveys)[0] for _ in range(3)]
        close_survey(surveys, NAME)
        build_report(surveys.study, quiet)
        assert "3 responses are counted" in page_of(surveys.study)
        withdraw(surveys, codes[0])
        report = next(line for line in study_status(surveys.study).stages if line.name == "report")
        assert (report.state, "surveys changed" in report.detail) == ("stale", True)
        build_report(surveys.study, quiet)
        assert "2 responses are counted" in page_of(surveys.study)


def test_a_report_on_a_survey_shows_no_answer_in_words_and_no_response(tmp_path: Path) -> None:
    from tests.support.small_survey import NAME, answered, fielded

    with fielded(tmp_path) as surveys:
        _, response = answered(surveys)
        close_survey(surveys, NAME)
        build_report(surveys.study, quiet)
        folder = surveys.study.published / "report"
    for path in (path for path in folder.rglob("*") if path.suffix in (".html", ".csv", ".md", ".js", ".json", ".tex")):
        text = path.read_text("utf-8")
        assert "They never fit" not in text, path
        assert response.id not in text, path


def test_coded_open_answers_are_themes_in_the_report(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    rated(study, said)
    settle_agreed(study, "considerations", None)
    with open_surveys(study) as surveys:
        close_survey(surveys, "tools")
    with pytest.raises(NotFullyDecided, match="2 with an open disagreement"):
        build_report(study, quiet)
    build_report(study, quiet, leave_out_undecided=True)
    assert "Themes of the round considerations are left out: 2 disagreements are not settled" in page_of(study)
    for words, answer in (("layers", "layers"), ("no idea", "nothing")):
        item = next(item for item, text in said.items() if text == words)
        settle_with_assents(study, "considerations", "lead", item, "theme", answer, "discussion", "read again")
    build_report(study, quiet)
    themes = {row["row"]: int(row["participants"]) for row in read_table(study, "tools-themes-considerations-theme")}
    assert themes == {"speed": 2, "layers": 2, "nothing": 1}


def test_a_blank_study_with_a_guide_is_asked_for_participants_and_not_for_a_source(tmp_path: Path) -> None:
    root = new_study(tmp_path / "mine", "blank")
    for file in (bundled_studies() / "dl-framework-interviews" / "instruments").glob("*.md"):
        shutil.copy(file, root / "instruments")
    study = open_study(root)
    assert study_status(study).next == "quaestor interview participant add"
    with pytest.raises(StateError, match=r"^no round on transcripts is closed yet"):
        build_report(study, quiet)


def test_interviews_alone_make_a_report(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")])
    assert not study.settings.results.code
    build_report(study, quiet)
    page = page_of(study)
    assert "Interviews" in page
    assert "Codes</h2>" not in page


SEVERAL = """
[study]
name = "own"
lead = "lead"

[sources.sheet]
kind = "table"
path = "issues.csv"
item = "tracker/issue/{id}"
columns.id = { type = "whole" }
columns.title = {}

[[funnel.steps]]
step = "all"
where = "id > 0"

[facets.relevance]
kind = "keep"

[facets.symptom]
kind = "multiple"
codes = "symptom"
required = false

[facets.severity]
kind = "single"
options = ["low", "high"]
required = false

[[rounds]]
round = "main"
items = { after = "all" }
facets = ["relevance", "symptom", "severity"]
raters = ["rater-1", "rater-2"]
"""
SYMPTOMS = """
[[facet]]
id = "symptom"
levels = ["symptom"]

[[code]]
id = "crash"
facet = "symptom"
name = "Crash"

[[code]]
id = "slow"
facet = "symptom"
name = "Slow model"
"""
ITEMS = [f"tracker/issue/{number}" for number in range(1, 11)]


def several_codes_study(folder: Path) -> Study:
    """Ten issues: nine are kept; six crash, five are slow, of these two both; four are severe."""
    issues = "\n".join(["id,title", *(f"{number},issue number {number}" for number in range(1, 11))])
    study = study_of(folder, {"issues.csv": issues, "study.toml": SEVERAL, "codebook.toml": SYMPTOMS})
    import_codebook(study)
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for number, item in enumerate(ITEMS):
            symptoms = ["crash"] * (number < 6) + ["slow"] * (4 <= number < 9)
            answers: dict[str, Any] = {"relevance": "exclude"}
            if number < 9:
                answers = {"relevance": "keep", "symptom": symptoms, "severity": "high" if number < 4 else "low"}
            for rater in ("rater-1", "rater-2"):
                rate(coding, "main", rater, item, answers)
    close_by_name(study, "main", None)
    return study


def test_facets_with_several_codes_are_counted_without_results(tmp_path: Path) -> None:
    study = several_codes_study(tmp_path / "study")
    build_report(study, quiet)
    symptoms = {row["row"]: row for row in read_table(study, "main-symptom")}
    assert {code: int(row["items"]) for code, row in symptoms.items()} == {"crash": 6, "slow": 5}
    assert float(symptoms["crash"]["share"]) == pytest.approx(6 / 9)
    assert {row["row"]: int(row["items"]) for row in read_table(study, "main-severity")} == {"low": 5, "high": 4}
    assert {row["row"]: int(row["items"]) for row in read_table(study, "main-relevance")} == {"keep": 9, "exclude": 1}
    page = page_of(study)
    assert "An item can have several codes" in page
    assert "Made by quaestor" in page
    assert "from 10 decided items" in page
    assert "agreement" in page.casefold()


def test_every_number_of_a_round_opens_the_items_it_counts(tmp_path: Path) -> None:
    study = several_codes_study(tmp_path / "study")
    build_report(study, quiet)
    script = (study.published / "report" / "items-data.js").read_text("utf-8")
    data = json.loads(script.removeprefix("window.quaestorItems = ").removesuffix(";\n"))
    [[attribute, [value]]] = data["tables"]["main-symptom"]["cells"]["slow:items"]
    column = data["attributes"][attribute]
    place = column["keys"].index(value)
    listed = [item[0] for item, code in zip(data["items"], column["codes"], strict=True) if code == place]
    assert sorted(listed) == sorted(ITEMS[4:9])
    assert "issue number 5" in script
    shown = in_this_process("items", "--cell", "main-symptom:slow:items", "--json", "--study", study.root)
    assert sorted(row["item"] for row in json.loads(shown.stdout)) == sorted(ITEMS[4:9])


def test_an_empty_study_is_told_what_a_report_needs(tmp_path: Path) -> None:
    study = open_study(new_study(tmp_path / "mine", "blank"))
    with pytest.raises(StateError, match="nothing has been decided yet"):
        build_report(study, quiet)
