"""The questions of a source as one table with the same columns wherever they come from."""

from __future__ import annotations

from pathlib import Path

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from quaestor.base.errors import StateError
from quaestor.corpus.engine import read_table
from quaestor.corpus.evidence import read_manifest
from quaestor.sources.records import LEFT_OUT

_QUESTION, _ANSWER = 1, 2


def read_questions(connection: Backend, evidence: Path) -> ir.Table:
    """Every question (or, of a table source, every item); `item` is its stable id."""
    manifest = read_manifest(evidence)
    if manifest is None:
        raise StateError(f"there is no evidence in {evidence}: run `quaestor ingest` first")
    if "posts" not in manifest.tables:
        return read_table(connection, evidence, "items")
    posts = read_table(connection, evidence, "posts")
    return posts.filter(posts.post_type_id == _QUESTION)


def read_left_out(connection: Backend, evidence: Path) -> ir.Table | None:
    """A few of the questions that a selection by tag left out, where it is one."""
    files = sorted((evidence / LEFT_OUT).glob("*.parquet"))
    return connection.read_parquet([str(path) for path in files]) if files else None


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
