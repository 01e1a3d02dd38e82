"""A journal in a SQLite file, with durable commits, one writer at a time, and readers that never wait."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DBAPIError

from quaestor.base.errors import InputError, QuaestorError, StateError, TemporarilyUnavailable
from quaestor.base.files import create_private_file, fsync, open_private, restrict_to_owner
from quaestor.store.backup_file import BACKUP
from quaestor.store.database import DamagedStore, explain_errors, format_error
from quaestor.store.schema import VERSIONS, read_revision

PATIENCE = 60.0
"""Seconds to wait for another writer before giving up."""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class SQLite:
    """The database of a journal in a SQLite file."""

    def __init__(self, file: Path) -> None:
        self.file = file.resolve()
        self.display_name = str(file)
        self._engine = create_engine(
            URL.create("sqlite", database=str(self.file)),
            # No implicit transactions of the sqlite3 module: transactions start only explicitly.
            connect_args={"timeout": PATIENCE, "isolation_level": None, "check_same_thread": False},
            max_overflow=-1,
        )
        event.listen(self._engine, "connect", _make_durable)
        event.listen(self._engine, "begin", _begin)

    def prepare(self) -> None:
        if self.file.is_dir():
            raise InputError(f"{self.display_name} is a folder: name the file of a store")
        if not self.file.parent.is_dir():
            raise StateError(f"the folder {self.file.parent} does not exist: create it, or name another store")
        create_private_file(self.file)
        with explain_errors(self):
            self._require_own_file()
            restrict_to_owner(self.file)
            self._use_write_ahead_log()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._engine.connect().execution_options(begin="BEGIN IMMEDIATE") as connection, connection.begin():
            yield connection

    def read_head(self) -> int:
        # Bypasses SQLAlchemy, whose statements and transactions take ten times as long as the query itself.
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            try:
                cursor.execute("SELECT coalesce(max(number), 0) FROM acts")
                row = cursor.fetchone()
            finally:
                cursor.close()
        except sqlite3.Error as error:
            raise self.explain_error(DBAPIError("the number of the last act", None, error)) from error
        finally:
            connection.close()
        return int(row[0]) if row else 0

    def read_revision(self, connection: Connection) -> str | None:
        if not _list_tables(connection):
            return None  # an empty file, or an interrupted creation
        return read_revision(connection)

    def name_file(self, folder: Path | None, suffix: str) -> Path:
        return (folder or self.file.parent) / f"{self.file.name}.{suffix}"

    def write_copy(self, target: Path, connection: Connection, created: str) -> None:
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            open_private(temporary).close()
            # A copy of the whole file, including tables that this version does not know.
            with closing(sqlite3.connect(self.file)) as source, closing(sqlite3.connect(temporary)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                verify_copy(copy, connection, target)
            fsync(temporary)
            os.replace(temporary, target)
            fsync(target.parent)
        except sqlite3.Error as error:
            raise StateError(f"{self.display_name} cannot be copied before its upgrade to {target}: {error}") from error
        finally:
            temporary.unlink(missing_ok=True)

    def set_aside(self, stamp: str) -> Path:
        target = self.file.with_name(f"{self.file.name}.damaged-{stamp}")
        # The database file last: a log left behind would be replayed into the next store.
        for suffix in ("-wal", "-shm", ""):
            part = self.file.with_name(f"{self.file.name}{suffix}")
            if part.exists():
                part.rename(f"{target}{suffix}")
        fsync(target.parent)
        return target

    @contextmanager
    def allow_deletion(self, connection: Connection) -> Iterator[None]:
        triggers = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
        for name, _ in triggers:
            connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
        yield
        for _, statement in triggers:
            connection.exec_driver_sql(statement)

    def explain_error(self, error: DBAPIError) -> QuaestorError:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGED:
            return DamagedStore(
                f"{self.display_name} is damaged or not a store of Quaestor ({format_error(error)}): "
                "restore a backup with `quaestor restore FILE --replace`, or name another store"
            )
        if code == sqlite3.SQLITE_BUSY:
            return TemporarilyUnavailable(
                f"{self.display_name} has been busy for {PATIENCE:.0f} seconds: stop the program that uses it"
            )
        if code == sqlite3.SQLITE_FULL:
            return TemporarilyUnavailable(
                f"{self.display_name} cannot grow, the disk is full: free some space, then try again"
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return TemporarilyUnavailable(
                f"{self.display_name} cannot be written ({format_error(error)}): check its permissions"
            )
        if code == sqlite3.SQLITE_IOERR:
            return TemporarilyUnavailable(
                f"{self.display_name} cannot be used ({format_error(error)}): check the disk space, then try again"
            )
        return TemporarilyUnavailable(f"{self.display_name} cannot be used: {format_error(error)}")

    def _require_own_file(self) -> None:
        with self.reading() as connection:
            tables = _list_tables(connection)
            if connection.exec_driver_sql("PRAGMA application_id").scalar() == BACKUP:
                raise InputError(
                    f"{self.display_name} is a backup: restore it with `quaestor restore {self.display_name}`"
                )
        if tables and VERSIONS not in tables:
            raise InputError(f"{self.display_name} is a database of another program: name another file for the store")

    def _use_write_ahead_log(self) -> None:
        """Switches the store to a write-ahead log; retries, because SQLite does not wait for locks in this case."""
        deadline = time.monotonic() + PATIENCE
        with self._engine.connect().execution_options(begin="SELECT 1") as connection:
            while True:
                try:
                    if connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
                        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                except DBAPIError as error:
                    busy = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
                    if not busy or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
                else:
                    return


def _make_durable(connection: sqlite3.Connection, record: Any) -> None:
    """Makes every commit durable before it returns, and overwrites deleted content."""
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _list_tables(connection: Connection) -> set[str]:
    return set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())


def verify_copy(copy: sqlite3.Connection, connection: Connection, target: Path) -> None:
    query = "SELECT * FROM acts ORDER BY number"
    is_intact = copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    if not is_intact or copy.execute(query).fetchall() != [tuple(row) for row in connection.exec_driver_sql(query)]:
        raise StateError(f"the backup {target} could not be verified, so the store was not changed: try again")
