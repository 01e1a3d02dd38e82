"""From a table file to items: the header is matched with the mapping, rows are typed, bad rows rejected."""

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
    """Put every good row of the file into the sink's `items`, and every other one among its rejects."""
    size = _size_of(path)
    with closing(_records(path, settings)) as records:
        plan = _plan(path, _read_header(path, settings, records), settings)
        with closing(sink.open(TABLE, "00", plan.schema)) as writer, _seen_items(sink.scratch) as seen:
            table = _Batches(plan, writer, seen, unit=_unit_of(path))
            for position, record in enumerate(records):
                if position < settings.skip_rows:
                    continue
                table.take(record)
                if table.is_full:
                    table.write()
                    progress(path.name, record.done, size)
            table.write()
            progress(path.name, size, size)
    return table.counts()


def read_column_names(path: Path, settings: TableSettings) -> tuple[str, ...]:
    """The file's columns, as a mapping may name them."""
    _size_of(path)
    with closing(_records(path, settings)) as records:
        return _read_header(path, settings, records)


def _size_of(path: Path) -> int:
    if not path.is_file():
        raise InputError(f"there is no file {path}: correct `path` in the study file")
    if path.suffix.lower() not in (*DELIMITERS, ".xlsx"):
        raise InputError(f"{path} is none of .csv, .tsv, .txt and .xlsx: save the table as one of these")
    if not path.stat().st_size:
        raise InputError(f"{path} is empty: give a table with a header row")
    return path.stat().st_size


def _is_workbook(path: Path) -> bool:
    return path.suffix.lower() == ".xlsx"


def _records(path: Path, settings: TableSettings) -> Generator[Record, None, None]:
    yield from read_workbook(path, settings) if _is_workbook(path) else read_delimited(path, settings)


def _unit_of(path: Path) -> str:
    return "the offset is the row number" if _is_workbook(path) else "the offset is in bytes"


def _read_header(path: Path, settings: TableSettings, records: Iterator[Record]) -> tuple[str, ...]:
    """The names in the header row: a repeated name gets a number, a missing one is named by its place."""
    number = 0
    for record in records:
        number = record.number
        if number < settings.header_row:
            continue
        if record.fault:
            raise InputError(
                f"{path} has no readable header in row {number} ({record.fault}): mend it, or set encoding"
            )
        names = [as_text(cell).strip() for cell in record.cells]
        if not any(names):
            raise InputError(f"{path} has an empty row {number} for its header: correct `header_row`")
        return _distinct([name or f"column {place}" for place, name in enumerate(names, 1)])
    if not number:
        raise InputError(f"{path} is empty: give a table with a header row")
    raise InputError(f"{path} has {number} rows, none of them row {settings.header_row}: correct `header_row`")


def _distinct(names: list[str]) -> tuple[str, ...]:
    often = Counter(names)
    used = {name for name, times in often.items() if times == 1}
    distinct = []
    following: Counter[str] = Counter()
    for name in names:
        new = name
        while often[name] > 1 and (new == name or new in used):
            following[name] += 1
            new = f"{name} ({following[name]})"
        used.add(new)
        distinct.append(new)
    return tuple(distinct)


@dataclass(frozen=True)
class _Plan:
    """Which cell of a row goes where."""

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
        """The item, the mapped values and the cells nobody asked for; raises BadValue."""
        if len(cells) != len(self.header):
            raise BadValue(f"the row has {len(cells)} fields, the header has {len(self.header)}")
        values: list[Value] = []
        for name, place, column in self.mapped:
            try:
                values.append(convert(cells[place], column))
            except BadValue as why:
                raise BadValue(f"column {self._title(name, place)} {why}") from None
        other = [(name, text) for name, place in self.unmapped if (text := as_text(cells[place]))]
        return self._name_item(cells, values), values, other

    def _title(self, name: str, place: int) -> str:
        return name if self.header[place] == name else f"{name} (from {shorten(self.header[place])})"

    def _name_item(self, cells: list[Cell] | list[str], values: list[Value]) -> str:
        known = {name: value for (name, _, _), value in zip(self.mapped, values, strict=True)}
        item = ""
        for text, name in self.item:
            item += text
            if not name:
                continue
            value = known[name] if name in known else as_text(cells[self.header.index(name)])
            if value is None or value == "":
                raise BadValue(f"column {name} is missing, and the item is named by it")
            if isinstance(value, list):
                raise BadValue(f"column {name} is a list, and no item can be named by a list")
            item += as_text(value)
        return item


def _plan(path: Path, header: tuple[str, ...], settings: TableSettings) -> _Plan:
    mapped = []
    for name, column in settings.columns.items():
        source = column.from_column or name
        if source not in header:
            raise InputError(_no_column(path, header, source, f"`from` of column {name}"))
        mapped.append((name, header.index(source), column))
    item = tuple(split_template(settings.item))
    for _, name in item:
        if name and name not in settings.columns and name not in header:
            raise InputError(_no_column(path, header, name, "`item`"))
    taken = {place for _, place, _ in mapped}
    unmapped = [(name, place) for place, name in enumerate(header) if place not in taken]
    return _Plan(header, tuple(mapped), tuple(unmapped), item)


def _no_column(path: Path, header: tuple[str, ...], wanted: str, setting: str) -> str:
    def distance(name: str) -> float:
        return -difflib.SequenceMatcher(None, wanted.casefold(), name.casefold()[:200]).ratio()

    nearest = sorted(header, key=distance)
    shown = ", ".join(shorten(name) for name in nearest[:_LISTED])
    more = f" and {len(nearest) - _LISTED} more" if len(nearest) > _LISTED else ""
    hint = " or `delimiter`" if len(header) == 1 and not _is_workbook(path) else ""
    return (
        f"{path} has no column {wanted!r}, its columns are (the nearest name first) {shown}{more}:"
        f" correct {setting}{hint} in the study file"
    )


class _Items:
    """The items so far, on disk: a table may have more of them than fit in memory."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._cursor = database.cursor()
        database.execute("PRAGMA journal_mode = off")
        database.execute("PRAGMA synchronous = off")
        database.execute("CREATE TABLE item (digest BLOB PRIMARY KEY, row INTEGER) WITHOUT ROWID")
        database.execute("BEGIN")

    def note(self, item: str, row: int) -> int:
        """Remember the item; the row that had it before, or 0."""
        digest = hashlib.blake2b(item.encode(), digest_size=16).digest()
        if self._cursor.execute("INSERT OR IGNORE INTO item VALUES (?, ?)", (digest, row)).rowcount:
            return 0
        found = self._cursor.execute("SELECT row FROM item WHERE digest = ?", (digest,)).fetchone()
        return int(found[0])


@contextlib.contextmanager
def _seen_items(scratch: Path) -> Iterator[_Items]:
    with (
        tempfile.TemporaryDirectory(dir=scratch, prefix="items-") as folder,
        closing(sqlite3.connect(Path(folder) / "items.sqlite", isolation_level=None)) as database,
    ):
        yield _Items(database)


class _Batches:
    """Gathers good rows column by column, writes them a batch at a time, and counts."""

    def __init__(self, plan: _Plan, writer: RowWriter, seen: _Items, unit: str) -> None:
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

    def take(self, record: Record) -> None:
        if not record.fault and not any(cell != "" for cell in record.cells):
            self._blank += 1
            return
        try:
            if record.fault:
                raise BadValue(record.fault)
            item, values, other = self._plan.read(record.cells)
            earlier = self._seen.note(item, record.number)
            if earlier:
                raise BadValue(f"the item {shorten(item)} was given by row {earlier} already")
        except BadValue as why:
            self._rejected += 1
            reason = f"row {record.number} ({self._unit}): {why}"
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
