"""A blank study: its examples are valid, and a new study can start with those of its kind of evidence."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.terminal import at_terminal

from quaestor.base.errors import InputError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, list_rater_items, open_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.guide_versions import list_guides
from quaestor.interviews.overview import has_interviews
from quaestor.publication.report.make import build_report
from quaestor.study.features import study_status
from quaestor.study.folder import open_study
from quaestor.study.templates import EVIDENCE, new_study, use_examples
from quaestor.surveys.check_questionnaire import check_survey
from quaestor.surveys.lifecycle import open_survey, open_surveys, survey_files


def test_the_example_questionnaire_becomes_a_valid_survey_when_copied(tmp_path: Path) -> None:
    folder = new_study(tmp_path / "mine", "blank")
    assert survey_files(open_study(folder)) == {}
    copy = folder / "instruments" / "asked.toml"
    shutil.copyfile(folder / "instruments" / "example.survey.toml", copy)
    assert check_survey(copy).problems == ()
    with open_surveys(open_study(folder)) as surveys:
        assert open_survey(surveys, "asked").number == 1


def test_the_blank_study_has_commented_examples_of_facets_rounds_results_and_a_finding(tmp_path: Path) -> None:
    text = (new_study(tmp_path / "mine", "blank") / "study.toml").read_text("utf-8")
    assert set(tomllib.loads(text)) == {"study"}
    used = tomllib.loads(use_examples(text, {"table", "coding", "keep", "rounds", "results"}))
    assert set(used) == {"study", "sources", "funnel", "facets", "samples", "rounds", "results", "tables", "findings"}
    assert {facet["kind"] for facet in used["facets"].values()} == {"single", "keep"}


@pytest.mark.parametrize("kind", EVIDENCE)
def test_a_new_study_starts_with_its_kind_of_evidence_and_its_raters(tmp_path: Path, kind: str) -> None:
    study = open_study(new_study(tmp_path / "mine", "blank", [kind], raters=3))
    assert [settings.raters for settings in study.settings.rounds] == (
        [] if kind == "survey" else [("rater-1", "rater-2", "rater-3")] * 2
    )
    assert (kind == "interviews") == has_interviews(study)
    assert all(not line.why and not line.grave for line in list_guides(study, None))
    assert list(survey_files(study)) == (["survey"] if kind == "survey" else [])
    if study.settings.rounds:
        assert import_codebook(study).codes
    assert "add a source" not in study_status(study).next


def test_a_study_from_a_table_leads_to_a_report(tmp_path: Path) -> None:
    study = open_study(new_study(tmp_path / "mine", "blank", ["table"]))
    rows = [f"{number},title {number},text {number}" for number in range(1, 31)]
    (study.root / "rows.csv").write_text("\n".join(["id,title,body", *rows]), "utf-8")
    ingest_source(study, "rows")
    run_funnel(study)
    import_codebook(study)
    for name in ("pilot", "main"):
        open_by_name(study, name, None)
        with open_coding(study) as coding:
            for rater in ("rater-1", "rater-2"):
                for row in list_rater_items(coding, name, rater, left_only=True):
                    code = "first-topic" if row["item"].endswith(("1", "2", "3")) else "second-topic"
                    rate(coding, name, rater, row["item"], {"topic": code})
        close_by_name(study, name, None)
    build_report(study, lambda words: None)
    assert "Items by topic" in (study.published / "report" / "index.html").read_text("utf-8")
    (finding,) = json.loads((study.published / "report" / "findings.json").read_text("utf-8"))
    assert finding["holds"]
    assert "30" in finding["sentence"]


def test_a_survey_can_be_added_but_not_two_kinds_that_are_coded(tmp_path: Path) -> None:
    both = open_study(new_study(tmp_path / "both", "blank", ["posts", "survey"]))
    assert list(survey_files(both)) == ["survey"]
    with pytest.raises(InputError, match="starts with one of posts or table"):
        new_study(tmp_path / "two", "blank", ["posts", "table"])
    with pytest.raises(InputError, match="choose from: posts"):
        new_study(tmp_path / "unknown", "blank", ["post"])
    with pytest.raises(InputError, match="has its own evidence"):
        new_study(tmp_path / "bundled", "onnx-interoperability", ["posts"])
    assert not (tmp_path / "two").exists()


def test_a_terminal_asks_for_the_evidence_and_the_raters(tmp_path: Path) -> None:
    code, shown = at_terminal("new", "asked", typed="post\nposts\n4\n", cwd=tmp_path)
    assert code == 0, shown
    assert "There is no kind 'post'; choose from: posts" in shown
    assert "Adapt the examples in study.toml, codebook.toml." in shown
    assert len(open_study(tmp_path / "asked").settings.rounds[0].raters) == 4
    code, shown = at_terminal("new", "later", typed="\n", cwd=tmp_path)
    assert code == 0, shown
    assert "How many raters" not in shown
    assert open_study(tmp_path / "later").settings.rounds == ()


def test_options_do_the_same_without_questions(tmp_path: Path) -> None:
    assert quaestor("new", "mine", "--evidence", "table", "--raters", "1", cwd=tmp_path).returncode == 0
    assert open_study(tmp_path / "mine").settings.rounds[0].raters == ("rater-1",)
    code, shown = at_terminal("new", "other", "--evidence", "interviews", cwd=tmp_path)
    assert code == 0
    assert "Kind of evidence" not in shown
    assert "instruments/guide.md" in shown
