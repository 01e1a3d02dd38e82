"""Selects the responses that are counted, and those behind a number: one mask for the count and the list."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.surveys.invitations import SMALLER_STRATA, join_strata
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.answer_columns import REASONS, AnswerColumn, Flags, find_index, find_reasons
from quaestor.surveys.model.flow import fill_in_answers
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_results import Groups
from quaestor.surveys.model.question_versions import QuestionVersions, merge_answer, stored_id
from quaestor.surveys.model.records import Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.respond import read_questionnaire_for
from quaestor.surveys.results.columns import ColumnReader, Columns

STRATUM, VERSION, LANGUAGE = "stratum", "version", "language"
DROPPED = "left out by the lead"


@dataclass(frozen=True)
class CountedAnswers:
    """The responses of a survey, and which of them are counted."""

    survey: str
    questionnaire: Questionnaire
    columns: Columns
    used: Flags
    left_out: Mapping[str, int]
    """Number of responses not counted, by reason."""
    erased: int
    """Number of withdrawn and erased responses."""
    questions: Mapping[str, QuestionVersions] = field(repr=False, default_factory=dict)
    where: tuple[str, ...] = ()
    """The conditions that the counted responses meet."""

    @property
    def base(self) -> int:
        return int(self.used.sum())

    def column(self, question: str) -> AnswerColumn:
        column = self.columns.questions.get(question)
        if column is None:
            known = suggest(question, self.columns.questions)
            raise InputError(f"the survey {self.survey!r} has no question {question!r}, available: {known}")
        return column


@dataclass(frozen=True)
class ResponseSelection:
    """Selects the responses behind a number: any answer, a certain one, or none for a reason; also of one group."""

    question: str
    option: str = ""
    row: str = ""
    place: int = 0
    """For a ranking: the rank of the option."""
    missing: str = ""
    by: str = ""
    group: str = ""

    def mask(self, counted: CountedAnswers) -> Flags:
        mask = counted.used & self._select(counted.column(self.question))
        if self.by:
            groups = group_responses(counted, self.by)
            mask = mask & groups.members[:, find_index(self.group, groups.keys, "group")]
        return mask

    def _select(self, column: AnswerColumn) -> Flags:
        question = column.question
        if self.missing:
            reason = find_index(self.missing, [reason.value for reason in REASONS], "reason for a missing answer")
            row = find_index(self.row, [row.code for row in question.rows], "row") if self.row else None
            lacking: Flags = find_reasons(column, row) == reason
            return lacking
        return kind_of(question).select(column, self.option, self.row, self.place)


class CountingCache:
    """A cache of the columns of each survey, valid until an answer arrives; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[object, Columns]] = {}
        self._pieces: dict[str, tuple[object, ColumnReader]] = {}

    def counted(
        self, surveys: Surveys, name: str, unfinished: bool = False, where: Sequence[str] = ()
    ) -> CountedAnswers:
        """Returns finished responses that the lead did not exclude, and open ones if `unfinished`.

        With `where`, only those that are in each of these groups, written as `NAME=GROUP`.
        """
        questionnaire = surveys.questionnaire(name)
        columns, questions = self._read(surveys, name)
        dropped = surveys.fielding(name).dropped
        used = (ResponseStatus.FINISHED, ResponseStatus.OPEN) if unfinished else (ResponseStatus.FINISHED,)
        standing = np.isin(columns.standings, [status.value for status in used])
        kept = np.array([name not in dropped for name in columns.ids], np.bool_) if dropped else np.ones_like(standing)
        unused = [status.value for status in ResponseStatus if status not in used]
        left_out = {status: int((columns.standings == status).sum()) for status in unused}
        left_out[DROPPED] = int((standing & ~kept).sum())
        joined = join_strata(surveys, name)
        if joined:
            strata = [joined.get(stratum, stratum) for stratum in columns.strata.tolist()]
            columns = replace(columns, strata=np.array(strata, np.str_))
        counted = CountedAnswers(
            name, questionnaire, columns, standing & kept,
            {why: count for why, count in left_out.items() if count}, surveys.answers.erased(name), questions,
        )  # fmt: skip
        return _filter(counted, where) if where else counted

    def read_ahead(self, surveys: Surveys) -> None:
        """Reads the columns of every survey in advance."""
        for name in surveys.answers.surveys():
            self.columns(surveys, name)

    def columns(self, surveys: Surveys, name: str) -> Columns:
        """Returns every response to a survey, regardless of status."""
        return self._read(surveys, name)[0]

    def _read(self, surveys: Surveys, name: str) -> tuple[Columns, Mapping[str, QuestionVersions]]:
        merges = surveys.fielding(name).merges
        with self._lock:
            newest = surveys.answers.version(name)
            # The change stamp is read before the answers, so an answer that arrives meanwhile is read the next time.
            number = newest.number if newest else 0
            read_as = (number, tuple(sorted(merges.items())))
            mark = (surveys.answers.mark(name), read_as)
            kept, known = self._kept.get(name), self._pieces.get(name)
            if kept is not None and known is not None and kept[0] == mark:
                return kept[1], known[1].questions
            if known is None or known[0] != read_as or not number:
                versions = surveys.versions(name) or {0: surveys.questionnaire(name)}
                known = (read_as, ColumnReader(versions, merges))
            columns = known[1].columns(surveys.answers.held(name))
            self._kept[name], self._pieces[name] = (mark, columns), known
            return columns, known[1].questions


def group_responses(counted: CountedAnswers, by: str) -> Groups:
    """Groups by a question with options, a row of a matrix as `QUESTION.ROW`, stratum, version or language.

    A question with the id `stratum`, `version` or `language` comes before what this word means otherwise.
    """
    name, _, row = by.partition(".")
    values = _values(counted.columns, by) if name not in counted.columns.questions else None
    if values is not None:
        keys = sorted(
            {*values.tolist()} - {""},
            key=lambda key: (key.startswith(SMALLER_STRATA), len(key) if by == VERSION else 0, key),
        )
        if not keys:
            raise InputError(f"no response to {counted.survey!r} has a {by}: compare by a question instead")
        members = np.stack([values == key for key in keys], axis=1)
        labels = tuple(f"version {key}" if by == VERSION else key for key in keys)
        return Groups(by, by.capitalize(), tuple(keys), labels, members, overlapping=False)
    column = counted.column(name)
    label = fill_in_answers(column.question.text, counted.questionnaire, {})
    return kind_of(column.question).group(column, by, row, label)


def _values(columns: Columns, by: str) -> NDArray[np.str_] | None:
    """Returns the stratum, version or language of each response; None if `by` is none of these."""
    known = {STRATUM: columns.strata, VERSION: columns.versions.astype(np.str_), LANGUAGE: columns.languages}
    return known.get(by)


def _filter(counted: CountedAnswers, where: Sequence[str]) -> CountedAnswers:
    used = counted.used
    for condition in where:
        by, equals, group = (part.strip() for part in condition.partition("="))
        if not equals or not by or not group:
            raise InputError(f"{condition!r} is not a filter: write QUESTION=OPTION, version=2 or language=de")
        groups = group_responses(counted, by)
        used = used & groups.members[:, find_index(group, groups.keys, f"answer to {by!r}")]
    left_out = {**counted.left_out, "not selected": int(counted.used.sum() - used.sum())}
    return replace(counted, used=used, left_out={why: n for why, n in left_out.items() if n}, where=tuple(where))


PAGE = 50


@dataclass(frozen=True)
class ResponseAnswer:
    """One response: its answer to one question, and its texts."""

    id: str
    answer: str
    texts: tuple[tuple[str, str], ...] = ()
    """Open questions and their texts."""


@dataclass(frozen=True)
class AnswersBehind:
    """One page of the responses behind a number."""

    question: Question
    total: int
    page: int
    pages: int
    said: tuple[ResponseAnswer, ...]


def list_answers_behind(
    surveys: Surveys, counted: CountedAnswers, which: ResponseSelection, page: int = 1
) -> AnswersBehind:
    """Returns exactly the responses that the number counts, in the order of their random ids."""
    question = counted.column(which.question).question
    places = np.flatnonzero(which.mask(counted))
    here = places[(page - 1) * PAGE : page * PAGE]
    shown = [_show(surveys, response, question) for response in _responses(surveys, counted, here.tolist())]
    return AnswersBehind(question, len(places), page, max(1, -(-len(places) // PAGE)), tuple(shown))


def list_texts(surveys: Surveys, counted: CountedAnswers, question: str, part: str = "", most: int = 5) -> list[str]:
    """Returns the first few texts to an open question, or to an option or row."""
    column = counted.column(question)
    kind, name = kind_of(column.question), stored_id(column.question.id)
    codes = [counted_part.code for counted_part in kind.counted_parts(column.question)]
    mask: Flags = column.with_text[:, codes.index(part)] if part else column.answered
    places = np.flatnonzero(mask & counted.used)[:most].tolist()
    answers = [response.answers.get(name, {}) for response in _responses(surveys, counted, places)]
    if part:
        merges = surveys.fielding(counted.survey).merges
        question_asked = replace(column.question, id=name)
        merged = [merge_answer(question_asked, answer, merges) for answer in answers]
        return [str(answer.get("texts", {}).get(part, "")) for answer in merged]
    return [kind.in_words(column.question, answer) for answer in answers]


def _responses(surveys: Surveys, counted: CountedAnswers, places: Sequence[int]) -> list[Response]:
    """Returns responses by index, without those withdrawn meanwhile."""
    responses = [surveys.answers.response(counted.columns.ids[place]) for place in places]
    return [response for response in responses if response is not None]


def _show(surveys: Surveys, response: Response, question: Question) -> ResponseAnswer:
    questionnaire, name = read_questionnaire_for(surveys, response), stored_id(question.id)
    words, texts = "", []
    for asked in questionnaire.questions():
        kind, answer = kind_of(asked), response.answers.get(asked.id, {})
        if asked.id == name:
            words = kind.in_words(asked, answer)
        elif kind.is_free_text and answer:
            texts.append((asked.text, kind.in_words(asked, answer)))
    return ResponseAnswer(response.id, words, tuple(texts))
