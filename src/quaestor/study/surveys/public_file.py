"""The public file of answers behind a replication: found by its columns, and read row by row, counted or not."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from quaestor.base.errors import InputError, QuaestorError
from quaestor.instruments.mapping import ColumnMapping
from quaestor.instruments.records import AGREE, Kind, Questionnaire
from quaestor.instruments.row_answers import RowReader, RowSaid
from quaestor.sources.survey_exports import Failed, shaped
from quaestor.study.surveys.answer_rows import plain_rows
from quaestor.study.surveys.printed_audit import FileRow

_KINDS = (".xlsx", ".csv", ".tsv")


def find_export(data: Path, mapping: ColumnMapping) -> Path:
    """The file of answers that was given, or the only one of a folder that has the mapped columns."""
    if data.is_file():
        _require_columns(data, mapping)
        return data
    if not data.is_dir():
        raise InputError(f"there is no folder {data}: give the one with the public file of answers")
    tables = sorted(path for path in data.iterdir() if path.suffix.lower() in _KINDS and path.is_file())
    if not tables:
        raise InputError(
            f"{data} holds no table ({', '.join(_KINDS)}): give the folder with the public file of answers"
        )
    fitting = [path for path in tables if not _lacking(path, mapping)]
    if not fitting:
        nearest = min(tables, key=lambda path: len(_lacking(path, mapping)))
        lacking = _columns_in_words(_lacking(nearest, mapping))
        raise InputError(
            f"no table in {data} has the columns of the survey; {nearest.name} comes nearest and lacks {lacking}: "
            "give the file of answers as it was published"
        )
    if len(fitting) > 1:
        names = ", ".join(path.name for path in fitting)
        raise InputError(f"{data} holds {len(fitting)} files of answers ({names}): name the one to take with --data")
    return fitting[0]


def _require_columns(path: Path, mapping: ColumnMapping) -> None:
    _columns(path)  # refuses what is no table, in its own words
    lacking = _lacking(path, mapping)
    if lacking:
        raise InputError(
            f"{path} lacks {_columns_in_words(lacking)} of the survey: give the file of answers as it was published"
        )


def _columns_in_words(lacking: list[str]) -> str:
    more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
    return f"the column{'' if len(lacking) == 1 else 's'} {', '.join(lacking[:3])}{more}"


def _lacking(path: Path, mapping: ColumnMapping) -> list[str]:
    """The mapped columns that a table does not have; all of them where it cannot be read."""
    try:
        there = _columns(path)
    except QuaestorError:
        there = ()
    return [column for column in mapping.parts if column not in there]


def _columns(path: Path) -> tuple[str, ...]:
    with closing(plain_rows(path)) as rows:
        first = next(rows, None)
    return tuple(cell.strip() for cell in first.cells) if first is not None else ()


def rows_of(path: Path, mapping: ColumnMapping, asked: Questionnaire) -> tuple[list[FileRow], list[str]]:
    """All rows below the header, and the questions that have a wording in it."""
    consent = [one.id for one in asked.questions() if one.kind is Kind.CONSENT]
    with closing(plain_rows(path)) as rows:
        export = shaped(rows, str(path), mapping.settings.header_rows)
        reader = RowReader(mapping, export.columns)
        found = []
        for row in export.rows:
            if any(cell.strip() for cell in row.cells) and not export.repeats_header(row):
                said = reader.read(row.number, row.cells, lambda cell: isinstance(cell, Failed))
                if not _ended(said, asked):
                    found.append(_row(row.number, said, consent, mapping))
    wordings = export.header[1].cells if len(export.header) > 1 else ()
    worded = (column for column, words in zip(export.columns, wordings, strict=False) if words.strip())
    return found, sorted({mapping.parts[column].question.id for column in worded if column in mapping.parts})


def _ended(said: RowSaid, asked: Questionnaire) -> bool:
    """Whether somebody was asked no further: screened out, or not willing."""
    return any(
        option.ends and option.code in said.answers.get(question.id, {}).get("choices", ())
        for question in asked.questions()
        for option in question.options
    )


def _row(number: int, said: RowSaid, consent: list[str], mapping: ColumnMapping) -> FileRow:
    answers: Mapping[str, Mapping[str, object]] = said.answers
    agreed = all(answers.get(name, {}).get("choices") == [AGREE] for name in consent)
    marked = frozenset(one.question for one in said.markers if one.question not in answers)
    return FileRow(number, said.answers, agreed or mapping.settings.consented, marked)
