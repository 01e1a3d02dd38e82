"""Builds a bundled survey study from its public file of answers: finds the file, imports it, audits it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from quaestor import __version__
from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.files import build_folder
from quaestor.publication.audit.printed import Printed, printed_folder, read_printed
from quaestor.publication.audit.records import Audit
from quaestor.publication.audit.run import audit_json
from quaestor.publication.report.parts import LastBuild, ReportParts
from quaestor.publication.report.write import MARK, Report, write_audit_page, write_report
from quaestor.publication.survey_answers import ANSWERS_FOLDER, mapping_file, read_fielded_survey
from quaestor.publication.survey_audit import figure_tables, list_figures
from quaestor.render.report_parts import Fact, Section
from quaestor.render.table_model import Table
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study, template_folder
from quaestor.surveys.exchange.file_rows import plain_rows
from quaestor.surveys.exchange.import_answers import AnswerImport, import_answers
from quaestor.surveys.lifecycle import Surveys, open_surveys, survey_file
from quaestor.surveys.model.column_mapping import ColumnMapping, read_mapping
from quaestor.surveys.model.questionnaire_file import read_questionnaire

_KINDS = (".xlsx", ".csv", ".tsv")


def find_export(data: Path, mapping: ColumnMapping) -> Path:
    """Returns the given file, or the only file of a folder that has the mapped columns."""
    if data.is_file():
        _require_columns(data, mapping)
        return data
    if not data.is_dir():
        raise InputError(f"{data} does not exist: name the folder with the public file of answers")
    tables = sorted(path for path in data.iterdir() if path.suffix.lower() in _KINDS and path.is_file())
    if not tables:
        raise InputError(
            f"{data} contains no table ({', '.join(_KINDS)}): name the folder with the public file of answers"
        )
    fitting = [path for path in tables if not _list_missing(path, mapping)]
    if not fitting:
        nearest = min(tables, key=lambda path: len(_list_missing(path, mapping)))
        lacking = _columns_in_words(_list_missing(nearest, mapping))
        raise InputError(
            f"no table in {data} has the columns of the survey; {nearest.name} comes closest but lacks {lacking}: "
            "use the file of answers as published"
        )
    if len(fitting) > 1:
        names = ", ".join(path.name for path in fitting)
        raise InputError(f"{data} contains {len(fitting)} files of answers ({names}): choose one with --data")
    return fitting[0]


def _require_columns(path: Path, mapping: ColumnMapping) -> None:
    _columns(path)  # raises its own error if the file is not a table
    lacking = _list_missing(path, mapping)
    if lacking:
        raise InputError(
            f"{path} lacks {_columns_in_words(lacking)} of the survey: use the file of answers as published"
        )


def _columns_in_words(lacking: list[str]) -> str:
    more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
    return f"the column{'' if len(lacking) == 1 else 's'} {', '.join(lacking[:3])}{more}"


def _list_missing(path: Path, mapping: ColumnMapping) -> list[str]:
    """Lists the mapped columns that a table lacks; all of them if it cannot be read."""
    try:
        there = _columns(path)
    except QuaestorError:
        there = ()
    return [column for column in mapping.parts if column not in there]


def _columns(path: Path) -> tuple[str, ...]:
    with closing(plain_rows(path)) as rows:
        first = next(rows, None)
    return tuple(cell.strip() for cell in first.cells) if first is not None else ()


Notify = Callable[[str], None]


@dataclass(frozen=True)
class SurveyReplication:
    """A study built from a file of answers, and its figures."""

    study: Study
    survey: str
    imported: AnswerImport
    tables: tuple[Table, ...]


def is_survey(name: str) -> bool:
    """Tells whether the printed figures of a bundled study come from a survey."""
    folder = template_folder(name)
    return _survey_of(folder) is not None


def replicate_survey(name: str, data: Path, folder: Path, notify: Notify) -> SurveyReplication:
    """Builds a study folder from a bundled study and the folder or file of its public answers."""
    template = template_folder(name)
    survey = _survey_of(template)
    if survey is None:
        raise InputError(f"the bundled study {name!r} does not define how figures are counted from answers")
    export = find_export(data, _mapping_of(template, survey))
    new_study(folder, name)
    copy = folder / ANSWERS_FOLDER / export.name
    copy.parent.mkdir()
    shutil.copyfile(export, copy)
    study = open_study(folder)
    notify(f"a new study from the bundled {name}, with {export.name} as its answers")
    with open_surveys(study) as surveys:
        imported = _import_answers(surveys, survey, copy, export)
        if not imported.responses:
            raise InputError(
                f"no row of {export} is a response ({_left_out(imported)}): use the file of answers as published"
            )
        notify(f"{imported.responses:,} of {imported.rows:,} rows are responses; {_left_out(imported)}")
        tables = build_tables(surveys, _printed(study))
    return SurveyReplication(study, survey, imported, tables)


def _import_answers(surveys: Surveys, survey: str, copy: Path, value: Path) -> AnswerImport:
    """Imports the copy in the study folder; errors name the user's original file."""
    try:
        return import_answers(surveys, survey, copy, mapping_file(surveys.study, survey))
    except InputError as error:
        raise InputError(str(error).replace(str(copy), str(value))) from None


def build_tables(surveys: Surveys, printed: Printed) -> tuple[Table, ...]:
    """Computes the printed tables that count answers."""
    if printed.settings.answers is None:
        return ()
    questionnaire = read_fielded_survey(surveys, printed.settings.answers.survey)
    return figure_tables(printed, list_figures(printed, questionnaire.questionnaire), questionnaire)


def _survey_of(folder: Path) -> str | None:
    """Returns the survey behind a study's printed figures."""
    printed = read_printed(open_study(folder))
    return printed.settings.answers.survey if printed is not None and printed.settings.answers is not None else None


def _mapping_of(folder: Path, survey: str) -> ColumnMapping:
    study = open_study(folder)
    return read_mapping(mapping_file(study, survey), read_questionnaire(survey_file(study, survey)))


def _printed(study: Study) -> Printed:
    printed = read_printed(study)
    if printed is None:
        raise StateError(f"{printed_folder(study)} has no printed figures: add printed/printed.toml")
    return printed


def _left_out(imported: AnswerImport) -> str:
    """Describes rows that are not responses and cells that are not answers."""
    counts = {
        "without consent": len(imported.no_consent),
        "empty": len(imported.empty),
        "repeated headers": len(imported.headers),
    }
    rows = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    cells = {"markers instead of answers": len(imported.markers), "cells that could not be read": len(imported.unread)}
    more = ", ".join(f"{count:,} {what}" for what, count in cells.items() if count)
    return "; ".join(filter(None, (rows and f"rows left out: {rows}", more))) or "nothing is left out"


def write_survey_report(replicated: SurveyReplication, audit: Audit) -> Path:
    """Writes tables and audit to published/report, replacing an earlier report, and returns the folder."""
    study = replicated.study
    report = _report(replicated, replicated.tables, audit)
    with (
        ReportParts(LastBuild(study.published / "report")) as parts,
        build_folder(study.published / "report", kind="report", marker=MARK) as folder,
    ):
        write_report(report, folder, parts, lambda words: None)
        text = json.dumps(audit_json(audit), indent=2, ensure_ascii=False)
        (folder / "audit.json").write_bytes(f"{text}\n".encode())
        write_audit_page(audit, folder, title=report.title, generated_by=report.generated_by, linked=False)
    return study.published / "report"


def _report(replicated: SurveyReplication, tables: Sequence[Table], audit: Audit) -> Report:
    about = replicated.study.settings.study
    words = (
        "The questions and how many respondents gave each answer. Not everybody answered every question: each share "
        "is of those who answered, and their number is shown next to it, as is the printed figure."
    )
    return Report(
        title=about.title or about.name,
        description=about.description,
        notices=audit.notes,
        facts=(Fact(f"{replicated.imported.responses:,}", "responses"),),
        findings=(),
        sections=(Section("The survey", words, tables=tuple(tables)),),
        threats=(),
        missing={},
        columns=None,
        generated_by=f"Made by quaestor {__version__} from {replicated.imported.responses:,} responses",
        has_audit=True,
    )
