"""What the columns of a survey's answers are: the answers to one question in the order of the responses."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
from numpy.typing import NDArray

from quaestor.surveys.model.records import CHOSEN, Kind, Missing, Page, Question

Flags = NDArray[np.bool_]
Small = NDArray[np.int16]
Floats = NDArray[np.float64]

REASONS = (Missing.NOT_SHOWN, Missing.SKIPPED, Missing.NOT_REACHED)
ANSWERED = -1
_BITS = 62
NOBODY: Small = np.empty((0, 0), np.int16)
Held = tuple[str, int, str, str, str, str, int]
"""Id, version, standing, stratum, pages that were sent, answers, whether it is synthetic: as the file holds them."""


@dataclass(frozen=True)
class Asked:
    """A question over all versions that ask it in the same way, with every option and row one of them has."""

    question: Question
    pages: Mapping[int, tuple[Page, Question]]
    """By version: where it stands, and as it is asked there."""

    @property
    def kept_as(self) -> str:
        """The name under which its answers lie in the file."""
        _, question = next(iter(self.pages.values()))
        return question.id


@dataclass(frozen=True)
class Column:
    """All answers to one question, in the order of the responses."""

    question: Question
    missing: Small
    """`ANSWERED`, or the place of the reason in `REASONS`."""
    chosen: Flags
    """Choices: by option."""
    places: Small = field(default_factory=lambda: NOBODY)
    """Matrix: the step by row, −1 for none. Ranking: the place by option, 0 for none."""
    numbers: Floats = field(default_factory=lambda: np.empty(0))
    worded: Flags = field(default_factory=lambda: np.empty((0, 0), np.bool_))
    """Words of one's own by option or row."""
    offered: Flags = field(default_factory=lambda: np.empty((0, 0), np.bool_))
    """Whether the version has the option, of a matrix the row; empty where every version has all."""

    @property
    def answered(self) -> Flags:
        found: Flags = self.missing == ANSWERED
        return found

    def signs(self, here: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        """All that tells answers apart but free words, one array a part, for responses at these places."""
        yield self.answered[here]
        if self.chosen.shape[1] <= _BITS:
            yield self.chosen[here] @ (1 << np.arange(self.chosen.shape[1], dtype=np.int64))
        else:
            yield from self.chosen[here].T
        yield from self.worded[here].T
        yield from self.places[here].T if self.places.size else ()
        if self.numbers.size:
            yield np.nan_to_num(self.numbers[here], nan=-np.inf)


@dataclass(frozen=True)
class Columns:
    """Every response to a survey, whether it is used or not."""

    ids: tuple[str, ...]
    standings: NDArray[np.str_]
    versions: NDArray[np.int64]
    strata: NDArray[np.str_]
    synthetic: Flags
    questions: Mapping[str, Column]

    def __len__(self) -> int:
        return len(self.ids)


def parsed(answers: Sequence[str], asked: Mapping[str, Asked]) -> pa.Table:
    """A column for every question, in the order of the answers; what belongs to no question is passed over."""
    names = {one.kept_as for one in asked.values()}
    schema = pa.schema([(name, _kind_of([one for one in asked.values() if one.kept_as == name])) for name in names])
    if not answers or not names:
        return schema.empty_table()
    try:
        return _read_json(answers, schema)
    except pa.ArrowInvalid:  # half of a pair of surrogates, which JSON can hold and no text should
        return _read_json([_mended(text) for text in answers], schema)


def _read_json(answers: Sequence[str], schema: pa.Schema) -> pa.Table:
    whole = "\n".join(answers).encode()
    longest = max(map(len, answers))
    return pj.read_json(
        io.BytesIO(whole),
        read_options=pj.ReadOptions(block_size=max(1 << 22, 2 * longest)),
        parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    ).combine_chunks()


def _mended(text: str) -> str:
    said = json.dumps(json.loads(text), ensure_ascii=False)
    return said.encode("utf-8", "replace").decode()


def _kind_of(asked: Sequence[Asked]) -> pa.DataType:
    """The fields of a question's answers, of all its kinds."""
    fields: dict[str, pa.DataType] = {}
    words: dict[str, pa.DataType] = {}
    steps: dict[str, pa.DataType] = {}
    for one in asked:
        kind = one.question.kind
        words |= {part.code: pa.string() for part in one.question.options if part.text}
        words |= {part.code: pa.string() for part in one.question.rows if part.text}
        steps |= {row.code: pa.string() for row in one.question.rows}
        if kind in CHOSEN:
            fields["choices"] = pa.list_(pa.string())
        elif kind is Kind.RANKING:
            fields["ranks"] = pa.list_(pa.string())
        elif kind is not Kind.MATRIX:
            fields["number" if kind is Kind.NUMBER else "text"] = pa.string()
    if words:
        fields["texts"] = pa.struct(list(words.items()))
    if steps:
        fields["rows"] = pa.struct(list(steps.items()))
    return pa.struct(list(fields.items()))


def plain(column: pa.ChunkedArray) -> pa.StructArray:
    """A column in one piece."""
    chunks = column.chunks
    return chunks[0] if chunks else pa.array([], column.type)


def inside(said: pa.StructArray, *names: str) -> pa.Array:
    """A field within a field; null wherever something around it is."""
    found: pa.Array = said
    for name in names:
        found = pc.struct_field(found, name)
    return found


def valid(column: pa.Array) -> Flags:
    """Where something stands."""
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
