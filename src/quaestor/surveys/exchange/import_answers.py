"""Answers out of a file of another survey service into a survey, by a mapping; what could not be read is told."""

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
from quaestor.surveys.exchange.file_rows import digest_of, own_export, plain_rows
from quaestor.surveys.lifecycle import Surveys, decide, survey_file
from quaestor.surveys.model.column_mapping import LISTED, ColumnMapping, is_own_tidy, is_own_wide, read_mapping
from quaestor.surveys.model.records import AGREE, Answer, Kind, Place, Questionnaire, Response, Standing
from quaestor.surveys.model.row_reader import RowReader, RowSaid, with_gaps
from quaestor.surveys.model.service_exports import Export, Failed, PlainRow, is_display_order, shaped
from quaestor.surveys.store.responses import new_code

_FINISHED = ("1", "true", "yes", "finished", "complete", "completed")
_ID, _DAY = re.compile(r"[0-9a-f]{16}"), re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SEED = re.compile(r"[0-9]{1,10}")
_LONGEST_TIME = 10**9
_LONGEST_VERSION = 20
Whole = tuple[Response, list[tuple[str, dict[str, Answer], str]]]
"""A response with its pages, as the file of answers takes them."""


@dataclass
class Reading:
    """What is gathered while rows are read."""

    whole: list[Whole] = field(default_factory=list)
    rows: int = 0
    no_consent: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)
    unread: list[Place] = field(default_factory=list)
    odd: list[Place] = field(default_factory=list)
    markers: list[Place] = field(default_factory=list)
    repeated: list[int] = field(default_factory=list)
    """Rows of a response that stands in the file before."""
    dropped: set[str] = field(default_factory=set)
    """Responses that were left out where the file was written."""
    strange: set[str] = field(default_factory=set)
    """Versions that the file names and the survey does not have."""


class Way:
    """How the rows of one version of a questionnaire are read."""

    def __init__(self, version: int, questionnaire: Questionnaire, mapping: ColumnMapping, export: Export) -> None:
        self.version, self.questionnaire, self.mapping = version, questionnaire, mapping
        self.reader = RowReader(mapping, export.columns)
        self.consent = [one.id for one in questionnaire.questions() if one.kind is Kind.CONSENT]

    def consented(self, said: RowSaid) -> bool:
        if self.mapping.settings.consented:
            return not any(said.answers.get(name, {}).get("choices", [AGREE]) != [AGREE] for name in self.consent)
        return all(said.answers.get(name, {}).get("choices") == [AGREE] for name in self.consent)


class RowsTaken:
    """Reads the rows of one file, one after the other, each as the version of its response says."""

    def __init__(self, ways: Sequence[Way], export: Export, file: str, day: str, sha256: str) -> None:
        self._ways, self._newest = {str(one.version): one for one in ways}, ways[-1]
        self._mapping, self._export = ways[-1].mapping, export
        self._file, self._day, self._sha256 = file, day, sha256
        self._others = {what: export.columns.index(column) for what, column in self._mapping.others().items()}
        self._seen: set[str] = set()
        self._read = Reading()

    def read(self) -> Reading:
        for row in self._export.rows:
            self._read.rows += 1
            self._take(row)
        return self._read

    def _take(self, row: PlainRow) -> None:
        read = self._read
        if not any(cell.strip() for cell in row.cells):
            read.empty.append(row.number)
            return
        if self._export.repeats_header(row):
            read.headers.append(row.number)
            return
        way = self._way(row)
        said = way.reader.read(row.number, row.cells, lambda cell: isinstance(cell, Failed))
        read.markers += said.markers
        if not said.answers and not said.unread:
            read.empty.append(row.number)
        elif not way.consented(said):
            read.no_consent.append(row.number)
            read.unread += [one for one in said.unread if one.question in way.consent]
        else:
            self._keep(row, self._whole(row, said, way), said)

    def _keep(self, row: PlainRow, whole: Whole, said: RowSaid) -> None:
        read, name = self._read, whole[0].id
        if name in self._seen:
            read.repeated.append(row.number)
            return
        self._seen.add(name)
        read.whole.append(whole)
        read.unread += said.unread
        read.odd += said.odd
        if self._cell(row, "kept") == "0":
            read.dropped.add(name)

    def _way(self, row: PlainRow) -> Way:
        """As the version that the row names is read; where there is none of that number here, as the newest."""
        version = self._cell(row, "version")
        if version and version not in self._ways:
            self._read.strange.add(version[:_LONGEST_VERSION])
        return self._ways.get(version, self._newest)

    def _whole(self, row: PlainRow, said: RowSaid, way: Way) -> Whole:
        asked, standing = way.questionnaire, self._standing(row, said, way)
        answers, sent = with_gaps(asked, said, way.reader.questions, standing, row.number)
        known = self._cell(row, "response") if _ID.fullmatch(self._cell(row, "response")) else ""
        language, day, seed = (self._cell(row, what) for what in ("language", "day", "seed"))
        response = Response(
            id=known or derived_id(asked.id, self._sha256, str(row.number)),
            survey=asked.id,
            version=way.version,
            standing=standing,
            answers=answers,
            language=language if language in asked.languages else asked.language,
            seed=int(seed) if _SEED.fullmatch(seed) else 0,
            stratum=self._stratum(row, said, way),
            seconds=self._seconds(row, said),
            sent=sent,
            day=day if _DAY.fullmatch(day) else self._day,
            source=self._file,
            synthetic=self._cell(row, "synthetic") == "1",
        )
        return response, list(_pages(asked, response))

    def _cell(self, row: PlainRow, what: str) -> str:
        return row.cells[self._others[what]].strip() if what in self._others else ""

    def _standing(self, row: PlainRow, said: RowSaid, way: Way) -> Standing:
        if self._cell(row, "standing") in list(Standing):
            return Standing(self._cell(row, "standing"))
        for question in way.questionnaire.questions():
            chosen = said.answers.get(question.id, {}).get("choices", ())
            if any(one.ends and one.code in chosen for one in question.options):
                return Standing.SCREENED_OUT
        if "finished" in self._others and self._cell(row, "finished").casefold() not in _FINISHED:
            return Standing.OPEN
        return Standing.FINISHED

    def _stratum(self, row: PlainRow, said: RowSaid, way: Way) -> str:
        cell = self._cell(row, "stratum")
        found = self._mapping.settings.strata.get(cell, cell)
        if found and found not in way.questionnaire.strata:
            column = self._export.columns[self._others["stratum"]]
            said.unread.append(Place(row.number, column, "", found[:80], "is no stratum of the questionnaire"))
            return ""
        return found

    def _seconds(self, row: PlainRow, said: RowSaid) -> float:
        cell = self._cell(row, "seconds")
        try:
            found = float(cell or 0)
        except ValueError:
            found = -1.0
        if 0 <= found < _LONGEST_TIME:
            return found
        said.unread.append(Place(row.number, self._mapping.settings.seconds, "", cell[:40], "is no number of seconds"))
        return 0.0


def derived_id(*parts: str) -> str:
    """An id that the same row of the same file always gets, by which it is known again; its order says nothing."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _pages(questionnaire: Questionnaire, response: Response) -> Iterator[tuple[str, dict[str, Answer], str]]:
    for page in questionnaire.pages:
        said = {one.id: response.answers[one.id] for one in page.questions if one.id in response.answers}
        if said or page.id in response.sent:
            yield page.id, said, f"import/{response.id}/{page.id}"


@dataclass(frozen=True)
class Imported:
    """What an import did, and everything in the file that did not become an answer; rows by their numbers."""

    file: str
    sha256: str
    version: int
    rows: int
    """Below the header."""
    responses: int = 0
    """New with this import."""
    known: int = 0
    withdrawn: int = 0
    """Left out, since whoever gave them has withdrawn them here."""
    no_consent: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    headers: tuple[int, ...] = ()
    """Rows that are the header once more."""
    unread: tuple[Place, ...] = ()
    odd: tuple[Place, ...] = ()
    """Kept as they stand, though the questionnaire would not have taken them."""
    markers: tuple[Place, ...] = ()
    """Cells that hold no answer, or something besides their answers that is none; those of rows left out too."""
    unmapped_columns: tuple[str, ...] = ()
    display_columns: tuple[str, ...] = ()
    """Those that tell the order in which options were shown."""
    unasked: tuple[str, ...] = ()
    """Questions that no column of the file answers."""
    repeated: tuple[int, ...] = ()
    """Rows of a response that stands in the file before."""
    dropped: int = 0
    """New ones that the lead had left out where the file was written: they are left out here too."""
    strange_versions: tuple[str, ...] = ()
    """Those that the file names and the survey does not have; their responses are read as those to the newest."""


def import_answers(
    surveys: Surveys, name: str, path: Path, mapping_path: Path | None, actor: str | None = None, keep: bool = True
) -> Imported:
    """Take in a file of answers, whole or not at all; the same file twice gives its responses once.

    Without a mapping the file is an export of Quaestor's own. With `keep` off it says what would be done and does
    nothing.
    """
    lead = require_lead(surveys.coding, actor, "import answers")
    sha256 = digest_of(path)
    versions = _versions(surveys, name)
    newest, questionnaire = max(versions), versions[max(versions)]
    given = None if mapping_path is None else read_mapping(mapping_path, questionnaire)
    with closing(plain_rows(path, given.settings.encoding if given else "")) as rows:
        if given is None:
            own = own_export(rows, versions, path)
            export, mappings, unknown = own.export, own.mappings, own.unknown
        else:
            export, mappings, unknown = shaped(rows, str(path), given.settings.header_rows), {newest: given}, set()
        ways = [Way(number, versions[number], mappings[number], export) for number in sorted(mappings)]
        for way in ways:
            _check_columns(export, way.mapping, path)
        _check_consent(questionnaire, mappings[newest], path)
        read = RowsTaken(ways, export, path.name, surveys.today(), sha256).read()
    whole = [one for one in read.whole if not surveys.answers.is_erased(one[0].id)]
    new = _new(surveys, whole)
    dropped = [one.id for name_there, (one, _) in new.items() if name_there in read.dropped]
    done = Imported(
        file=path.name,
        sha256=sha256,
        version=newest,
        rows=read.rows,
        responses=len(new),
        known=len(whole) - len(new),
        withdrawn=len(read.whole) - len(whole),
        no_consent=tuple(read.no_consent),
        empty=tuple(read.empty),
        headers=tuple(read.headers),
        unread=tuple(read.unread),
        odd=tuple(read.odd),
        markers=tuple(read.markers),
        unmapped_columns=(*_unmapped(export, ways), *sorted(unknown)),
        display_columns=tuple(
            column for column in export.columns if is_display_order(column) and column not in mappings[newest].parts
        ),
        unasked=tuple(one.id for one in questionnaire.questions() if one.id not in ways[-1].reader.questions),
        repeated=tuple(read.repeated),
        dropped=len(dropped),
        strange_versions=tuple(sorted(read.strange)),
    )
    if keep:
        _keep_version(surveys, name)
        # Nobody gets the codes: who answered elsewhere cannot withdraw here, and nobody can in their place.
        surveys.answers.add([(new_code(), response, pages) for response, pages in new.values()])
        surveys.coding.act(lambda state: NewAct("survey.import", lead, _payload(name, mappings[newest], done)))
        for response in dropped:
            decide(surveys, name, response, keep=False, why=f"left out where {path.name} was written", actor=actor)
    return done


def _versions(surveys: Surveys, name: str) -> dict[int, Questionnaire]:
    """Every version that answers can be to; of a survey that was never opened, what its file says now."""
    kept = surveys.answers.version(name)
    if kept is None:
        return {1: surveys.questionnaire(name)}
    return {number: surveys.questionnaire(name, number) for number in range(1, kept.number + 1)}


def mapping_file(surveys: Surveys, name: str, path: Path) -> Path | None:
    """The mapping that goes with a survey by its name; an export of Quaestor's own needs none."""
    digest_of(path)
    with closing(plain_rows(path)) as rows:
        first = next(rows, PlainRow(1, ()))
    columns = tuple(cell.strip() for cell in first.cells)
    if is_own_wide(columns) or is_own_tidy(columns):
        return None
    found = survey_file(surveys.study, name).with_suffix(".mapping.toml")
    if not found.is_file():
        raise InputError(f"say with --mapping which column of {path} answers which question, or write {found}")
    return found


def _new(surveys: Surveys, whole: list[Whole]) -> dict[str, Whole]:
    """Those that the file of answers does not hold, by their ids in the file; who is there stays as they are."""
    new = {}
    for response, pages in whole:
        there = surveys.answers.response(response.id)
        own = response
        if there is not None and there.survey != response.survey:
            own = replace(response, id=derived_id(response.survey, response.id))
            there = surveys.answers.response(own.id)
        if there is None:
            new[response.id] = (own, pages)
    return new


def _keep_version(surveys: Surveys, name: str) -> None:
    """A survey that was never opened gets its first version by an import, and is not open by that."""
    if surveys.answers.version(name) is None:
        text = survey_file(surveys.study, name).read_text("utf-8-sig")
        surveys.answers.add_version(name, text, surveys.today())


def _check_columns(export: Export, mapping: ColumnMapping, path: Path) -> None:
    wanted = [*mapping.parts, *mapping.others().values()]
    for column in wanted:
        if column not in export.columns:
            options = join_with_or(sort_by_similarity(column, filter(None, export.columns))[:LISTED])
            raise InputError(f"{path} has no column {column!r} as {mapping.name} says, its columns are: {options}")
        if export.columns.count(column) > 1:
            raise InputError(f"{path} has the column {column!r} twice: rename one, so that it is clear which is meant")


def _check_consent(questionnaire: Questionnaire, mapping: ColumnMapping, path: Path) -> None:
    asked = {part.question.id for part in mapping.parts.values()}
    for one in questionnaire.questions():
        if one.kind is Kind.CONSENT and one.id not in asked and not mapping.settings.consented:
            raise InputError(
                f"{mapping.name} maps no column to {one.id!r}, so nobody can tell who of {path.name} consented: map "
                f"one, or write consented = true where all have"
            )


def _unmapped(export: Export, ways: Sequence[Way]) -> tuple[str, ...]:
    used = {column for one in ways for column in (*one.mapping.parts, *one.mapping.others().values())}
    return tuple(column for column in export.columns if column and column not in used and not is_display_order(column))


def _payload(name: str, mapping: ColumnMapping, done: Imported) -> dict[str, Any]:
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
