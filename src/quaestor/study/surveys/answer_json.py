"""Answers as the file holds them, from JSON to Arrow: many at once, and only the fields that questions have."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from quaestor.instruments.records import CHOSEN, Kind
from quaestor.study.surveys.column_records import Asked, Flags


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
