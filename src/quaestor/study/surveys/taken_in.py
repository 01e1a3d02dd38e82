"""Rows of a file as responses: who consented, how far each came, and what could not be read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from quaestor.instruments.mapping import ColumnMapping
from quaestor.instruments.records import AGREE, Answer, Kind, Place, Questionnaire, Response, Standing
from quaestor.instruments.row_answers import RowReader, RowSaid, with_gaps
from quaestor.sources.survey_exports import Export, Failed, PlainRow

_FINISHED = ("1", "true", "yes", "finished", "complete", "completed")
_ID, _DAY = re.compile(r"[0-9a-f]{16}"), re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LONGEST_TIME = 10**9
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


class RowsTaken:
    """Reads the rows of one file, one after the other."""

    def __init__(
        self,
        questionnaire: Questionnaire,
        mapping: ColumnMapping,
        export: Export,
        reader: RowReader,
        version: int,
        file: str,
        day: str,
        sha256: str,
    ) -> None:
        self._questionnaire, self._mapping, self._export, self._reader = questionnaire, mapping, export, reader
        self._version, self._file, self._day, self._sha256 = version, file, day, sha256
        self._others = {what: export.columns.index(column) for what, column in mapping.others().items()}
        self._consent = [one.id for one in questionnaire.questions() if one.kind is Kind.CONSENT]
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
        said = self._reader.read(row.number, row.cells, lambda cell: isinstance(cell, Failed))
        read.markers += said.markers
        if not said.answers and not said.unread:
            read.empty.append(row.number)
        elif not self._consented(said):
            read.no_consent.append(row.number)
            read.unread += [one for one in said.unread if one.question in self._consent]
        else:
            read.whole.append(self._whole(row, said))
            read.unread += said.unread
            read.odd += said.odd

    def _consented(self, said: RowSaid) -> bool:
        if self._mapping.settings.consented:
            return not any(said.answers.get(name, {}).get("choices", [AGREE]) != [AGREE] for name in self._consent)
        return all(said.answers.get(name, {}).get("choices") == [AGREE] for name in self._consent)

    def _whole(self, row: PlainRow, said: RowSaid) -> Whole:
        standing = self._standing(row, said)
        answers, sent = with_gaps(self._questionnaire, said, self._reader.questions, standing, row.number)
        known = self._cell(row, "response") if _ID.fullmatch(self._cell(row, "response")) else ""
        language, day = self._cell(row, "language"), self._cell(row, "day")
        response = Response(
            id=known or derived_id(self._questionnaire.id, self._sha256, str(row.number)),
            survey=self._questionnaire.id,
            version=self._version,
            standing=standing,
            answers=answers,
            language=language if language in self._questionnaire.languages else self._questionnaire.language,
            stratum=self._stratum(row, said),
            seconds=self._seconds(row, said),
            sent=sent,
            day=day if _DAY.fullmatch(day) else self._day,
            source=self._file,
            synthetic=self._cell(row, "synthetic") == "1",
        )
        return response, list(_pages(self._questionnaire, response))

    def _cell(self, row: PlainRow, what: str) -> str:
        return row.cells[self._others[what]].strip() if what in self._others else ""

    def _standing(self, row: PlainRow, said: RowSaid) -> Standing:
        if self._cell(row, "standing") in list(Standing):
            return Standing(self._cell(row, "standing"))
        for question in self._questionnaire.questions():
            chosen = said.answers.get(question.id, {}).get("choices", ())
            if any(one.ends and one.code in chosen for one in question.options):
                return Standing.SCREENED_OUT
        if "finished" in self._others and self._cell(row, "finished").casefold() not in _FINISHED:
            return Standing.OPEN
        return Standing.FINISHED

    def _stratum(self, row: PlainRow, said: RowSaid) -> str:
        cell = self._cell(row, "stratum")
        found = self._mapping.settings.strata.get(cell, cell)
        if found and found not in self._questionnaire.strata:
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
