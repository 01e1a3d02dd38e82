"""Ingests a Stack Exchange dump: all of it, or the questions with some tags, their answers and what belongs to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
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
from quaestor.evidence.sources.stackexchange.workers import WorkerResult, default_worker_count, run_workers
from quaestor.study.settings.sources import SourceSettings

TRUTH = "truth.json"
"""The file next to a synthetic dump that marks it as synthetic."""


class StackExchangeSettings(SourceSettings):
    """The path of the dump, its site, and the tags of the questions to keep (none: the whole dump)."""

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
    """Plans the ingest of a dump with a number of worker processes (by default one per core)."""
    inputs = find_tables(path)
    if tags and all(table.table.name != "posts" for table in inputs):
        raise InputError(f"{path} has no Posts, so nothing can be selected by tag: omit --tags or add Posts.xml")
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
        notes=(*_read_notes(path), *_find_incomplete({table.path for table in inputs})),
    )


def _read_notes(path: Path) -> tuple[str, ...]:
    truth = (path if path.is_dir() else path.parent) / TRUTH
    try:
        content = json.loads(truth.read_text("utf-8"))
    except (OSError, ValueError):
        return ()
    if not isinstance(content, dict) or content.get("synthetic") is not True:
        return ()
    return (f"synthetic evidence, seed {content.get('seed')}: not written by people",)


def _find_incomplete(paths: Iterable[Path]) -> Iterator[str]:
    """Yields a note for each XML file that does not end with a closing tag, as after an interrupted download."""
    for path in sorted(path for path in paths if path.suffix.lower() == ".xml"):
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - _TAIL_BYTES, 0))
            if not re.search(rb"</\w+>\s*(?:<!--.*-->\s*)?$", file.read()):
                yield f"{path.name} does not end with a closing tag: the file may be incomplete"


_TAIL_BYTES = 1_000
_SCANNED_BYTES = 8 << 20
"""Chunks that are only scanned can be larger than chunks that are parsed."""

# The attribute, and the kind of ids, by which a row of each other table belongs to the selected posts.
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
    """Ingests every row of every table, one table after the other."""
    count = worker_count or default_worker_count()
    for dump in inputs:
        job = KeepAll(dump.table, sink)
        yield dump, run_workers(job, dump.split(), count, progress, dump.name, dump.size).counts


def ingest_tagged(
    inputs: list[TableInput], tags: tuple[str, ...], sink: Sink, progress: Progress, worker_count: int | None = None
) -> Iterator[tuple[TableInput, TableCounts]]:
    """Ingests questions with one of the tags, all their answers, and the rows of other tables that belong to them."""
    count = worker_count or default_worker_count()
    selected = WorkerResult()
    for dump in sorted(inputs, key=lambda dump: dump.table != POSTS):
        if dump.table == POSTS:
            selected = _ingest_posts(dump, tags, sink, progress, count)
            yield dump, selected.counts
        elif dump.table == TAG_LIST:
            yield from ingest_whole([dump], sink, progress, count)
        else:
            attribute, kind = _BELONGS[dump.table.name]
            job = KeepKeyed(dump.table, sink, attribute, selected.users if kind == "users" else selected.posts)
            yield dump, run_workers(job, dump.split(), count, progress, dump.name, dump.size).counts


def _ingest_posts(posts: TableInput, tags: tuple[str, ...], sink: Sink, progress: Progress, count: int) -> WorkerResult:
    spool = sink.scratch if posts.is_plain else None
    questions = run_workers(
        KeepTagged(sink, tags, spool), posts.split(_SCANNED_BYTES), count, progress, posts.name, posts.size
    )
    what = f"{posts.name}, answers"
    if spool:
        notes = [Spool(choose_spool_path(spool, number), posts.path) for number in range(count)]
        return questions + run_workers(KeepSpooledAnswers(sink, questions.posts), notes, count, progress, what, 0)
    # A stream cannot be read at chosen offsets, so it is read again, now that the questions are known.
    job = KeepAnswers(sink, tags, questions.posts)
    return questions + run_workers(job, posts.split(_SCANNED_BYTES), count, progress, what, posts.size)
