"""The sources of a study, each into its evidence folder."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from quaestor.base.clock import Clock, now
from quaestor.base.errors import QuaestorError, SettingsError
from quaestor.base.private import as_private_as
from quaestor.corpus.evidence import MANIFEST, Aside, read_manifest
from quaestor.sources.records import Progress, TableCounts, no_progress
from quaestor.sources.stackexchange.settings import StackExchangeSettings
from quaestor.sources.tables import ingest_table
from quaestor.study.folder import Study
from quaestor.study.ingest import IngestReport, Work, declared_alike, dump_work, run, untouched


def ingest_source(study: Study, name: str, *, progress: Progress = no_progress, clock: Clock = now) -> IngestReport:
    """A source of a study into its evidence folder, which is as private as the input."""
    work, folder = _work(study, name, progress), study.evidence_of(name)
    as_private_as(study.path_of(name), folder)
    report = run(work, folder, clock)
    as_private_as(study.path_of(name), folder)
    return report


def _work(study: Study, name: str, progress: Progress = no_progress) -> Work:
    settings = study.source(name)
    path = study.path_of(name)
    if not path.exists():
        raise SettingsError(
            f"{study.file}: sources.{name}.path is {settings.path!r}, but {path} does not exist: {_mended(study, name)}"
        )
    if isinstance(settings, StackExchangeSettings):
        tags = tuple(tag for wanted in settings.tags for tag in study.settings.families.get(wanted, (wanted,)))
        return dump_work(path, tags=tags, site=settings.site, progress=progress)

    def tables(aside: Aside, finished: dict[str, TableCounts]) -> Iterator[tuple[str, TableCounts, int]]:
        yield "items", ingest_table(path, settings, aside, progress), path.stat().st_size

    work = Work("table", settings.model_dump(mode="json", by_alias=True) | {"site": name}, [path], tables)
    work.text_sizes = {"items": path.stat().st_size}
    return work


def _mended(study: Study, name: str) -> str:
    """What to do where the input of a source is not there."""
    from quaestor.study.interviews.free_text import FOLDER

    if study.path_of(name).parent == study.root / FOLDER:
        return "run `quaestor interview items`, which writes it"
    return "put the input there or correct the path"


def what_changed(study: Study, name: str) -> str:
    """Why the evidence of a source is no longer what study.toml and the input say; empty where it is."""
    manifest = read_manifest(study.evidence_of(name))
    if manifest is None:
        return ""
    try:
        work = _work(study, name)
    except QuaestorError as error:
        return str(error)
    if not declared_alike(manifest, work):
        return f"sources.{name} in {study.file} changed since it was ingested"
    return "" if untouched(manifest, work) else f"the input of {name} changed since it was ingested"


def notes_of(study: Study) -> list[str]:
    """What the evidence says about itself, such as that it is synthetic."""
    folders = [study.evidence_of(name) for name in study.settings.sources]
    return sorted({note for folder in folders for note in _notes_in(folder, _file_mark(folder / MANIFEST))})


def _file_mark(path: Path) -> tuple[int, ...]:
    """Changes when a file is written again; a manifest is always put in place whole, as a new file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


@lru_cache(maxsize=256)
def _notes_in(folder: Path, mark: tuple[int, ...]) -> tuple[str, ...]:
    """The notes of one manifest; every page of a desk shows them, and it has a line for each file of the evidence."""
    manifest = read_manifest(folder)
    return manifest.notes if manifest else ()
