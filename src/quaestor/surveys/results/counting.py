"""Which responses are counted, and which of them lie behind a number: one mask for the count and for the list."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.answer_forms import in_words
from quaestor.surveys.model.flow import piped
from quaestor.surveys.model.question_ids import id_of
from quaestor.surveys.model.records import CHOSEN, Kind, Missing, Question, Questionnaire, Response, Standing
from quaestor.surveys.respond import questionnaire_of
from quaestor.surveys.results.column_records import ANSWERED, REASONS, Column, Columns, Flags, Small
from quaestor.surveys.results.columns import Pieces

STRATUM = "stratum"
DROPPED = "left out by the lead"


@dataclass(frozen=True)
class Counted:
    """The responses of a survey, and those that are counted."""

    survey: str
    questionnaire: Questionnaire
    columns: Columns
    used: Flags
    left_out: Mapping[str, int]
    """By reason, those that are not counted."""
    erased: int
    """Withdrawn by their respondents: gone, and counted nowhere."""

    @property
    def base(self) -> int:
        return int(self.used.sum())

    def column(self, question: str) -> Column:
        found = self.columns.questions.get(question)
        if found is None:
            known = suggest(question, self.columns.questions)
            raise InputError(f"the survey {self.survey!r} has no question {question!r}, there are: {known}")
        return found


@dataclass(frozen=True)
class Which:
    """The responses behind a number: who answered a question, or so, or did not for a reason; perhaps of one group."""

    question: str
    option: str = ""
    row: str = ""
    place: int = 0
    """Of a ranking: those who gave the option this place."""
    missing: str = ""
    by: str = ""
    group: str = ""

    def mask(self, counted: Counted) -> Flags:
        found = counted.used & self._asked(counted.column(self.question))
        if self.by:
            groups = groups_by(counted, self.by)
            found = found & groups.members[:, _place(self.group, groups.keys, "group")]
        return found

    def _asked(self, column: Column) -> Flags:
        question = column.question
        if self.missing:
            reason = _place(self.missing, [one.value for one in REASONS], "reason for a missing answer")
            row = _place(self.row, [one.code for one in question.rows], "row") if self.row else None
            lacking: Flags = reasons_of(column, row) == reason
            return lacking
        if question.kind is Kind.MATRIX and self.row:
            steps = column.places[:, _place(self.row, [one.code for one in question.rows], "row")]
            codes = [one.code for one in question.options]
            said: Flags = steps == _place(self.option, codes, "step") if self.option else steps >= 0
            return said
        if not self.option:
            return column.answered
        option = _place(self.option, [one.code for one in question.options], "option")
        if question.kind is Kind.RANKING:
            placed: Flags = column.places[:, option] == self.place if self.place else column.places[:, option] > 0
            return placed
        return column.chosen[:, option]


@dataclass(frozen=True)
class Groups:
    """Responses in groups by what they answered to one question."""

    name: str
    label: str
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    members: Flags
    """By response and group."""
    overlapping: bool
    """A response may be in several, so that they cannot be tested against each other."""

    def codes(self) -> Small:
        """The group of each response, −1 for none."""
        found = np.where(self.members.any(axis=1), self.members.argmax(axis=1), -1)
        return found.astype(np.int16)


class CountingRoom:
    """Keeps the columns of each survey for as long as no answer comes; safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[object, Columns]] = {}
        self._pieces: dict[str, tuple[int, Pieces]] = {}

    def counted(self, surveys: Surveys, name: str, unfinished: bool = False) -> Counted:
        """Finished responses that the lead did not leave out; open ones too where they are asked for."""
        questionnaire = surveys.questionnaire(name)
        columns = self.columns(surveys, name)
        decisions = surveys.fielding(name).decisions
        dropped = {one.response for one in decisions.values() if not one.keep}
        wanted = (Standing.FINISHED, Standing.OPEN) if unfinished else (Standing.FINISHED,)
        standing = np.isin(columns.standings, [one.value for one in wanted])
        kept = np.array([one not in dropped for one in columns.ids], np.bool_) if dropped else np.ones_like(standing)
        left_out = {one.value: int((columns.standings == one.value).sum()) for one in Standing if one not in wanted} | {
            DROPPED: int((standing & ~kept).sum())
        }
        return Counted(
            name, questionnaire, columns, standing & kept,
            {why: count for why, count in left_out.items() if count}, surveys.answers.erased(name),
        )  # fmt: skip

    def read_ahead(self, surveys: Surveys) -> None:
        """Have the columns of every survey at hand before somebody asks."""
        for name in surveys.answers.surveys():
            self.columns(surveys, name)

    def columns(self, surveys: Surveys, name: str) -> Columns:
        """Every response to a survey, whatever became of it."""
        with self._lock:
            newest = surveys.answers.version(name)
            # What arrives while it is read is read again next time: the mark is from before.
            number = newest.number if newest else 0
            mark = (surveys.answers.mark(name), number)
            kept = self._kept.get(name)
            if kept is not None and kept[0] == mark:
                return kept[1]
            known = self._pieces.get(name)
            if known is None or known[0] != number or not number:
                versions = {one: surveys.questionnaire(name, one) for one in range(1, number + 1)}
                known = (number, Pieces(versions or {0: surveys.questionnaire(name)}))
            found = known[1].columns(surveys.answers.held(name))
            self._kept[name], self._pieces[name] = (mark, found), known
            return found


def groups_by(counted: Counted, by: str) -> Groups:
    """Groups by a question with options, by the row of a matrix as `QUESTION.ROW`, or by `stratum`."""
    if by == STRATUM:
        strata = sorted({*counted.columns.strata.tolist()} - {""})
        if not strata:
            raise InputError(f"no response to {counted.survey!r} says its stratum: compare by a question instead")
        members = np.stack([counted.columns.strata == one for one in strata], axis=1)
        return Groups(by, "Stratum", tuple(strata), tuple(strata), members, overlapping=False)
    name, _, row = by.partition(".")
    column = counted.column(name)
    question = column.question
    keys, labels = tuple(one.code for one in question.options), tuple(one.label for one in question.options)
    if question.kind is Kind.MATRIX:
        place = _place(row, [one.code for one in question.rows], f"row of {name!r}: write {name}.ROW, where ROW")
        members = column.places[:, place, None] == np.arange(len(keys))
        return Groups(by, question.rows[place].label, keys, labels, members, overlapping=False)
    if question.kind not in CHOSEN or row:
        raise InputError(f"{by!r} has no options to compare by: name a question of choices, QUESTION.ROW or stratum")
    label = piped(question.text, counted.questionnaire, {})
    return Groups(by, label, keys, labels, column.chosen, overlapping=question.kind is Kind.MULTIPLE)


def reasons_of(column: Column, row: int | None = None) -> Small:
    """Why each response has no answer; a row that was passed over in a matrix that was answered is skipped.

    A row that the version of a response does not have was not shown.
    """
    if row is None:
        return column.missing
    lacking = column.answered & (column.places[:, row] < 0)
    found = np.where(lacking, REASONS.index(Missing.SKIPPED), column.missing)
    if column.offered.size:
        found = np.where(lacking & ~column.offered[:, row], REASONS.index(Missing.NOT_SHOWN), found)
    return np.where(column.places[:, row] >= 0, ANSWERED, found).astype(np.int16)


def _place(wanted: str, known: list[str] | tuple[str, ...], what: str) -> int:
    if wanted not in known:
        raise InputError(f"{wanted!r} is no {what}, there are: {suggest(wanted, known)}")
    return list(known).index(wanted)


PAGE = 50
_OPEN = (Kind.TEXT, Kind.LONG_TEXT)


@dataclass(frozen=True)
class Said:
    """One response: its answer to the question that was asked about, and what it says in words of its own."""

    id: str
    answer: str
    texts: tuple[tuple[str, str], ...] = ()
    """Open questions and what was written to them."""


@dataclass(frozen=True)
class Behind:
    """The responses behind a number, a page of them."""

    question: Question
    total: int
    page: int
    pages: int
    said: tuple[Said, ...]


def answers_behind(surveys: Surveys, counted: Counted, which: Which, page: int = 1) -> Behind:
    """Exactly those that the number counts, in the order of their ids, which is none."""
    question = counted.column(which.question).question
    places = np.flatnonzero(which.mask(counted))
    wanted = places[(page - 1) * PAGE : page * PAGE]
    said = [_said(surveys, one, question) for one in _responses(surveys, counted, wanted.tolist())]
    return Behind(question, len(places), page, max(1, -(-len(places) // PAGE)), tuple(said))


def words_of(surveys: Surveys, counted: Counted, question: str, part: str = "", most: int = 5) -> list[str]:
    """The first few texts to an open question, or those beside an option or a row."""
    column = counted.column(question)
    asked = column.question
    codes = [one.code for one in asked.rows] if asked.kind is Kind.MATRIX else [one.code for one in asked.options]
    mask: Flags = column.worded[:, codes.index(part)] if part else column.answered
    places = np.flatnonzero(mask & counted.used)[:most].tolist()
    name = _name(column.question)
    answers = [one.answers.get(name, {}) for one in _responses(surveys, counted, places)]
    return [str(one.get("texts", {}).get(part, "") if part else one.get("text", "")) for one in answers]


def _responses(surveys: Surveys, counted: Counted, places: Sequence[int]) -> list[Response]:
    """What was withdrawn meanwhile is not there any more."""
    found = [surveys.answers.response(counted.columns.ids[place]) for place in places]
    return [one for one in found if one is not None]


def _said(surveys: Surveys, response: Response, question: Question) -> Said:
    asked = questionnaire_of(surveys, response)
    name = _name(question)
    here = asked.question(name)
    answer = in_words(here, response.answers.get(name, {})) if here is not None else ""
    texts = [
        (one.text, str(response.answers.get(one.id, {}).get("text", "")))
        for one in asked.questions()
        if one.kind in _OPEN and one.id != name and response.answers.get(one.id)
    ]
    return Said(response.id, answer, tuple(texts))


def _name(question: Question) -> str:
    """The name under which its answers are kept; one that was of another kind once is told apart behind it."""
    return id_of(question.id)
