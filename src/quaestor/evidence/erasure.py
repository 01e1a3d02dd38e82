"""Removes items of people who withdrew from the evidence and from everything made of it, and keeps them out.

Each part is made again from an input that is already without them, and is there whole or not at all; what cannot be
made again is removed. A page meanwhile shows the part as it was, as it is, or that it has to be made again.

A withdrawal cannot remove items from earlier rounds, nor from evidence that somebody restores from a copy: so whatever
draws items calls `without_withdrawn`.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quaestor.base.errors import InputError, NotNow, QuaestorError, SettingsError, StateError
from quaestor.base.files import sole_user
from quaestor.evidence.dataset import MANIFEST, StagedDataset, read_manifest
from quaestor.evidence.funnel import CANDIDATES, DROPPED_AT_FILE, RESULT, last_result, run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.item_text_cache import cache_folder
from quaestor.evidence.text_index import FILE, WHAT, index_folder
from quaestor.study.features import features
from quaestor.study.folder import Study, open_study

_FAILED = (QuaestorError, OSError, duckdb.Error)
"""Why a part cannot be made anew; it is removed then."""
_INDEXED = "SELECT 1 FROM items WHERE substr(item, 1, length(?)) = ? LIMIT 1"
_SHELVED = "SELECT 1 FROM texts WHERE substr(item, 1, length(?)) = ? LIMIT 1"


def sources_in(study: Study, folder: str) -> list[str]:
    """The sources whose input lies in a folder of the study: those of study.toml, and those that once were."""
    inputs, study = study.root / folder, _latest(study)
    declared = {name for name in study.settings.sources if study.path_of(name).parent == inputs}
    ingested = {
        path.parent.name for path in study.evidence_of("").glob(f"*/{MANIFEST}") if _was_read_from(path, folder)
    }
    return sorted({*declared, *ingested, *(path.stem for path in inputs.glob("*.csv"))})


def forget_items(study: Study, source: str, items: str) -> bool:
    """Take items whose ids begin with `items` out of a source's evidence and all that was made of it.

    The input of the source has to be without them before. Says whether there were any; where somebody else is at work
    on the same, `NotNow` says that it can be tried again.
    """
    study = _latest(study)
    evidence = _rebuild_evidence(study, source, lambda folder: _evidence_holds(folder, items))
    funnel = _rebuild_funnel(study, source, lambda folder: _funnel_holds(folder, items))
    copies = _forgotten_in_copies(study, items, certain=evidence or funnel)
    return evidence or funnel or copies


def remake_items(study: Study, source: str, is_stale: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Make a source's evidence and the funnel again where a row is stale; whether there was one.

    The input of the source has to be as it shall be before. What cannot be made again is removed.
    """
    study = _latest(study)
    evidence = _rebuild_evidence(study, source, lambda folder: _is_any_stale(_rows_of_evidence(folder), is_stale))
    if not study.funnel_folder.is_dir() or study.funnel_source() != source:
        return evidence
    funnel = _rebuild_funnel(study, source, lambda folder: _is_any_stale(_rows_of_funnel(folder), is_stale))
    return evidence or funnel


def _rebuild_evidence(study: Study, source: str, holds: Callable[[Path], bool]) -> bool:
    """Ingest a source again where its evidence holds something that its input no longer has; whether it did."""
    folder = study.evidence_of(source)
    if not _holds_alone(folder, "an ingest", [StagedDataset(folder).root], holds):
        return False
    with suppress(*_FAILED):
        ingest_source(study, source)
    if holds(folder):
        shutil.rmtree(folder)
    return True


def _rebuild_funnel(study: Study, source: str, holds: Callable[[Path], bool]) -> bool:
    """Run the funnel again where it holds something that its source no longer has; whether it did."""
    folder = study.funnel_folder
    if not _holds_alone(folder, "the funnel", list(folder.glob(".*.parquet")), holds):
        return False
    with suppress(*_FAILED):
        if study.funnel_source() == source and last_result(study) is not None:
            run_funnel(study)
    if holds(folder):
        for name in (RESULT, CANDIDATES, DROPPED_AT_FILE):
            (folder / name).unlink(missing_ok=True)
    return True


def _holds_alone(folder: Path, what: str, unfinished: Sequence[Path], holds: Callable[[Path], bool]) -> bool:
    """Whether a part holds something, now that nobody makes it any more and nothing unfinished is left of it."""
    if not folder.is_dir() or not (any(path.exists() for path in unfinished) or holds(folder)):
        return False
    _alone(folder, what, unfinished)
    return holds(folder)


def forget_copies(study: Study) -> None:
    """Remove what was copied to be searched and read; it is copied again when somebody asks for it."""
    _forgotten_in_copies(study, "", certain=True)


def _is_any_stale(rows: Iterator[Mapping[str, Any]], is_stale: Callable[[Mapping[str, Any]], bool]) -> bool:
    try:
        return any(map(is_stale, rows))
    except (OSError, ValueError):  # a file that cannot be read may hold anything
        return True


def _rows_of_evidence(folder: Path) -> Iterator[Mapping[str, Any]]:
    for path in folder.glob("*/*.parquet"):
        yield from pq.read_table(path).to_pylist()
    for path in folder.glob("rejects/*.jsonl"):
        yield from (json.loads(line) for line in path.read_text("utf-8").splitlines())


def _rows_of_funnel(folder: Path) -> Iterator[Mapping[str, Any]]:
    if (folder / CANDIDATES).is_file():
        yield from pq.read_table(folder / CANDIDATES).to_pylist()
    if (folder / RESULT).is_file():
        waiting = [json.loads((folder / RESULT).read_bytes())]
        while waiting:
            value = waiting.pop()
            waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if isinstance(value, dict) and "item" in value:
                yield value


def _latest(study: Study) -> Study:
    """The study as its file says now; while somebody writes it, as it was read before."""
    try:
        return open_study(study.root)
    except SettingsError:
        return study


def _was_read_from(manifest: Path, folder: str) -> bool:
    """Whether evidence says that its input lay in a folder; what cannot be read says nothing."""
    try:
        found = read_manifest(manifest.parent)
    except InputError:
        return False
    return found is not None and Path(str(found.settings.get("path", ""))).parent == Path(folder)


def _forgotten_in_copies(study: Study, items: str, *, certain: bool) -> bool:
    """What was copied to be searched and read is removed; it is copied again when somebody asks for it."""
    index, shelf = index_folder(study), cache_folder(study)
    if index.is_dir():
        with suppress(NotNow):  # who copies evidence that is without them may go on
            _alone(index, WHAT, [*index.glob(".*.parquet"), *index.glob(".*.db")])
    held = _database_holds(index / FILE, _INDEXED, items)
    if not certain and not held and not any(_database_holds(path, _SHELVED, items) for path in shelf.glob("*.db")):
        return False
    for folder in (index, shelf):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise NotNow(f"{folder} cannot be removed ({error.strerror}): try again in a moment") from None
    return True


def _alone(folder: Path, what: str, unfinished: Sequence[Path]) -> None:
    """Nobody makes this part just now from what was there before; what a killed process left of it is removed."""
    try:
        with sole_user(folder, what):
            for path in unfinished:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    except StateError as error:
        raise NotNow(str(error)) from None


def _evidence_holds(folder: Path, items: str) -> bool:
    tables = any(_parquet_holds(path, items) for path in folder.glob("*/*.parquet"))
    return tables or any(_text_holds(path, items) for path in folder.glob("rejects/*.jsonl"))


def _funnel_holds(folder: Path, items: str) -> bool:
    tables = any(_parquet_holds(folder / name, items) for name in (DROPPED_AT_FILE, CANDIDATES))
    return tables or _text_holds(folder / RESULT, items)


def _parquet_holds(path: Path, items: str) -> bool:
    try:
        with pq.ParquetFile(path) as file:
            if "item" not in file.schema_arrow.names:
                return False
            parts = file.iter_batches(100_000, columns=["item"])
            return any(pc.any(pc.starts_with(part.column(0), items)).as_py() for part in parts)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):  # a file that cannot be read may hold anything
        return True


def _text_holds(path: Path, items: str) -> bool:
    """Whether a file of JSON names the items, in either way of writing a letter that is not ASCII."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return False
    return any(json.dumps(items, ensure_ascii=plain)[1:-1].encode() in text for plain in (True, False))


def _database_holds(path: Path, asked: str, items: str) -> bool:
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as copy:
            return copy.execute(asked, (items, items)).fetchone() is not None
    except sqlite3.Error:  # a copy that is no good is not missed
        return True


EVIDENCE = "evidence"
"""The origin of items that nobody can withdraw; any other origin is the name of a feature."""


def origin_of(study: Study) -> str:
    """The feature that writes the source of the study's funnel, or `EVIDENCE`; empty where there is no source yet."""
    with suppress(SettingsError):
        source = study.funnel_source()
        makers = (one.name for one in features() if one.input_folder and source in sources_in(study, one.input_folder))
        return next(makers, EVIDENCE)
    return ""


def without_withdrawn(study: Study, items: Iterable[str], origin: str | None = None) -> list[str]:
    """The same items in the same order without those of people who withdrew.

    The origin says which feature the items come from; None stands for that of the study's funnel. Plans of older
    rounds name none (an empty origin): there every feature is asked.
    """
    if origin is None:
        origin = origin_of(study)
    tests = [one.withdrawn_items(study) for one in features() if one.withdrawn_items and origin in (one.name, "")]
    return [item for item in items if not any(is_withdrawn(item) for is_withdrawn in tests)]
