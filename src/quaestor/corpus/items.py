"""Items: evidence with a stable id, a hash of its content and where it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import pyarrow as pa

HASHED = ("title", "body", "tags")
"""What makes the content of an item; counters such as views change without the post changing."""


def content_hash(values: Iterable[object]) -> str:
    """The SHA-256 over parts of an item; each part is preceded by its length, so no two items mix."""
    digest = hashlib.sha256()
    for value in values:
        text = "\x1f".join(value) if isinstance(value, list) else "" if value is None else str(value)
        raw = text.encode("utf-8")
        digest.update(f"{len(raw)}:".encode())
        digest.update(raw)
    return digest.hexdigest()


_ADDED = ("content_hash", "source", "inputs_sha256")


def identity_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of items before their identity is added, and after."""
    return pa.schema([*schema, *(pa.field(name, pa.string()) for name in _ADDED)])


def with_identity(batches: Iterable[pa.RecordBatch], source: str, inputs: str) -> Iterator[pa.RecordBatch]:
    """Batches of items with their content hash and provenance added."""
    for batch in batches:
        parts = [batch.column(name).to_pylist() for name in HASHED if name in batch.schema.names]
        hashes = (
            [content_hash(row) for row in zip(*parts, strict=True)] if parts else [content_hash(())] * batch.num_rows
        )
        added = [pa.array(values, pa.string()) for values in (hashes, [source] * len(hashes), [inputs] * len(hashes))]
        yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=identity_schema(batch.schema))
