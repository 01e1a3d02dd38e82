"""Caches what results need from evidence: a query takes a second, even if it finds a few rows.

The cache is in `evidence/made`, outside backups and git. Evidence made of people's answers is never cached.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from quaestor import __version__
from quaestor.base.files import replace_file, write_atomically
from quaestor.evidence.dataset import MANIFEST
from quaestor.evidence.item_facts import ItemFacts, read_item_facts
from quaestor.measures.item_columns import Floats
from quaestor.study.features import find_live_source
from quaestor.study.folder import Study


def find_item_facts(study: Study, items: Collection[str]) -> dict[str, ItemFacts]:
    """Returns the facts about items of the results by their id; unknown ids are omitted."""
    strand, facts = study.in_results_strand(), dict[str, ItemFacts]()
    for source in strand.results_sources():
        facts |= _find_facts_in_source(strand, source, items)
    return facts


def _find_facts_in_source(study: Study, source: str, items: Collection[str]) -> dict[str, ItemFacts]:
    key = _stamp_sources(study, (source,), repr(study.settings.attributes).encode() + study.file.read_bytes())
    path = study.evidence / "made" / f"item-facts-{source}.json"
    if not key:
        return {facts.item: facts for facts in read_item_facts(study, source, items)}
    cached = _read_facts(path, key)
    if cached is None or not cached.keys() >= set(items):
        cached = dict.fromkeys(items) | {facts.item: facts for facts in read_item_facts(study, source, items)}
        rows = [[item, None if facts is None else astuple(facts)] for item, facts in cached.items()]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps({"key": key, "rows": rows}, default=datetime.isoformat).encode())
    return {item: facts for item in items if (facts := cached[item]) is not None}


def find_facts_in_strands(study: Study, items: Iterable[str]) -> dict[str, ItemFacts]:
    """Returns the facts about items of any strand by their id, without the columns that results group by."""
    items_by_strand: dict[str, list[str]] = {}
    for item in items:
        items_by_strand.setdefault(study.in_strand_of(item).strand, []).append(item)
    facts: dict[str, ItemFacts] = {}
    for name, own_items in items_by_strand.items():
        strand = study.in_strand(name)
        without_columns = replace(strand, settings=study.settings.model_copy(update={"attributes": {}}))
        for source in strand.funnel_sources():
            facts |= _find_facts_in_source(without_columns, source, own_items)
    return facts


def find_arrays(
    study: Study, name: str, file: Callable[[], Path], settings: object, compute: Callable[[], Mapping[str, Floats]]
) -> Mapping[str, Floats]:
    """Returns arrays that are computed from the funnel's sources, a file and settings with an exact `repr`."""
    if not _stamp_sources(study, study.funnel_sources(), b""):
        return compute()
    key = _stamp_sources(study, study.funnel_sources(), file().read_bytes() + repr(settings).encode())
    path = study.evidence / "made" / f"{name}.npz"
    # A damaged file counts as missing; nothing in it is executed.
    with suppress(OSError, ValueError, KeyError, EOFError), np.load(path, allow_pickle=False) as stored:
        if str(stored["key"]) == key:
            return {array: stored[array] for array in stored.files if array != "key"}
    arrays = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, allow_pickle=False, key=np.array(key), **arrays)
    return arrays


def _stamp_sources(study: Study, sources: Sequence[str], more: bytes) -> str:
    """Returns a stamp of the evidence of sources and more inputs; empty if any of the evidence must not be cached."""
    manifests = [study.evidence_of(source) / MANIFEST for source in sources]
    is_live = any(find_live_source(study, source) is not None for source in sources)
    if is_live or not all(manifest.is_file() for manifest in manifests):
        return ""
    content = b"".join(manifest.read_bytes() for manifest in manifests)
    return hashlib.sha256(__version__.encode() + content + more).hexdigest()


def _read_facts(path: Path, key: str) -> dict[str, ItemFacts | None] | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = json.loads(path.read_bytes())
        if document["key"] == key:
            return {item: None if row is None else _build_facts(row) for item, row in document["rows"]}
    return None


def _build_facts(row: list[Any]) -> ItemFacts:
    facts = dict(zip((field.name for field in fields(ItemFacts)), row, strict=True))
    created = datetime.fromisoformat(facts["created"]) if facts["created"] else None
    return ItemFacts(**{**facts, "tags": tuple(facts["tags"]), "created": created})
