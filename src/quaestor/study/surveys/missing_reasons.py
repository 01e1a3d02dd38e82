"""Why responses have no answer, by the rules of `instruments.flow.missing`, for many responses at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from quaestor.instruments.conditions import Condition
from quaestor.instruments.records import Missing, Standing
from quaestor.study.surveys.answer_json import plain, valid
from quaestor.study.surveys.column_records import ANSWERED, REASONS, Asked, Column, Flags, Small

_BITS = 62


@dataclass(frozen=True)
class Reasons:
    """The reasons of some responses; each condition is looked at once for each set of answers it can tell apart."""

    columns: Mapping[str, Column]
    versions: NDArray[np.int64]
    standings: NDArray[np.str_]
    sent: Sequence[str]
    answers: Sequence[str]
    _known: dict[tuple[int, Condition], Flags] = field(default_factory=dict)

    def of(self, asked: Asked, table: pa.Table) -> Small:
        missing = self.columns[asked.question.id].missing.copy()
        lacking = missing != ANSWERED
        present = valid(plain(table[asked.kept_as]))
        reason = np.full(len(missing), REASONS.index(Missing.NOT_SHOWN), np.int16)
        for version, (page, question) in asked.pages.items():
            wanted = lacking & (self.versions == version)
            for condition in (page.show_if, question.show_if):
                wanted = wanted & self._holds(version, condition) if condition is not None else wanted
            late = ~present & ((self.standings == Standing.OPEN.value) | ~self._was_sent(page.id))
            reason[wanted] = REASONS.index(Missing.SKIPPED)
            reason[wanted & late] = REASONS.index(Missing.NOT_REACHED)
        missing[lacking] = reason[lacking]
        return missing

    def _was_sent(self, page: str) -> Flags:
        texts, places = self._pages_sent
        return np.array([page in text for text in texts], np.bool_)[places]

    @cached_property
    def _pages_sent(self) -> tuple[list[list[str]], NDArray[np.int64]]:
        """The few different lists of pages there are, and which one each response has."""
        known = {text: place for place, text in enumerate(dict.fromkeys(self.sent))}
        return [json.loads(text) for text in known], np.array([known[text] for text in self.sent], np.int64)

    def _holds(self, version: int, condition: Condition) -> Flags:
        """Asked once for each set of answers that it can tell apart."""
        key = (version, condition)
        if key not in self._known:
            here = np.flatnonzero(self.versions == version)
            holds = np.zeros(len(self.versions), np.bool_)
            looked_at = sorted({test.question for test in condition.tests()})
            sign = np.zeros(len(here), np.int64)
            for part in self._signs(looked_at, here):
                # Each part doubles or multiplies what can be told apart; what really occurs is numbered anew.
                values, number = np.unique(part, return_inverse=True)
                sign = sign * len(values) + number
                sign = np.unique(sign, return_inverse=True)[1]
            _, first = np.unique(sign, return_index=True)
            told = [condition.holds(json.loads(self.answers[here[place]])) for place in first]
            holds[here] = np.array(told, np.bool_)[sign]
            self._known[key] = holds
        return self._known[key]

    def _signs(self, names: Sequence[str], here: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        """All that a condition can look at in these questions, one array a part."""
        for name, column in self.columns.items():
            if name.partition(" (")[0] not in names:
                continue
            yield column.answered[here]
            if column.chosen.shape[1] <= _BITS:
                powers = 1 << np.arange(column.chosen.shape[1], dtype=np.int64)
                yield column.chosen[here] @ powers
            else:
                yield from column.chosen[here].T
            yield from column.worded[here].T
            yield from column.places[here].T if column.places.size else ()
            if column.numbers.size:
                yield np.nan_to_num(column.numbers[here], nan=-np.inf)
