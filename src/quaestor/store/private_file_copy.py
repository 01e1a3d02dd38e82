"""Converts a private file to lines of text for a backup, and back for a restore.

Copies are anonymous temporary databases: nothing of them is left even if the process is killed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.store.private_file import PrivateFile, run_upgrades
from quaestor.store.records import PartReport

_TYPES: Mapping[str, type | tuple[type, ...]] = {"TEXT": str, "INTEGER": int, "REAL": (float, int), "BLOB": bytes}
_HEX = "hex"


@dataclass(frozen=True)
class PrivateFileSchema:
    """The schema of one kind of private file, with the arguments of `PrivateFile`."""

    name: str
    kind: int
    upgrades: tuple[str, ...]
    lost: str

    @property
    def version(self) -> int:
        return len(self.upgrades)

    def open(self, path: Path) -> PrivateFile:
        return PrivateFile(path, self.kind, self.upgrades, self.lost)


@dataclass(frozen=True)
class BackupLines:
    """The content of one private file for a backup, as lines, with the version of its schema."""

    name: str
    version: int
    lines: Iterable[str]


class CopiedFile(PrivateFile):
    """A copy with the interface of a private file; the caller that made it closes it."""

    def __init__(self, copy: sqlite3.Connection) -> None:
        self._copy = copy

    def close(self) -> None:
        return

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        yield self._copy

    writing = still = reading

    @contextmanager
    def erasing(self, *, finish: bool = True) -> Iterator[sqlite3.Connection]:
        yield self._copy

    @property
    def erasure_pending(self) -> bool:
        return False

    def forget(self) -> None:
        return


class LineDigest:
    """The SHA-256 over lines in order, and the number of rows of each table."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._rows: Counter[str] = Counter()

    def pass_through(self, lines: Iterable[str]) -> Iterator[str]:
        """Yields the lines while counting and hashing them."""
        for line in lines:
            self._hash.update(line.encode() + b"\n")
            self._rows[line[2 : line.find('"', 2)]] += 1  # its table, as `lines_of` writes it
            yield line

    def report(self, name: str, version: int) -> PartReport:
        return PartReport(name, version, dict(sorted(self._rows.items())), self._hash.hexdigest())


def compute_digest(connection: sqlite3.Connection) -> PartReport:
    """Returns a digest of a file's content; files with equal content have equal digests."""
    digest = LineDigest()
    for _ in digest.pass_through(format_lines(connection)):
        pass
    return digest.report("", 0)


def is_empty(connection: sqlite3.Connection) -> bool:
    tables = read_tables(connection)
    return not any(connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() for name in tables)  # noqa: S608


def copy_to_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Copies the current content of a database in one step."""
    copy = _open_temporary()
    connection.backup(copy)
    return copy


def format_lines(connection: sqlite3.Connection) -> Iterator[str]:
    """Yields every row as a line of JSON with its table first, sorted by key so that the order reveals nothing."""
    for table, columns in read_tables(connection).items():
        keys = sorted((position, name) for name, _, position in columns if position)
        order = ", ".join(f'"{name}"' for _, name in keys)
        for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY {order}'):  # noqa: S608
            values = [{_HEX: value.hex()} if isinstance(value, bytes) else value for value in row]
            yield json.dumps([table, *values], separators=(",", ":"))


@contextmanager
def restore_copy(
    form: PrivateFileSchema, version: int, lines: Iterable[str], source: Path
) -> Iterator[sqlite3.Connection]:
    """Builds a copy from the lines of a backup; raises InputError if they do not fit the schema."""
    if not 1 <= version <= form.version:
        raise InputError(f"{source} was written by a newer Quaestor: update Quaestor")
    with closing(_open_temporary()) as copy:
        run_upgrades(copy, form.upgrades[:version])
        tables = read_tables(copy)
        copy.execute("BEGIN")
        try:
            for line in lines:
                table, values = _parse_line(line, tables)
                _insert(copy, table, values)
            if (broken := copy.execute("PRAGMA foreign_key_check").fetchone()) is not None:
                raise ValueError(f"a row of {broken[0]} refers to a missing row")
        except (sqlite3.Error, ValueError, OverflowError, RecursionError) as error:
            raise damaged_backup_error(source, str(error)) from error
        copy.execute("COMMIT")
        run_upgrades(copy, form.upgrades[version:])
        yield copy


def replace_content(writing: sqlite3.Connection, copy: sqlite3.Connection) -> None:
    """Replaces the content of a file with that of a copy, within the caller's transaction."""
    writing.execute("PRAGMA defer_foreign_keys = ON")
    tables = read_tables(copy)
    for table in tables:
        writing.execute(f'DELETE FROM "{table}"')  # noqa: S608
    for table in tables:
        for row in copy.execute(f'SELECT * FROM "{table}"'):  # noqa: S608
            _insert(writing, table, row)


def damaged_backup_error(source: Path, why: str) -> InputError:
    return InputError(f"{source} is damaged ({why.splitlines()[0][:200]}): nothing was restored, use another one")


def read_tables(connection: sqlite3.Connection) -> dict[str, list[tuple[str, str, int]]]:
    """Returns the columns of each table as (name, type, position in the primary key)."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return {
        name: [
            (column, kind, position)
            for _, column, kind, _, _, position in connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        ]
        for (name,) in connection.execute(query).fetchall()
    }


def _open_temporary() -> sqlite3.Connection:
    """Opens an anonymous database; SQLite unlinks its file before writing to it."""
    connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def _parse_line(line: str, tables: Mapping[str, list[tuple[str, str, int]]]) -> tuple[str, list[Any]]:
    row = json.loads(line)
    if not isinstance(row, list) or not row or not isinstance(row[0], str) or row[0] not in tables:
        raise ValueError("a row of an unknown table")
    table, values = row[0], [_value(value) for value in row[1:]]
    columns = tables[table]
    if len(values) != len(columns):
        raise ValueError(f"a row of {table} with {len(values)} values")
    for value, (name, kind, _) in zip(values, columns, strict=True):
        if value is not None and (isinstance(value, bool) or not isinstance(value, _TYPES[kind])):
            raise ValueError(f"{table}.{name} is not {kind}")
    return table, values


def _value(value: Any) -> Any:
    return bytes.fromhex(value[_HEX]) if isinstance(value, dict) and set(value) == {_HEX} else value


def _insert(connection: sqlite3.Connection, table: str, values: Any) -> None:
    placeholders = ", ".join("?" * len(values))
    connection.execute(f'INSERT INTO "{table}" VALUES ({placeholders})', tuple(values))  # noqa: S608
