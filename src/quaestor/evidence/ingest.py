"""Converts a source's input to Parquet with a manifest, and again only when something changed."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from quaestor import __version__
from quaestor.base.clock import Clock, now
from quaestor.base.errors import InputError, QuaestorError, SettingsError
from quaestor.base.files import BackgroundHasher, hash_file, lock_folder, match_privacy, write_atomically
from quaestor.evidence.dataset import MANIFEST, StagedDataset, is_complete, read_manifest
from quaestor.evidence.live_items import explain_no_evidence, read_source_manifest
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
from quaestor.study.features import find_live_source
from quaestor.study.folder import Study
from quaestor.study.settings.sources import SourceSettings, load_source_kind

_EVIDENCE_FILES = {MANIFEST, ".aside", ".lock"}
"""A folder with one of these holds evidence, perhaps unfinished."""


@dataclass(frozen=True)
class IngestReport:
    """The outcome of an ingest; `unchanged` means that the evidence was already up to date."""

    manifest: Manifest
    out: Path
    unchanged: bool = False
    resumed: tuple[str, ...] = field(default=())

    def rejects(self, table: str) -> Path:
        """Returns the file with the rejects of a table."""
        return self.out / "rejects" / f"{table}.jsonl"

    def first_reason(self, table: str) -> str:
        """Returns why the first bad row of a table was rejected."""
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
    """Ingests a dump into the evidence folder `out`."""
    return run_plan(plan_dump(path, tags=tags, site=site, progress=progress, worker_count=workers), out, clock, hashing)


def run_plan(plan: IngestPlan, out: Path, clock: Clock, hashing: BackgroundHasher | None = None) -> IngestReport:
    """Ingests a source unless its evidence is up to date; resumes an interrupted run of the same plan."""
    hashing = hashing or BackgroundHasher()
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: give a folder for the evidence")
    out.mkdir(parents=True, exist_ok=True)
    if not _EVIDENCE_FILES & {path.name for path in out.iterdir()} and any(out.iterdir()):
        raise InputError(f"{out} has files that are not evidence: give an empty or a new folder")
    with lock_folder(out, "an ingest"):
        manifest = read_manifest(out)
        if manifest and _is_up_to_date(manifest, plan, out):
            return IngestReport(manifest, out, unchanged=True)
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
            inputs=tuple(_describe_input(path, hashing) for path in plan.files),
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


def has_same_declaration(manifest: Manifest, plan: IngestPlan) -> bool:
    """Returns whether the evidence was built with these settings from files with these names."""
    planned = (plan.kind, plan.settings, [path.name for path in plan.files])
    return (manifest.kind, manifest.settings, [file.name for file in manifest.inputs]) == planned


def has_same_inputs(manifest: Manifest, plan: IngestPlan, folder: Path) -> bool:
    """Returns whether every input has the content in the manifest.

    A file is hashed only if its time changed, as in a copied or restored folder, and the outcome is kept next to the
    manifest: a status page cannot hash a dump each time.
    """
    compared = _read_comparisons(folder)
    for known, path in zip(manifest.inputs, plan.files, strict=True):
        status = path.stat()
        if known.bytes != status.st_size:
            return False
        if known.modified_ns == status.st_mtime_ns:
            continue
        key = f"{known.sha256} {path.resolve()} {status.st_mtime_ns}"
        if key not in compared:
            compared[key] = hash_file(path) == known.sha256
            with suppress(OSError):  # it can be compared again
                write_atomically(folder / _COMPARED, json.dumps(compared).encode())
        if not compared[key]:
            return False
    return True


_COMPARED = "compared-inputs.json"


def _read_comparisons(folder: Path) -> dict[str, bool]:
    """Returns which versions of input files were found to have the content in the manifest."""
    try:
        return dict(json.loads((folder / _COMPARED).read_text("utf-8")))
    except (OSError, ValueError):
        return {}


def _is_up_to_date(manifest: Manifest, plan: IngestPlan, out: Path) -> bool:
    """Returns whether complete evidence was built from these files, with these settings, by this version."""
    return (
        has_same_declaration(manifest, plan)
        and manifest.tool == f"quaestor {__version__}"
        and is_complete(out, manifest)
        and has_same_inputs(manifest, plan, out)
    )


def _describe_input(path: Path, hashing: BackgroundHasher) -> InputFile:
    status = path.stat()
    return InputFile(path.name, status.st_size, status.st_mtime_ns, hashing.wait_for(path))


def ingest_source(study: Study, name: str, *, progress: Progress = no_progress, clock: Clock = now) -> IngestReport:
    """Ingests a source of a study into its evidence folder, which gets the file permissions of the input.

    A live source has nothing to ingest: the report says how many items it has now.
    """
    live = find_live_source(study, name)
    if live is not None:
        manifest = read_source_manifest(study, name)
        if manifest is None:
            raise explain_no_evidence(study, name)
        return IngestReport(manifest, study.root / live.file, unchanged=True)
    plan, folder = _plan(study, name, progress), study.evidence_of(name)
    match_privacy(study.path_of(name), folder)
    report = run_plan(plan, folder, clock)
    match_privacy(study.path_of(name), folder)
    return report


def _plan(study: Study, name: str, progress: Progress = no_progress) -> IngestPlan:
    settings, path = study.source(name), study.path_of(name)
    source: Source[SourceSettings] = load_source_kind(settings.kind)
    if not path.exists():
        raise SettingsError(
            f"{study.file}: sources.{name}.path is {settings.path!r}, but {path} does not exist: {source.remedy(path)}"
        )
    return source.plan(SourceRequest(name, settings, path, study.settings.families, progress))


def describe_change(study: Study, name: str) -> str:
    """Returns why a source must be ingested again: its settings or its input changed; empty if neither did."""
    manifest = read_manifest(study.evidence_of(name))
    if manifest is None or find_live_source(study, name) is not None:
        return ""
    try:
        plan = _plan(study, name)
    except QuaestorError as error:
        return str(error)
    if not has_same_declaration(manifest, plan):
        return f"sources.{name} in {study.file} changed since it was ingested"
    same = has_same_inputs(manifest, plan, study.evidence_of(name))
    return "" if same else f"the input of {name} changed since it was ingested"


def list_notes(study: Study) -> list[str]:
    """Returns the notes of the study's evidence, for example that it is synthetic."""
    return sorted({note for notes, _ in _notes_and_sites(study) for note in notes})


def list_dump_sites(study: Study) -> set[str]:
    """Returns the Stack Exchange sites whose dumps have been ingested."""
    return {site for _, site in _notes_and_sites(study)} - {""}


def _notes_and_sites(study: Study) -> list[tuple[tuple[str, ...], str]]:
    names = study.settings.sources
    return [_notes_and_site(study.evidence_of(name), evidence_stamp(study, name)) for name in names]


def evidence_stamp(study: Study, source: str) -> tuple[int, ...]:
    """Returns a stamp that changes when a source is ingested again, since that replaces the manifest file."""
    return file_stamp(study.evidence_of(source) / MANIFEST)


def file_stamp(path: Path) -> tuple[int, ...]:
    """Returns a stamp that changes when a file is written again; empty if there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


@lru_cache(maxsize=256)
def _notes_and_site(folder: Path, stamp: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """Returns the notes of a manifest and the site of its dump; cached because every page needs them."""
    manifest = read_manifest(folder)
    if manifest is None:
        return (), ""
    return manifest.notes, manifest.site if "posts" in manifest.tables else ""
