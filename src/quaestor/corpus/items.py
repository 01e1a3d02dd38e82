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


def with_identity(batches: Iterable[pa.RecordBatch], source: str, inputs: str) -> Iterator[pa.RecordBatch]:
    """Batches of items with their content hash and provenance added."""
    for batch in batches:
        parts = [batch.column(name).to_pylist() for name in HASHED if name in batch.schema.names]
        hashes = (
            [content_hash(row) for row in zip(*parts, strict=True)] if parts else [content_hash(())] * batch.num_rows
        )
        columns = {name: batch.column(name) for name in batch.schema.names}
        columns["content_hash"] = pa.array(hashes, pa.string())
        columns["source"] = pa.array([source] * batch.num_rows, pa.string())
        columns["inputs_sha256"] = pa.array([inputs] * batch.num_rows, pa.string())
        yield pa.RecordBatch.from_pydict(columns)
