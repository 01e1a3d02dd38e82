"""A folder of evidence: written aside, made visible at once by its manifest, never seen half.

DIR/manifest.json       what is here; without it there is no evidence
DIR/posts/*.parquet     one folder a table
DIR/rejects/posts.jsonl what could not be read, with offset and reason
DIR/.aside/             evidence in the making
"""

from __future__ import annotations

import heapq
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import fsync, write_whole
from quaestor.evidence.records import Manifest, TableEntry, TableFile
from quaestor.evidence.sources.protocol import LEFT_OUT, InputFile, Reject, TableCounts

MANIFEST = "manifest.json"
_ASIDE = ".aside"
_GROUP_BYTES = 4 << 20
_SHORT, _REPEATS = 24, 0.1
"""Columns of few bytes a value, of which few are different, are worth a dictionary."""


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, or None where there is no evidence."""
    path = folder / MANIFEST
    try:
        raw = json.loads(path.read_text("utf-8"))
        tables = {
            name: TableEntry(**{**entry, "files": tuple(TableFile(**file) for file in entry["files"])})
            for name, entry in raw.pop("tables").items()
        }
        inputs = tuple(InputFile(**one) for one in raw.pop("inputs"))
        return Manifest(**{**raw, "tables": tables, "inputs": inputs, "notes": tuple(raw["notes"])})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is damaged or not of Quaestor ({error}): name another folder, or remove that file"
        ) from None


def is_whole(folder: Path, manifest: Manifest) -> bool:
    """Whether every file that the manifest lists is there, at its size."""
    listed = [(folder / name / file.name, file.bytes) for name, one in manifest.tables.items() for file in one.files]
    return all(path.is_file() and path.stat().st_size == size for path, size in listed)


def table_files(folder: Path, table: str) -> list[Path]:
    """The Parquet files of a table, as the manifest lists them."""
    manifest = read_manifest(folder)
    if manifest is None or table not in manifest.tables:
        raise StateError(f"{folder} holds no table {table}: run `quaestor ingest` first")
    files = [folder / table / file.name for file in manifest.tables[table].files]
    missing = [path for path in files if not path.exists()]
    if missing:
        raise StateError(f"{missing[0]} is listed in the manifest but gone: run `quaestor ingest` again")
    return files


@dataclass(frozen=True)
class StagedDataset:
    """Evidence in the making; a sink for sources."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / _ASIDE

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    def begin(self, fingerprint: str, *, resume: bool = True) -> dict[str, TableCounts]:
        """Make room; where asked to, keeps the tables that an interrupted run of the same thing had finished."""
        if (self.root / MANIFEST).exists():
            self._show()
        marker = self.root / "fingerprint"
        if not resume or not marker.exists() or marker.read_text() != fingerprint:
            shutil.rmtree(self.root, ignore_errors=True)
        finished = {path.stem: TableCounts(**json.loads(path.read_text())) for path in self.root.glob("*.done")}
        for path in self.root.iterdir() if self.root.exists() else ():
            if path.is_dir() and path.name.split(".")[0] not in finished:
                shutil.rmtree(path)
        self.scratch.mkdir(parents=True, exist_ok=True)
        marker.write_text(fingerprint)
        return finished

    def open(self, table: str, lane: str, schema: pa.Schema) -> LaneWriter:
        return LaneWriter(self.root / table, self.root / f"{table}.rejects", lane, schema)

    def finish_table(self, table: str, counts: TableCounts) -> None:
        """From here on an interrupted run need not read this table again."""
        _merge_rejects(self.root / f"{table}.rejects", self.root / f"{table}.jsonl")
        write_whole(self.root / f"{table}.done", json.dumps(asdict(counts)).encode())

    def commit(self, manifest: Manifest) -> Manifest:
        """Make the evidence visible, in place of what was there."""
        tables = {name: replace(entry, files=tuple(self._files(name))) for name, entry in manifest.tables.items()}
        for name, entry in tables.items():
            written = sum(file.rows for file in entry.files)
            if written != entry.rows:
                raise StateError(
                    f"{name} should have {entry.rows} rows and has {written}: remove {self.root} and try again"
                )
        complete = replace(manifest, tables=tables)
        write_whole(self.root / MANIFEST, json.dumps(asdict(complete), indent=2).encode() + b"\n")
        self._show()
        return complete

    def _files(self, table: str) -> Iterator[TableFile]:
        folder = self.root / table
        folder.mkdir(exist_ok=True)
        for path in sorted(folder.glob("*.parquet")):
            fsync(path)
            yield TableFile(path.name, pq.read_metadata(path).num_rows, path.stat().st_size)
        fsync(folder)

    def _show(self) -> None:
        """Put finished evidence in place; may be repeated from any point where it was interrupted."""
        (self.folder / MANIFEST).unlink(missing_ok=True)
        names = [*json.loads((self.root / MANIFEST).read_text())["tables"], LEFT_OUT]
        for path in self.folder.iterdir():
            kept = {*names, _ASIDE, "rejects"}
            if path.is_dir() and path.name not in kept and any(path.iterdir()) and _is_ours(path):
                shutil.rmtree(path)
        rejects = self.folder / "rejects"
        rejects.mkdir(exist_ok=True)
        for name in names:
            if (self.root / name).exists() or name == LEFT_OUT:
                self._make_room(self.folder / name)
            if (self.root / name).exists():
                os.replace(self.root / name, self.folder / name)
            (rejects / f"{name}.jsonl").unlink(missing_ok=True)
            if (self.root / f"{name}.jsonl").exists():
                os.replace(self.root / f"{name}.jsonl", rejects / f"{name}.jsonl")
        fsync(self.folder)
        os.replace(self.root / MANIFEST, self.folder / MANIFEST)
        fsync(self.folder)
        shutil.rmtree(self.root)

    def _make_room(self, folder: Path) -> None:
        if folder.exists():
            if not _is_ours(folder):
                raise StateError(f"{folder} holds files that are not evidence: move them, or name another folder")
            shutil.rmtree(folder)


def _is_ours(folder: Path) -> bool:
    """A table of older evidence, which may be replaced; a person's own folder is left alone."""
    return all(path.name.startswith("part-") and path.suffix == ".parquet" for path in folder.iterdir())


@dataclass
class LaneWriter:
    """Rows and rejects of one lane, in a file each; rows are gathered into groups worth compressing."""

    folder: Path
    rejects_folder: Path
    lane: str
    schema: pa.Schema
    _held: list[pa.RecordBatch] = field(default_factory=list)
    _held_bytes: int = 0
    _file: pq.ParquetWriter | None = None
    _rejects: Any = None

    def write(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._held_bytes += batch.nbytes
        if self._held_bytes > _GROUP_BYTES:
            self._flush()

    def reject(self, reject: Reject) -> None:
        if self._rejects is None:
            self.rejects_folder.mkdir(parents=True, exist_ok=True)
            self._rejects = (self.rejects_folder / f"{self.lane}.jsonl").open("w", encoding="utf-8")
        self._rejects.write(json.dumps(asdict(reject), ensure_ascii=False) + "\n")

    def close(self) -> None:
        if self._held:
            self._flush()
        if self._file is not None:
            self._file.close()
        if self._rejects is not None:
            self._rejects.close()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._held, schema=self.schema)
        self._held, self._held_bytes = [], 0
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = pq.ParquetWriter(
                self.folder / f"part-{self.lane}.parquet",
                self.schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=_worth_a_dictionary(table),
                write_statistics=[name for name, column in _flat(table) if not pa.types.is_string(column.type)],
                store_schema=True,
            )
        self._file.write_table(table, row_group_size=table.num_rows)


def _worth_a_dictionary(table: pa.Table) -> list[str] | bool:
    """Columns whose values repeat; trying a dictionary on ids and long texts costs more than writing them."""
    short = [(name, column) for name, column in _flat(table) if column.nbytes < _SHORT * max(len(column), 1)]
    return [name for name, column in short if len(column.unique()) < len(column) * _REPEATS] or False


def _flat(table: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    columns = zip(table.schema.names, table.columns, strict=True)
    return [(name, column) for name, column in columns if not pa.types.is_nested(column.type)]


def _merge_rejects(folder: Path, target: Path) -> None:
    """The rejects of all lanes in the order of the file, however many there are."""
    if not folder.exists():
        return
    files = [path.open(encoding="utf-8") for path in sorted(folder.glob("*.jsonl"))]
    try:
        with target.open("w", encoding="utf-8") as merged:
            merged.writelines(heapq.merge(*files, key=lambda line: int(json.loads(line)["offset"])))
    finally:
        for file in files:
            file.close()
    shutil.rmtree(folder)
