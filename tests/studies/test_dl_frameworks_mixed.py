"""The mixed study: posts, a survey and interviews with one codebook and a joint display."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.support.paths import STUDIES
from tests.support.small_interviews import with_interview, with_transcript

from quaestor.coding.codebook import import_codebook
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import make_items
from quaestor.interviews.model.guide_checks import check_guide
from quaestor.interviews.repository import list_guide_files, open_interviews
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study, template_names
from quaestor.surveys.check_questionnaire import check_survey
from quaestor.surveys.lifecycle import survey_files

NAME = "dl-frameworks-mixed"
STUDY = STUDIES / NAME
PHASES = [
    "data-processing", "model-setting", "model-training", "model-prediction", "model-evaluation", "runtime-environment",
    "visualization",
]  # fmt: skip
ADDED = ["interoperability", "framework-defects", "nothing-hard"]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    assert NAME in template_names()
    return open_study(new_study(tmp_path / "mine", NAME))


def test_a_study_from_this_template_has_three_strands_and_both_instruments(study: Study) -> None:
    titles = {strand.strand: strand.strand_title for strand in study.in_each_strand()}
    assert titles == {"": "Posts", "answers": "Survey", "turns": "Interviews"}
    assert list(survey_files(study)) == ["experience"]
    assert list(list_guide_files(study)) == ["guide"]


def test_questionnaire_and_guide_have_no_problems() -> None:
    assert check_survey(STUDY / "instruments" / "experience.toml").problems == ()
    guide = check_guide(STUDY / "instruments" / "guide.md")
    assert guide.problems == ()
    assert guide.guide.minutes == sum(section.minutes for section in guide.guide.sections) == 20


def test_both_consent_forms_allow_the_quotations_of_the_joint_display() -> None:
    quoted = [strand for strand in open_study(STUDY).settings.joint_display.strands if strand.quote]
    assert [strand.title for strand in quoted] == ["Survey", "Interviews"]
    assert "quotations" in (STUDY / "instruments" / "agreement.md").read_text("utf-8")
    assert "print short excerpts" in (STUDY / "instruments" / "experience.toml").read_text("utf-8")


def test_the_codebook_has_the_seven_phases_and_what_survey_and_interviews_add(study: Study) -> None:
    with open_coding(study) as coding:
        import_codebook(coding)
        codes = coding.state.history.latest.active("topic")
    assert [code.id for code in codes] == [*PHASES, *ADDED]
    entries = tomllib.loads((STUDY / "codebook.toml").read_text("utf-8"))["code"]
    for entry in entries:
        assert all(entry.get(key) for key in ("definition", "use", "not", "examples", "colour", "key")), entry["id"]
    for unique in ("key", "colour"):
        assert len({entry[unique] for entry in entries}) == len(entries), unique


def test_the_joint_display_compares_the_main_round_of_each_strand_under_one_facet_of_the_codebook(study: Study) -> None:
    rounds = {settings.round: settings for settings in study.settings.rounds}
    compared = [strand.code.split(".") for strand in study.settings.joint_display.strands]
    assert [name for name, _ in compared] == list(rounds)
    assert {study.settings.facets[facet].codes for _, facet in compared} == {"topic"}
    for name, facet in compared:
        assert rounds[name].facets == (facet,), name


def test_transcripts_become_items_of_the_strand_without_an_edit_of_the_study_file(study: Study) -> None:
    before = study.file.read_bytes()
    with open_interviews(study) as interviews:
        with_transcript(interviews, with_interview(interviews).id)
        items = make_items(interviews)
    assert (items.added, items.strand) == (False, "turns")
    assert study.file.read_bytes() == before
    ingest_source(study, "turns")
    assert run_funnel(study.in_strand("turns")).entered == items.items
