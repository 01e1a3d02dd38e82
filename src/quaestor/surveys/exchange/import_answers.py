"""Imports the answers of a file into a survey by a mapping, and reports what could not be read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.coding.session import require_lead
from quaestor.store.records import NewAct
from quaestor.surveys.exchange.file_rows import hash_answers_file, own_export, plain_rows
from quaestor.surveys.lifecycle import Surveys, review_response, survey_file
from quaestor.surveys.model.answer_cells import RowAnswers
from quaestor.surveys.model.column_mapping import LISTED, ColumnMapping, is_own_tidy, is_own_wide, read_mapping
from quaestor.surveys.model.flow import order_pages
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import AGREE, Answer, CellRemark, Questionnaire, Response, ResponseStatus
from quaestor.surveys.model.row_reader import RowReader, with_gaps
from quaestor.surveys.model.service_exports import Export, PlainRow, UnreadableCell, is_display_order, split_header
from quaestor.surveys.store.responses import new_code

_FINISHED = ("1", "true", "yes", "finished", "complete", "completed")
_ID, _DAY = re.compile(r"[0-9a-f]{16}"), re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SEED = re.compile(r"[0-9]{1,10}")
_LONGEST_TIME = 10**9
_LONGEST_VERSION = 20
ResponseWithPages = tuple[Response, list[tuple[str, dict[str, Answer], str]]]
"""A response with its pages, as stored in the answers file."""


@dataclass
class FileContents:
    """Everything collected while a file is read; rows by their numbers."""

    responses: list[ResponseWithPages] = field(default_factory=list)
    rows: int = 0
    no_consent: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)
    unread: list[CellRemark] = field(default_factory=list)
    odd: list[CellRemark] = field(default_factory=list)
    markers: list[CellRemark] = field(default_factory=list)
    repeated: list[int] = field(default_factory=list)
    """Rows of a response that already occurred in the file."""
    dropped: set[str] = field(default_factory=set)
    """Responses that the lead excluded in the study that wrote the file."""
    strange: set[str] = field(default_factory=set)
    """Versions named in the file that the survey does not have."""


class VersionReader:
    """Reads rows of responses to one version of a questionnaire."""

    def __init__(self, version: int, questionnaire: Questionnaire, mapping: ColumnMapping, export: Export) -> None:
        self.version, self.questionnaire, self.mapping = version, questionnaire, mapping
        self.rows = RowReader(mapping, export.columns)
        self.consent = [question.id for question in questionnaire.questions() if kind_of(question).asks_consent]

    def has_consent(self, read: RowAnswers) -> bool:
        if self.mapping.settings.consented:
            return not any(read.answers.get(name, {}).get("choices", [AGREE]) != [AGREE] for name in self.consent)
        return all(read.answers.get(name, {}).get("choices") == [AGREE] for name in self.consent)


class FileReader:
    """Reads the rows of one file, each by the version of its response."""

    def __init__(self, readers: Sequence[VersionReader], export: Export, file: str, day: str, sha256: str) -> None:
        self._readers, self._newest = {str(reader.version): reader for reader in readers}, readers[-1]
        self._mapping, self._export = readers[-1].mapping, export
        self._file, self._day, self._sha256 = file, day, sha256
        self._others = {what: export.columns.index(column) for what, column in self._mapping.others().items()}
        self._seen: set[str] = set()
        self._contents = FileContents()

    def read(self) -> FileContents:
        for row in self._export.rows:
            self._contents.rows += 1
            self._read_row(row)
        return self._contents

    def _read_row(self, row: PlainRow) -> None:
        contents = self._contents
        if not any(cell.strip() for cell in row.cells):
            contents.empty.append(row.number)
            return
        if self._export.repeats_header(row):
            contents.headers.append(row.number)
            return
        reader = self._reader(row)
        read = reader.rows.read(row.number, row.cells, lambda cell: isinstance(cell, UnreadableCell))
        contents.markers += read.markers
        if not read.answers and not read.unread:
            contents.empty.append(row.number)
        elif not reader.has_consent(read):
            contents.no_consent.append(row.number)
            contents.unread += [remark for remark in read.unread if remark.question in reader.consent]
        else:
            self._add(row, self._response(row, read, reader), read)

    def _add(self, row: PlainRow, response: ResponseWithPages, read: RowAnswers) -> None:
        contents, name = self._contents, response[0].id
        if name in self._seen:
            contents.repeated.append(row.number)
            return
        self._seen.add(name)
        contents.responses.append(response)
        contents.unread += read.unread
        contents.odd += read.odd
        if self._cell(row, "kept") == "0":
            contents.dropped.add(name)

    def _reader(self, row: PlainRow) -> VersionReader:
        """Returns the reader of the version named in the row, else of the newest."""
        version = self._cell(row, "version")
        if version and version not in self._readers:
            self._contents.strange.add(version[:_LONGEST_VERSION])
        return self._readers.get(version, self._newest)

    def _response(self, row: PlainRow, read: RowAnswers, reader: VersionReader) -> ResponseWithPages:
        language, day, seed_cell = (self._cell(row, what) for what in ("language", "day", "seed"))
        seed = int(seed_cell) if _SEED.fullmatch(seed_cell) else 0
        questionnaire, standing = order_pages(reader.questionnaire, seed), self._standing(row, read, reader)
        answers, sent = with_gaps(questionnaire, read, reader.rows.questions, standing, row.number)
        known = self._cell(row, "response") if _ID.fullmatch(self._cell(row, "response")) else ""
        response = Response(
            id=known or derive_id(questionnaire.id, self._sha256, str(row.number)),
            survey=questionnaire.id,
            version=reader.version,
            standing=standing,
            answers=answers,
            language=language if language in questionnaire.languages else questionnaire.language,
            seed=seed,
            stratum=self._stratum(row, read, reader),
            seconds=self._seconds(row, read),
            sent=sent,
            day=day if _DAY.fullmatch(day) else self._day,
            source=self._file,
            synthetic=self._cell(row, "synthetic") == "1",
        )
        return response, list(_pages(questionnaire, response))

    def _cell(self, row: PlainRow, what: str) -> str:
        return row.cells[self._others[what]].strip() if what in self._others else ""

    def _standing(self, row: PlainRow, read: RowAnswers, reader: VersionReader) -> ResponseStatus:
        if self._cell(row, "standing") in list(ResponseStatus):
            return ResponseStatus(self._cell(row, "standing"))
        for question in reader.questionnaire.questions():
            end = kind_of(question).end(question, read.answers.get(question.id, {}))
            if end is not None:
                return end
        if "finished" in self._others and self._cell(row, "finished").casefold() not in _FINISHED:
            return ResponseStatus.OPEN
        return ResponseStatus.FINISHED

    def _stratum(self, row: PlainRow, read: RowAnswers, reader: VersionReader) -> str:
        cell = self._cell(row, "stratum")
        stratum = self._mapping.settings.strata.get(cell, cell)
        if stratum and stratum not in reader.questionnaire.strata:
            column = self._export.columns[self._others["stratum"]]
            read.unread.append(CellRemark(row.number, column, "", stratum[:80], "is not a stratum"))
            return ""
        return stratum

    def _seconds(self, row: PlainRow, read: RowAnswers) -> float:
        cell, column = self._cell(row, "seconds"), self._mapping.settings.seconds
        try:
            seconds = float(cell or 0)
        except ValueError:
            seconds = -1.0
        if 0 <= seconds < _LONGEST_TIME:
            return seconds
        read.unread.append(CellRemark(row.number, column, "", cell[:40], "is not a number of seconds"))
        return 0.0


def derive_id(*parts: str) -> str:
    """Returns a stable id for a row of a file; ids do not reveal the order."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _pages(questionnaire: Questionnaire, response: Response) -> Iterator[tuple[str, dict[str, Answer], str]]:
    for page in questionnaire.pages:
        names = [question.id for question in page.questions if question.id in response.answers]
        if names or page.id in response.sent:
            yield page.id, {name: response.answers[name] for name in names}, f"import/{response.id}/{page.id}"


@dataclass(frozen=True)
class AnswerImport:
    """Result of an import, with everything in the file that did not become an answer; rows by their numbers."""

    file: str
    sha256: str
    version: int
    rows: int
    """Rows below the header."""
    responses: int = 0
    """Responses added by this import."""
    known: int = 0
    withdrawn: int = 0
    """Left out, because their respondents have withdrawn them here."""
    no_consent: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    headers: tuple[int, ...] = ()
    """Rows that repeat the header."""
    unread: tuple[CellRemark, ...] = ()
    odd: tuple[CellRemark, ...] = ()
    """Stored unchanged, although the questionnaire would not have allowed them."""
    markers: tuple[CellRemark, ...] = ()
    """Cells without a readable answer, or with additional text; also in rows left out."""
    unmapped_columns: tuple[str, ...] = ()
    display_columns: tuple[str, ...] = ()
    """Columns with the display order of options."""
    unasked: tuple[str, ...] = ()
    """Questions without a column in the file."""
    repeated: tuple[int, ...] = ()
    """Rows of a response that already occurred in the file."""
    dropped: int = 0
    """New responses that the lead excluded in the study that wrote the file; they are excluded here too."""
    strange_versions: tuple[str, ...] = ()
    """Versions named in the file that the survey does not have; their responses are read as the newest version."""


def import_answers(
    surveys: Surveys, name: str, path: Path, mapping_path: Path | None, actor: str | None = None, keep: bool = True
) -> AnswerImport:
    """Imports a file of answers completely or not at all; importing a file twice adds its responses once.

    Without a mapping the file must be an export of Quaestor. With `keep` off nothing is stored.
    """
    lead = require_lead(surveys.coding, actor, "import answers")
    sha256 = hash_answers_file(path)
    versions = _versions(surveys, name)
    newest, questionnaire = max(versions), versions[max(versions)]
    mapping = None if mapping_path is None else read_mapping(mapping_path, questionnaire)
    with closing(plain_rows(path, mapping.settings.encoding if mapping else "")) as rows:
        if mapping is None:
            own = own_export(rows, versions, path, surveys.fielding(name).merges)
            export, mappings, unknown = own.export, own.mappings, own.unknown
        else:
            export, mappings, unknown = (
                split_header(rows, str(path), mapping.settings.header_rows),
                {newest: mapping},
                set(),
            )
        readers = [VersionReader(number, versions[number], mappings[number], export) for number in sorted(mappings)]
        for reader in readers:
            _check_columns(export, reader.mapping, path)
        _check_consent(questionnaire, mappings[newest], path)
        contents = FileReader(readers, export, path.name, surveys.today(), sha256).read()
    responses = [pair for pair in contents.responses if not surveys.answers.is_erased(pair[0].id)]
    new = _new(surveys, responses)
    dropped = [response.id for name_there, (response, _) in new.items() if name_there in contents.dropped]
    done = AnswerImport(
        file=path.name,
        sha256=sha256,
        version=newest,
        rows=contents.rows,
        responses=len(new),
        known=len(responses) - len(new),
        withdrawn=len(contents.responses) - len(responses),
        no_consent=tuple(contents.no_consent),
        empty=tuple(contents.empty),
        headers=tuple(contents.headers),
        unread=tuple(contents.unread),
        odd=tuple(contents.odd),
        markers=tuple(contents.markers),
        unmapped_columns=(*_unmapped(export, readers), *sorted(unknown)),
        display_columns=tuple(
            column for column in export.columns if is_display_order(column) and column not in mappings[newest].parts
        ),
        unasked=tuple(
            question.id for question in questionnaire.questions() if question.id not in readers[-1].rows.questions
        ),
        repeated=tuple(contents.repeated),
        dropped=len(dropped),
        strange_versions=tuple(sorted(contents.strange)),
    )
    if keep:
        _keep_version(surveys, name)
        # The codes are discarded: people who answered elsewhere cannot withdraw here, and nobody can in their place.
        surveys.answers.add([(new_code(), response, pages) for response, pages in new.values()])
        surveys.coding.act(lambda state: NewAct("survey.import", lead, _payload(name, mappings[newest], done)))
        for response in dropped:
            review_response(
                surveys, name, response, keep=False, why=f"excluded before export to {path.name}", actor=actor
            )
    return done


def _versions(surveys: Surveys, name: str) -> dict[int, Questionnaire]:
    """Returns every version that answers can refer to; for a survey never opened, the current file."""
    return surveys.versions(name) or {1: surveys.questionnaire(name)}


def mapping_file(surveys: Surveys, name: str, path: Path) -> Path | None:
    """Returns the mapping file of a survey; an export of Quaestor needs none."""
    hash_answers_file(path)
    with closing(plain_rows(path)) as rows:
        first = next(rows, PlainRow(1, ()))
    columns = tuple(cell.strip() for cell in first.cells)
    if is_own_wide(columns) or is_own_tidy(columns):
        return None
    mapping = survey_file(surveys.study, name).with_suffix(".mapping.toml")
    if not mapping.is_file():
        raise InputError(f"{path} needs a mapping of columns to questions: name one with --mapping, or write {mapping}")
    return mapping


def _new(surveys: Surveys, responses: list[ResponseWithPages]) -> dict[str, ResponseWithPages]:
    """Returns the responses that are not stored yet, by their ids in the file."""
    new = {}
    for response, pages in responses:
        there = surveys.answers.response(response.id)
        own = response
        if there is not None and there.survey != response.survey:
            own = replace(response, id=derive_id(response.survey, response.id))
            there = surveys.answers.response(own.id)
        if there is None:
            new[response.id] = (own, pages)
    return new


def _keep_version(surveys: Surveys, name: str) -> None:
    """Stores the first version of a survey that was never opened, without opening it."""
    if surveys.answers.version(name) is None:
        text = survey_file(surveys.study, name).read_text("utf-8-sig")
        surveys.answers.add_version(name, text, surveys.today())


def _check_columns(export: Export, mapping: ColumnMapping, path: Path) -> None:
    for column in (*mapping.parts, *mapping.others().values()):
        if column not in export.columns:
            options = join_with_or(sort_by_similarity(column, filter(None, export.columns))[:LISTED])
            raise InputError(f"{path} has no column {column!r}, which {mapping.name} maps; its columns: {options}")
        if export.columns.count(column) > 1:
            raise InputError(f"{path} has the column {column!r} twice: rename one of them")


def _check_consent(questionnaire: Questionnaire, mapping: ColumnMapping, path: Path) -> None:
    mapped = {part.question.id for part in mapping.parts.values()}
    for question in questionnaire.questions():
        if kind_of(question).asks_consent and question.id not in mapped and not mapping.settings.consented:
            raise InputError(
                f"{mapping.name} maps no column to {question.id!r}, so consent in {path.name} is unknown: "
                f"map one, or write consented = true if everybody consented"
            )


def _unmapped(export: Export, readers: Sequence[VersionReader]) -> tuple[str, ...]:
    used = {column for reader in readers for column in (*reader.mapping.parts, *reader.mapping.others().values())}
    return tuple(column for column in export.columns if column and column not in used and not is_display_order(column))


def _payload(name: str, mapping: ColumnMapping, done: AnswerImport) -> dict[str, Any]:
    counted = {
        what: len(getattr(done, what))
        for what in ("no_consent", "empty", "headers", "repeated", "unread", "odd", "markers")
    }
    return {
        "survey": name,
        "file": done.file,
        "sha256": done.sha256,
        "mapping": mapping.name,
        "version": done.version,
        "rows": done.rows,
        "responses": done.responses,
        "known": done.known,
        "withdrawn": done.withdrawn,
        **counted,
    }
