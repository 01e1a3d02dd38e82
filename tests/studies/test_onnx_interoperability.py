"""The survey of the ONNX study: the whole protocol, and the fielded version that fits its public answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook
from tests.support.desk import closing_app, signed_in
from tests.support.paths import SHARED, STUDIES

from quaestor.study.features import study_status
from quaestor.study.folder import open_study
from quaestor.study.templates import new_study
from quaestor.surveys.check_questionnaire import check_survey
from quaestor.surveys.lifecycle import open_survey, open_surveys, survey_files
from quaestor.surveys.model.paths import paths
from quaestor.surveys.model.questionnaire_file import read_questionnaire
from quaestor.surveys.model.records import Question, Questionnaire, ResponseStatus
from quaestor.web.app import make_app

INSTRUMENTS = STUDIES / "onnx-interoperability" / "instruments"
SEED = SHARED / "seeds" / "001_6dcfb9a846e383df.txt"
ANSWERS = SHARED / "data" / "onnx" / "survey-open.xlsx"
NAMES = ("protocol", "fielded")

COLUMNS = {
    "Q52": "consent", "Q71": "platform", "Q1": "ml-years", "Q2": "se-years", "Q5": "size", "Q67": "deployment",
    "Q60": "frameworks", "Q61": "uses-onnx", "Q62": "other-tools", "Q63": "purposes", "Q65": "problems",
}  # fmt: skip
OPEN = {"Q78": "conversion-case", "Q64": "direct-deployment", "Q66": "remedies"}
MARKER = "AnswerDisplayOrder"


@lru_cache
def asked(name: str) -> Questionnaire:
    return read_questionnaire(INSTRUMENTS / f"{name}.toml")


def question(name: str, instrument: str = "protocol") -> Question:
    found = asked(instrument).question(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_questionnaire_has_no_problems(name: str) -> None:
    checked = check_survey(INSTRUMENTS / f"{name}.toml")
    assert checked.problems == ()
    assert checked.questionnaire.minutes is not None
    assert abs(checked.questionnaire.minutes - checked.minutes) < 1


def test_the_protocol_has_the_planned_questions_in_order() -> None:
    assert [(one.id, one.kind) for one in asked("protocol").questions()] == [
        ("consent", "consent"),
        ("ml-years", "single"),
        ("se-years", "single"),
        ("ml-expertise", "single"),
        ("se-expertise", "single"),
        ("size", "single"),
        ("sector", "single"),
        ("deployment", "multiple"),
        ("frameworks", "multiple"),
        ("uses-onnx", "yes-no"),
        ("other-tools", "multiple"),
        ("purposes", "multiple"),
        ("direct-deployment", "long-text"),
        ("problems", "matrix"),
        ("remedies", "long-text"),
    ]
    assert [one.id for one in asked("protocol").questions() if one.required] == ["consent"]


def test_the_protocol_has_all_options_and_the_four_step_scales() -> None:
    bands = ["1-2", "3-5", "6-10", "11-20", "over-20"]
    assert [option.code for option in question("ml-years").options] == bands
    assert [option.code for option in question("se-years").options] == bands
    for name in ("ml-expertise", "se-expertise"):
        assert [option.label for option in question(name).options] == ["Novice", "Intermediate", "Expert"]
        assert all(option.description for option in question(name).options)
    assert [option.code for option in question("size").options] == ["small", "medium", "large", "very-large"]
    assert len(question("sector").options) == 11
    assert len(question("deployment").options) == 5
    assert [one.label for one in question("frameworks").options[:4]] == ["PyTorch", "TensorFlow", "JAX/FLAX", "MLX"]
    assert [option.label for option in question("other-tools").options[:2]] == ["MMdnn", "NNEF"]
    for name in ("sector", "frameworks", "other-tools", "purposes"):
        assert [one.text for one in question(name).options] == [False] * (len(question(name).options) - 1) + [True]
    problems = question("problems")
    assert [option.label for option in problems.options] == ["Never", "Rarely", "Occasionally", "Regularly"]
    assert [(row.code, row.text) for row in problems.rows] == [
        ("crashes", False),
        ("performance", False),
        ("other", True),
    ]
    assert problems.centre == ""


def test_the_protocol_states_its_strata_and_pay() -> None:
    protocol = asked("protocol")
    assert protocol.strata == ("PRO accounts", "normal accounts")
    assert protocol.pay is not None
    assert (protocol.pay.amount, protocol.pay.currency) == (10, "USD")
    assert "Teams" in protocol.about
    assert (protocol.anonymous, protocol.by_invitation) == (True, True)
    (research,) = protocol.research
    assert [one.id for one in protocol.questions() if research in one.answers] == [
        "frameworks", "uses-onnx", "other-tools", "purposes", "direct-deployment", "problems", "remedies",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_consenting_respondent_gets_every_question(name: str) -> None:
    """The source puts no condition on any question."""
    every = [one.id for one in asked(name).questions()]
    found = {path.standing: path.questions for path in paths(asked(name))}
    assert list(found[ResponseStatus.FINISHED]) == every
    assert list(found[ResponseStatus.DECLINED]) == every[:1]


def test_the_fielded_version_has_different_options() -> None:
    assert len(question("ml-years", "fielded").options) == 4
    assert len(question("size", "fielded").options) == 3
    assert question("problems", "fielded").kind == "multiple"
    assert [one.id for one in asked("fielded").questions()] == [
        "consent", "platform", "ml-years", "se-years", "size", "deployment", "frameworks", "uses-onnx", "other-tools",
        "purposes", "conversion-case", "direct-deployment", "problems", "remedies",
    ]  # fmt: skip


def _cells() -> Iterator[tuple[str, str]]:
    rows = CalamineWorkbook.from_path(ANSWERS).get_sheet_by_index(0).to_python()
    for row in rows[2:]:
        for column, cell in zip(rows[0], row, strict=True):
            if cell != "":
                yield str(column), str(cell)


@pytest.mark.skipif(not ANSWERS.exists(), reason="the public answers are not on this machine")
def test_every_public_answer_consists_of_labels_of_the_fielded_version() -> None:
    met = set()
    for column, cell in _cells():
        if column not in COLUMNS:
            continue
        left = cell.replace(MARKER, "")
        for option in question(COLUMNS[column], "fielded").options:
            if option.label in left:
                met.add((COLUMNS[column], option.code))
                left = left.replace(option.label, "", 1)
        assert left.strip(",") == "", (column, cell)
    offered = {(name, one.code) for name in COLUMNS.values() for one in question(name, "fielded").options}
    # Who declines or is screened out is not in the public file: these two labels are ours.
    assert offered - met == {("consent", "decline"), ("platform", "not-regularly")}


@pytest.mark.skipif(not ANSWERS.exists(), reason="the public answers are not on this machine")
def test_every_free_text_column_has_a_question() -> None:
    columns = {column for column, _ in _cells()}
    assert set(COLUMNS) | set(OPEN) <= columns
    assert all(question(name, "fielded").kind == "long-text" for name in OPEN.values())
    assert all(
        any(one.text for one in question(COLUMNS[name], "fielded").options) for name in ("Q67", "Q60", "Q62", "Q63")
    )


@pytest.mark.skipif(not SEED.exists(), reason="the seeds are not on this machine")
@pytest.mark.parametrize("name", NAMES)
def test_no_sentence_of_the_protocol_is_copied(name: str) -> None:
    """Five consecutive words count as a copy; labels of the fielded version are data."""
    source = _runs(SEED.read_text("utf-8"), 5) | {run for text in _fielded_texts() for run in _runs(text, 5)}
    instrument = asked(name)
    texts = [instrument.about, instrument.thanks, *instrument.research.values()]
    texts += [words for page in instrument.pages for words in (page.title, page.text)]
    for one in instrument.questions():
        texts += [one.text, one.hint, *(row.label for row in one.rows), *(each.description for each in one.options)]
    for text in texts:
        assert not _runs(text, 5) & source, text


def _fielded_texts() -> list[str]:
    """The question texts of the survey service, from the row below the column names."""
    if not ANSWERS.exists():
        return []
    return [str(cell) for cell in CalamineWorkbook.from_path(ANSWERS).get_sheet_by_index(0).to_python()[1]]


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z]+", text.lower())
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def test_a_study_from_this_template_can_be_opened_and_served(tmp_path: Path) -> None:
    study = open_study(new_study(tmp_path / "mine", "onnx-interoperability"))
    assert set(survey_files(study)) == set(NAMES)
    status = study_status(study)
    assert [(stage.name, stage.state) for stage in status.stages] == [
        ("survey fielded", "waiting"),
        ("survey protocol", "waiting"),
    ]
    assert status.next == "quaestor survey check protocol, and open it"
    with open_surveys(study) as surveys:
        assert open_survey(surveys, "protocol").number == 1
    after = study_status(study)
    assert after.next == "quaestor serve, so that respondents can answer protocol"
    assert "open, version 1: no responses yet" in after.stages[1].detail
    with closing_app(make_app(study.root)) as app, signed_in(app, study.root) as lead:
        for path in ("/", "/funnel", "/codebook", "/rounds"):
            assert lead.get(path).status_code in (200, 303), path


def test_survey_data_files_are_ignored_by_git(tmp_path: Path) -> None:
    made = new_study(tmp_path / "mine", "onnx-interoperability")
    ignored = (made / ".gitignore").read_text("utf-8").split()
    assert {"answers.db", "answers.db-*", "invitations.db", "claims.db", "claims.key", "people.db"} <= set(ignored)
    assert {"links*.csv", "cards*.csv", "answers*.csv", "answers*.xlsx", "*.codebook.csv"} <= set(ignored)
