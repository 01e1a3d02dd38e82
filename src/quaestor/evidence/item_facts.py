"""Dates, counts, tags and authors of items, read from evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa

from quaestor.base.errors import StateError
from quaestor.evidence.engine import engine, ibis, ir, read_table
from quaestor.evidence.funnel import dropped_at_file
from quaestor.evidence.items import (
    item_link,
    item_number,
    read_answers,
    read_items,
    read_items_by_source,
    select_drops,
)
from quaestor.evidence.live_items import read_source_manifest
from quaestor.study.folder import Study
from quaestor.study.session import Session
from quaestor.study.settings.coding import ItemConditions
from quaestor.study.settings.publication import AttributeSettings

_DAY = 86_400.0


@dataclass(frozen=True)
class ItemFacts:
    """What evidence says about one item; times are in days since the question was asked."""

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
    """The values of the columns that the study groups by, as text."""


def read_item_facts(study: Study, source: str, items: Iterable[str]) -> list[ItemFacts]:
    """Reads facts about items of the strand from a source, in the order of their ids; unknown ids are omitted."""
    evidence = study.evidence_of(source)
    manifest = read_source_manifest(study, source)
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    columns = [attribute.column for attribute in study.settings.attributes.values() if attribute.column is not None]
    with engine(study.funnel_folder) as connection:
        rows = read_items(connection, study, source)
        for column in columns:
            if column not in rows.columns:
                raise StateError(f"{study.file}: an attribute names the column {column!r}, which {source!r} lacks")
        rows = rows.semi_join(ibis.memtable({"item": sorted(set(items))}, schema={"item": "string"}), "item")
        rows = _join_answer_times(rows, read_answers(connection, evidence))
        if manifest is not None and "users" in manifest.tables and "owner_user_id" in rows.columns:
            users = read_table(connection, evidence, "users")
            names = users.select(_user=users.id, author_name=users.display_name)
            rows = rows.left_join(names, rows.owner_user_id == names._user).drop("_user")
        records = rows.order_by("item").to_pyarrow().to_pylist()
    return [_build_facts(study, record, columns) for record in records]


def _build_facts(study: Study, row: dict[str, Any], columns: list[str]) -> ItemFacts:
    created = row.get("creation_date")
    number = row.get("owner_user_id")
    author = row.get("owner_display_name") or row.get("author_name") or (f"user {number}" if number else "")
    return ItemFacts(
        item=row["item"],
        title=str(row.get("title") or row["item"]),
        tags=tuple(row.get("tags") or ()),
        created=created,
        views=row.get("view_count"),
        score=row.get("score"),
        response_days=_count_days(created, row.get("accepted_answer_date")),
        first_answer_days=_count_days(created, row.get("first_answer_date")),
        author=str(author),
        licence=str(row.get("content_license") or ""),
        link=item_link(study, row["item"]),
        columns={name: "" if row.get(name) is None else str(row[name]) for name in columns},
    )


def _count_days(created: datetime | None, answered: datetime | None) -> float | None:
    return (answered - created).total_seconds() / _DAY if created and answered else None


def _join_answer_times(questions: ir.Table, answers: ir.Table | None) -> ir.Table:
    """Adds the times of the accepted and of the first answer, if the source has answers."""
    if answers is None:
        return questions
    accepted = answers.select(_accepted=answers.id, accepted_answer_date=answers.creation_date)
    first = answers.group_by(_parent=answers.parent_id).agg(first_answer_date=answers.creation_date.min())
    joined = questions.left_join(accepted, questions.accepted_answer_id == accepted._accepted).drop("_accepted")
    return joined.left_join(first, joined.id == first._parent).drop("_parent")


def read_questions_at_step(study: Study, number: int, session: Session[Any] | None = None) -> pa.Table:
    """Reads views, scores and answer times of the questions that reached a step, and the step that dropped each."""
    for source in study.funnel_sources():
        if read_source_manifest(study, source) is None:
            raise StateError(f"it needs the dump of {source!r}, which has not been ingested in this study")
    tables = []
    with engine(study.funnel_folder) as connection:
        drops = connection.read_parquet(str(dropped_at_file(study, session)))
        for source, questions in read_items_by_source(connection, study).items():
            own = select_drops(drops, study, source)
            chosen = own.filter(own.fell_at >= number).select(_key=own.id, fell_at=own.fell_at)
            answers = read_answers(connection, study.evidence_of(source))
            if answers is None:
                raise StateError("the funnel's source has no answers, so what the filter dropped cannot be examined")
            rows = questions.mutate(_number=item_number(questions))
            rows = _join_answer_times(rows.inner_join(chosen, rows._number == chosen._key), answers)
            columns = ("fell_at", "view_count", "score", "creation_date", "accepted_answer_date", "first_answer_date")
            tables.append(rows.select(*columns).to_pyarrow())
    return pa.concat_tables(tables)


def read_column(study: Study, source: str, column: str) -> dict[str, Any]:
    """Returns one column of a table source, by item."""
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        rows = read_items(connection, study, source).select("item", column).to_pyarrow()
    return dict(zip(rows["item"].to_pylist(), rows[column].to_pylist(), strict=True))


def filter_items(study: Study, items: Sequence[str], conditions: ItemConditions) -> list[str]:
    """Returns the items, all of one strand, with the year, tag, tag family and attributes of the conditions."""
    attributes = [(study.settings.attributes[name], value) for name, value in conditions.attributes.items()]
    columns = [attribute.column for attribute, _ in attributes if attribute.column is not None]
    columns += ["creation_date"] if conditions.year else []
    if conditions.tag or conditions.family or any(attribute.first_of for attribute, _ in attributes):
        columns.append("tags")
    if not items or not columns:
        return list(items)
    study, families = study.in_strand_of(items[0]), study.settings.families
    records: list[dict[str, Any]] = []
    with engine(study.funnel_folder) as connection:
        for source, rows in read_items_by_source(connection, study).items():
            for column in columns:
                if column not in rows.columns:
                    raise StateError(f"the source {source!r} has no column {column!r}: change items.where")
            chosen = rows.semi_join(ibis.memtable({"item": sorted(set(items))}, schema={"item": "string"}), "item")
            records += chosen.select("item", *dict.fromkeys(columns)).to_pyarrow().to_pylist()

    def matches(record: dict[str, Any]) -> bool:
        tags = [tag.lower() for tag in record.get("tags") or ()]
        return (
            (not conditions.year or getattr(record["creation_date"], "year", None) == conditions.year)
            and (not conditions.tag or conditions.tag.lower() in tags)
            and (not conditions.family or _has_family(tags, families[conditions.family]))
            and all(_read_attribute(attribute, families, record, tags) == value for attribute, value in attributes)
        )

    matching = {record["item"] for record in records if matches(record)}
    return [item for item in items if item in matching]


def _has_family(tags: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(tag, pattern.lower()) for tag in tags for pattern in patterns)


def _read_attribute(
    attribute: AttributeSettings, families: Mapping[str, Sequence[str]], record: Mapping[str, Any], tags: Sequence[str]
) -> str:
    """Returns the value of an attribute as results show it: the first matching family, or the column as text."""
    if attribute.column is not None:
        return "" if record[attribute.column] is None else str(record[attribute.column])
    return next((family for family in attribute.first_of if _has_family(tags, families[family])), "")


def read_post_counts(study: Study, key: str) -> int | None:
    """Returns how many `questions` or `answers` the dumps of the funnel have, or None if it reads no dump."""
    manifests = [read_source_manifest(study, source) for source in study.funnel_sources()]
    entries = [manifest.tables["posts"] for manifest in manifests if manifest and "posts" in manifest.tables]
    counts = (entry.notable.get(f"{key}_read", entry.notable.get(key, 0)) for entry in entries)
    return sum(map(int, counts)) if entries else None
