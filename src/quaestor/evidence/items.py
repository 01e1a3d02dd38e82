"""Items: evidence with a stable id, a hash of its content and where it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.duckdb import Backend

from quaestor.base.errors import StateError
from quaestor.evidence.dataset import read_manifest, list_table_files
from quaestor.evidence.engine import engine, read_table
from quaestor.evidence.ingest import list_dump_sites, list_notes
from quaestor.evidence.sources.protocol import LEFT_OUT
from quaestor.study.folder import Study

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


def add_identity(batches: Iterable[pa.RecordBatch], source: str, inputs: str) -> Iterator[pa.RecordBatch]:
    """Batches of items with their content hash and provenance added."""
    for batch in batches:
        parts = [batch.column(name).to_pylist() for name in HASHED if name in batch.schema.names]
        hashes = (
            [content_hash(row) for row in zip(*parts, strict=True)] if parts else [content_hash(())] * batch.num_rows
        )
        added = [pa.array(values, pa.string()) for values in (hashes, [source] * len(hashes), [inputs] * len(hashes))]
        yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=identity_schema(batch.schema))


_QUESTION, _ANSWER = 1, 2
_FEW = 1_000
"""Values that a query names one by one; more are joined."""


def read_items(connection: Backend, evidence: Path) -> ir.Table:
    """Every question (or, of a table source, every item); `item` is its stable id."""
    manifest = read_manifest(evidence)
    if manifest is None:
        raise StateError(f"there is no evidence in {evidence}: run `quaestor ingest` first")
    if "posts" not in manifest.tables:
        return read_table(connection, evidence, "items")
    posts = read_table(connection, evidence, "posts")
    return posts.filter(posts.post_type_id == _QUESTION)


def read_left_out(connection: Backend, evidence: Path, site: str) -> ir.Table | None:
    """A few of the questions that a selection by tag left out, where it is one."""
    files = sorted((evidence / LEFT_OUT).glob("*.parquet"))
    if not files:
        return None
    left_out = connection.read_parquet([str(path) for path in files])
    return left_out.mutate(item=item_id(left_out, site))


def choose_rows(table: ir.Table, column: str, values: Iterable[Any]) -> ir.Table:
    """Rows with one of the values: a few are named in the query, so that most of a large file need not be read."""
    wanted = sorted(set(values))
    if len(wanted) <= _FEW:
        return table.filter(table[column].isin(wanted))
    return table.semi_join(ibis.memtable(pa.table({column: wanted})), column)


def warm_up_engine(study: Study) -> None:
    """Load what the first query of a process loads, which takes a third of a second."""
    with engine(study.funnel_folder) as connection:
        connection.to_pyarrow(ibis.literal(1).name("one").as_table())


def list_evidence_files(study: Study, source: str) -> list[Path]:
    """The Parquet files of a source, of all its tables; none where it has not been ingested."""
    folder = study.evidence_of(source)
    manifest = read_manifest(folder)
    return [path for table in manifest.tables for path in list_table_files(folder, table)] if manifest else []


def item_id(questions: ir.Table, site: str) -> ir.StringValue:
    """`stackoverflow/question/34454721`; a table source brings its own."""
    if "item" in questions.columns:
        return questions.item
    return f"{site}/question/" + questions.id.cast("string")


def read_answers(connection: Backend, evidence: Path) -> ir.Table | None:
    """Every answer, where the source has them."""
    manifest = read_manifest(evidence)
    if manifest is None or "posts" not in manifest.tables:
        return None
    posts = read_table(connection, evidence, "posts")
    return posts.filter(posts.post_type_id == _ANSWER)


def item_number(questions: ir.Table) -> ir.IntegerValue:
    """The number an item is known by within its source."""
    return questions.row_number if "row_number" in questions.columns else questions.id


_HOSTS = {"stackoverflow", "serverfault", "superuser", "askubuntu", "stackapps"}


def item_link(study: Study, item: str) -> str:
    """Where an item can be read on the web: a question of a dump of this study, or of a site that is known by its name.

    In a study with invented posts no item has a link: it would lead to a question which somebody else asked.
    """
    site, _, number = item.partition("/question/")
    is_known = site in _HOSTS or site.endswith(".stackoverflow")
    if not number.isdigit() or not (is_known or site in list_dump_sites(study)):
        return ""
    if any("synthetic" in note.casefold() for note in list_notes(study)):
        return ""
    return f"https://{site}.com/q/{number}" if is_known else f"https://{site}.stackexchange.com/q/{number}"
