"""Removes items of people who withdrew from the evidence and from everything made of it, and keeps them out.

Each part is made again from an input that is already without them, and is there whole or not at all; what cannot be
made again is removed. A page meanwhile shows the part as it was, as it is, or that it has to be made again.

A withdrawal cannot remove items from earlier rounds, nor from evidence that somebody restores from a copy: so whatever
draws items calls `drop_withdrawn`.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quaestor.base.errors import InputError, QuaestorError, SettingsError, StateError, TemporarilyUnavailable
from quaestor.base.files import lock_folder
from quaestor.evidence.dataset import MANIFEST, StagedDataset, read_manifest
from quaestor.evidence.funnel import CANDIDATES, DROPPED_AT_FILE, RESULT, last_result, run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.item_text_cache import cache_folder
from quaestor.evidence.text_index import FILE, INDEX_NAME, index_folder
from quaestor.study.features import features
from quaestor.study.folder import Study, open_study

_REBUILD_ERRORS = (QuaestorError, OSError, duckdb.Error)
"""Errors after which a part that could not be rebuilt is removed."""
_INDEX_QUERY = "SELECT 1 FROM items WHERE substr(item, 1, length(?)) = ? LIMIT 1"
_CACHE_QUERY = "SELECT 1 FROM texts WHERE substr(item, 1, length(?)) = ? LIMIT 1"


def list_sources_in_folder(study: Study, folder: str) -> list[str]:
    """Lists the sources whose input is in a folder of the study: those in study.toml, and earlier ones."""
    inputs, study = study.root / folder, _reopen(study)
    declared = {name for name in study.settings.sources if study.path_of(name).parent == inputs}
    ingested = {
        path.parent.name for path in study.evidence_of("").glob(f"*/{MANIFEST}") if _was_read_from(path, folder)
    }
    return sorted({*declared, *ingested, *(path.stem for path in inputs.glob("*.csv"))})


def erase_items(study: Study, source: str, items: str) -> bool:
    """Erases items whose ids begin with `items` from a source's evidence and its copies; returns whether it had any.

    The input of the source must already be without them. Raises `TemporarilyUnavailable` while another process writes
    the same part.
    """
    study = _reopen(study)
    evidence = _rebuild_evidence(study, source, lambda folder: _evidence_contains(folder, items))
    any_erased = evidence
    for strand in _list_strands_of(study, source):
        own_items = f"{strand.prefix}{items}"
        funnel = _rebuild_funnel(strand, source, partial(_funnel_contains, items=own_items))
        copies = _remove_copies(strand, own_items, certain=evidence or funnel)
        any_erased = any_erased or funnel or copies
    return any_erased


def rebuild_stale_items(study: Study, source: str, is_stale: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Rebuilds a source's evidence and the funnel if a row is stale; returns whether one was.

    The input of the source must already be up to date. What cannot be rebuilt is removed.
    """
    study = _reopen(study)
    evidence = _rebuild_evidence(study, source, lambda folder: _is_any_stale(_read_evidence_rows(folder), is_stale))
    funnels = [
        _rebuild_funnel(strand, source, lambda folder: _is_any_stale(_read_funnel_rows(folder), is_stale))
        for strand in _list_strands_of(study, source)
    ]
    return evidence or any(funnels)


def _list_strands_of(study: Study, source: str) -> list[Study]:
    """Returns the strands that may contain items of a source: all, if a study file in work names no source."""
    strands = []
    for strand in study.in_each_strand():
        with suppress(SettingsError):
            if strand.funnel_source() != source and not (strand.funnel_folder / RESULT).exists():
                continue
        strands.append(strand)
    return strands


def _rebuild_evidence(study: Study, source: str, is_outdated: Callable[[Path], bool]) -> bool:
    """Ingests a source again if its evidence is outdated; returns whether it was."""
    folder = study.evidence_of(source)
    if not _is_outdated_alone(folder, "an ingest", [StagedDataset(folder).root], is_outdated):
        return False
    with suppress(*_REBUILD_ERRORS):
        ingest_source(study, source)
    if is_outdated(folder):
        shutil.rmtree(folder)
    return True


def _rebuild_funnel(study: Study, source: str, is_outdated: Callable[[Path], bool]) -> bool:
    """Runs the funnel again if its result is outdated; returns whether it was."""
    folder = study.funnel_folder
    if not _is_outdated_alone(folder, "the funnel", list(folder.glob(".*.parquet")), is_outdated):
        return False
    with suppress(*_REBUILD_ERRORS):
        if study.funnel_source() == source and last_result(study) is not None:
            run_funnel(study)
    if is_outdated(folder):
        for name in (RESULT, CANDIDATES, DROPPED_AT_FILE):
            (folder / name).unlink(missing_ok=True)
    return True


def _is_outdated_alone(
    folder: Path, lock_name: str, unfinished: Sequence[Path], is_outdated: Callable[[Path], bool]
) -> bool:
    """Removes the unfinished files of a part and returns whether it is outdated while no other process writes it."""
    if not folder.is_dir() or not (any(path.exists() for path in unfinished) or is_outdated(folder)):
        return False
    _remove_unfinished(folder, lock_name, unfinished)
    return is_outdated(folder)  # again: a process that held the lock may have rebuilt the part meanwhile


def erase_copies(study: Study) -> None:
    """Removes the search indexes and the caches of item texts; they are rebuilt when they are next used."""
    for strand in study.in_each_strand():
        _remove_copies(strand, "", certain=True)


def _is_any_stale(rows: Iterator[Mapping[str, Any]], is_stale: Callable[[Mapping[str, Any]], bool]) -> bool:
    try:
        return any(map(is_stale, rows))
    except (OSError, ValueError):  # an unreadable file may contain anything
        return True


def _read_evidence_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    for path in folder.glob("*/*.parquet"):
        yield from pq.read_table(path).to_pylist()
    for path in folder.glob("rejects/*.jsonl"):
        yield from (json.loads(line) for line in path.read_text("utf-8").splitlines())


def _read_funnel_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    if (folder / CANDIDATES).is_file():
        yield from pq.read_table(folder / CANDIDATES).to_pylist()
    if (folder / RESULT).is_file():
        waiting = [json.loads((folder / RESULT).read_bytes())]
        while waiting:
            value = waiting.pop()
            waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if isinstance(value, dict) and "item" in value:
                yield value


def _reopen(study: Study) -> Study:
    """Reads study.toml again; while it is being edited and invalid, the settings read before are kept."""
    try:
        return open_study(study.root)
    except SettingsError:
        return study


def _was_read_from(manifest: Path, folder: str) -> bool:
    """Returns whether a manifest says that the input was in a folder; False for an unreadable manifest."""
    try:
        evidence = read_manifest(manifest.parent)
    except InputError:
        return False
    return evidence is not None and Path(str(evidence.settings.get("path", ""))).parent == Path(folder)


def _remove_copies(study: Study, items: str, *, certain: bool) -> bool:
    """Removes the search index and the cache of item texts if they contain the items, or if that is `certain`."""
    index, cache = index_folder(study), cache_folder(study)
    if index.is_dir():
        with suppress(
            TemporarilyUnavailable
        ):  # a build in progress reads evidence from which the items are already erased
            _remove_unfinished(index, INDEX_NAME, [*index.glob(".*.parquet"), *index.glob(".*.db")])
    if not certain:
        in_index = _database_contains(index / FILE, _INDEX_QUERY, items)
        if not in_index and not any(_database_contains(path, _CACHE_QUERY, items) for path in cache.glob("*.db")):
            return False
    for folder in (index, cache):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise TemporarilyUnavailable(
                f"{folder} cannot be removed ({error.strerror}): try again in a moment"
            ) from None
    return True


def _remove_unfinished(folder: Path, lock_name: str, unfinished: Sequence[Path]) -> None:
    """Removes what a killed process left of a part; raises an error while another process writes the part."""
    try:
        with lock_folder(folder, lock_name):
            for path in unfinished:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    except StateError as error:
        raise TemporarilyUnavailable(str(error)) from None


def _evidence_contains(folder: Path, items: str) -> bool:
    in_tables = any(_parquet_contains(path, items) for path in folder.glob("*/*.parquet"))
    return in_tables or any(_json_contains(path, items) for path in folder.glob("rejects/*.jsonl"))


def _funnel_contains(folder: Path, items: str) -> bool:
    in_tables = any(_parquet_contains(folder / name, items) for name in (DROPPED_AT_FILE, CANDIDATES))
    return in_tables or _json_contains(folder / RESULT, items)


def _parquet_contains(path: Path, items: str) -> bool:
    try:
        with pq.ParquetFile(path) as file:
            if "item" not in file.schema_arrow.names:
                return False
            parts = file.iter_batches(100_000, columns=["item"])
            return any(pc.any(pc.starts_with(part.column(0), items)).as_py() for part in parts)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):  # an unreadable file may contain anything
        return True


def _json_contains(path: Path, items: str) -> bool:
    """Returns whether a JSON file contains the items, whether or not it escapes letters outside ASCII."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return False
    return any(json.dumps(items, ensure_ascii=escaped)[1:-1].encode() in text for escaped in (True, False))


def _database_contains(path: Path, query: str, items: str) -> bool:
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as copy:
            return copy.execute(query, (items, items)).fetchone() is not None
    except sqlite3.Error:  # a damaged copy is removed: it can be rebuilt
        return True


EVIDENCE = "evidence"
"""The origin of items that cannot be withdrawn; any other origin is the name of a feature."""


def find_origin(study: Study) -> str:
    """Returns which feature writes the source of the study's funnel, or `EVIDENCE`; empty if it has no source yet."""
    with suppress(SettingsError):
        source = study.funnel_source()
        for feature in features():
            if feature.input_folder and source in list_sources_in_folder(study, feature.input_folder):
                return feature.name
        return EVIDENCE
    return ""


def drop_withdrawn(study: Study, items: Iterable[str], origin: str | None = None) -> list[str]:
    """Returns the items of participants who have not withdrawn, in the same order.

    The origin is the feature that the items come from; None means that of the study's funnel. Plans of older rounds
    have no origin (an empty text): then the items are checked against every feature.
    """
    if origin is None:
        origin = find_origin(study)
    tests = [
        feature.withdrawn_items(study)
        for feature in features()
        if feature.withdrawn_items and origin in (feature.name, "")
    ]
    return [item for item in items if not any(is_withdrawn(item) for is_withdrawn in tests)]
