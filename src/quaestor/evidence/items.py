"""Items of evidence: each has a stable id, a hash of its content and its origin."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from quaestor.base.errors import StateError
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.engine import Backend, engine, ibis, ir, read_table
from quaestor.evidence.ingest import list_dump_sites, list_notes
from quaestor.evidence.live_items import explain_no_evidence, read_live_table
from quaestor.evidence.sources.protocol import LEFT_OUT
from quaestor.study.features import find_live_source
from quaestor.study.folder import Study

SOURCE = "source"
"""The stored column with the source of an item, in the table of drops of a funnel with several sources."""
HASHED = ("title", "body", "tags")
"""The columns that are the content of an item; counters such as views change although the post does not."""


def content_hash(values: Iterable[object]) -> str:
    """Returns the SHA-256 of the parts of an item; each part is preceded by its length, so that none run together."""
    digest = hashlib.sha256()
    for value in values:
        text = "\x1f".join(value) if isinstance(value, list) else "" if value is None else str(value)
        raw = text.encode("utf-8")
        digest.update(f"{len(raw)}:".encode())
        digest.update(raw)
    return digest.hexdigest()


_ADDED = ("content_hash", "source", "inputs_sha256")


def identity_schema(schema: pa.Schema) -> pa.Schema:
    """Returns a schema with the columns that `add_identity` adds."""
    return pa.schema([*schema, *(pa.field(name, pa.string()) for name in _ADDED)])


def add_identity(batches: Iterable[pa.RecordBatch], source: str, inputs: str) -> Iterator[pa.RecordBatch]:
    """Adds content hash and provenance to batches of items."""
    for batch in batches:
        parts = [batch.column(name).to_pylist() for name in HASHED if name in batch.schema.names]
        hashes = (
            [content_hash(row) for row in zip(*parts, strict=True)] if parts else [content_hash(())] * batch.num_rows
        )
        added = [pa.array(values, pa.string()) for values in (hashes, [source] * len(hashes), [inputs] * len(hashes))]
        yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=identity_schema(batch.schema))


_QUESTION, _ANSWER = 1, 2
_FEW = 1_000
"""Up to this many values are listed in the query; more are joined."""


def read_items(connection: Backend, study: Study, source: str) -> ir.Table:
    """Returns the items of a source with their ids in `item`: questions, or rows of a table.

    The id of a question looks like `stackoverflow/question/34454721`; a table has its own ids.
    """
    live = find_live_source(study, source)
    if live is not None:
        connection.raw_sql("SET temp_directory = ''")  # private words are never written to disk
        items = ibis.memtable(read_live_table(study, source, live))
        return items.mutate(item=study.prefix + items.item) if study.prefix else items
    evidence = study.evidence_of(source)
    manifest = read_manifest(evidence)
    if manifest is None:
        raise explain_no_evidence(study, source)
    if "posts" not in manifest.tables:
        items = read_table(connection, evidence, "items")
        return items.mutate(item=study.prefix + items.item) if study.prefix else items
    posts = read_table(connection, evidence, "posts")
    return _add_question_ids(study, posts.filter(posts.post_type_id == _QUESTION), manifest.site)


def read_items_by_source(connection: Backend, study: Study) -> dict[str, ir.Table]:
    """Returns the items of each source of the strand.

    They stay separate tables: numbers of posts repeat between sites, and tables can have different columns.
    """
    return {source: read_items(connection, study, source) for source in study.funnel_sources()}


def select_drops(drops: ir.Table, study: Study, source: str) -> ir.Table:
    """Returns the rows of a source in the table of drops, which names the source of an item only if it has several."""
    if SOURCE in drops.columns:
        return drops.filter(drops[SOURCE] == source)
    if len(study.funnel_sources()) > 1:
        raise StateError("study.toml has other sources than when the funnel ran: run `quaestor funnel` again")
    return drops


def _add_question_ids(study: Study, questions: ir.Table, site: str) -> ir.Table:
    return questions.mutate(item=f"{study.prefix}{site}/question/" + questions.id.cast("string"))


def read_left_out(connection: Backend, study: Study, source: str, site: str) -> ir.Table | None:
    """Returns the stored examples of questions that an ingest by tag skipped, or None if there are none."""
    files = sorted((study.evidence_of(source) / LEFT_OUT).glob("*.parquet"))
    if not files:
        return None
    return _add_question_ids(study, connection.read_parquet([str(path) for path in files]), site)


def choose_rows(table: ir.Table, column: str, values: Iterable[Any]) -> ir.Table:
    """Selects rows with one of the values; a few are listed in the query, so that most of a large file is skipped."""
    distinct = sorted(set(values))
    if len(distinct) <= _FEW:
        return table.filter(table[column].isin(distinct))
    return table.semi_join(ibis.memtable(pa.table({column: distinct})), column)


def warm_up_engine(study: Study) -> None:
    """Runs a trivial query, since the first query of a process takes a third of a second longer."""
    with engine(study.funnel_folder) as connection:
        connection.to_pyarrow(ibis.literal(1).name("one").as_table())


def read_answers(connection: Backend, evidence: Path) -> ir.Table | None:
    """Returns every answer, or None if the source has none."""
    manifest = read_manifest(evidence)
    if manifest is None or "posts" not in manifest.tables:
        return None
    posts = read_table(connection, evidence, "posts")
    return posts.filter(posts.post_type_id == _ANSWER)


def item_key(items: ir.Table) -> str:
    """Returns the column by which items are joined with the table of drops: rows of a table can change their number."""
    return "item" if "row_number" in items.columns else "id"


def item_number(questions: ir.Table) -> ir.IntegerValue:
    """Returns the number of an item within its source."""
    return questions.row_number if "row_number" in questions.columns else questions.id


_SITES = {"stackoverflow", "serverfault", "superuser", "askubuntu", "stackapps"}


def item_link(study: Study, item: str) -> str:
    """Returns the web address of a question from a dump of this study or from a well-known site; empty if unknown.

    Items of a study with synthetic posts have no link: it would lead to an unrelated real question.
    """
    prefix = study.in_strand_of(item).prefix
    site, _, number = item.removeprefix(prefix).partition("/question/")
    is_known = site in _SITES or site.endswith(".stackoverflow")
    if not number.isdigit() or not (is_known or site in list_dump_sites(study)):
        return ""
    if any("synthetic" in note.casefold() for note in list_notes(study)):
        return ""
    return f"https://{site}.com/q/{number}" if is_known else f"https://{site}.stackexchange.com/q/{number}"
