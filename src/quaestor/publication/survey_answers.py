"""The answers behind a survey's printed figures, with the rows of the imported file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from quaestor.base.files import hash_file
from quaestor.coding.session import CodingSession
from quaestor.publication.audit.printed import Printed
from quaestor.publication.audit.records import Audit
from quaestor.publication.survey_audit import FieldedSurvey, FileRow, counted_responses, survey_cells, survey_notes
from quaestor.study.folder import Study
from quaestor.surveys.exchange.file_rows import plain_rows
from quaestor.surveys.lifecycle import Surveys, answers_path, survey_file
from quaestor.surveys.model.answer_cells import RowAnswers
from quaestor.surveys.model.column_mapping import ColumnMapping, read_mapping
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.questionnaire_file import read_questionnaire
from quaestor.surveys.model.records import AGREE, Questionnaire
from quaestor.surveys.model.row_reader import RowReader
from quaestor.surveys.model.service_exports import UnreadableCell, split_header
from quaestor.surveys.store.answers import AnswerFile

ANSWERS_FOLDER = "answers"
"""Folder of the study with the imported files of answers."""


def with_survey(audit: Audit, coding: CodingSession | None, study: Study, printed: Printed) -> Audit:
    """Adds the figures of a survey to an audit; returns it unchanged if the study prints none."""
    settings = printed.settings.answers
    if settings is None:
        return audit
    path = answers_path(study)
    if coding is None or not path.exists():
        nothing = FieldedSurvey(read_questionnaire(survey_file(study, settings.survey)), ())
        return replace(audit, cells=(*audit.cells, *survey_cells(printed, nothing)))
    with AnswerFile(path) as answers:
        asked_for = read_fielded_survey(Surveys(coding, answers), settings.survey)
    cells, notes = survey_cells(printed, asked_for), tuple(survey_notes(printed, asked_for))
    return replace(audit, cells=(*audit.cells, *cells), notes=notes if not audit.cells else (*audit.notes, *notes))


def read_fielded_survey(surveys: Surveys, name: str) -> FieldedSurvey:
    """Returns what a survey's figures are counted from, with the rows of its file if it still exists."""
    questionnaire = surveys.questionnaire(name)
    responses = counted_responses(surveys, name)
    synthetic = sum(response.synthetic for response in surveys.answers.responses(name))
    path = _file_behind(surveys, name)
    if path is None:
        return FieldedSurvey(questionnaire, responses, synthetic=synthetic)
    mapping = read_mapping(mapping_file(surveys.study, name), questionnaire)
    rows, header = read_rows(path, mapping, questionnaire)
    if sum(row.consented for row in rows) != len(responses):  # there are other responses, or the lead excluded some
        return FieldedSurvey(questionnaire, responses, synthetic=synthetic)
    return FieldedSurvey(questionnaire, responses, path.name, rows, header, synthetic)


def mapping_file(study: Study, survey: str) -> Path:
    return survey_file(study, survey).with_name(f"{survey}.mapping.toml")


def _file_behind(surveys: Surveys, name: str) -> Path | None:
    """Returns the imported file, if it is unchanged and the only one."""
    with surveys.coding.locked_state() as state:
        acts = [act for act in state.unhandled_acts if act.kind == "survey.import" and act.payload["survey"] == name]
    digests = {act.payload["sha256"]: act.payload["file"] for act in acts}
    if len(digests) != 1:
        return None
    ((sha256, file),) = digests.items()
    path = surveys.study.root / ANSWERS_FOLDER / Path(file).name
    return path if path.is_file() and hash_file(path) == sha256 else None


def read_rows(path: Path, mapping: ColumnMapping, questionnaire: Questionnaire) -> tuple[list[FileRow], list[str]]:
    """Returns all rows below the header, and the questions that have their text in it."""
    consent = [question.id for question in questionnaire.questions() if kind_of(question).asks_consent]
    with closing(plain_rows(path)) as rows:
        export = split_header(rows, str(path), mapping.settings.header_rows)
        reader = RowReader(mapping, export.columns)
        file_rows = []
        for row in export.rows:
            if any(cell.strip() for cell in row.cells) and not export.repeats_header(row):
                outcome = reader.read(row.number, row.cells, lambda cell: isinstance(cell, UnreadableCell))
                if not _ended_early(outcome, questionnaire):
                    file_rows.append(_row(row.number, outcome, consent, mapping))
    wordings = export.header[1].cells if len(export.header) > 1 else ()
    columns_with_text = (column for column, words in zip(export.columns, wordings, strict=False) if words.strip())
    return file_rows, sorted(
        {mapping.parts[column].question.id for column in columns_with_text if column in mapping.parts}
    )


def _ended_early(row_answers: RowAnswers, questionnaire: Questionnaire) -> bool:
    """Tells whether a respondent's questionnaire ended early: screened out, or no consent."""
    return any(
        option.ends and option.code in row_answers.answers.get(question.id, {}).get("choices", ())
        for question in questionnaire.questions()
        for option in question.options
    )


def _row(number: int, row_answers: RowAnswers, consent: list[str], mapping: ColumnMapping) -> FileRow:
    answers: Mapping[str, Mapping[str, object]] = row_answers.answers
    agreed = all(answers.get(name, {}).get("choices") == [AGREE] for name in consent)
    marked = frozenset(marker.question for marker in row_answers.markers if marker.question not in answers)
    return FileRow(number, row_answers.answers, agreed or mapping.settings.consented, marked)
