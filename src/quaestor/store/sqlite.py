"""A journal in a SQLite file: durable commits, one writer at a time, readers never wait."""

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
    """The file that holds a study's acts."""

    def __init__(self, file: Path) -> None:
        self.file = file.resolve()
        self.display_name = str(file)
        self._engine = create_engine(
            URL.create("sqlite", database=str(self.file)),
            # Without the module's own idea of when a transaction begins: it begins when we say so.
            connect_args={"timeout": PATIENCE, "isolation_level": None, "check_same_thread": False},
            max_overflow=-1,
        )
        event.listen(self._engine, "connect", _be_durable)
        event.listen(self._engine, "begin", _begin)

    def prepare(self) -> None:
        if self.file.is_dir():
            raise InputError(f"{self.display_name} is a folder: name the file of a store")
        if not self.file.parent.is_dir():
            raise StateError(f"the folder {self.file.parent} does not exist: make it, or name another store")
        create_private_file(self.file)
        with explain_errors(self):
            self._refuse_foreign()
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
        # Past SQLAlchemy's statements and transactions, which cost ten times as much as the answer.
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            try:
                cursor.execute("SELECT coalesce(max(number), 0) FROM acts")
                found = cursor.fetchone()
            finally:
                cursor.close()
        except sqlite3.Error as error:
            raise self.explain_error(DBAPIError("the number of the last act", None, error)) from error
        finally:
            connection.close()
        return int(found[0]) if found else 0

    def read_revision(self, connection: Connection) -> str | None:
        if not _tables(connection):
            return None  # nothing yet, or what a creation left that was cut short
        return read_revision(connection)

    def name_file(self, folder: Path | None, words: str) -> Path:
        return (folder or self.file.parent) / f"{self.file.name}.{words}"

    def write_copy(self, target: Path, connection: Connection, made: str) -> None:
        aside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            open_private(aside).close()
            # A copy of the file, whatever an older program kept in it.
            with closing(sqlite3.connect(self.file)) as source, closing(sqlite3.connect(aside)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                verify_copy(copy, connection, target)
            fsync(aside)
            os.replace(aside, target)
            fsync(target.parent)
        except sqlite3.Error as error:
            raise StateError(f"{self.display_name} cannot be copied before its upgrade to {target}: {error}") from error
        finally:
            aside.unlink(missing_ok=True)

    def set_aside(self, stamp: str) -> Path:
        target = self.file.with_name(f"{self.file.name}.damaged-{stamp}")
        # The file itself last: a log that stayed behind would be replayed into the next store.
        for suffix in ("-wal", "-shm", ""):
            part = self.file.with_name(f"{self.file.name}{suffix}")
            if part.exists():
                part.rename(f"{target}{suffix}")
        fsync(target.parent)
        return target

    @contextmanager
    def allow_deletion(self, connection: Connection) -> Iterator[None]:
        found = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
        for name, _ in found:
            connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
        yield
        for _, statement in found:
            connection.exec_driver_sql(statement)

    def explain_error(self, error: DBAPIError) -> QuaestorError:
        code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGED:
            return DamagedStore(
                f"{self.display_name} is damaged or no store of Quaestor ({format_error(error)}): "
                "restore a backup with `quaestor restore FILE --replace`, or name another store"
            )
        if code == sqlite3.SQLITE_BUSY:
            return TemporarilyUnavailable(
                f"{self.display_name} has been busy for {PATIENCE:.0f} seconds: end the program that holds it"
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
                f"{self.display_name} cannot be used ({format_error(error)}): check the space on the disk, then try again"
            )
        return TemporarilyUnavailable(f"{self.display_name} cannot be used: {format_error(error)}")

    def _refuse_foreign(self) -> None:
        with self.reading() as connection:
            tables = _tables(connection)
            if connection.exec_driver_sql("PRAGMA application_id").scalar() == BACKUP:
                raise InputError(
                    f"{self.display_name} is a backup: bring it back with `quaestor restore {self.display_name}`"
                )
        if tables and VERSIONS not in tables:
            raise InputError(f"{self.display_name} is a database of another program: name another file for the store")

    def _use_write_ahead_log(self) -> None:
        """Once for a store; SQLite does not wait for others here, so that we must."""
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


def _be_durable(connection: sqlite3.Connection, record: Any) -> None:
    """Every commit is on the disk before it is acknowledged, and what a restore replaces is overwritten."""
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _tables(connection: Connection) -> set[str]:
    return set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())


def verify_copy(copy: sqlite3.Connection, connection: Connection, target: Path) -> None:
    wanted = "SELECT * FROM acts ORDER BY number"
    whole = copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    if not whole or copy.execute(wanted).fetchall() != [tuple(row) for row in connection.exec_driver_sql(wanted)]:
        raise StateError(f"the backup {target} could not be verified, so the store was left as it is: try again")
