"""Ingests a table file: matches its header with the mapping, converts rows to their types, rejects bad rows."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from quaestor.base.errors import InputError
from quaestor.evidence.sources.protocol import (
    PUT_INPUT,
    IngestPlan,
    Progress,
    Reject,
    RowWriter,
    Sink,
    SourceRequest,
    TableCounts,
    no_progress,
)
from quaestor.evidence.sources.tables.cells import (
    ARROW_TYPES,
    BadValue,
    Cell,
    Record,
    Value,
    as_text,
    convert,
    shorten,
)
from quaestor.evidence.sources.tables.delimited import DELIMITERS, read_delimited
from quaestor.evidence.sources.tables.settings import (
    ITEM,
    OTHER,
    ROW_NUMBER,
    TableColumnSettings,
    TableSettings,
    split_template,
)
from quaestor.evidence.sources.tables.workbook import read_workbook

TABLE = "items"
BATCH_ROWS = 10_000
BATCH_CHARACTERS = 64 * 1024 * 1024
"""A batch is written early when its rows are long, so that memory does not grow with them."""

_LISTED = 30
_OTHER_TYPE = pa.map_(pa.string(), pa.string())


class TableSource:
    """A CSV, TSV or XLSX file, whose columns the study file maps."""

    settings = TableSettings

    def plan(self, request: SourceRequest[TableSettings]) -> IngestPlan:
        path, settings = request.path, request.settings

        def read(sink: Sink, finished: Mapping[str, TableCounts]) -> Iterator[tuple[str, TableCounts, int]]:
            yield TABLE, ingest_table(path, settings, sink, request.progress), path.stat().st_size

        remembered = settings.model_dump(mode="json", by_alias=True) | {"site": request.name}
        return IngestPlan("table", remembered, [path], {TABLE: path.stat().st_size}, read)

    def remedy(self, path: Path) -> str:
        return PUT_INPUT


def ingest_table(path: Path, settings: TableSettings, sink: Sink, progress: Progress = no_progress) -> TableCounts:
    """Writes every valid row of the file to the sink's table `items`, and every other one to its rejects."""
    size = _require_size(path)
    with closing(_records(path, settings)) as records:
        plan = _plan_columns(path, parse_header(path, settings, records), settings)
        with closing(sink.open(TABLE, "00", plan.schema)) as writer, _open_seen_items(sink.scratch) as seen:
            unit = "the offset is the row number" if _is_workbook(path) else "the offset is in bytes"
            table = _BatchWriter(plan, writer, seen, unit)
            for position, record in enumerate(records):
                if position < settings.skip_rows:
                    continue
                table.add(record)
                if table.is_full:
                    table.write()
                    progress(path.name, record.done, size)
            table.write()
            progress(path.name, size, size)
    return table.counts()


def read_column_names(path: Path, settings: TableSettings) -> tuple[str, ...]:
    """Returns the names of the file's columns, for use in a mapping."""
    _require_size(path)
    with closing(_records(path, settings)) as records:
        return parse_header(path, settings, records)


def _require_size(path: Path) -> int:
    if not path.is_file():
        raise InputError(f"there is no file {path}: correct `path` in the study file")
    if path.suffix.lower() not in (*DELIMITERS, ".xlsx"):
        raise InputError(f"{path} is not a .csv, .tsv, .txt or .xlsx file: save the table as one of these")
    if not path.stat().st_size:
        raise InputError(f"{path} is empty: give a table with a header row")
    return path.stat().st_size


def _is_workbook(path: Path) -> bool:
    return path.suffix.lower() == ".xlsx"


def _records(path: Path, settings: TableSettings) -> Generator[Record, None, None]:
    yield from read_workbook(path, settings) if _is_workbook(path) else read_delimited(path, settings)


def parse_header(path: Path, settings: TableSettings, records: Iterator[Record]) -> tuple[str, ...]:
    """Returns the names in the header row; repeated names get a number, empty ones the number of their column."""
    number = 0
    for record in records:
        number = record.number
        if number < settings.header_row:
            continue
        if record.fault:
            raise InputError(
                f"{path} has no readable header in row {number} ({record.fault}): correct it, or set encoding"
            )
        names = [as_text(cell).strip() for cell in record.cells]
        if not any(names):
            raise InputError(f"{path} has an empty row {number} for its header: correct `header_row`")
        return _number_repeated([name or f"column {position}" for position, name in enumerate(names, 1)])
    if not number:
        raise InputError(f"{path} is empty: give a table with a header row")
    raise InputError(f"{path} has {number} rows, none of them row {settings.header_row}: correct `header_row`")


def _number_repeated(names: list[str]) -> tuple[str, ...]:
    counts = Counter(names)
    used = {name for name, count in counts.items() if count == 1}
    numbered = []
    last_number: Counter[str] = Counter()
    for name in names:
        new = name
        while counts[name] > 1 and (new == name or new in used):
            last_number[name] += 1
            new = f"{name} ({last_number[name]})"
        used.add(new)
        numbered.append(new)
    return tuple(numbered)


@dataclass(frozen=True)
class _ColumnPlan:
    """Which cell of a row becomes which column."""

    header: tuple[str, ...]
    mapped: tuple[tuple[str, int, TableColumnSettings], ...]
    unmapped: tuple[tuple[str, int], ...]
    item: tuple[tuple[str, str], ...]

    @property
    def schema(self) -> pa.Schema:
        columns = [pa.field(name, ARROW_TYPES[column.type]) for name, _, column in self.mapped]
        return pa.schema([
            pa.field(ITEM, pa.string(), nullable=False),
            *columns,
            pa.field(ROW_NUMBER, pa.int64(), nullable=False),
            pa.field(OTHER, _OTHER_TYPE),
        ])  # fmt: skip

    def read(self, cells: list[Cell] | list[str]) -> tuple[str, list[Value], list[tuple[str, str]]]:
        """Returns the item, the mapped values and the unmapped cells; raises BadValue."""
        if len(cells) != len(self.header):
            raise BadValue(f"the row has {len(cells)} fields, the header has {len(self.header)}")
        values: list[Value] = []
        for name, index, column in self.mapped:
            try:
                values.append(convert(cells[index], column))
            except BadValue as error:
                raise BadValue(f"column {self._describe_column(name, index)} {error}") from None
        other = [(name, text) for name, index in self.unmapped if (text := as_text(cells[index]))]
        return self._build_item_id(cells, values), values, other

    def _describe_column(self, name: str, index: int) -> str:
        return name if self.header[index] == name else f"{name} (from {shorten(self.header[index])})"

    def _build_item_id(self, cells: list[Cell] | list[str], values: list[Value]) -> str:
        known = {name: value for (name, _, _), value in zip(self.mapped, values, strict=True)}
        item = ""
        for text, name in self.item:
            item += text
            if not name:
                continue
            value = known[name] if name in known else as_text(cells[self.header.index(name)])
            if value is None or value == "":
                raise BadValue(f"column {name} is empty, but the item's id contains it")
            if isinstance(value, list):
                raise BadValue(f"column {name} is a list, which an item's id cannot contain")
            item += as_text(value)
        return item


def _plan_columns(path: Path, header: tuple[str, ...], settings: TableSettings) -> _ColumnPlan:
    mapped = []
    for name, column in settings.columns.items():
        source = column.from_column or name
        if source not in header:
            raise InputError(_describe_missing(path, header, source, f"`from` of column {name}"))
        mapped.append((name, header.index(source), column))
    item = tuple(split_template(settings.item))
    for _, name in item:
        if name and name not in settings.columns and name not in header:
            raise InputError(_describe_missing(path, header, name, "`item`"))
    mapped_indexes = {index for _, index, _ in mapped}
    unmapped = [(name, index) for index, name in enumerate(header) if index not in mapped_indexes]
    return _ColumnPlan(header, tuple(mapped), tuple(unmapped), item)


def _describe_missing(path: Path, header: tuple[str, ...], missing: str, setting: str) -> str:
    def distance(name: str) -> float:
        return -difflib.SequenceMatcher(None, missing.casefold(), name.casefold()[:200]).ratio()

    nearest = sorted(header, key=distance)
    shown = ", ".join(shorten(name) for name in nearest[:_LISTED])
    more = f" and {len(nearest) - _LISTED} more" if len(nearest) > _LISTED else ""
    hint = " or `delimiter`" if len(header) == 1 and not _is_workbook(path) else ""
    return (
        f"{path} has no column {missing!r}, its columns are (the nearest name first) {shown}{more}:"
        f" correct {setting}{hint} in the study file"
    )


class _SeenItems:
    """The items read so far, on disk, since a table may have more than fit in memory."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._cursor = database.cursor()
        database.execute("PRAGMA journal_mode = off")
        database.execute("PRAGMA synchronous = off")
        database.execute("CREATE TABLE item (digest BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        database.execute("BEGIN")

    def add(self, item: str, row: int) -> int:
        """Adds an item and returns the earlier row with the same item, or 0."""
        digest = hashlib.blake2b(item.encode(), digest_size=16).digest()
        if self._cursor.execute("INSERT OR IGNORE INTO item VALUES (?, ?)", (digest, row)).rowcount:
            return 0
        (earlier,) = self._cursor.execute("SELECT row FROM item WHERE digest = ?", (digest,)).fetchone()
        return int(earlier)


@contextlib.contextmanager
def _open_seen_items(scratch: Path) -> Iterator[_SeenItems]:
    with (
        tempfile.TemporaryDirectory(dir=scratch, prefix="items-") as folder,
        closing(sqlite3.connect(Path(folder) / "items.sqlite", isolation_level=None)) as database,
    ):
        yield _SeenItems(database)


class _BatchWriter:
    """Collects valid rows, writes them in batches, and counts."""

    def __init__(self, plan: _ColumnPlan, writer: RowWriter, seen: _SeenItems, unit: str) -> None:
        self._plan = plan
        self._writer = writer
        self._seen = seen
        self._unit = unit
        self._rows: list[tuple[Any, ...]] = []
        self._characters = 0
        self._written = 0
        self._rejected = 0
        self._blank = 0
        self._unknown: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= BATCH_ROWS or self._characters >= BATCH_CHARACTERS

    def add(self, record: Record) -> None:
        if not record.fault and not any(cell != "" for cell in record.cells):
            self._blank += 1
            return
        try:
            if record.fault:
                raise BadValue(record.fault)
            item, values, other = self._plan.read(record.cells)
            earlier = self._seen.add(item, record.number)
            if earlier:
                raise BadValue(f"row {earlier} already has the item {shorten(item)}")
        except BadValue as error:
            self._rejected += 1
            reason = f"row {record.number} ({self._unit}): {error}"
            self._writer.reject(Reject(record.offset, reason, record.excerpt()))
            return
        self._unknown.update(name for name, _ in other)
        self._characters += sum(len(cell) for cell in record.cells if isinstance(cell, str))
        self._rows.append((item, *values, record.number, other or None))

    def write(self) -> None:
        if not self._rows:
            return
        schema = self._plan.schema
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, schema, strict=True)]
        self._writer.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
        self._written += len(self._rows)
        self._rows = []
        self._characters = 0

    def counts(self) -> TableCounts:
        return TableCounts(
            rows=self._written,
            rejected=self._rejected,
            read=self._written + self._rejected,
            unknown=dict(sorted(self._unknown.items())),
            notable={"blank rows": self._blank} if self._blank else {},
        )
