"""Rows of a file as responses: who consented, how far each came, and what could not be read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from quaestor.instruments.mapping import ColumnMapping
from quaestor.instruments.records import AGREE, Answer, Kind, Place, Questionnaire, Response, Standing
from quaestor.instruments.row_answers import RowReader, RowSaid, with_gaps
from quaestor.sources.survey_exports import Export, Failed, PlainRow

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
