"""Why responses have no answer, as `instruments.flow.missing` tells it, for many responses at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quaestor.instruments.flow import missing
from quaestor.instruments.records import Missing, Question, Questionnaire, Response, Standing
from quaestor.instruments.still_ahead import looked_at
from quaestor.instruments.versions import id_of
from quaestor.study.surveys.answer_json import plain, valid
from quaestor.study.surveys.column_records import ANSWERED, REASONS, Asked, Column, Flags, Small


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
