"""Builds a bundled study from its public labelled items; records decisions and codebook moves."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.base.toml import read_toml
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.decisions import build_published_act
from quaestor.coding.model.records import Codebook
from quaestor.coding.session import CodingSession, open_coding
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.item_facts import read_column
from quaestor.evidence.table_rows import read_header
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study, template_folder

LABELS_FILE = "labels.toml"


@dataclass(frozen=True)
class Labels:
    """How the labels of a study are read, and the acts that lead from their codebook to the printed one."""

    codebook: Path
    phases: Mapping[str, str]
    words: Mapping[str, str]
    moves: Sequence[tuple[str, dict[str, Any]]]
    source: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the table source for the file of labelled items."""

    def payload(self) -> dict[str, Any]:
        """Returns the payload that imports the labels' codebook."""
        return read_codebook(self.codebook)

    def read(self, label: str, book: Codebook) -> tuple[str, str]:
        """Returns (verb, code) of a label such as `rotate,image,d`; raises InputError for unknown words."""
        parts = [part.strip() for part in label.rsplit(",", 2)]
        if len(parts) < 3 or parts[-1] not in self.phases:
            raise InputError(f"the label {label!r} does not end with an object and a phase")
        verb, thing, phase = parts[0], self.thing(parts[-2]), self.phases[parts[-1]]
        name = thing.casefold()
        childs = [code for code in book.children(phase) if name.endswith(code.name.casefold())]
        if not childs:
            raise InputError(f"the label {label!r} names no object of {phase}")
        return verb, max(childs, key=lambda code: len(code.name)).id

    def thing(self, word: str) -> str:
        """Returns the full word for an abbreviation in a label."""
        return self.words.get(word, word)

    def phrase(self, label: str) -> dict[str, str]:
        """Returns verb and object of a label as whole words."""
        verb, thing, _ = (part.strip() for part in label.rsplit(",", 2))
        return {"verb": verb, "object": self.thing(thing)}


def read_labels(folder: Path) -> Labels:
    """Reads the label settings of a study folder or bundled study."""
    path = folder / LABELS_FILE
    if not path.exists():
        raise InputError(f"{path} does not exist: this study has no settings for published labels")
    raw = read_toml(path, InputError)
    moves = [(f"codebook.{move['kind']}", {key: move[key] for key in move if key != "kind"}) for move in raw["moves"]]
    return Labels(folder / raw["codebook"], raw["phases"], raw["words"], moves, raw.get("source", {}))


LABELS = "labels"
"""The name of published labels in the journal."""


@dataclass(frozen=True)
class UnreadLabel:
    """A labelled item whose label is unknown to the codebook."""

    item: str
    label: str
    why: str


@dataclass(frozen=True)
class LoadedLabels:
    """A study built from labelled items, and the labels that could not be read."""

    study: Study
    labelled: int
    rejected: int
    unread: tuple[UnreadLabel, ...]


def load_labels(name: str, data: Path, folder: Path, notify: Callable[[str], None]) -> LoadedLabels:
    """Builds a study folder from a bundled study and a file of labelled items, using the regular import and acts."""
    labels = read_labels(template_folder(name))
    if not labels.source:
        raise InputError(f"{LABELS_FILE} of {name} has no section for the file of labelled items: add [source]")
    if not data.is_file():
        raise InputError(f"{data} does not exist: name the file of labelled items from the replication package")
    _require_columns(labels, data)
    new_study(folder, name)
    copy = folder / f"{labels.source['name']}{data.suffix.lower() or '.csv'}"
    shutil.copyfile(data, copy)
    _point_to(folder, labels, copy.name)
    study = open_study(folder)
    notify(f"a new study from the bundled {name}, with {data.name} as its source")
    report = ingest_source(study, labels.source["name"])
    rows = report.manifest.tables["items"]
    notify(f"{rows.rows:,} labelled items read, {rows.rejected:,} rows rejected")
    if not rows.rows:
        first = f", for example: {report.first_reason('items')}" if rows.rejected else ""
        raise InputError(f"no row of {data} could be read{first}: use the file as published")
    unread = _decide(study, labels)
    notify(f"labels recorded under their own codebook, then {len(labels.moves)} moves to the printed one")
    return LoadedLabels(open_study(folder), rows.rows, rows.rejected, unread)


def _require_columns(labels: Labels, data: Path) -> None:
    """Raises an error that names the user's file, before anything is created."""
    there = read_header(data)
    for name, column in labels.source["columns"].items():
        source_column = column.get("from", name)
        if source_column not in there:
            near = suggest(source_column, there)
            raise InputError(f"{data} has no column {source_column!r}, its columns: {near}: use the file as published")


def _point_to(folder: Path, labels: Labels, file: str) -> None:
    """Sets the labelled items as the source of the study's results."""
    path = folder / "study.toml"
    document = tomlkit.parse(path.read_text("utf-8"))
    source = tomlkit.table()
    source.update({"kind": "table", "path": file, "item": labels.source["item"]})
    source.add("columns", dict(labels.source["columns"]))
    document["sources"][labels.source["name"]] = source
    results = tomlkit.table()
    labels_of_rows = document["results"].get("labels", {})
    results.update(
        {
            "tree": "issue",
            "code": f"{LABELS}.code",
            "phrase": f"{LABELS}.phrase",
            "source": labels.source["name"],
            "taxonomy": CODEBOOK_FILE,
        }
    )
    results.add("labels", labels_of_rows)
    document["results"] = results
    path.write_text(tomlkit.dumps(document), "utf-8")


def _decide(study: Study, labels: Labels) -> tuple[UnreadLabel, ...]:
    """Records the labels under their own codebook, then moves them to the printed one."""
    rows = _read_labels(study, labels)
    with open_coding(study) as coding:
        _change(coding, "codebook.import", labels.payload())
        book = coding.state.history.latest
        entries, unread = _entries(labels, book, rows)
        act = build_published_act(LABELS, coding.lead, str(labels.source["name"]), entries, book.version)
        coding.act(lambda state: act)
        for kind, payload in labels.moves:
            _change(coding, kind, payload)
    return tuple(unread)


def _change(coding: CodingSession, kind: str, change: Mapping[str, Any]) -> None:
    payload = dict(change)
    coding.act(lambda state: NewAct(kind, coding.lead, payload, state.history.preview_change(kind, payload).version))


def _read_labels(study: Study, labels: Labels) -> list[tuple[str, str]]:
    by_item = read_column(study, str(labels.source["name"]), labels.source["label"])
    return [(item, str(label)) for item, label in by_item.items()]


def _entries(
    labels: Labels, book: Codebook, rows: list[tuple[str, str]]
) -> tuple[list[dict[str, Any]], list[UnreadLabel]]:
    entries: list[dict[str, Any]] = []
    unread = []
    for item, label in rows:
        try:
            _, code = labels.read(label, book)
        except InputError as error:
            unread.append(UnreadLabel(item, label, str(error)))
            continue
        entries.append({"item": item, "facet": "code", "answer": code})
        entries.append({"item": item, "facet": "phrase", "answer": labels.phrase(label)})
    return entries, unread
