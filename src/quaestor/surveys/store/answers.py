"""The answers file: a journal of the submitted pages, and the current state of each response.

The file knows a respondent by the hash of a code that only the respondent has. It stores the day on which a response
was started but no hour; ids of responses are random and do not reveal their order.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from quaestor.store.act_texts import TEXT_TABLES, ActTexts, PlainCodec, erase_texts
from quaestor.store.group_commit import GroupCommit
from quaestor.store.private_file_copy import PrivateFileSchema
from quaestor.surveys.model.records import Answer, Response, ResponseStatus
from quaestor.surveys.store.page_submission import PageSubmission, add_save, record_page
from quaestor.surveys.store.quotas import QuotaPlaces, read_change_stamp
from quaestor.surveys.store.responses import (
    ResponseWithdrawal,
    WithdrawnList,
    assign_variant,
    build_row,
    find_response,
    hashed,
    new_id,
    read_response,
)

_KIND = 0x51416E73
_FIRST = """
CREATE TABLE versions (
    survey TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL, sha256 TEXT NOT NULL, day TEXT NOT NULL,
    PRIMARY KEY (survey, version)
);
CREATE TABLE responses (
    id TEXT PRIMARY KEY, code TEXT NOT NULL UNIQUE, survey TEXT NOT NULL, version INTEGER NOT NULL,
    standing TEXT NOT NULL, language TEXT NOT NULL, seed INTEGER NOT NULL, stratum TEXT NOT NULL,
    seconds REAL NOT NULL, sent TEXT NOT NULL, answers TEXT NOT NULL, day TEXT NOT NULL, source TEXT NOT NULL,
    synthetic INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX responses_of_survey ON responses (survey, standing);
CREATE TABLE saves (
    number INTEGER PRIMARY KEY AUTOINCREMENT, response TEXT NOT NULL REFERENCES responses (id) ON DELETE CASCADE,
    page TEXT NOT NULL, key TEXT NOT NULL UNIQUE, answers TEXT NOT NULL, seconds REAL NOT NULL
);
CREATE INDEX saves_of_response ON saves (response);
CREATE TABLE erasures (number INTEGER PRIMARY KEY, survey TEXT NOT NULL, day TEXT NOT NULL, by TEXT NOT NULL);
"""
_SECOND = """
ALTER TABLE erasures ADD COLUMN response TEXT NOT NULL DEFAULT '';
CREATE INDEX erasures_of_response ON erasures (response);
"""
"""The hash of the erased id, which identifies it in backups; empty for erasures before this column existed."""
_THIRD = f"""{TEXT_TABLES}
CREATE TABLE quoted (survey TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (survey, place)) WITHOUT ROWID;
"""
"""Texts of raters and leads about responses, and places that still quote withdrawn ones."""
_PAGE = 2_000


def stamp_answers(path: Path) -> object:
    """Returns a stamp that changes with every answer and erasure; empty without a file."""
    if not path.exists():
        return ()
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        counts = "SELECT (SELECT max(number) FROM saves), (SELECT count(*) FROM responses), "
        counts += "(SELECT count(*) FROM erasures), (SELECT count(*) FROM versions)"
        return path.stat().st_ino, *connection.execute(counts).fetchone()


ANSWERS = PrivateFileSchema(
    "answers", _KIND, (_FIRST, _SECOND, _THIRD), "restore a backup of it with `quaestor restore FILE --replace`"
)


@dataclass(frozen=True)
class SurveyVersion:
    """One version of a questionnaire; each response keeps its version."""

    survey: str
    number: int
    text: str
    sha256: str
    day: str


@dataclass(frozen=True)
class ResponseSummary:
    """A response without its answers, for long lists."""

    id: str
    version: int
    standing: ResponseStatus
    language: str
    stratum: str
    seconds: float
    source: str
    synthetic: bool


class AnswerFile:
    """All answers of a study; thread-safe."""

    def __init__(self, path: Path) -> None:
        self._file = ANSWERS.open(path)
        self.texts = ActTexts(self._file, PlainCodec(), _is_erased)
        """Texts of raters and leads about responses; each belongs to a response's id."""
        self._withdrawn = WithdrawnList.next_to(path)
        self.submissions = GroupCommit(self._record)
        """Pending pages, many recorded in one transaction."""
        self._places = QuotaPlaces()

    def __enter__(self) -> AnswerFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    # Versions

    def add_version(self, survey: str, text: str, day: str) -> SurveyVersion:
        """Stores a questionnaire as a new version, unless it equals the newest."""
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        with self._file.writing() as writing:
            newest = _newest(writing, survey)
            if newest is not None and newest.sha256 == sha256:
                return newest
            version = SurveyVersion(survey, newest.number + 1 if newest else 1, text, sha256, day)
            writing.execute("INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (survey, version.number, text, sha256, day))
            return version

    def version(self, survey: str, number: int | None = None) -> SurveyVersion | None:
        """Returns a version of a questionnaire, by default the newest; None if it was never opened."""
        with self._file.reading() as reading:
            if number is None:
                return _newest(reading, survey)
            row = reading.execute(
                "SELECT survey, version, text, sha256, day FROM versions WHERE survey = ? AND version = ?",
                (survey, number),
            ).fetchone()
        return SurveyVersion(*row) if row else None

    def surveys(self) -> list[str]:
        """Lists the surveys that have been opened."""
        with self._file.reading() as reading:
            return [name for (name,) in reading.execute("SELECT DISTINCT survey FROM versions ORDER BY survey")]

    # Responses

    def begin(
        self,
        survey: str,
        version: int,
        code: str,
        day: str,
        variants: Mapping[str, Sequence[str]] | None = None,
        **more: Any,
    ) -> Response:
        """Adds a response without pages, assigned to one of the `variants` of each question that has some.

        A code that was used before returns its response.
        """
        with self._file.writing() as writing:
            known = find_response(writing, code)
            if known is not None:
                return known
            assigned = {
                name: {"choices": [assign_variant(writing, survey, name, options)]}
                for name, options in (variants or {}).items()
            }
            response = _begun(survey, version, day, more)
            response = replace(response, answers={**response.answers, **assigned})
            _insert(writing, code, response)
            return response

    def add(
        self, whole: Sequence[tuple[str, Response, Sequence[tuple[str, Mapping[str, Answer], str]]]]
    ) -> list[Response]:
        """Adds imported responses with their pages, each (page, answers, key), all or none."""
        written = []
        with self._file.writing() as writing:
            for code, response, pages in whole:
                known = find_response(writing, code)
                if known is not None:
                    written.append(known)
                    continue
                _insert(writing, code, response)
                for page, answers, key in pages:
                    add_save(writing, response.id, PageSubmission(code, page, answers, key, response.standing))
                written.append(response)
        return written

    def find(self, code: str) -> Response | None:
        """Returns the response of a code."""
        with self._file.reading() as reading:
            return find_response(reading, code)

    def response(self, name: str) -> Response | None:
        """Returns a response by its id."""
        with self._file.reading() as reading:
            row = reading.execute("SELECT * FROM responses WHERE id = ?", (name,)).fetchone()
        return read_response(row) if row else None

    def responses(self, survey: str) -> Iterator[Response]:
        """Yields all responses in the order of their random ids, page by page, so that memory use stays constant."""
        after = ""
        while True:
            with self._file.reading() as reading:
                row = reading.execute(
                    "SELECT * FROM responses WHERE +survey = ? AND id > ? ORDER BY id LIMIT ?", (survey, after, _PAGE)
                ).fetchall()
            yield from map(read_response, row)
            if len(row) < _PAGE:
                return
            after = row[-1][0]

    def held(self, survey: str, many: int = 20_000) -> Iterator[list[tuple[str, int, str, str, str, str, int, str]]]:
        """Yields stored rows for counting: id, version, status, stratum, submitted pages, answers, synthetic, language.
        They come in chunks by the beginning of their ids, so that a new answer changes one chunk only."""
        parted = sum(self.counts(survey).values()) > many
        edges = ["", *"123456789abcdef", "\U0010ffff"] if parted else ["", "\U0010ffff"]
        for low, high in pairwise(edges):
            with self._file.reading() as reading:
                # The plus prevents an index on survey, with which SQLite would look up every response separately.
                yield reading.execute(
                    "SELECT id, version, standing, stratum, sent, answers, synthetic, language FROM responses"
                    " WHERE +survey = ? AND id >= ? AND id < ? ORDER BY id",
                    (survey, low, high),
                ).fetchall()

    def counts(self, survey: str) -> dict[ResponseStatus, int]:
        """Returns the number of responses by status."""
        with self._file.reading() as reading:
            counts = dict(
                reading.execute("SELECT standing, count(*) FROM responses WHERE survey = ? GROUP BY 1", (survey,))
            )
        return {standing: counts.get(standing.value, 0) for standing in ResponseStatus}

    def listed(self, survey: str) -> list[ResponseSummary]:
        """Returns all responses in the order of their ids, without answers."""
        with self._file.reading() as reading:
            rows = reading.execute(
                "SELECT id, version, standing, language, stratum, seconds, source, synthetic FROM responses"
                " WHERE survey = ? ORDER BY id",
                (survey,),
            ).fetchall()
        standings = {standing.value: standing for standing in ResponseStatus}
        return [
            ResponseSummary(name, version, standings[standing], language, stratum, seconds, source, bool(synthetic))
            for name, version, standing, language, stratum, seconds, source, synthetic in rows
        ]

    def seconds(self, survey: str) -> dict[str, float]:
        """Returns the time spent on each finished response, if known."""
        with self._file.reading() as reading:
            query = "SELECT id, seconds FROM responses WHERE survey = ? AND standing = ? AND seconds > 0"
            return dict(reading.execute(query, (survey, ResponseStatus.FINISHED.value)).fetchall())

    def count_by_stratum(self, survey: str) -> dict[str, int]:
        """Returns the number of responses, whatever their status, by stored stratum."""
        with self._file.reading() as reading:
            query = "SELECT stratum, count(*) FROM responses WHERE survey = ? GROUP BY 1"
            return dict(reading.execute(query, (survey,)).fetchall())

    def finished_by_stratum(self, survey: str, without: Collection[str] = ()) -> dict[str, int]:
        """Returns the number of responses finished on the web, except those in `without`, by stored stratum."""
        with self._file.reading() as reading:
            query = (
                "SELECT stratum, count(*) FROM responses WHERE survey = ? AND standing = ? AND source = 'web'"
                " AND NOT synthetic AND id NOT IN (SELECT value FROM json_each(?)) GROUP BY 1"
            )
            return dict(
                reading.execute(query, (survey, ResponseStatus.FINISHED.value, json.dumps([*without]))).fetchall()
            )

    def faster(self, survey: str, version: int, seconds: float) -> dict[str, float]:
        """Returns responses to a version finished on the web in fewer seconds, with their seconds."""
        with self._file.reading() as reading:
            query = (
                "SELECT id, seconds FROM responses WHERE +survey = ? AND +standing = ? AND version = ?"
                " AND seconds < ? AND source = 'web' AND NOT synthetic"
            )
            return dict(reading.execute(query, (survey, ResponseStatus.FINISHED.value, version, seconds)).fetchall())

    def finished_with(self, survey: str, question: str) -> list[str]:
        """Returns finished responses that have something under a key among their answers."""
        with self._file.reading() as reading:
            query = "SELECT id FROM responses WHERE +survey = ? AND +standing = ? AND instr(answers, ?)"
            sought = (survey, ResponseStatus.FINISHED.value, f'"{question}":{{"')
            return [name for (name,) in reading.execute(query, sought)]

    def days(self, survey: str) -> dict[str, int]:
        """Returns the number of responses started on the web, by day."""
        with self._file.reading() as reading:
            query = "SELECT day, count(*) FROM responses WHERE survey = ? AND source = 'web' GROUP BY day ORDER BY day"
            return dict(reading.execute(query, (survey,)).fetchall())

    def erased(self, survey: str) -> int:
        """Returns the number of withdrawn responses."""
        with self._file.reading() as reading:
            row = reading.execute("SELECT count(*) FROM erasures WHERE survey = ?", (survey,)).fetchone()
        return int(row[0])

    def mark(self, survey: str) -> tuple[int, int, int]:
        """Returns a stamp that changes whenever an answer does; results computed under the same stamp are valid."""
        with self._file.reading() as reading:
            last = reading.execute("SELECT coalesce(max(number), 0) FROM saves").fetchone()[0]
            count = reading.execute("SELECT count(*) FROM responses WHERE survey = ?", (survey,)).fetchone()[0]
            erased = reading.execute("SELECT count(*) FROM erasures").fetchone()[0]
        return int(last), int(count), int(erased)

    def journal(self, response: str) -> list[tuple[int, str, dict[str, Answer]]]:
        """Returns every submitted page of a response: number, page, answers; a page may occur twice."""
        with self._file.reading() as reading:
            rows = reading.execute(
                "SELECT number, page, answers FROM saves WHERE response = ? ORDER BY number", (response,)
            ).fetchall()
        return [(number, page, json.loads(answers)) for number, page, answers in rows]

    # Pages

    def save(self, sending: PageSubmission) -> Response:
        """Stores a page and returns the updated response."""
        self.submissions.add(sending)
        self.submissions.record()
        return sending.result()

    def _record(self, together: Sequence[PageSubmission]) -> Sequence[Response | BaseException]:
        try:
            limited = self._look_at_groups(together)
            with self._file.erasing() if self._erases(together) else self._file.writing() as writing:
                if limited:
                    self._places.catch_up(writing)
                outcomes = [record_page(writing, sending, self._places) for sending in together]
        except BaseException as error:  # noqa: BLE001 - raised where the page was sent
            self._places = QuotaPlaces()  # its notes may not be in the file after a rollback
            return [error for _ in together]
        return outcomes

    def _erases(self, together: Sequence[PageSubmission]) -> bool:
        """Tells whether somebody who has submitted pages declines: without consent their pages are erased."""
        codes = [sending.code for sending in together if sending.standing is ResponseStatus.DECLINED]
        return any((response := self.find(code)) is not None and self.journal(response.id) for code in codes)

    def _look_at_groups(self, together: Sequence[PageSubmission]) -> bool:
        """Tells whether quotas apply; counts new groups here, before the write lock is taken."""
        limited = [sending for sending in together if sending.quotas and sending.before is not None]
        for sending in limited:
            survey = sending.before.survey if sending.before else ""
            if self._places.lacking(survey, sending.quotas):
                with self._file.reading() as reading:
                    mark = read_change_stamp(reading)
                self._places.look(survey, sending.quotas, self.responses(survey), mark)
        return bool(limited)

    # Erasure

    def erase(self, code: str, day: str) -> bool:
        """Erases the answers of a code permanently, and records that a response was withdrawn."""
        response = self.find(code)
        return response is not None and self.erase_response(response.id, day, "respondent")

    def erase_response(self, name: str, day: str, by: str, quoted: Sequence[str] = ()) -> bool:
        """Erases a response by its id; returns whether it existed. `quoted` are places that still quote it."""
        with self._file.erasing() as writing:
            row = writing.execute("SELECT * FROM responses WHERE id = ?", (name,)).fetchone()
            if row is None:
                return False
            response = read_response(row)
            writing.execute("DELETE FROM saves WHERE response = ?", (response.id,))
            writing.execute("DELETE FROM responses WHERE id = ?", (response.id,))
            erase_texts(writing, response.id)
            places = [(response.survey, place) for place in quoted]
            writing.executemany("INSERT OR IGNORE INTO quoted VALUES (?, ?)", places)
            writing.execute(
                "INSERT INTO erasures (survey, day, by, response) VALUES (?, ?, ?, ?)",
                (response.survey, day, by, hashed(response.id)),
            )
            # Also in a list that outlives this file, so that an older backup restored later leaves the response out.
            self._withdrawn.add([ResponseWithdrawal(hashed(response.id), response.survey, day)])
        return True

    @property
    def erasure_pending(self) -> bool:
        """Tells whether erased data may still be in the bytes of the file."""
        return self._file.erasure_pending

    def quoted(self, survey: str) -> tuple[str, ...]:
        """Lists the places that still quote withdrawn responses."""
        with self._file.reading() as reading:
            rows = reading.execute("SELECT place FROM quoted WHERE survey = ? ORDER BY place", (survey,))
            return tuple(place for (place,) in rows)

    def is_erased(self, name: str) -> bool:
        """Tells whether a response was withdrawn, so that no copy may bring it back."""
        with self._file.reading() as reading:
            return _is_erased(reading, name)


def _is_erased(connection: sqlite3.Connection, response: str) -> bool:
    row = connection.execute("SELECT 1 FROM erasures WHERE response = ?", (hashed(response),)).fetchone()
    return row is not None


def _insert(writing: sqlite3.Connection, code: str, response: Response) -> None:
    writing.execute(
        "INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", build_row(code, response)
    )


def _begun(survey: str, version: int, day: str, more: Mapping[str, Any]) -> Response:
    settings = {"seed": secrets.randbelow(2**31), "answers": {}, **more}
    return Response(new_id(), survey, version, ResponseStatus.OPEN, day=day, **settings)


def _newest(connection: sqlite3.Connection, survey: str) -> SurveyVersion | None:
    row = connection.execute(
        "SELECT survey, version, text, sha256, day FROM versions WHERE survey = ? ORDER BY version DESC LIMIT 1",
        (survey,),
    ).fetchone()
    return SurveyVersion(*row) if row else None
