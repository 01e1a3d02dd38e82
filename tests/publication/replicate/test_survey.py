"""The bundled survey from its public answers: bases, figures, and explanations of printed counts that differ."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.public_answers import CONSENTING, MARKER, PUBLIC, STUDY, Row, planted_rows, write_answers

from quaestor.base.errors import InputError, SettingsError
from quaestor.publication.audit.records import DIFFERS, MATCH, NOT_COMPUTABLE, ROUNDING, Audit, AuditCell
from quaestor.publication.publication import audit_study, compute_publication, open_computed
from quaestor.publication.replicate.survey import SurveyReplication, is_survey, replicate_survey
from quaestor.study.folder import open_study
from quaestor.study.templates import template_folder
from quaestor.surveys.lifecycle import OPEN, open_surveys, review_response
from quaestor.surveys.model.records import ResponseStatus


def silent(words: str) -> None:
    pass


def replicated(folder: Path, rows: list[Row], name: str = "answers.csv") -> tuple[SurveyReplication, Audit]:
    folder.mkdir(exist_ok=True)
    made = replicate_survey(STUDY, write_answers(folder / name, rows), folder / "study", silent)
    return made, audited(made)


def audited(made: SurveyReplication) -> Audit:
    with open_computed(made.study, needs_results=False) as computed:
        return audit_study(compute_publication(computed, silent))


def cell(audit: Audit, name: str) -> AuditCell:
    table, _, rest = name.partition(":")
    row, _, column = rest.rpartition(":")
    return next(audit_cell for audit_cell in audit.cells if audit_cell.key == (table, row, column))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[SurveyReplication, Audit]:
    return replicated(tmp_path_factory.mktemp("whole"), planted_rows())


def test_a_survey_study_is_distinguished_from_a_study_of_labelled_items() -> None:
    assert is_survey(STUDY)
    assert not is_survey("dl-implementation-issues")


def test_all_figures_match_except_those_affected_by_the_row_without_consent(
    whole: tuple[SurveyReplication, Audit],
) -> None:
    _, audit = whole
    computed = [audit_cell for audit_cell in audit.cells if audit_cell.verdict != NOT_COMPUTABLE]
    differing = {one.row: one.computed for one in computed if one.verdict == DIFFERS}
    assert differing == {
        "valid responses": 91,
        "uses ONNX": 38,
        "deployment: desktop application": 18,
        "answered the question": 53,
        "meets problems": 31,
    }
    assert {one.row for one in computed if one.verdict == ROUNDING} == {"response rate", "uses ONNX"}
    assert sum(one.verdict == MATCH for one in computed) == 20
    assert audit.open == 0


def test_the_audit_explains_differences_by_rows_and_markers(whole: tuple[SurveyReplication, Audit]) -> None:
    _, audit = whole
    row = "fits with 1 row without consent (row 3) counted"
    for name in ("survey:valid responses:n", "use:uses ONNX:n", "demographics:deployment: desktop application:n"):
        assert cell(audit, name).explanation == row
    both = (
        "fits with 1 row without consent (row 3) and 1 cell with a marker of the survey service instead of an answer "
        "counted"
    )
    for name in ("problems:answered the question:n", "problems:meets problems:n"):
        assert cell(audit, name).explanation == both
    assert "Not counted: 1 row without consent (row 3)" in " ".join(audit.notes)


def test_every_figure_has_its_base(whole: tuple[SurveyReplication, Audit]) -> None:
    _, audit = whole
    assert cell(audit, "demographics:ML experience: 3-5 years:n").base == 89
    assert cell(audit, "demographics:deployment: mobile:n").base == 89
    assert cell(audit, "use:uses ONNX:percent of responses").base == 91
    assert cell(audit, "problems:crashes:n").base == 53
    assert cell(audit, "survey:response rate:percent").base == 228 + 1985


def test_figures_that_answers_cannot_give_are_listed_with_a_reason(whole: tuple[SurveyReplication, Audit]) -> None:
    _, audit = whole
    unknown = {audit_cell.table for audit_cell in audit.cells if audit_cell.verdict == NOT_COMPUTABLE}
    assert unknown == {"survey", "deployment considerations", "pilot", "locations", "symptoms"}
    assert "not computed by the survey part" in cell(audit, "symptoms:crash:tf2onnx").explanation
    assert "raters have to code" in cell(audit, "deployment considerations:simplicity:participants of 32").explanation
    assert cell(audit, "survey:invited PRO users:n").explanation == "not in the answers"


def test_a_replication_opens_no_survey_and_keeps_its_input_file(whole: tuple[SurveyReplication, Audit]) -> None:
    made, _ = whole
    with open_surveys(made.study) as surveys:
        assert surveys.fielding("fielded").status != OPEN
        assert len(list(surveys.answers.responses("fielded"))) == CONSENTING
    assert (made.study.root / "answers" / "answers.csv").is_file()


def test_tables_have_count_share_base_and_printed_figure(whole: tuple[SurveyReplication, Audit]) -> None:
    made, _ = whole
    demographics = next(table for table in made.tables if table.id == "demographics")
    assert [group.title for group in demographics.groups][:2] == [
        "Years in machine learning",
        "Years in software engineering",
    ]
    row = next(one for one in demographics.rows() if one.key == "organization: small")
    assert row.title == "small"
    assert [audit_cell.parts for audit_cell in row.cells] == [("48",), ("53.9%",), ("89",), ("48",)]


def test_without_its_input_file_the_audit_has_the_same_figures_and_no_explanation(tmp_path: Path) -> None:
    made, before = replicated(tmp_path, planted_rows())
    (made.study.root / "answers" / "answers.csv").unlink()
    after = audited(made)
    assert [audit_cell.computed for audit_cell in after.cells] == [audit_cell.computed for audit_cell in before.cells]
    valid = cell(after, "survey:valid responses:n")
    assert (valid.verdict, valid.explanation) == (DIFFERS, "the publication has 92 responses, here are 91")


def test_a_counted_header_row_is_proposed_if_no_other_row_explains_a_difference(tmp_path: Path) -> None:
    _, audit = replicated(tmp_path, planted_rows(marker_row=False))
    assert cell(audit, "survey:valid responses:n").explanation == "fits with the row of question texts counted"
    assert cell(audit, "problems:answered the question:n").explanation == "fits with the row of question texts counted"
    assert cell(audit, "use:uses ONNX:n").explanation == "the publication has 92 responses, here are 91"


def test_half_of_the_responses_give_differences_with_a_reason(tmp_path: Path) -> None:
    rows = planted_rows()
    _, audit = replicated(tmp_path, [rows[0], *rows[1::2]])
    years = cell(audit, "demographics:ML experience: over 5 years:n")
    assert (years.verdict, years.base) == (DIFFERS, 45)
    assert years.explanation == "the publication's base is 89, here it is 45"
    answered = cell(audit, "problems:answered the question:n")
    assert answered.explanation.startswith(
        "the publication's base is 92, here it is 46; it would be 28 with 1 row without"
    )
    assert audit.open > 0
    assert "more than the 47 available here" in " ".join(audit.notes)


def test_screened_out_and_excluded_responses_are_not_counted(tmp_path: Path) -> None:
    screened = {**planted_rows()[1], "Q71": "No"}
    made, audit = replicated(tmp_path, [*planted_rows(), screened])
    valid = cell(audit, "survey:valid responses:n")
    assert (valid.computed, valid.explanation) == (91, "fits with 1 row without consent (row 3) counted")
    with open_surveys(made.study) as surveys:
        finished = (one for one in surveys.answers.responses("fielded") if one.standing is ResponseStatus.FINISHED)
        user = next(one for one in finished if one.answers["uses-onnx"]["choices"] == ["yes"])
        review_response(surveys, "fielded", user.id, False, "answered twice")
    after = audited(made)
    assert cell(after, "survey:valid responses:n").computed == 90
    uses = cell(after, "use:uses ONNX:n")
    assert (uses.computed, uses.explanation) == (37, "the publication has 92 responses, here are 90")


def test_a_marker_after_an_answer_is_ignored(tmp_path: Path) -> None:
    rows = planted_rows()
    rows[1]["Q65"] = f"{rows[1]['Q65']},{MARKER}"
    _, audit = replicated(tmp_path, rows)
    assert cell(audit, "problems:answered the question:n").computed == 53
    assert "1 cell with a marker" in " ".join(audit.notes)


def test_contradictory_problem_answers_are_proposed_as_another_way_of_counting(tmp_path: Path) -> None:
    made, _ = replicated(tmp_path, planted_rows())
    file = made.study.root / "printed" / "figures.csv"
    file.write_text(file.read_text("utf-8").replace("problems,meets problems,n,32", "problems,meets problems,n,33"))
    words = "if respondents who chose a problem and also say that they commonly have none count as having problems"
    assert cell(audited(made), "problems:meets problems:n").explanation == f"fits {words}"


def test_the_input_file_is_found_in_a_folder_by_its_columns(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "notes.txt").write_text("nothing to read")
    (data / "other.csv").write_text("id,label\n1,x\n")
    (data / "broken.xlsx").write_bytes(b"no workbook at all")
    write_answers(data / "survey.tsv", planted_rows()[:9])
    made = replicate_survey(STUDY, data, tmp_path / "study", silent)
    assert (made.imported.file, made.imported.responses, made.imported.no_consent) == ("survey.tsv", 8, (3,))


def test_unusable_input_is_refused_in_one_sentence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with pytest.raises(InputError, match=r"data does not exist"):
        replicate_survey(STUDY, data, tmp_path / "study", silent)
    data.mkdir()
    with pytest.raises(InputError, match="contains no table"):
        replicate_survey(STUDY, data, tmp_path / "study", silent)
    (data / "a.csv").write_text("Q52,Q71,Q1,Q2\n\n")
    with pytest.raises(InputError, match=r"no table in .* a\.csv comes closest but lacks the columns Q5, Q67"):
        replicate_survey(STUDY, data, tmp_path / "study", silent)
    with pytest.raises(InputError, match=r"a\.csv lacks the columns Q5, Q67, Q67_6_TEXT and 12 more of the survey"):
        replicate_survey(STUDY, data / "a.csv", tmp_path / "study", silent)
    for name in ("b.csv", "c.tsv"):
        write_answers(data / name, planted_rows()[:3])
    with pytest.raises(InputError, match=r"contains 2 files of answers .*b\.csv"):
        replicate_survey(STUDY, data, tmp_path / "study", silent)
    assert not (tmp_path / "study").exists()


def test_a_file_without_consent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no row of .* is a response .*1 without consent"):
        replicated(tmp_path, planted_rows()[:1])


def test_an_error_in_a_truncated_file_names_the_original_file(tmp_path: Path) -> None:
    file = write_answers(tmp_path / "answers.csv", planted_rows()[:4])
    file.write_text(file.read_text("utf-8") + "one cell,two cells\n", "utf-8")
    with pytest.raises(InputError, match=r"^\S+/answers\.csv has 2 cells in row 7") as refused:
        replicate_survey(STUDY, file, tmp_path / "study", silent)
    assert str(tmp_path / "study") not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"size = small"', '"sise = small"', "'sise', which is not in 'fielded'"),
        ('"size = small"', '"size = tiny"', "'tiny', which is not an option of 'size'"),
        ('"size = small"', '"size is small"', "cannot be read"),
        ('"organization: small" = ', '"organization: tiny" = ', "nothing is printed at"),
        ("[answers]\n", '[answers]\ncolour = "red"\n', "colour is not a known key"),
    ],
)
def test_a_figure_that_would_count_nothing_is_refused(
    whole: tuple[SurveyReplication, Audit], tmp_path: Path, old: str, new: str, words: str
) -> None:
    made, _ = whole
    folder = tmp_path / "study"
    shutil.copytree(template_folder(STUDY), folder)
    file = folder / "printed" / "printed.toml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(SettingsError, match=words):
        audited(SurveyReplication(open_study(folder), made.survey, made.imported, made.tables))


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public answers of the ONNX study are not beside the project")
def test_the_public_half_matches_an_independent_count(tmp_path: Path) -> None:
    from python_calamine import CalamineWorkbook

    sheet = CalamineWorkbook.from_path(PUBLIC / "survey-open.xlsx").get_sheet_by_index(0).to_python()
    names = [str(one) for one in sheet[0]]
    said = [dict(zip(names, map(str, row), strict=True)) for row in sheet[2:]]
    agreed = [row for row in said if row["Q52"] == "Yes, I consent"]
    made = replicate_survey(STUDY, PUBLIC, tmp_path / "study", silent)
    audit = audited(made)
    assert cell(audit, "survey:valid responses:n").computed == len(agreed) == 45
    assert cell(audit, "use:uses ONNX:n").computed == sum(row["Q61"].startswith("Yes") for row in agreed) == 22
    answered = [row["Q65"] for row in agreed if row["Q65"] not in ("", MARKER)]
    assert cell(audit, "problems:answered the question:n").computed == len(answered) == 25
    assert cell(audit, "problems:meets problems:n").computed == sum("I do not" not in response for response in answered)
    assert cell(audit, "problems:crashes:n").computed == sum("Crashes" in response for response in answered)
    desktop = cell(audit, "demographics:deployment: desktop application:n")
    assert desktop.computed == sum("Desktop" in row["Q67"] for row in agreed)
    assert desktop.base == sum(bool(row["Q67"]) for row in agreed)
    assert made.imported.unread == ()
