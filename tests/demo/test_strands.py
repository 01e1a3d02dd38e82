"""The strands of the demo: one study file and one codebook, and planted topics for every answer and turn."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.demo import strands
from quaestor.demo.folder import create_demo_folder
from quaestor.demo.run import STUDY
from quaestor.demo.strands import add_strands
from quaestor.demo.survey import INSTRUMENT
from quaestor.demo.survey import STUDY as SURVEY_STUDY
from quaestor.study.folder import Study, open_study
from quaestor.surveys.open_answers import OpenAnswerSettings
from quaestor.synth.simulated_respondents import read_bundled_plan


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("demo") / "study"
    create_demo_folder(folder, STUDY, add_strands)
    return open_study(folder)


def list_codes(folder: Path, facet: str) -> Iterator[str]:
    return (code["id"] for code in read_codebook(folder / CODEBOOK_FILE)["codes"] if code["facet"] == facet)


def test_the_study_has_three_strands_and_a_joint_display_of_them(study: Study) -> None:
    assert [strand.strand_title for strand in study.in_each_strand()] == ["Posts", "Survey", "Interviews"]
    rounds = {settings.round for settings in study.settings.rounds}
    shown = {strand.code.partition(".")[0] for strand in study.settings.joint_display.strands}
    assert shown == set(strands.TOPIC_ROUNDS) <= rounds
    for name in ("guide.md", "agreement.md"):
        assert (study.root / "instruments" / name).is_file()


def test_no_code_of_the_joined_codebook_has_the_id_of_another(study: Study) -> None:
    codebook = read_codebook(study.root / CODEBOOK_FILE)
    ids = [code["id"] for code in codebook["codes"]]
    assert len(ids) == len(set(ids))
    assert [facet["id"] for facet in codebook["facets"]][-2:] == ["themes", "topic"]


def test_every_answer_of_the_plan_has_a_topic_and_every_topic_is_a_code(study: Study) -> None:
    planted = tomllib.loads(Path(strands.__file__).with_name("topics.toml").read_text("utf-8"))
    source = study.source("onnx-answers")
    assert isinstance(source, OpenAnswerSettings)
    plan = read_bundled_plan(SURVEY_STUDY, INSTRUMENT).questions
    assert {text for name in source.questions for text in plan[name].texts} == set(planted["answers"])
    assert set(planted["themes"]) <= set(list_codes(study.root, "themes"))
    topics = {topic for by_item in planted.values() for names in by_item.values() for topic in names}
    assert {f"topic-{topic}" for topic in topics} <= set(list_codes(study.root, "topic"))
