"""What evidence says about decided items: dates, numbers, tags, and the words a page shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from quaestor.base.errors import StateError
from quaestor.corpus.engine import engine, read_table
from quaestor.corpus.evidence import read_manifest
from quaestor.corpus.questions import item_id, read_answers, read_questions
from quaestor.study.folder import Study
from quaestor.study.funnel import link_of

_DAY = 86_400.0


@dataclass(frozen=True)
class Known:
    """One item as evidence knows it; times are in days from the question."""

    item: str
    title: str
    tags: tuple[str, ...]
    created: datetime | None
    views: int | None
    score: int | None
    response_days: float | None
    first_answer_days: float | None
    author: str
    licence: str
    link: str
    columns: dict[str, str]
    """Columns that a study counts by, as text."""


def results_source(study: Study) -> str:
    return study.settings.results.source or study.funnel_source()


def known_items(study: Study, items: Iterable[str]) -> list[Known]:
    """What evidence holds about items, in the order of their ids; an id it lacks is missing."""
    source = results_source(study)
    evidence = study.evidence_of(source)
    manifest = read_manifest(evidence)
    if manifest is None:
        raise StateError(f"the source {source!r} has no evidence yet: run `quaestor ingest {source}` first")
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    wanted = [one.column for one in study.settings.attributes.values() if one.column is not None]
    with engine(study.funnel_folder) as connection:
        questions = read_questions(connection, evidence)
        for column in wanted:
            if column not in questions.columns:
                raise StateError(f"{study.file}: the source {source!r} has no column {column!r} to count by")
        questions = questions.mutate(item=item_id(questions, manifest.site))
        chosen = ibis.memtable({"item": sorted(set(items))}, schema={"item": "string"})
        rows = questions.semi_join(chosen, "item")
        rows = with_answer_times(rows, read_answers(connection, evidence))
        rows = _with_authors(connection, evidence, rows)
        found = rows.order_by("item").to_pyarrow().to_pylist()
    is_post = "posts" in manifest.tables
    return [_known(row, wanted, is_post) for row in found]


def with_answer_times(questions: ir.Table, answers: ir.Table | None) -> ir.Table:
    """Questions with the time of the accepted answer and of the first one, where the source has answers."""
    if answers is None:
        return questions
    accepted = answers.select(_accepted=answers.id, accepted_answer_date=answers.creation_date)
    first = answers.group_by(_parent=answers.parent_id).agg(first_answer_date=answers.creation_date.min())
    joined = questions.left_join(accepted, questions.accepted_answer_id == accepted._accepted).drop("_accepted")
    return joined.left_join(first, joined.id == first._parent).drop("_parent")


def _with_authors(connection: Backend, evidence: Path, rows: ir.Table) -> ir.Table:
    manifest = read_manifest(evidence)
    if manifest is None or "users" not in manifest.tables or "owner_user_id" not in rows.columns:
        return rows
    users = read_table(connection, evidence, "users")
    names = users.select(_user=users.id, author_name=users.display_name)
    return rows.left_join(names, rows.owner_user_id == names._user).drop("_user")


def _known(row: dict[str, Any], wanted: list[str], is_post: bool) -> Known:
    created = row.get("creation_date")
    number = row.get("owner_user_id")
    author = row.get("owner_display_name") or row.get("author_name") or (f"user {number}" if number else "")
    return Known(
        item=row["item"],
        title=str(row.get("title") or row["item"]),
        tags=tuple(row.get("tags") or ()),
        created=created,
        views=row.get("view_count"),
        score=row.get("score"),
        response_days=_days(created, row.get("accepted_answer_date")),
        first_answer_days=_days(created, row.get("first_answer_date")),
        author=str(author),
        licence=str(row.get("content_license") or ""),
        link=link_of(row["item"]) if is_post or "/question/" in row["item"] else "",
        columns={name: "" if row.get(name) is None else str(row[name]) for name in wanted},
    )


def _days(created: datetime | None, answered: datetime | None) -> float | None:
    return (answered - created).total_seconds() / _DAY if created and answered else None
