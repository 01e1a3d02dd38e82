"""Keeps items of people who withdrew out of everything that draws items, and removes copies of private words.

A withdrawal cannot remove items from earlier rounds: so every function that draws items calls `drop_withdrawn`.

Earlier versions copied open answers and turns of interviews to tables, evidence, candidates, caches and indexes.
Nothing reads these copies any more; they are removed by a command, and by the first erasure.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq

from quaestor.base.errors import InputError, QuaestorError, SettingsError, TemporarilyUnavailable
from quaestor.base.files import remove
from quaestor.evidence.dataset import MANIFEST, read_manifest
from quaestor.evidence.funnel import CANDIDATES, DROPPED_AT_FILE, RESULT, run_funnel
from quaestor.evidence.item_text_cache import cache_folder
from quaestor.evidence.live_items import has_live_source
from quaestor.evidence.text_index import index_folder
from quaestor.study.features import features, find_live_feature, find_live_source
from quaestor.study.folder import Study, open_study
from quaestor.study.settings.sources import COPIES_FOLDERS


def list_copies(study: Study) -> list[Path]:
    """Returns the files and folders with copies of private words that earlier versions made."""
    return [path for kind, folder in COPIES_FOLDERS.items() for path in _list_copies_of(study, kind, folder)]


def _list_copies_of(study: Study, kind: str, folder: str) -> list[Path]:
    tables = [study.root / folder] if any((study.root / folder).glob("*.csv")) else []
    evidence = [path.parent for path in study.evidence_of("").glob(f"*/{MANIFEST}") if _is_copy(study, path, kind)]
    strands = [strand for strand in study.in_each_strand() if _is_source_of(strand, kind)]
    candidates = [path for strand in strands if (path := strand.funnel_folder / CANDIDATES).exists()]
    if not (tables or evidence or candidates):
        return []
    # Caches contain items of all strands, and results of funnels contain examples.
    caches = [folder(strand) for strand in study.in_each_strand() for folder in (cache_folder, index_folder)]
    results = [strand.funnel_folder / RESULT for strand in strands]
    return [*tables, *evidence, *candidates, *(path for path in (*caches, *results) if path.exists())]


def _is_copy(study: Study, manifest: Path, kind: str) -> bool:
    """Returns whether evidence was read from a table of copies."""
    try:
        evidence = read_manifest(manifest.parent)
    except InputError:  # a damaged manifest says nothing about what its folder contains
        source = manifest.parent.name
        return source in study.settings.sources and _is_kind(study, source, kind)
    return evidence is not None and Path(str(evidence.settings.get("path", ""))).parent == Path(COPIES_FOLDERS[kind])


def _is_source_of(strand: Study, kind: str) -> bool:
    with suppress(SettingsError):
        return any(_is_kind(strand, source, kind) for source in strand.funnel_sources())
    return False


def _is_kind(study: Study, source: str, kind: str) -> bool:
    live = find_live_source(study, source)
    return live is not None and live.kind == kind


def remove_copies(study: Study) -> list[Path]:
    """Removes the copies of private words that earlier versions made, and runs the funnels of live sources again.

    Raises `TemporarilyUnavailable` if a copy cannot be removed now; calling it again removes the rest.
    """
    copies = list_copies(study)
    for path in copies:
        try:
            remove(path)
        except OSError as error:
            raise TemporarilyUnavailable(
                f"{path} cannot be removed ({error.strerror}): try again in a moment"
            ) from None
    if copies:
        _run_live_funnels(study)
    return copies


def contains_items(study: Study, kind: str, start: str) -> bool:
    """Returns whether the result of a funnel has items whose ids begin with `start`."""
    strands = [strand for strand in study.in_each_strand() if _is_source_of(strand, kind)]
    return any(_has_items(strand, f"{strand.prefix}{start}") for strand in strands)


def _has_items(strand: Study, start: str) -> bool:
    try:
        items = pq.read_table(strand.funnel_folder / DROPPED_AT_FILE, columns=["item"])["item"]
    except FileNotFoundError:
        return False
    except (OSError, ValueError):  # an unreadable file may contain anything
        return True
    return bool(pc.any(pc.starts_with(items, start)).as_py())


def forget_items(study: Study, kind: str, start: str) -> bool:
    """Removes erased items from the results of funnels, by their ids, and all copies of private words.

    The private file must already be without the items. Returns whether there were any.
    """
    study = _reopen(study)
    had_copies, had_items = bool(remove_copies(study)), contains_items(study, kind, start)
    if had_items:
        _run_live_funnels(study)
        for strand in study.in_each_strand():
            if _is_source_of(strand, kind) and _has_items(strand, f"{strand.prefix}{start}"):
                for name in (RESULT, DROPPED_AT_FILE):
                    (strand.funnel_folder / name).unlink(missing_ok=True)
    return had_copies or had_items


def _run_live_funnels(study: Study) -> None:
    """Runs the funnels of live sources that ran before; what cannot run now is run by the next `quaestor funnel`."""
    for strand in study.in_each_strand():
        with suppress(QuaestorError, OSError, duckdb.Error):
            has_run = (strand.funnel_folder / DROPPED_AT_FILE).exists()
            if has_run and has_live_source(strand):
                run_funnel(strand)


def _reopen(study: Study) -> Study:
    """Reads study.toml again; while it is being edited and invalid, the settings read before are kept."""
    try:
        return open_study(study.root)
    except SettingsError:
        return study


EVIDENCE = "evidence"
"""The origin of items that cannot be withdrawn; any other origin is the name of a feature."""


def find_origin(study: Study) -> str:
    """Returns which feature has the items of the study's funnel, or `EVIDENCE`; empty if it has no source yet."""
    with suppress(SettingsError):
        live_features = (find_live_feature(study, source) for source in study.funnel_sources())
        return next((feature.name for feature in live_features if feature), EVIDENCE)
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
