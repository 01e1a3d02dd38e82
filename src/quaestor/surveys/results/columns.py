"""The answers of a survey as columns, read once for counts, lists and comparisons.

A response is a row index in every column. Everything is vectorised: JSON from the file goes to Arrow, then to arrays;
100,000 responses take about a second.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj
from numpy.typing import NDArray

from quaestor.surveys.model.answer_columns import ANSWERED, REASONS, AnswerColumn, Flags, Floats, Small, valid
from quaestor.surveys.model.flow import missing_reason
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_versions import (
    Merges,
    QuestionVersions,
    collect_questions,
    merge_answers,
    stored_id,
)
from quaestor.surveys.model.reachability import find_dependencies
from quaestor.surveys.model.records import (
    MatrixRow,
    Missing,
    Option,
    Question,
    Questionnaire,
    Response,
    ResponseStatus,
)

StoredResponse = tuple[str, int, str, str, str, str, int, str]
"""Id, version, status, stratum, submitted pages, answers, synthetic, language: as stored."""
_AT_ONCE = 2


@dataclass(frozen=True)
class Columns:
    """Every response to a survey, counted or not."""

    ids: tuple[str, ...]
    standings: NDArray[np.str_]
    versions: NDArray[np.int64]
    strata: NDArray[np.str_]
    synthetic: Flags
    languages: NDArray[np.str_]
    questions: Mapping[str, AnswerColumn]

    def __len__(self) -> int:
        return len(self.ids)


def _parse(answers: Sequence[str], questions: Mapping[str, QuestionVersions]) -> pa.Table:
    """Returns a column for every question, in the order of the answers; ignores other keys."""
    names = {versions.stored_as for versions in questions.values()}
    schema = pa.schema(
        [
            (name, _stored_type([question.question for question in questions.values() if question.stored_as == name]))
            for name in names
        ]
    )
    if not answers or not names:
        return schema.empty_table()
    try:
        return _read_json(answers, schema)
    except pa.ArrowInvalid:  # a lone surrogate, which JSON allows but UTF-8 does not
        return _read_json([_without_surrogates(text) for text in answers], schema)


def _read_json(answers: Sequence[str], schema: pa.Schema) -> pa.Table:
    whole = "\n".join(answers).encode()
    longest = max(map(len, answers))
    return pj.read_json(
        io.BytesIO(whole),
        read_options=pj.ReadOptions(block_size=max(1 << 22, 2 * longest)),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    ).combine_chunks()


def _without_surrogates(text: str) -> str:
    answers = json.dumps(json.loads(text), ensure_ascii=False)
    return answers.encode("utf-8", "replace").decode()


def _stored_type(questions: Sequence[Question]) -> pa.DataType:
    """Returns the type of the answers stored under one id, for all its kinds."""
    fields: dict[str, pa.DataType] = {}
    for question in questions:
        for name, own in kind_of(question).stored_fields(question).items():
            both = [fields.get(name, own), own]
            is_struct = pa.types.is_struct(own)
            inner = {field.name: field.type for struct in both for field in struct} if is_struct else {}
            fields[name] = pa.struct(list(inner.items())) if is_struct else own
    return pa.struct(list(fields.items()))


def _whole(column: pa.ChunkedArray) -> pa.StructArray:
    """Returns a column as one chunk."""
    chunks = column.chunks
    return chunks[0] if chunks else pa.array([], column.type)


@dataclass(frozen=True)
class MissingReasons:
    """Computes why answers are missing, once for each distinct set of relevant answers."""

    questionnaires: Mapping[int, Questionnaire]
    """By version."""
    columns: Mapping[str, AnswerColumn]
    versions: NDArray[np.int64]
    standings: NDArray[np.str_]
    sent: Sequence[str]
    answers: Sequence[str]

    def of(self, question_versions: QuestionVersions, table: pa.Table) -> Small:
        """Returns the reason for each response, `ANSWERED` if there is an answer."""
        reasons = self.columns[question_versions.question.id].missing.copy()
        lacking = reasons != ANSWERED
        present = valid(_whole(table[question_versions.stored_as]))
        reason = np.full(len(reasons), REASONS.index(Missing.NOT_SHOWN), np.int16)
        for version, (page, question) in question_versions.pages.items():
            here = lacking & (self.versions == version)
            if page.show_if is None and question.show_if is None:
                late = ~present & (self._under_way | ~self._was_sent(page.id))
                reason[here] = REASONS.index(Missing.SKIPPED)
                reason[here & late] = REASONS.index(Missing.NOT_REACHED)
            else:
                places = np.flatnonzero(here)
                reason[places] = self._by_flow(self.questionnaires[version], question, places, table)
        reasons[lacking] = reason[lacking]
        return reasons

    @cached_property
    def _under_way(self) -> Flags:
        under_way: Flags = self.standings == ResponseStatus.OPEN.value
        return under_way

    def _was_sent(self, page: str) -> Flags:
        texts, places = self._pages_sent
        return np.array([page in text for text in texts], np.bool_)[places]

    @cached_property
    def _pages_sent(self) -> tuple[list[list[str]], NDArray[np.int64]]:
        """Returns the distinct lists of submitted pages, and the index of each response's list."""
        known = {text: place for place, text in enumerate(dict.fromkeys(self.sent))}
        return [json.loads(text) for text in known], np.array([known[text] for text in self.sent], np.int64)

    def _by_flow(
        self, questionnaire: Questionnaire, question: Question, here: NDArray[np.int64], table: pa.Table
    ) -> Small:
        """Returns the reasons of responses without an answer, computed once per group that the flow treats alike."""
        sign = np.zeros(len(here), np.int64)
        for part in self._signs(questionnaire, question, here, table):
            # Combines the parts to one number per response, renumbered after each part to keep numbers small.
            values, number = np.unique(part, return_inverse=True)
            sign = sign * len(values) + number
            sign = np.unique(sign, return_inverse=True)[1]
        _, first = np.unique(sign, return_index=True)
        reasons = [
            missing_reason(questionnaire, self._example(int(here[place]), question), question) for place in first
        ]
        return np.array([REASONS.index(reason) for reason in reasons if reason is not None], np.int16)[sign]

    def _example(self, place: int, question: Question) -> Response:
        """Returns a response of the group, with an empty answer to the question."""
        stored = json.loads(self.answers[place])
        answers = {name: {} if name == question.id else answer for name, answer in stored.items()}
        standing, sent = ResponseStatus(self.standings[place]), tuple(json.loads(self.sent[place]))
        return Response("", "", int(self.versions[place]), standing, answers, sent=sent)

    def _signs(
        self, questionnaire: Questionnaire, question: Question, here: NDArray[np.int64], table: pa.Table
    ) -> Iterator[NDArray[Any]]:
        """Yields one array for each part that determines whether a question was reached and shown."""
        names = find_dependencies(questionnaire, question)
        yield self._under_way[here]
        for name in (*names, question.id):
            page = questionnaire.page_of(name)
            yield valid(_whole(table[name]))[here]
            yield self._was_sent(page.id if page else "")[here]
        for name, column in self.columns.items():
            if stored_id(name) in names:
                yield from column.signs(here)


class ColumnReader:
    """Reads columns in chunks, several in parallel; unchanged chunks are not read again."""

    def __init__(self, versions: Mapping[int, Questionnaire], merges: Merges | None = None) -> None:
        self._versions, self._merges = versions, merges or {}
        self.questions = collect_questions(versions, merges)
        self._known: dict[int, Columns] = {}

    def columns(self, parts: Iterable[Sequence[StoredResponse]]) -> Columns:
        """Returns all responses, from parts as stored."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            known = dict(pool.map(self._piece, parts))
        self._known = known
        return _joined(list(known.values()), self.questions)

    def _piece(self, rows: Sequence[StoredResponse]) -> tuple[int, Columns]:
        key = hash(tuple(rows))
        return key, self._known.get(key) or _piece(rows, self.questions, self._versions, self._merges)


def _joined(pieces: Sequence[Columns], questions: Mapping[str, QuestionVersions]) -> Columns:
    if len(pieces) == 1:
        return pieces[0]
    return Columns(
        tuple(name for piece in pieces for name in piece.ids),
        np.concatenate([piece.standings for piece in pieces]),
        np.concatenate([piece.versions for piece in pieces]),
        np.concatenate([piece.strata for piece in pieces]),
        np.concatenate([piece.synthetic for piece in pieces]),
        np.concatenate([piece.languages for piece in pieces]),
        {name: _joined_column([piece.questions[name] for piece in pieces]) for name in questions},
    )


def _joined_column(columns: Sequence[AnswerColumn]) -> AnswerColumn:
    parts = ("missing", "chosen", "places", "numbers", "with_text", "texts", "offered", "offered_steps")
    arrays = {part: np.concatenate([getattr(column, part) for column in columns]) for part in parts}
    return AnswerColumn(columns[0].question, **arrays)


def _piece(
    rows: Sequence[StoredResponse],
    questions: Mapping[str, QuestionVersions],
    questionnaires: Mapping[int, Questionnaire],
    merges: Merges,
) -> Columns:
    ids, versions, standings, strata, sent, answers, synthetic, languages = (
        zip(*rows, strict=True) if rows else ([],) * 8
    )
    numbered = np.array(versions, np.int64)
    if merges:
        named = zip(answers, versions, strict=True)
        table = _parse([_merged(text, questionnaires[version], merges) for text, version in named], questions)
    else:
        table = _parse(answers, questions)
    read = {name: _column(question, table, numbered) for name, question in questions.items()}
    reasons = MissingReasons(questionnaires, read, numbered, np.array(standings, np.str_), sent, answers)
    filled = {name: replace(read[name], missing=reasons.of(question, table)) for name, question in questions.items()}
    return Columns(
        tuple(ids), reasons.standings, numbered, np.array(strata, np.str_), np.array(synthetic, np.bool_),
        np.array(languages, np.str_), filled,
    )  # fmt: skip


def _merged(answers: str, questionnaire: Questionnaire, merges: Merges) -> str:
    """Returns stored answers with the codes that merged options and rows are counted as."""
    return json.dumps(merge_answers(questionnaire, json.loads(answers), merges))


def _column(question_versions: QuestionVersions, table: pa.Table, versions: NDArray[np.int64]) -> AnswerColumn:
    question = question_versions.question
    kind, here = kind_of(question), np.isin(versions, list(question_versions.pages))
    column = kind.read_column(question, _whole(table[question_versions.stored_as]), here)
    steps = question.options if question.rows else ()
    return replace(
        column,
        numbers=_converted(column.numbers, question_versions, versions),
        offered=_offered(kind.counted_parts(question), question_versions.offers, question_versions, versions),
        offered_steps=_offered(steps, question_versions.offers_step, question_versions, versions),
    )


def _converted(numbers: Floats, question_versions: QuestionVersions, versions: NDArray[np.int64]) -> Floats:
    """Returns numbers in the newest unit."""
    for version, factor in question_versions.factors.items():
        numbers = np.where(versions == version, numbers * factor, numbers)
    return numbers


def _offered(
    parts: Sequence[Option | MatrixRow],
    offers: Callable[[int, str], bool],
    question_versions: QuestionVersions,
    versions: NDArray[np.int64],
) -> Flags:
    """Returns whether each response's version has each option, row or step; empty if all versions have all."""
    having = [[version for version in question_versions.pages if offers(version, part.code)] for part in parts]
    if all(len(some) == len(question_versions.pages) for some in having):
        return np.empty((0, 0), np.bool_)
    return np.stack([np.isin(versions, some) for some in having], axis=1)
