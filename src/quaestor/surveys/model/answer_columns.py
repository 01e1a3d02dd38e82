"""The answers to one question as arrays, in the order of the responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.surveys.model.records import MatrixRow, Missing, Option, Question

Flags = NDArray[np.bool_]
Small = NDArray[np.int16]
Floats = NDArray[np.float64]

REASONS = (Missing.NOT_SHOWN, Missing.SKIPPED, Missing.NOT_REACHED)
ANSWERED = -1
_BITS = 62


def _no_flags() -> Flags:
    return np.empty((0, 0), np.bool_)


@dataclass(frozen=True)
class AnswerColumn:
    """All answers to one question, in the order of the responses."""

    question: Question
    missing: Small
    """`ANSWERED`, or the index of the reason in `REASONS`."""
    chosen: Flags
    """Choices: by option."""
    places: Small = field(default_factory=lambda: np.empty((0, 0), np.int16))
    """Matrix: the step by row, −1 for none. Ranking: the rank by option, 0 for none."""
    numbers: Floats = field(default_factory=lambda: np.empty(0))
    with_text: Flags = field(default_factory=_no_flags)
    """Whether an option or row has free text."""
    texts: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))
    """Link values: the value, empty for none."""
    offered: Flags = field(default_factory=_no_flags)
    """Whether the version has the option (of a matrix, the row); empty if every version has all."""
    offered_steps: Flags = field(default_factory=_no_flags)
    """Matrix: whether the version has the step; empty if every version has all."""

    @property
    def answered(self) -> Flags:
        answered: Flags = self.missing == ANSWERED
        return answered

    def signs(self, here: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        """Yields one array for each part that distinguishes answers, except free text, for these responses."""
        yield self.answered[here]
        if self.chosen.shape[1] <= _BITS:
            yield self.chosen[here] @ (1 << np.arange(self.chosen.shape[1], dtype=np.int64))
        else:
            yield from self.chosen[here].T
        yield from self.with_text[here].T
        yield from self.places[here].T if self.places.size else ()
        if self.numbers.size:
            yield np.nan_to_num(self.numbers[here], nan=-np.inf)


def build_column(question: Question, answered: ArrayLike, **arrays: Any) -> AnswerColumn:
    """Returns a column whose `missing` only states whether there is an answer, until reasons are computed."""
    missing = np.where(answered, ANSWERED, 0).astype(np.int16)
    nothing = np.zeros((len(missing), len(question.options)), np.bool_)
    return AnswerColumn(question, missing, **{"chosen": nothing, "with_text": nothing[:, :0], **arrays})


def find_reasons(column: AnswerColumn, row: int | None = None) -> Small:
    """Returns why each response has no answer; an empty row of an answered matrix counts as skipped.

    A row that is not in the response's version counts as not shown.
    """
    if row is None:
        return column.missing
    lacking = column.answered & (column.places[:, row] < 0)
    reasons = np.where(lacking, REASONS.index(Missing.SKIPPED), column.missing)
    if column.offered.size:
        reasons = np.where(column.offered[:, row], reasons, REASONS.index(Missing.NOT_SHOWN))
    return np.where(column.places[:, row] >= 0, ANSWERED, reasons).astype(np.int16)


def count_reasons(reasons: Small) -> dict[Missing, int]:
    counts = {reason: int((reasons == place).sum()) for place, reason in enumerate(REASONS)}
    return {reason: count for reason, count in counts.items() if count}


def find_index(code: str, known: Sequence[str], what: str) -> int:
    """Returns the index of a code; raises InputError with the nearest known ones."""
    if code not in known:
        raise InputError(f"unknown {what}: {code!r}, available: {suggest(code, known)}")
    return list(known).index(code)


def nested_field(answers: pa.StructArray, *names: str) -> pa.Array:
    """Returns a nested field; null if any outer field is null."""
    values: pa.Array = answers
    for name in names:
        values = pc.struct_field(values, name)
    return values


def valid(values: pa.Array) -> Flags:
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False), np.bool_)


def option_places(texts: pa.Array, codes: Sequence[str]) -> NDArray[np.int64]:
    """Returns the index of each text among the codes, −1 if unknown."""
    places = pc.index_in(texts, value_set=pa.array(list(codes), pa.string()))
    return np.asarray(pc.fill_null(places, -1), np.int64)


def listed_options(lists: pa.ListArray, options: Sequence[Option]) -> tuple[NDArray[np.int64], ...]:
    """Returns response, option and position of every list entry."""
    who = np.asarray(pc.list_parent_indices(lists), np.int64)
    what = option_places(pc.list_flatten(lists), [option.code for option in options])
    starts = np.searchsorted(who, who, side="left")
    place = np.arange(len(who)) - starts
    known = what >= 0
    return who[known], what[known], place[known]


def texts_written(answers: pa.StructArray, parts: Sequence[Option | MatrixRow], here: Flags) -> Flags:
    """Returns by response and part whether there is free text."""
    with_text = np.zeros((len(here), len(parts)), np.bool_)
    for place, part in enumerate(parts):
        if part.text:
            with_text[:, place] = valid(nested_field(answers, "texts", part.code)) & here
    return with_text
