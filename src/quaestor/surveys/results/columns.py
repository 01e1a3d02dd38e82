"""The answers of a survey as columns, read once: whoever counts, lists or compares them looks at the same columns.

A response is a place in every column. Nothing is looked at one by one: the file's JSON goes to Arrow, from there to
arrays; 100,000 responses take about a second.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from quaestor.surveys.model.flow import missing
from quaestor.surveys.model.question_ids import id_of, names_over
from quaestor.surveys.model.reachability import looked_at
from quaestor.surveys.model.records import (
    CHOSEN,
    Kind,
    Missing,
    Option,
    Question,
    Questionnaire,
    Response,
    Row,
    Standing,
)
from quaestor.surveys.results.column_records import (
    ANSWERED,
    NOBODY,
    REASONS,
    Asked,
    Column,
    Columns,
    Flags,
    Held,
    Small,
    inside,
    parsed,
    plain,
    valid,
)


@dataclass(frozen=True)
class Reasons:
    """The reasons of some responses; the flow is asked once for each set of answers that makes a difference."""

    asked_by: Mapping[int, Questionnaire]
    """By version."""
    columns: Mapping[str, Column]
    versions: NDArray[np.int64]
    standings: NDArray[np.str_]
    sent: Sequence[str]
    answers: Sequence[str]

    def of(self, asked: Asked, table: pa.Table) -> Small:
        found = self.columns[asked.question.id].missing.copy()
        lacking = found != ANSWERED
        present = valid(plain(table[asked.kept_as]))
        reason = np.full(len(found), REASONS.index(Missing.NOT_SHOWN), np.int16)
        for version, (page, question) in asked.pages.items():
            wanted = lacking & (self.versions == version)
            if page.show_if is None and question.show_if is None:
                late = ~present & (self._under_way | ~self._was_sent(page.id))
                reason[wanted] = REASONS.index(Missing.SKIPPED)
                reason[wanted & late] = REASONS.index(Missing.NOT_REACHED)
            else:
                here = np.flatnonzero(wanted)
                reason[here] = self._by_the_flow(self.asked_by[version], question, here, table)
        found[lacking] = reason[lacking]
        return found

    @cached_property
    def _under_way(self) -> Flags:
        found: Flags = self.standings == Standing.OPEN.value
        return found

    def _was_sent(self, page: str) -> Flags:
        texts, places = self._pages_sent
        return np.array([page in text for text in texts], np.bool_)[places]

    @cached_property
    def _pages_sent(self) -> tuple[list[list[str]], NDArray[np.int64]]:
        """The few different lists of pages there are, and which one each response has."""
        known = {text: place for place, text in enumerate(dict.fromkeys(self.sent))}
        return [json.loads(text) for text in known], np.array([known[text] for text in self.sent], np.int64)

    def _by_the_flow(self, asked: Questionnaire, question: Question, here: NDArray[np.int64], table: pa.Table) -> Small:
        """The reasons of responses that lack an answer, from one example of all that are the same to the flow."""
        sign = np.zeros(len(here), np.int64)
        for part in self._signs(asked, question, here, table):
            # Each part doubles or multiplies what can be told apart; what really occurs is numbered anew.
            values, number = np.unique(part, return_inverse=True)
            sign = sign * len(values) + number
            sign = np.unique(sign, return_inverse=True)[1]
        _, first = np.unique(sign, return_index=True)
        told = [missing(asked, self._example(int(here[place]), question), question) for place in first]
        return np.array([REASONS.index(one) for one in told if one is not None], np.int16)[sign]

    def _example(self, place: int, question: Question) -> Response:
        """One response, without what it says to a question where that is nothing that can be counted."""
        said = json.loads(self.answers[place])
        said = {name: {} if name == question.id else answer for name, answer in said.items()}
        standing, sent = Standing(self.standings[place]), tuple(json.loads(self.sent[place]))
        return Response("", "", int(self.versions[place]), standing, said, sent=sent)

    def _signs(
        self, asked: Questionnaire, question: Question, here: NDArray[np.int64], table: pa.Table
    ) -> Iterator[NDArray[Any]]:
        """All that decides whether a question was reached and shown, one array a part."""
        names = looked_at(asked, question)
        yield self._under_way[here]
        for name in (*names, question.id):
            page = asked.page_of(name)
            yield valid(plain(table[name]))[here]
            yield self._was_sent(page.id if page else "")[here]
        for name, column in self.columns.items():
            if id_of(name) in names:
                yield from column.signs(here)


_AT_ONCE = 2


def asked_in(versions: Mapping[int, Questionnaire]) -> dict[str, Asked]:
    """Every question of any version: as the newest asks it, then what only older ones asked.

    A question that was once of another kind stands under a name of its own, `ID@N`, as in exports: answers of two kinds
    cannot be counted together.
    """
    found: dict[str, Asked] = {}
    for version, names in names_over(versions).items():
        for page in versions[version].pages:
            for question in page.questions:
                name = names[question.id]
                known = found.get(name)
                merged = _merged(known.question, question) if known else replace(question, id=name)
                found[name] = Asked(merged, {**(known.pages if known else {}), version: (page, question)})
    return found


class Pieces:
    """Columns made of pieces, several at once; a piece that is the same as the last time is not read again."""

    def __init__(self, versions: Mapping[int, Questionnaire]) -> None:
        self._versions = versions
        self._asked = asked_in(versions)
        self._known: dict[int, Columns] = {}

    def columns(self, parts: Iterable[Sequence[Held]]) -> Columns:
        """All responses, from parts of them as the file holds them."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            known = dict(pool.map(self._piece, parts))
        self._known = known
        return _joined(list(known.values()), self._asked)

    def _piece(self, rows: Sequence[Held]) -> tuple[int, Columns]:
        key = hash(tuple(rows))
        return key, self._known.get(key) or _piece(rows, self._asked, self._versions)


def _joined(pieces: Sequence[Columns], asked: Mapping[str, Asked]) -> Columns:
    if len(pieces) == 1:
        return pieces[0]
    return Columns(
        tuple(name for piece in pieces for name in piece.ids),
        np.concatenate([piece.standings for piece in pieces]),
        np.concatenate([piece.versions for piece in pieces]),
        np.concatenate([piece.strata for piece in pieces]),
        np.concatenate([piece.synthetic for piece in pieces]),
        {name: _joined_column([piece.questions[name] for piece in pieces]) for name in asked},
    )


def _joined_column(columns: Sequence[Column]) -> Column:
    parts = ("missing", "chosen", "places", "numbers", "worded", "offered")
    return Column(columns[0].question, *(np.concatenate([getattr(one, part) for one in columns]) for part in parts))


def _merged(newer: Question, older: Question) -> Question:
    options: dict[str, Option] = {one.code: one for one in (*older.options, *newer.options)}
    rows: dict[str, Row] = {one.code: one for one in (*older.rows, *newer.rows)}
    newest = [one.code for one in newer.options]
    newest_rows = [one.code for one in newer.rows]
    return replace(
        newer,
        options=tuple(options[code] for code in dict.fromkeys([*newest, *options])),
        rows=tuple(rows[code] for code in dict.fromkeys([*newest_rows, *rows])),
    )


def _piece(rows: Sequence[Held], asked: Mapping[str, Asked], versions_asked: Mapping[int, Questionnaire]) -> Columns:
    ids, versions, standings, strata, sent, answers, synthetic = zip(*rows, strict=True) if rows else ([],) * 7
    numbered = np.array(versions, np.int64)
    table = parsed(answers, asked)
    read = {name: _column(one, table, numbered) for name, one in asked.items()}
    reasons = Reasons(versions_asked, read, numbered, np.array(standings, np.str_), sent, answers)
    filled = {name: replace(read[name], missing=reasons.of(one, table)) for name, one in asked.items()}
    return Columns(
        tuple(ids), reasons.standings, numbered, np.array(strata, np.str_), np.array(synthetic, np.bool_), filled
    )


def _column(asked: Asked, table: pa.Table, versions: NDArray[np.int64]) -> Column:
    """The answers as they stand; `missing` is only whether there is one, until the reasons are known."""
    question, n = asked.question, len(versions)
    here = np.isin(versions, list(asked.pages))
    said = plain(table[asked.kept_as])
    parts: Sequence[Row | Option] = question.rows if question.kind is Kind.MATRIX else question.options
    worded = np.zeros((n, len(parts)), np.bool_)
    for place, one in enumerate(parts):
        if one.text:
            worded[:, place] = valid(inside(said, "texts", one.code)) & here
    chosen, places, values = np.zeros((n, len(question.options)), np.bool_), NOBODY, np.empty(0)
    if question.kind in CHOSEN:
        chosen[_listed(inside(said, "choices"), question.options)[:2]] = True
        chosen[~here] = False
        answered = chosen.any(axis=1)
    elif question.kind is Kind.RANKING:
        places = np.zeros((n, len(question.options)), np.int16)
        who, what, rank = _listed(inside(said, "ranks"), question.options)
        places[who, what] = rank + 1
        places[~here] = 0
        answered = places.any(axis=1)
    elif question.kind is Kind.MATRIX:
        places = np.stack([_steps(said, row, question, here) for row in question.rows], axis=1)
        answered = (places >= 0).any(axis=1) | worded.any(axis=1)
    else:
        texts = inside(said, "number" if question.kind is Kind.NUMBER else "text")
        answered = valid(texts) & here
        if question.kind is Kind.NUMBER:
            values = np.full(n, np.nan)
            values[answered] = [_number(text) for text in texts.filter(pa.array(answered)).to_pylist()]
    missing = np.where(answered, ANSWERED, 0).astype(np.int16)
    return Column(question, missing, chosen, places, values, worded, _offered(asked, parts, versions))


def _offered(asked: Asked, parts: Sequence[Row | Option], versions: NDArray[np.int64]) -> Flags:
    """Whether each response could choose each option, or fill each row; nothing where all versions have them all."""
    matrix = asked.question.kind is Kind.MATRIX
    there = {
        version: {one.code for one in (question.rows if matrix else question.options)}
        for version, (_, question) in asked.pages.items()
    }
    if all(len(codes) == len(parts) for codes in there.values()):
        return np.empty((0, 0), np.bool_)
    having = [[version for version, codes in there.items() if one.code in codes] for one in parts]
    return np.stack([np.isin(versions, some) for some in having], axis=1)


def _number(text: str) -> float:
    """Infinite where it is none, as a file that somebody mended by hand may have it: it is told and not counted."""
    try:
        found = float(text)
    except ValueError:
        return math.inf
    return math.inf if math.isnan(found) else found


def _listed(column: pa.ListArray, options: Sequence[Option]) -> tuple[NDArray[np.int64], ...]:
    """Who named which option, and at which place of the list."""
    who = np.asarray(pc.list_parent_indices(column), np.int64)
    what = _coded(pc.list_flatten(column), [one.code for one in options])
    starts = np.searchsorted(who, who, side="left")
    place = np.arange(len(who)) - starts
    known = what >= 0
    return who[known], what[known], place[known]


def _coded(texts: pa.Array, codes: Sequence[str]) -> NDArray[np.int64]:
    found = pc.index_in(texts, value_set=pa.array(list(codes), pa.string()))
    return np.asarray(pc.fill_null(found, -1), np.int64)


def _steps(said: pa.StructArray, row: Row, question: Question, here: Flags) -> Small:
    found = _coded(inside(said, "rows", row.code), [one.code for one in question.options])
    return np.where(here, found, -1).astype(np.int16)
