"""A folder of evidence; a staged dataset becomes visible all at once, with its manifest.

DIR/manifest.json       lists the contents; without it the folder has no evidence
DIR/posts/*.parquet     one folder per table
DIR/rejects/posts.jsonl rows that could not be read, with offset and reason
DIR/.aside/             evidence that is still being written
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
from quaestor.base.files import fsync, write_atomically
from quaestor.evidence.records import Manifest, TableEntry, TableFile
from quaestor.evidence.sources.protocol import LEFT_OUT, InputFile, Reject, TableCounts

MANIFEST = "manifest.json"
_STAGING = ".aside"
_GROUP_BYTES = 4 << 20
_SHORT, _REPEATS = 24, 0.1
"""A column gets a dictionary if its values average fewer bytes than this and fewer than this share are distinct."""


def read_manifest(folder: Path) -> Manifest | None:
    """Returns the manifest of a folder, or None if it has no evidence."""
    path = folder / MANIFEST
    try:
        raw = json.loads(path.read_text("utf-8"))
        tables = {
            name: TableEntry(**{**entry, "files": tuple(TableFile(**file) for file in entry["files"])})
            for name, entry in raw.pop("tables").items()
        }
        inputs = tuple(InputFile(**file) for file in raw.pop("inputs"))
        return Manifest(**{**raw, "tables": tables, "inputs": inputs, "notes": tuple(raw["notes"])})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is damaged or was not written by Quaestor ({error}): choose another folder, or remove that file"
        ) from None


def is_complete(folder: Path, manifest: Manifest) -> bool:
    """Returns whether every file in the manifest exists and has the size listed there."""
    listed = [
        (folder / name / file.name, file.bytes) for name, entry in manifest.tables.items() for file in entry.files
    ]
    return all(path.is_file() and path.stat().st_size == size for path, size in listed)


def list_table_files(folder: Path, table: str) -> list[Path]:
    """Returns the Parquet files of a table, as the manifest lists them."""
    manifest = read_manifest(folder)
    if manifest is None or table not in manifest.tables:
        raise StateError(f"{folder} has no table {table}: run `quaestor ingest` first")
    files = [folder / table / file.name for file in manifest.tables[table].files]
    missing = [path for path in files if not path.exists()]
    if missing:
        raise StateError(f"{missing[0]} is in the manifest but missing: run `quaestor ingest` again")
    return files


@dataclass(frozen=True)
class StagedDataset:
    """A dataset that is being written and not visible yet; a sink for sources."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / _STAGING

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    def begin(self, fingerprint: str, *, resume: bool = True) -> dict[str, TableCounts]:
        """Prepares the staging folder and returns the tables that an interrupted run of the same plan finished.

        With `resume=False`, or after a run of another plan, it starts from nothing.
        """
        if (self.root / MANIFEST).exists():  # a run was killed while it published
            self._publish()
        fingerprint_file = self.root / "fingerprint"
        if not resume or not fingerprint_file.exists() or fingerprint_file.read_text() != fingerprint:
            shutil.rmtree(self.root, ignore_errors=True)
        finished = {path.stem: TableCounts(**json.loads(path.read_text())) for path in self.root.glob("*.done")}
        for path in self.root.iterdir() if self.root.exists() else ():
            if path.is_dir() and path.name.split(".")[0] not in finished:
                shutil.rmtree(path)
        self.scratch.mkdir(parents=True, exist_ok=True)
        fingerprint_file.write_text(fingerprint)
        return finished

    def open(self, table: str, part: str, schema: pa.Schema) -> PartWriter:
        return PartWriter(self.root / table, self.root / f"{table}.rejects", part, schema)

    def finish_table(self, table: str, counts: TableCounts) -> None:
        """Records that a table is complete, so that an interrupted run does not read it again."""
        _merge_rejects(self.root / f"{table}.rejects", self.root / f"{table}.jsonl")
        write_atomically(self.root / f"{table}.done", json.dumps(asdict(counts)).encode())

    def commit(self, manifest: Manifest) -> Manifest:
        """Makes the dataset visible in place of the previous one, and returns the manifest with its files."""
        tables = {name: replace(entry, files=tuple(self._files(name))) for name, entry in manifest.tables.items()}
        for name, entry in tables.items():
            written = sum(file.rows for file in entry.files)
            if written != entry.rows:
                raise StateError(f"{name} has {written} rows, expected {entry.rows}: remove {self.root} and try again")
        complete = replace(manifest, tables=tables)
        write_atomically(self.root / MANIFEST, json.dumps(asdict(complete), indent=2).encode() + b"\n")
        self._publish()
        return complete

    def _files(self, table: str) -> Iterator[TableFile]:
        folder = self.root / table
        folder.mkdir(exist_ok=True)
        for path in sorted(folder.glob("*.parquet")):
            fsync(path)
            yield TableFile(path.name, pq.read_metadata(path).num_rows, path.stat().st_size)
        fsync(folder)

    def _publish(self) -> None:
        """Moves the finished dataset into place; can be repeated after an interruption at any point."""
        # The manifest goes first and returns last: without it readers see no evidence, never half of it.
        (self.folder / MANIFEST).unlink(missing_ok=True)
        names = [*json.loads((self.root / MANIFEST).read_text())["tables"], LEFT_OUT]
        for path in self.folder.iterdir():
            kept = {*names, _STAGING, "rejects"}
            if path.is_dir() and path.name not in kept and any(path.iterdir()) and _is_table_folder(path):
                shutil.rmtree(path)
        rejects = self.folder / "rejects"
        rejects.mkdir(exist_ok=True)
        for name in names:
            if (self.root / name).exists() or name == LEFT_OUT:
                self._remove_table(self.folder / name)
            if (self.root / name).exists():
                os.replace(self.root / name, self.folder / name)
            (rejects / f"{name}.jsonl").unlink(missing_ok=True)
            if (self.root / f"{name}.jsonl").exists():
                os.replace(self.root / f"{name}.jsonl", rejects / f"{name}.jsonl")
        fsync(self.folder)
        os.replace(self.root / MANIFEST, self.folder / MANIFEST)
        fsync(self.folder)
        shutil.rmtree(self.root)

    def _remove_table(self, folder: Path) -> None:
        if folder.exists():
            if not _is_table_folder(folder):
                raise StateError(f"{folder} has files that are not evidence: move them, or choose another folder")
            shutil.rmtree(folder)


def _is_table_folder(folder: Path) -> bool:
    """Returns whether a folder contains only Parquet parts, so that removing it destroys nobody's own files."""
    return all(path.name.startswith("part-") and path.suffix == ".parquet" for path in folder.iterdir())


@dataclass
class PartWriter:
    """Writes one part of a table: its rows in groups large enough to compress well, its rejects in a second file."""

    folder: Path
    rejects_folder: Path
    part: str
    schema: pa.Schema
    _buffered: list[pa.RecordBatch] = field(default_factory=list)
    _buffered_bytes: int = 0
    _file: pq.ParquetWriter | None = None
    _rejects: Any = None

    def write(self, batch: pa.RecordBatch) -> None:
        self._buffered.append(batch)
        self._buffered_bytes += batch.nbytes
        if self._buffered_bytes > _GROUP_BYTES:
            self._flush()

    def reject(self, reject: Reject) -> None:
        if self._rejects is None:
            self.rejects_folder.mkdir(parents=True, exist_ok=True)
            self._rejects = (self.rejects_folder / f"{self.part}.jsonl").open("w", encoding="utf-8")
        self._rejects.write(json.dumps(asdict(reject), ensure_ascii=False) + "\n")

    def close(self) -> None:
        if self._buffered:
            self._flush()
        if self._file is not None:
            self._file.close()
        if self._rejects is not None:
            self._rejects.close()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._buffered, schema=self.schema)
        self._buffered, self._buffered_bytes = [], 0
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = pq.ParquetWriter(
                self.folder / f"part-{self.part}.parquet",
                self.schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=_choose_dictionary_columns(table),
                write_statistics=[name for name, column in _flat_columns(table) if not pa.types.is_string(column.type)],
                store_schema=True,
            )
        self._file.write_table(table, row_group_size=table.num_rows)


def _choose_dictionary_columns(table: pa.Table) -> list[str] | bool:
    """Chooses columns whose values repeat; trying a dictionary on ids and long texts costs more than writing them."""
    short = [(name, column) for name, column in _flat_columns(table) if column.nbytes < _SHORT * max(len(column), 1)]
    return [name for name, column in short if len(column.unique()) < len(column) * _REPEATS] or False


def _flat_columns(table: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    columns = zip(table.schema.names, table.columns, strict=True)
    return [(name, column) for name, column in columns if not pa.types.is_nested(column.type)]


def _merge_rejects(folder: Path, target: Path) -> None:
    """Merges the rejects of all parts in the order of the input file, without loading them all."""
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
