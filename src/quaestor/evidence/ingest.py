"""Evidence in: a source's input to Parquet with a manifest, once, and again only when something changed."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from quaestor import __version__
from quaestor.base.clock import Clock, now
from quaestor.base.errors import InputError, QuaestorError, SettingsError
from quaestor.base.files import match_privacy, lock_folder
from quaestor.base.hashing import BackgroundHasher, hash_file
from quaestor.evidence.dataset import MANIFEST, StagedDataset, is_complete, read_manifest
from quaestor.evidence.records import Manifest, TableEntry
from quaestor.evidence.sources.protocol import (
    IngestPlan,
    InputFile,
    Progress,
    Source,
    SourceRequest,
    TableCounts,
    no_progress,
)
from quaestor.evidence.sources.stackexchange.source import plan_dump
from quaestor.study.features import maker_of_input
from quaestor.study.folder import Study
from quaestor.study.settings.sources import SourceSettings, load_source_kind

_OURS = {MANIFEST, ".aside", ".lock"}


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
    workers: int | None = None,
    hashing: BackgroundHasher | None = None,
) -> IngestReport:
    """A dump into the evidence folder `out`."""
    return run_plan(plan_dump(path, tags=tags, site=site, progress=progress, worker_count=workers), out, clock, hashing)


def run_plan(plan: IngestPlan, out: Path, clock: Clock, hashing: BackgroundHasher | None = None) -> IngestReport:
    """Read what is planned, unless it is there already; an interrupted run of the same plan is taken up."""
    hashing = hashing or BackgroundHasher()
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: name a folder for the evidence")
    out.mkdir(parents=True, exist_ok=True)
    if not _OURS & {path.name for path in out.iterdir()} and any(out.iterdir()):
        raise InputError(f"{out} holds other things than evidence: name an empty or a new folder")
    with lock_folder(out, "an ingest"):
        present = read_manifest(out)
        if present and _same(present, plan, out):
            return IngestReport(present, out, unchanged=True)
        staged = StagedDataset(out)
        finished = staged.begin(plan.fingerprint(), resume=plan.resumable)
        started = time.perf_counter()
        hashing.start(plan.files)
        entries = {name: _entry(counts) for name, counts in finished.items() if plan.resumable}
        sizes = dict(plan.text_sizes)
        for name, counts, size in plan.read(staged, finished if plan.resumable else {}):
            staged.finish_table(name, counts)
            entries[name] = _entry(counts)
            sizes[name] = max(size, counts.notable.get("text_bytes", 0))
        manifest = Manifest(
            kind=plan.kind,
            site=plan.settings["site"],
            settings=plan.settings,
            inputs=tuple(_remembered(path, hashing) for path in plan.files),
            tables={name: entries[name] for name in plan.text_sizes if name in entries},
            tool=f"quaestor {__version__}",
            made=clock().isoformat(),
            seconds=round(time.perf_counter() - started, 3),
            text_bytes=sum(sizes.values()),
            notes=plan.notes,
        )
        return IngestReport(staged.commit(manifest), out, resumed=tuple(finished) if plan.resumable else ())


def _entry(counts: TableCounts) -> TableEntry:
    return TableEntry(**asdict(counts))


def has_same_declaration(present: Manifest, plan: IngestPlan) -> bool:
    """Whether the evidence was made with these settings from files of these names."""
    names = [path.name for path in plan.files]
    return (present.kind, present.settings, [one.name for one in present.inputs]) == (plan.kind, plan.settings, names)


def has_same_inputs(present: Manifest, plan: IngestPlan) -> bool:
    """Whether size and time of every input are those of the manifest; cheap, and enough for a look."""
    stats = [(path.stat().st_size, path.stat().st_mtime_ns) for path in plan.files]
    return [(one.bytes, one.modified_ns) for one in present.inputs] == stats


def _same(present: Manifest, plan: IngestPlan, out: Path) -> bool:
    """Whether the evidence was made from these very files, with these settings, by this version, and is whole."""
    if not has_same_declaration(present, plan) or present.tool != f"quaestor {__version__}" or not is_complete(out, present):
        return False
    for known, path in zip(present.inputs, plan.files, strict=True):
        status = path.stat()
        if known.bytes != status.st_size:
            return False
        if known.modified_ns != status.st_mtime_ns and known.sha256 != hash_file(path):
            return False
    return True


def _remembered(path: Path, hashing: BackgroundHasher) -> InputFile:
    status = path.stat()
    return InputFile(path.name, status.st_size, status.st_mtime_ns, hashing.wait_for(path))


def ingest_source(study: Study, name: str, *, progress: Progress = no_progress, clock: Clock = now) -> IngestReport:
    """A source of a study into its evidence folder, which is as private as the input."""
    plan, folder = _plan(study, name, progress), study.evidence_of(name)
    match_privacy(study.path_of(name), folder)
    report = run_plan(plan, folder, clock)
    match_privacy(study.path_of(name), folder)
    return report


def _plan(study: Study, name: str, progress: Progress = no_progress) -> IngestPlan:
    settings, path = study.source(name), study.path_of(name)
    source: Source[SourceSettings] = load_source_kind(settings.kind)
    if not path.exists():
        maker = maker_of_input(study, name)
        remedy = f"run `{maker.input_command}`, which writes it" if maker else source.remedy(path)
        raise SettingsError(
            f"{study.file}: sources.{name}.path is {settings.path!r}, but {path} does not exist: {remedy}"
        )
    return source.plan(SourceRequest(name, settings, path, study.settings.families, progress))


def describe_change(study: Study, name: str) -> str:
    """Why the evidence of a source is no longer what study.toml and the input say; empty where it is."""
    manifest = read_manifest(study.evidence_of(name))
    if manifest is None:
        return ""
    try:
        plan = _plan(study, name)
    except QuaestorError as error:
        return str(error)
    if not has_same_declaration(manifest, plan):
        return f"sources.{name} in {study.file} changed since it was ingested"
    return "" if has_same_inputs(manifest, plan) else f"the input of {name} changed since it was ingested"


def list_notes(study: Study) -> list[str]:
    """What the evidence says about itself, such as that it is synthetic."""
    return sorted({note for notes, _ in _notes_and_sites(study) for note in notes})


def list_dump_sites(study: Study) -> set[str]:
    """The Stack Exchange sites whose dumps have been ingested."""
    return {site for _, site in _notes_and_sites(study)} - {""}


def _notes_and_sites(study: Study) -> list[tuple[tuple[str, ...], str]]:
    names = study.settings.sources
    return [_notes_and_site(study.evidence_of(name), evidence_stamp(study, name)) for name in names]


def evidence_stamp(study: Study, source: str) -> tuple[int, ...]:
    """Changes when a source is ingested again; its manifest is always put in place whole, as a new file."""
    return file_stamp(study.evidence_of(source) / MANIFEST)


def file_stamp(path: Path) -> tuple[int, ...]:
    """Changes when a file is written again; empty where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


@lru_cache(maxsize=256)
def _notes_and_site(folder: Path, stamp: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """The notes of a manifest and the site of its dump: every page of a desk needs them, and it lists every file."""
    manifest = read_manifest(folder)
    if manifest is None:
        return (), ""
    return manifest.notes, manifest.site if "posts" in manifest.tables else ""
