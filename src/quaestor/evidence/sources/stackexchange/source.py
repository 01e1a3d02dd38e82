"""A Stack Exchange dump: whole, or the questions with wanted tags, their answers and what belongs to them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import (
    PUT_INPUT,
    IngestPlan,
    Progress,
    Sink,
    SourceRequest,
    TableCounts,
    no_progress,
)
from quaestor.evidence.sources.stackexchange import workers
from quaestor.evidence.sources.stackexchange.inputs import TableInput, find_tables, guess_site
from quaestor.evidence.sources.stackexchange.schema import POSTS, TAG_LIST
from quaestor.evidence.sources.stackexchange.worker_tasks import (
    KeepAll,
    KeepAnswers,
    KeepKeyed,
    KeepSpooledAnswers,
    KeepTagged,
    Spool,
    choose_spool_path,
)
from quaestor.evidence.sources.stackexchange.workers import WorkerResult
from quaestor.study.settings.sources import SourceSettings

TRUTH = "truth.json"
"""Lies next to a synthetic dump and says so."""


class StackExchangeSettings(SourceSettings):
    """Where the dump is, which site it is, and which tags are wanted (none given: the whole dump)."""

    kind: Literal["stackexchange"]
    site: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")] | None = None
    tags: tuple[Annotated[str, StringConstraints(pattern=r"^[^\s<>|]+$")], ...] = ()


class StackExchangeSource:
    """A dump as Stack Exchange publishes it: a folder, an .xml, .xml.gz or .7z file."""

    settings = StackExchangeSettings

    def plan(self, request: SourceRequest[StackExchangeSettings]) -> IngestPlan:
        tags = tuple(tag for name in request.settings.tags for tag in request.families.get(name, (name,)))
        return plan_dump(request.path, tags=tags, site=request.settings.site, progress=request.progress)

    def remedy(self, path: Path) -> str:
        return PUT_INPUT


def plan_dump(
    path: Path,
    *,
    tags: tuple[str, ...] = (),
    site: str | None = None,
    progress: Progress = no_progress,
    worker_count: int | None = None,
) -> IngestPlan:
    """What is to be read of a dump, by so many processes."""
    inputs = find_tables(path)
    if tags and all(table.table.name != "posts" for table in inputs):
        raise InputError(f"{path} has no Posts, so nothing can be chosen by tag: leave --tags out or add Posts.xml")
    chosen = tuple(sorted({tag.lower() for tag in tags}))

    def read(sink: Sink, finished: Mapping[str, TableCounts]) -> Iterator[tuple[str, TableCounts, int]]:
        waiting = [table for table in inputs if table.table.name not in finished]
        tables = (
            ingest_tagged(waiting, chosen, sink, progress, worker_count)
            if chosen
            else ingest_whole(waiting, sink, progress, worker_count)
        )
        for table, counts in tables:
            yield table.table.name, counts, table.size

    return IngestPlan(
        kind="stackexchange",
        settings={"tags": list(chosen), "site": site or guess_site(path)},
        files=sorted({table.path for table in inputs}),
        text_sizes={table.table.name: table.size for table in inputs},
        read=read,
        resumable=not chosen,
        notes=_notes(path),
    )


def _notes(path: Path) -> tuple[str, ...]:
    truth = (path if path.is_dir() else path.parent) / TRUTH
    try:
        told = json.loads(truth.read_text("utf-8"))
    except (OSError, ValueError):
        return ()
    if not isinstance(told, dict) or told.get("synthetic") is not True:
        return ()
    return (f"synthetic evidence, seed {told.get('seed')}: not written by people",)


_SCANNED = 8 << 20
"""Chunks that are only looked through may be larger than chunks that are parsed."""

# By which attribute, and which ids, a row of each other table belongs to the selected posts.
_BELONGS = {
    "comments": ("PostId", "posts"),
    "votes": ("PostId", "posts"),
    "posthistory": ("PostId", "posts"),
    "postlinks": ("PostId", "posts"),
    "users": ("Id", "users"),
    "badges": ("UserId", "users"),
}


def ingest_whole(
    inputs: list[TableInput], sink: Sink, progress: Progress, worker_count: int | None = None
) -> Iterator[tuple[TableInput, TableCounts]]:
    """Every row of every table, a table at a time."""
    for one in inputs:
        job = KeepAll(one.table, sink)
        outcome = workers.run_workers(job, one.split(), worker_count or workers.default_worker_count(), progress, one.name, one.size)
        yield one, outcome.counts


def ingest_tagged(
    inputs: list[TableInput], tags: tuple[str, ...], sink: Sink, progress: Progress, worker_count: int | None = None
) -> Iterator[tuple[TableInput, TableCounts]]:
    """Questions with a wanted tag, all their answers, and the rows of other tables that belong to them."""
    number = worker_count or workers.default_worker_count()
    chosen = WorkerResult()
    for one in sorted(inputs, key=lambda one: one.table != POSTS):
        if one.table == POSTS:
            chosen = _posts(one, tags, sink, progress, number)
            yield one, chosen.counts
        elif one.table == TAG_LIST:
            yield from ingest_whole([one], sink, progress, number)
        else:
            attribute, kind = _BELONGS[one.table.name]
            job = KeepKeyed(one.table, sink, attribute, chosen.users if kind == "users" else chosen.posts)
            yield one, workers.run_workers(job, one.split(), number, progress, one.name, one.size).counts


def _posts(one: TableInput, tags: tuple[str, ...], sink: Sink, progress: Progress, number: int) -> WorkerResult:
    spool = sink.scratch if one.is_plain else None
    questions = workers.run_workers(KeepTagged(sink, tags, spool), one.split(_SCANNED), number, progress, one.name, one.size)
    what = f"{one.name}, answers"
    if spool:
        notes = [Spool(choose_spool_path(spool, lane), one.path) for lane in range(number)]
        return questions + workers.run_workers(KeepSpooledAnswers(sink, questions.posts), notes, number, progress, what, 0)
    # A stream cannot be read in places, so it is read again, now that the questions are known.
    job = KeepAnswers(sink, tags, questions.posts)
    return questions + workers.run_workers(job, one.split(_SCANNED), number, progress, what, one.size)
