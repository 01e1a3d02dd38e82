"""The jobs of worker processes: keep every row of a table, or only selected ones."""

from __future__ import annotations

import bisect
import itertools
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from quaestor.evidence.sources.protocol import LEFT_OUT, Reject, RowWriter, Sink, TableCounts
from quaestor.evidence.sources.stackexchange import arrow_buffers as arrow
from quaestor.evidence.sources.stackexchange.chunks import Chunk, FileRange, load_chunk
from quaestor.evidence.sources.stackexchange.columns import parse_chunk
from quaestor.evidence.sources.stackexchange.schema import ANSWER, OTHER, POSTS, QUESTION, DumpTable
from quaestor.evidence.sources.stackexchange.tag_selection import (
    Ids,
    PostScan,
    TagFilter,
    build_tag_filter,
    is_member,
    scan_keyed,
    scan_posts,
)
from quaestor.evidence.sources.stackexchange.workers import WorkerResult

Part = FileRange | Chunk
_SPOOL = np.dtype([("parent", "<i8"), ("start", "<i8"), ("size", "<i4")])
_ENOUGH = 1 << 20
_PRIME = 2_147_483_647
_EXAMPLES = 50


@dataclass
class ChunkWriter:
    """Parses selected text into the sink and counts rows and rejects."""

    table: DumpTable
    rows: RowWriter
    remember: bool = False
    counts: TableCounts = field(default_factory=TableCounts)
    posts: list[npt.NDArray[np.int64]] = field(default_factory=list)
    users: list[npt.NDArray[np.int64]] = field(default_factory=list)
    _waiting: list[tuple[int, bytes]] = field(default_factory=list)
    _waiting_bytes: int = 0

    def write(self, text: bytes, offset: int) -> int:
        """Writes all rows of a text at an offset of the table; returns how many rows and rejects it has."""
        parsed = parse_chunk(text, self.table)
        self._write_batch(parsed.batch)
        for reject in parsed.rejects:
            self.reject(replace(reject, offset=reject.offset + offset))
        return int(parsed.batch.num_rows) + len(parsed.rejects)

    def add_row(self, offset: int, raw: bytes) -> None:
        """Adds one row from anywhere in the table; rows are parsed together once there are enough."""
        self._waiting.append((offset, raw))
        self._waiting_bytes += len(raw)
        if self._waiting_bytes > _ENOUGH:
            self._write_waiting()

    def _write_waiting(self) -> None:
        rows, self._waiting, self._waiting_bytes = self._waiting, [], 0
        starts = list(itertools.accumulate((len(raw) for _, raw in rows), initial=0))
        parsed = parse_chunk(b"".join(raw for _, raw in rows), self.table)
        self._write_batch(parsed.batch)
        for reject in parsed.rejects:
            number = bisect.bisect_right(starts, reject.offset) - 1
            self.reject(replace(reject, offset=rows[number][0] + reject.offset - starts[number]))

    def reject(self, reject: Reject) -> None:
        self.rows.reject(reject)
        self.counts += TableCounts(rejected=1)

    def read(self, rows: int) -> None:
        self.counts += TableCounts(read=rows)

    def _write_batch(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        self.rows.write(batch)
        self.counts += TableCounts(
            batch.num_rows, unknown=_count_unknown(batch), notable=_count_notable(self.table, batch)
        )
        if self.remember:
            self.posts.append(arrow.to_numbers(batch.column("id"), missing=0))
            owners = arrow.to_numbers(batch.column("owner_user_id"), missing=0)
            self.users.append(arrow.distinct(owners[owners != 0]))

    def finish(self) -> WorkerResult:
        if self._waiting:
            self._write_waiting()
        self.rows.close()
        none = np.zeros(0, np.int64)
        return WorkerResult(
            self.counts,
            arrow.distinct(np.concatenate([none, *self.posts])),
            arrow.distinct(np.concatenate([none, *self.users])),
        )


def _count_unknown(batch: pa.RecordBatch) -> dict[str, int]:
    other = batch.column(OTHER)
    if other.null_count == len(other):
        return {}
    return dict(Counter(name for entries in other.to_pylist() for name, _ in entries or ()))


def _count_notable(table: DumpTable, batch: pa.RecordBatch) -> dict[str, int]:
    """Counts questions, answers, accepted and closed questions."""
    if table != POSTS:
        return {}
    kind = arrow.to_numbers(batch.column("post_type_id"), missing=0)
    is_question = kind == QUESTION
    return {
        "questions": int(is_question.sum()),
        "answers": int((kind == ANSWER).sum()),
        "accepted": int((is_question & arrow.present(batch.column("accepted_answer_id"))).sum()),
        "closed": int((is_question & arrow.present(batch.column("closed_date"))).sum()),
    }


def _count_text(part: Part) -> dict[str, int]:
    """Returns the bytes of text in a chunk of a stream, whose total is unknown before reading."""
    return {"text_bytes": part.size} if isinstance(part, Chunk) else {}


@dataclass(frozen=True)
class KeepAll:
    """Keeps every row of a table."""

    table: DumpTable
    sink: Sink

    def start(self, worker_number: int) -> _KeepAll:
        return _KeepAll(
            ChunkWriter(self.table, self.sink.open(self.table.name, f"{worker_number:02}", self.table.schema))
        )


@dataclass
class _KeepAll:
    writer: ChunkWriter

    def process(self, part: Part) -> int:
        chunk = load_chunk(part)
        self.writer.read(self.writer.write(chunk.text(), chunk.offset))
        self.writer.counts += TableCounts(notable=_count_text(part))
        for reject in chunk.rejects:
            self.writer.reject(reject)
        return part.size

    def finish(self) -> WorkerResult:
        return self.writer.finish()


@dataclass(frozen=True)
class KeepTagged:
    """Keeps the questions with one of the tags, and writes the positions of all answers to a spool file."""

    sink: Sink
    tags: tuple[str, ...]
    spool: Path | None

    def start(self, worker_number: int) -> _KeepTagged:
        rows = self.sink.open(POSTS.name, f"q{worker_number:02}", POSTS.schema)
        left = self.sink.open(LEFT_OUT, f"{worker_number:02}", POSTS.schema)
        spool = choose_spool_path(self.spool, worker_number) if self.spool else None
        return _KeepTagged(
            ChunkWriter(POSTS, rows, remember=True),
            SkippedRows(ChunkWriter(POSTS, left)),
            build_tag_filter(self.tags),
            spool,
        )


def choose_spool_path(folder: Path, worker_number: int) -> Path:
    return folder / f"answers-{worker_number:02}.spool"


@dataclass
class SkippedRows:
    """Keeps a pseudo-random few of the questions without any of the tags, as examples of what was skipped."""

    writer: ChunkWriter
    drawn: list[tuple[int, int, bytes]] = field(default_factory=list)

    def add_examples(self, chunk: Chunk, scan: PostScan, shift: int) -> None:
        keys = (scan.left_ids * 48_271 % _PRIME) * 69_621 % _PRIME
        limit = self.drawn[-1][0] if len(self.drawn) >= _EXAMPLES else _PRIME
        chosen = np.flatnonzero(keys < limit)
        chosen = chosen[np.argsort(keys[chosen])[:_EXAMPLES]]
        rows = zip(
            keys[chosen].tolist(), scan.left_starts[chosen].tolist(), scan.left_ends[chosen].tolist(), strict=True
        )
        new = [(key, start + shift, chunk.data[start:end]) for key, start, end in rows]
        self.drawn = sorted(self.drawn + new)[:_EXAMPLES]

    def finish(self) -> None:
        for _, start, raw in self.drawn:
            self.writer.add_row(start, raw)
        self.writer.finish()


@dataclass
class _KeepTagged:
    writer: ChunkWriter
    left: SkippedRows
    tag_filter: TagFilter
    spool: Path | None

    def process(self, part: Part) -> int:
        scan = scan_posts(load_chunk(part), self.tag_filter)
        chunk = scan.chunk
        shift = chunk.offset - chunk.begin
        for start, end in sorted(scan.questions + scan.broken):
            self.writer.add_row(start + shift, chunk.data[start:end])
        self.writer.counts += TableCounts(
            read=scan.rows, notable={"questions_read": scan.question_count} | _count_text(part)
        )
        self.left.add_examples(chunk, scan, shift)
        for reject in chunk.rejects:
            self.writer.reject(reject)
        if self.spool and len(scan.parents):
            notes = np.empty(len(scan.parents), dtype=_SPOOL)
            notes["parent"] = scan.parents
            notes["start"] = scan.answer_starts + shift
            notes["size"] = scan.answer_ends - scan.answer_starts
            with self.spool.open("ab") as file:
                notes.tofile(file)
        return part.size

    def finish(self) -> WorkerResult:
        self.left.finish()
        return self.writer.finish()


@dataclass(frozen=True)
class Spool:
    """The positions of answers in a plain file that one worker found."""

    notes: Path
    text: Path


@dataclass(frozen=True)
class KeepSpooledAnswers:
    """Keeps the answers to the selected questions, read at the positions in the spool files."""

    sink: Sink
    questions: Ids

    def start(self, worker_number: int) -> _KeepSpooledAnswers:
        rows = self.sink.open(POSTS.name, f"r{worker_number:02}", POSTS.schema)
        return _KeepSpooledAnswers(ChunkWriter(POSTS, rows, remember=True), self.questions)


@dataclass
class _KeepSpooledAnswers:
    writer: ChunkWriter
    questions: Ids

    def process(self, part: Spool) -> int:
        if not part.notes.exists():
            return 0
        with part.notes.open("rb") as notes, part.text.open("rb", buffering=0) as text:
            while len(block := np.fromfile(notes, dtype=_SPOOL, count=1 << 16)):
                selected = block[is_member(block["parent"], self.questions)]
                for _, start, size in selected.tolist():
                    self.writer.add_row(start, os.pread(text.fileno(), size, start))
        return 0

    def finish(self) -> WorkerResult:
        return self.writer.finish()


@dataclass(frozen=True)
class KeepAnswers:
    """Keeps the answers to the selected questions, from a stream that is read a second time."""

    sink: Sink
    tags: tuple[str, ...]
    questions: Ids

    def start(self, worker_number: int) -> _KeepAnswers:
        rows = self.sink.open(POSTS.name, f"r{worker_number:02}", POSTS.schema)
        return _KeepAnswers(ChunkWriter(POSTS, rows, remember=True), build_tag_filter(self.tags), self.questions)


@dataclass
class _KeepAnswers:
    writer: ChunkWriter
    tag_filter: TagFilter
    questions: Ids

    def process(self, part: Part) -> int:
        """Processes a part; broken rows were already rejected when the stream was first read."""
        scan = scan_posts(load_chunk(part), self.tag_filter)
        shift = scan.chunk.offset - scan.chunk.begin
        chosen = is_member(scan.parents, self.questions)
        for start, end in zip(scan.answer_starts[chosen].tolist(), scan.answer_ends[chosen].tolist(), strict=True):
            self.writer.add_row(start + shift, scan.chunk.data[start:end])
        return part.size

    def finish(self) -> WorkerResult:
        return self.writer.finish()


@dataclass(frozen=True)
class KeepKeyed:
    """Keeps the rows of a table whose attribute is one of the ids."""

    table: DumpTable
    sink: Sink
    attribute: str
    ids: Ids

    def start(self, worker_number: int) -> _KeepKeyed:
        rows = self.sink.open(self.table.name, f"r{worker_number:02}", self.table.schema)
        return _KeepKeyed(ChunkWriter(self.table, rows), self.attribute, self.ids)


@dataclass
class _KeepKeyed:
    writer: ChunkWriter
    attribute: str
    ids: Ids

    def process(self, part: Part) -> int:
        scan = scan_keyed(load_chunk(part), self.writer.table, self.attribute, self.ids)
        chunk = scan.chunk
        shift = chunk.offset - chunk.begin
        for start, end in scan.chosen:
            self.writer.add_row(start + shift, chunk.data[start:end])
        self.writer.counts += TableCounts(read=scan.rows, notable=_count_text(part))
        for reject in chunk.rejects:
            self.writer.reject(reject)
        return part.size

    def finish(self) -> WorkerResult:
        return self.writer.finish()
