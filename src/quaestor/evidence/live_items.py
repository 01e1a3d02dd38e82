"""Items that are read from a private file whenever they are needed: open answers and turns of interviews.

Their words are in memory only. On disk, a funnel stores which items each step dropped, by their ids.
"""

from __future__ import annotations

import hashlib
import html
import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomlkit
from pydantic import ValidationError

from quaestor import __version__
from quaestor.base.errors import SettingsError, StateError
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.records import Manifest, TableEntry
from quaestor.evidence.sources.protocol import InputFile
from quaestor.study.contributions import LiveSource
from quaestor.study.features import find_live_source
from quaestor.study.folder import Study, append_tables, edit_study_file, open_study
from quaestor.study.session import Session
from quaestor.study.settings.schema import StudySettings, explain

_CACHED: dict[tuple[Path, str], tuple[object, pa.Table]] = {}
"""By study folder and source: the stamp of the private file, and the items."""
_LOCK = threading.Lock()


def read_live_table(study: Study, source: str, live: LiveSource) -> pa.Table:
    """Returns the items of a source as a table, read again when the private file has changed."""
    key, stamp = (study.root, source), (live.stamp(study), study.source(source))
    with _LOCK:
        cached = _CACHED.get(key)
    if cached is None or cached[0] != stamp:
        rows = live.read_rows(study, source)
        columns = {name: [row[place] for row in rows] for place, name in enumerate(live.columns)}
        arrays = {
            "row_number": pa.array(range(1, len(rows) + 1), pa.int64()),
            "item": pa.array(columns[live.columns[0]], pa.string()),
            **{name: pa.array(values, pa.string()) for name, values in columns.items()},
        }
        cached = stamp, pa.table(arrays)
        with _LOCK:
            _CACHED[key] = cached
    return cached[1]


def select_live_items(study: Study, source: str, live: LiveSource, session: Session[Any] | None = None) -> pa.Table:
    """Returns the items that enter a funnel: all but those that the lead excluded."""
    table = read_live_table(study, source, live)
    is_left_out = live.read_left_out(study, session)
    return table.filter(pa.array([not is_left_out(item) for item in table["item"].to_pylist()], pa.bool_()))


def has_live_source(study: Study) -> bool:
    """Returns whether the items of the strand, or some of them, are read from a private file."""
    return any(find_live_source(study, source) is not None for source in study.funnel_sources())


def live_stamp(study: Study, source: str) -> object:
    """Returns a stamp that changes with the words of a live source; None for other sources."""
    live = find_live_source(study, source)
    return live.stamp(study) if live else None


def read_source_manifest(study: Study, source: str, session: Session[Any] | None = None) -> Manifest | None:
    """Returns the manifest of a source; None if it has no evidence yet. That of a live source is made from its items.

    The funnel of a live source is outdated if its items are others, or if the words that a step depends on are.
    """
    live = find_live_source(study, source)
    if live is None:
        return read_manifest(study.evidence_of(source))
    if not (study.root / live.file).exists():
        return None
    table = select_live_items(study, source, live, session)
    depends_on_words = any(
        step.model_dump(exclude={"step", "round", "body_at_least"}, exclude_defaults=True)
        or (step.body_at_least or 0) > 1
        for strand in study.in_each_strand()
        for step in strand.funnel.steps
        if source in (strand.funnel.sources or (source,))
    )
    columns = table.drop_columns("row_number") if depends_on_words else table.select(["item"])
    digest = hashlib.sha256(repr(columns.to_pydict()).encode()).hexdigest()
    return Manifest(
        kind=live.kind,
        site="",
        settings={},
        inputs=(InputFile(live.file, 0, 0, digest),),
        tables={"items": TableEntry(table.num_rows, 0, table.num_rows, {}, {})},
        tool=f"quaestor {__version__}",
        made="",
        seconds=0.0,
    )


def read_funnel_manifests(study: Study, session: Session[Any] | None = None) -> dict[str, Manifest]:
    """Returns the manifests of the strand's sources by name; raises StateError if one has no evidence yet."""
    manifests = {}
    for source in study.funnel_sources():
        manifest = read_source_manifest(study, source, session)
        if manifest is None:
            raise explain_no_evidence(study, source)
        manifests[source] = manifest
    return manifests


def explain_no_evidence(study: Study, source: str) -> StateError:
    """Returns the error for a source without evidence, with what to do about it."""
    live = find_live_source(study, source)
    if live is not None:
        return StateError(
            f"the source {source!r} has no items yet: they are made of {live.items_are}, which come first"
        )
    return StateError(f"the source {source!r} has no evidence yet: run `quaestor ingest {source}` first")


def as_html(text: str) -> str:
    """Converts plain text to HTML paragraphs, which the rating page expects."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    paragraphs = (html.escape(part.strip()) for part in lines.split("\n\n") if part.strip())
    return "".join(f"<p>{part}</p>" for part in paragraphs).replace("\n", "<br>")


@dataclass(frozen=True)
class AddedItems:
    """A live source of a study: how many items it has, and whether this run added it to study.toml."""

    source: str
    strand: str
    """The strand of the items; empty for the first of the study."""
    items: int
    participants: int
    block: str
    """The source and its strand as TOML."""
    added: bool
    file: str
    """The private file from which the items are read."""


def add_live_source(
    study: Study, name: str, live: LiveSource, settings: Mapping[str, Any], strand: str, step: str, about: str
) -> AddedItems:
    """Adds a live source and its strand to study.toml unless a source has the name, and counts its items.

    `about` is a comment in study.toml. The first strand of a study is its `[funnel]`, with one step called `step`.
    """
    is_known = name in study.settings.sources
    is_first = not (study.settings.sources or study.settings.strands or study.funnel.steps)
    tables: dict[str, Any] = {"sources": {name: {"kind": live.kind, **settings}}}
    if is_first:
        tables["funnel"] = {"source": name, "steps": [{"step": step, "body_at_least": 1}]}
    else:
        tables["strands"] = {strand: {"source": name}}
    block = f"# {about}\n{tomlkit.dumps(tables)}"
    if not is_known:
        _append_to_study_file(study, block)
        study = open_study(study.root)
    own_strand = next((key for key, funnel in study.settings.strands.items() if name in funnel.sources), "")
    table = select_live_items(study, name, live)
    people: Sequence[str] = table[live.columns[1]].to_pylist()
    return AddedItems(name, own_strand, table.num_rows, len(set(people)), block, not is_known, live.file)


def _append_to_study_file(study: Study, block: str) -> None:
    """Appends a block to study.toml, unless that would make the file invalid."""

    def change(text: str) -> str:
        changed = append_tables(text, block)
        try:
            raw = tomllib.loads(changed.removeprefix("\ufeff"))
            StudySettings.model_validate(raw)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{study.file}: the source cannot be added ({error}): add it by hand") from None
        except ValidationError as error:
            problem = explain(error.errors()[0], StudySettings, raw)
            raise SettingsError(f"{study.file}: the source cannot be added: {problem}") from None
        return changed

    edit_study_file(study, change)
