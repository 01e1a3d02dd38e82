"""A bundled survey from its public file of answers: found in a folder, imported through the front door, audited."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from quaestor.base.errors import InputError, StateError
from quaestor.base.hashing import sha256_of
from quaestor.instruments.answer_file import AnswerFile
from quaestor.instruments.mapping import ColumnMapping, read_mapping
from quaestor.instruments.questionnaire_file import read_questionnaire
from quaestor.publish.audit.records import Audit
from quaestor.publish.records import Table
from quaestor.study.coding import Coding
from quaestor.study.folder import Study, open_study
from quaestor.study.results.printed import Printed, printed_folder, read_printed
from quaestor.study.surveys.fielding import Surveys, answers_path, open_surveys, survey_file
from quaestor.study.surveys.importing import Imported, import_answers
from quaestor.study.surveys.printed_audit import Asked, survey_cells, survey_notes
from quaestor.study.surveys.printed_figures import counted_responses, figures_of
from quaestor.study.surveys.printed_tables import figure_tables
from quaestor.study.surveys.public_file import find_export, rows_of
from quaestor.study.templates import new_study, template_folder

ANSWERS_FOLDER = "answers"
"""Where the study keeps the files that answers were imported from."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Replicated:
    """A study made from a file of answers, and its figures."""

    study: Study
    survey: str
    imported: Imported
    tables: tuple[Table, ...]


def is_survey(name: str) -> bool:
    """Whether the printed figures of a bundled study come from the answers to a survey."""
    folder = template_folder(name)
    return _survey_of(folder) is not None


def replicate_survey(name: str, data: Path, folder: Path, tell: Tell) -> Replicated:
    """A study folder from a bundled study and the folder, or file, with its public answers."""
    template = template_folder(name)
    survey = _survey_of(template)
    if survey is None:
        raise InputError(f"the bundled study {name!r} does not say how figures are counted from answers")
    found = find_export(data, _mapping_of(template, survey))
    new_study(folder, name)
    copy = folder / ANSWERS_FOLDER / found.name
    copy.parent.mkdir()
    shutil.copyfile(found, copy)
    study = open_study(folder)
    tell(f"a new study from the bundled {name}, with {found.name} as its answers")
    with open_surveys(study) as surveys:
        imported = _imported(surveys, survey, copy, found)
        if not imported.responses:
            raise InputError(
                f"no row of {found} is a response ({_left_out(imported)}): give the file of answers as it was published"
            )
        tell(f"{imported.responses:,} of {imported.rows:,} rows are responses; {_left_out(imported)}")
        tables = tables_of(surveys, _printed(study))
    return Replicated(study, survey, imported, tables)


def _imported(surveys: Surveys, survey: str, copy: Path, given: Path) -> Imported:
    """The study reads a copy of the file; whoever gave it is told of the file they gave."""
    try:
        return import_answers(surveys, survey, copy, mapping_file(surveys.study, survey))
    except InputError as error:
        raise InputError(str(error).replace(str(copy), str(given))) from None


def tables_of(surveys: Surveys, printed: Printed) -> tuple[Table, ...]:
    """The printed tables that count answers, computed anew."""
    if printed.settings.answers is None:
        return ()
    asked = asked_of(surveys, printed.settings.answers.survey)
    return figure_tables(printed, figures_of(printed, asked.questionnaire), asked)


def with_survey(found: Audit, coding: Coding | None, study: Study, printed: Printed) -> Audit:
    """An audit with the figures of a survey that the study prints; where it prints none, as it was."""
    asked = printed.settings.answers
    if asked is None:
        return found
    path = answers_path(study)
    if coding is None or not path.exists():
        nothing = Asked(read_questionnaire(survey_file(study, asked.survey)), ())
        return replace(found, cells=(*found.cells, *survey_cells(printed, nothing)))
    with AnswerFile(path) as answers:
        asked_for = asked_of(Surveys(coding, answers), asked.survey)
    cells, notes = survey_cells(printed, asked_for), tuple(survey_notes(printed, asked_for))
    return replace(found, cells=(*found.cells, *cells), notes=notes if not found.cells else (*found.notes, *notes))


def asked_of(surveys: Surveys, name: str) -> Asked:
    """What the figures of a survey are counted from, with the rows of its file where that is at hand."""
    questionnaire = surveys.questionnaire(name)
    responses = counted_responses(surveys, name)
    synthetic = sum(one.synthetic for one in surveys.answers.responses(name))
    path = _file_behind(surveys, name)
    if path is None:
        return Asked(questionnaire, responses, synthetic=synthetic)
    mapping = read_mapping(mapping_file(surveys.study, name), questionnaire)
    rows, header = rows_of(path, mapping, questionnaire)
    if sum(row.consented for row in rows) != len(responses):  # others answered too, or the lead left somebody out
        return Asked(questionnaire, responses, synthetic=synthetic)
    return Asked(questionnaire, responses, path.name, rows, header, synthetic)


def mapping_file(study: Study, survey: str) -> Path:
    return survey_file(study, survey).with_name(f"{survey}.mapping.toml")


def _survey_of(folder: Path) -> str | None:
    """The survey whose answers a study's printed figures come from."""
    printed = read_printed(open_study(folder))
    return printed.settings.answers.survey if printed is not None and printed.settings.answers is not None else None


def _mapping_of(folder: Path, survey: str) -> ColumnMapping:
    study = open_study(folder)
    return read_mapping(mapping_file(study, survey), read_questionnaire(survey_file(study, survey)))


def _printed(study: Study) -> Printed:
    found = read_printed(study)
    if found is None:
        raise StateError(f"{printed_folder(study)} has no printed figures to compare with")
    return found


def _file_behind(surveys: Surveys, name: str) -> Path | None:
    """The file that the answers were imported from, if it still is what it was and the only one."""
    with surveys.coding.looking() as state:
        acts = [act for act in state.others if act.kind == "survey.import" and act.payload["survey"] == name]
    digests = {act.payload["sha256"]: act.payload["file"] for act in acts}
    if len(digests) != 1:
        return None
    ((sha256, file),) = digests.items()
    path = surveys.study.root / ANSWERS_FOLDER / Path(file).name
    return path if path.is_file() and sha256_of(path) == sha256 else None


def _left_out(imported: Imported) -> str:
    """What of a file is no response, or no answer."""
    counts = {
        "without consent": len(imported.no_consent),
        "empty": len(imported.empty),
        "a header once more": len(imported.headers),
    }
    rows = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    cells = {"markers that are no answers": len(imported.markers), "cells that could not be read": len(imported.unread)}
    more = ", ".join(f"{count:,} {what}" for what, count in cells.items() if count)
    return "; ".join(filter(None, (rows and f"rows left out: {rows}", more))) or "nothing is left out"
