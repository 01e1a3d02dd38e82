"""Evidence in: a source's input to Parquet with a manifest, once, and again only when something changed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from quaestor import __version__
from quaestor.base.clock import Clock, now
from quaestor.base.errors import InputError
from quaestor.base.files import sole_user
from quaestor.base.hashing import Hashing, sha256_of
from quaestor.corpus.evidence import MANIFEST, Aside, is_whole, read_manifest
from quaestor.corpus.records import Manifest, TableEntry
from quaestor.sources.records import InputFile, Progress, TableCounts, no_progress
from quaestor.sources.stackexchange.ingest import ingest_tagged, ingest_whole
from quaestor.sources.stackexchange.inputs import find_tables, site_name

_OURS = {MANIFEST, ".aside", ".lock"}

TRUTH = "truth.json"
"""Stands beside a synthetic dump and says so."""


@dataclass(frozen=True)
class IngestReport:
    """What an ingest did; `unchanged` when there was nothing to do."""

    manifest: Manifest
    out: Path
    unchanged: bool = False
    resumed: tuple[str, ...] = field(default=())

    def rejects(self, table: str) -> Path:
        """Where the rejects of a table are kept."""
        return self.out / "rejects" / f"{table}.jsonl"

    def first_reason(self, table: str) -> str:
        """Why the first bad row of a table was refused."""
        with self.rejects(table).open(encoding="utf-8") as file:
            return str(json.loads(file.readline())["reason"])

    def as_json(self) -> dict[str, Any]:
        tables = self.manifest.tables
        notable = tables["posts"].notable if "posts" in tables else {}
        totals = {name: notable.get(name, 0) for name in ("questions", "answers", "accepted", "closed")}
        return {
            "tables": {name: {"rows": entry.rows, "rejected": entry.rejected} for name, entry in tables.items()},
            **totals,
            "bytes": self.manifest.text_bytes,
            "seconds": self.manifest.seconds,
            "unknown_attributes": {name: entry.unknown for name, entry in tables.items() if entry.unknown},
            "unchanged": self.unchanged,
        }


def ingest_stackexchange(
    path: Path,
    out: Path,
    *,
    tags: tuple[str, ...] = (),
    site: str | None = None,
    progress: Progress = no_progress,
    clock: Clock = now,
    lanes: int | None = None,
    hashing: Hashing | None = None,
) -> IngestReport:
    """A dump into the evidence folder `out`."""
    return run(dump_work(path, tags=tags, site=site, progress=progress, lanes=lanes), out, clock, hashing)


def dump_work(
    path: Path,
    *,
    tags: tuple[str, ...] = (),
    site: str | None = None,
    progress: Progress = no_progress,
    lanes: int | None = None,
) -> Work:
    """What is to be read of a dump, and how."""
    inputs = find_tables(path)
    if tags and all(one.table.name != "posts" for one in inputs):
        raise InputError(f"{path} has no Posts, so nothing can be chosen by tag: leave --tags out or add Posts.xml")
    settings = {"tags": sorted({tag.lower() for tag in tags}), "site": site or site_name(path)}
    chosen = tuple(settings["tags"])

    def tables(aside: Aside, finished: dict[str, TableCounts]) -> Iterator[tuple[str, TableCounts, int]]:
        waiting = [one for one in inputs if chosen or one.table.name not in finished]
        steps = (
            ingest_tagged(waiting, chosen, aside, progress, lanes)
            if chosen
            else ingest_whole(waiting, aside, progress, lanes)
        )
        for one, counts in steps:
            yield one.table.name, counts, one.size

    work = Work("stackexchange", settings, sorted({one.path for one in inputs}), tables, resumable=not chosen)
    work.notes = _notes(path)
    work.text_sizes = {one.table.name: one.size for one in inputs}
    return work


@dataclass
class Work:
    """What is to be read, and how."""

    kind: str
    settings: dict[str, Any]
    files: list[Path]
    tables: Callable[[Aside, dict[str, TableCounts]], Iterator[tuple[str, TableCounts, int]]]
    resumable: bool = False
    notes: tuple[str, ...] = ()
    text_sizes: dict[str, int] = field(default_factory=dict)

    def fingerprint(self) -> str:
        """Changes whenever the evidence would."""
        stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in self.files]
        text = json.dumps([__version__, self.kind, self.settings, stats], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def run(work: Work, out: Path, clock: Clock, hashing: Hashing | None = None) -> IngestReport:
    """Do the work, unless it is already done; an interrupted run of the same work is taken up."""
    hashing = hashing or Hashing()
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: name a folder for the evidence")
    out.mkdir(parents=True, exist_ok=True)
    if not _OURS & {path.name for path in out.iterdir()} and any(out.iterdir()):
        raise InputError(f"{out} holds other things than evidence: name an empty or a new folder")
    with sole_user(out, "an ingest"):
        present = read_manifest(out)
        if present and _same(present, work, out):
            return IngestReport(present, out, unchanged=True)
        aside = Aside(out)
        finished = aside.begin(work.fingerprint(), resume=work.resumable)
        started = time.perf_counter()
        hashing.begin(work.files)
        entries = {name: _entry(counts) for name, counts in finished.items() if work.resumable}
        sizes = dict(work.text_sizes)
        for name, counts, size in work.tables(aside, finished if work.resumable else {}):
            aside.finish_table(name, counts)
            entries[name] = _entry(counts)
            sizes[name] = max(size, counts.notable.get("text_bytes", 0))
        manifest = Manifest(
            kind=work.kind,
            site=work.settings["site"],
            settings=work.settings,
            inputs=tuple(_remembered(path, hashing) for path in work.files),
            tables={name: entries[name] for name in work.text_sizes if name in entries},
            tool=f"quaestor {__version__}",
            made=clock().isoformat(),
            seconds=round(time.perf_counter() - started, 3),
            text_bytes=sum(sizes.values()),
            notes=work.notes,
        )
        return IngestReport(aside.commit(manifest), out, resumed=tuple(finished) if work.resumable else ())


def _entry(counts: TableCounts) -> TableEntry:
    return TableEntry(**asdict(counts))


def declared_alike(present: Manifest, work: Work) -> bool:
    """Whether the evidence was made with these settings from files of these names."""
    names = [path.name for path in work.files]
    return (present.kind, present.settings, [one.name for one in present.inputs]) == (work.kind, work.settings, names)


def untouched(present: Manifest, work: Work) -> bool:
    """Whether size and time of every input are those of the manifest; cheap, and enough for a look."""
    stats = [(path.stat().st_size, path.stat().st_mtime_ns) for path in work.files]
    return [(one.bytes, one.modified_ns) for one in present.inputs] == stats


def _same(present: Manifest, work: Work, out: Path) -> bool:
    """Whether the evidence was made from these very files, with these settings, by this version, and is whole."""
    if not declared_alike(present, work) or present.tool != f"quaestor {__version__}" or not is_whole(out, present):
        return False
    for known, path in zip(present.inputs, work.files, strict=True):
        status = path.stat()
        if known.bytes != status.st_size:
            return False
        if known.modified_ns != status.st_mtime_ns and known.sha256 != sha256_of(path):
            return False
    return True


def _remembered(path: Path, hashing: Hashing) -> InputFile:
    status = path.stat()
    return InputFile(path.name, status.st_size, status.st_mtime_ns, hashing.of(path))


def _notes(path: Path) -> tuple[str, ...]:
    truth = (path if path.is_dir() else path.parent) / TRUTH
    try:
        told = json.loads(truth.read_text("utf-8"))
    except (OSError, ValueError):
        return ()
    if not isinstance(told, dict) or told.get("synthetic") is not True:
        return ()
    return (f"synthetic evidence, seed {told.get('seed')}: not written by people",)
