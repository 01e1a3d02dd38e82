"""A dump into a sink: whole, or the questions with wanted tags, their answers and what belongs to them."""

from __future__ import annotations

from collections.abc import Iterator

from quaestor.sources.records import Progress, Sink, TableCounts
from quaestor.sources.stackexchange import lanes
from quaestor.sources.stackexchange.inputs import TableInput
from quaestor.sources.stackexchange.jobs import (
    KeepAll,
    KeepAnswers,
    KeepKeyed,
    KeepSpooledAnswers,
    KeepTagged,
    Spool,
    spool_path,
)
from quaestor.sources.stackexchange.lanes import Outcome
from quaestor.sources.stackexchange.schema import POSTS, TAG_LIST

_SCANNED = 8 << 20
"""Pieces that are only looked through may be larger than pieces that are parsed."""

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
    inputs: list[TableInput], sink: Sink, progress: Progress, count: int | None = None
) -> Iterator[tuple[TableInput, TableCounts]]:
    """Every row of every table, a table at a time."""
    for one in inputs:
        job = KeepAll(one.table, sink)
        outcome = lanes.run(job, one.parts(), count or lanes.lane_count(), progress, one.name, one.size)
        yield one, outcome.counts


def ingest_tagged(
    inputs: list[TableInput], tags: tuple[str, ...], sink: Sink, progress: Progress, count: int | None = None
) -> Iterator[tuple[TableInput, TableCounts]]:
    """Questions with a wanted tag, all their answers, and the rows of other tables that belong to them."""
    number = count or lanes.lane_count()
    chosen = Outcome()
    for one in sorted(inputs, key=lambda one: one.table != POSTS):
        if one.table == POSTS:
            chosen = _posts(one, tags, sink, progress, number)
            yield one, chosen.counts
        elif one.table == TAG_LIST:
            yield from ingest_whole([one], sink, progress, number)
        else:
            attribute, kind = _BELONGS[one.table.name]
            job = KeepKeyed(one.table, sink, attribute, chosen.users if kind == "users" else chosen.posts)
            yield one, lanes.run(job, one.parts(), number, progress, one.name, one.size).counts


def _posts(one: TableInput, tags: tuple[str, ...], sink: Sink, progress: Progress, number: int) -> Outcome:
    spool = sink.scratch if one.is_plain else None
    questions = lanes.run(KeepTagged(sink, tags, spool), one.parts(_SCANNED), number, progress, one.name, one.size)
    what = f"{one.name}, answers"
    if spool:
        notes = [Spool(spool_path(spool, lane), one.path) for lane in range(number)]
        return questions + lanes.run(KeepSpooledAnswers(sink, questions.posts), notes, number, progress, what, 0)
    # A stream cannot be read in places, so it is read again, now that the questions are known.
    job = KeepAnswers(sink, tags, questions.posts)
    return questions + lanes.run(job, one.parts(_SCANNED), number, progress, what, one.size)
