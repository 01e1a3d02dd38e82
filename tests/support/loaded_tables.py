"""Tables written by hand, and what loading them gives: rows, rejects, or a refusal."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import xlsxwriter  # type: ignore[import-untyped]

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import Reject, TableCounts
from quaestor.evidence.sources.tables.settings import TableSettings
from quaestor.evidence.sources.tables.source import ingest_table


class ListWriter:
    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.batches: list[pa.RecordBatch] = []
        self.rejects: list[Reject] = []
        self.closed = False

    def write(self, batch: pa.RecordBatch) -> None:
        batch.validate(full=True)
        assert batch.schema == self.schema
        self.batches.append(batch)

    def reject(self, reject: Reject) -> None:
        self.rejects.append(reject)

    def close(self) -> None:
        self.closed = True


class ListSink:
    """Keeps everything in memory."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self.writers: dict[tuple[str, str], ListWriter] = {}

    @property
    def scratch(self) -> Path:
        return self._scratch

    def open(self, table: str, lane: str, schema: pa.Schema) -> ListWriter:
        return self.writers.setdefault((table, lane), ListWriter(schema))


class Loaded:
    """What came of one file."""

    def __init__(self, counts: TableCounts, writer: ListWriter) -> None:
        self.counts = counts
        self.schema = writer.schema
        self.batches = writer.batches
        self.rejects = writer.rejects
        self.rows: list[dict[str, Any]] = [row for batch in writer.batches for row in batch.to_pylist()]

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self.rows]

    @property
    def reasons(self) -> list[str]:
        return [reject.reason for reject in self.rejects]


def mapping(path: Path, item: str = "row/{id}", columns: dict[str, Any] | None = None, **more: Any) -> TableSettings:
    return TableSettings.model_validate({"path": path.name, "item": item, "columns": columns or {}, **more})


def load(path: Path, item: str = "row/{id}", columns: dict[str, Any] | None = None, **more: Any) -> Loaded:
    sink = ListSink(path.parent)
    before = csv.field_size_limit()
    counts = ingest_table(path, mapping(path, item, columns, **more), sink, lambda what, done, total: None)
    writer = sink.writers["items", "00"]
    assert writer.closed
    assert csv.field_size_limit() == before, "a limit of the whole process was left changed"
    assert {entry.name for entry in path.parent.iterdir()} == {path.name}, "notes were left behind"
    loaded = Loaded(counts, writer)
    assert (counts.rows, counts.rejected) == (len(loaded.rows), len(loaded.rejects))
    assert counts.read == counts.rows + counts.rejected
    return loaded


def raw(folder: Path, content: bytes | str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def workbook(folder: Path, rows: Iterable[Sequence[Any]], sheet: str = "Sheet1", name: str = "table.xlsx") -> Path:
    with xlsxwriter.Workbook(folder / name) as book:
        page = book.add_worksheet(sheet)
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        span = book.add_format({"num_format": "[hh]:mm:ss"})
        for number, row in enumerate(rows):
            for place, cell in enumerate(row):
                if isinstance(cell, str):
                    page.write_string(number, place, cell)
                elif isinstance(cell, datetime | timedelta):
                    page.write_datetime(number, place, cell, span if isinstance(cell, timedelta) else moment)
                elif cell is not None:
                    page.write(number, place, cell)
    return folder / name


def altered(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """The workbook with one of its parts changed."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert change(contents[part]) != contents[part], "the change changes nothing"
    contents[part] = change(contents[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def refusal(path: Path, **more: Any) -> str:
    with pytest.raises(InputError) as refused:
        load(path, **more)
    message = str(refused.value)
    assert "\n" not in message
    assert str(path) in message
    return message
