"""A private SQLite file of a study: readable only by its owner, durable, and shared by several processes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self, TypeVar

from quaestor.base.errors import InputError, QuaestorError, TemporarilyUnavailable
from quaestor.base.files import create_private_file, restrict_to_owner
from quaestor.store.erasure import ErasureNote, empty_log, finish_erasure, open_connection

_Read = TypeVar("_Read")
PATIENCE = 30.0
"""Seconds to wait for a writer in another process."""
_ERASING_PATIENCE = 2.0
"""Seconds that an erasure waits for readers; after that it is pending."""


class DamagedFile(TemporarilyUnavailable):
    """A private file is damaged and cannot be read."""


class PrivateFile:
    """A SQLite file with a connection for reading, which never waits, and one for writing.

    `upgrades` are the statements from each version of the file to the next; they are only appended to, never changed.
    `kind` is the application id of the file, `lost` the advice for a damaged file.
    """

    def __init__(self, path: Path, kind: int, upgrades: Sequence[str], lost: str) -> None:
        self.path = path
        self._kind = kind
        self._upgrades = upgrades
        self._lost = lost
        self._note = ErasureNote.for_database(path)
        create_private_file(path)
        restrict_to_owner(path)
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        with self._explain_errors():
            self._writer = open_connection(path, PATIENCE)
            try:
                self._prepare()
                self._reader = open_connection(path, PATIENCE)
            except BaseException:
                self._writer.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        with self._writing, self._reading:
            self._reader.close()
            self._writer.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._reading, self._explain_errors():
            yield self._reader

    def read_change_counter(self) -> int:
        """Returns a number that changes with every commit of any process.

        The reading connection never writes, so that SQLite counts all commits for it as those of others.
        """
        with self.reading() as reading:
            return int(reading.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Opens a transaction that holds the write lock from its start and is durable at its end."""
        with self._transaction() as writing:
            yield writing
        self._finish(0)

    @contextmanager
    def erasing(self, *, finish: bool = True) -> Iterator[sqlite3.Connection]:
        """Opens a transaction that erases content: none of its bytes is left in the file or its log.

        If a reader prevents that, or this process is killed, the erasure is pending: the next write, the next opening
        or `finish_erasures` completes it. Without `finish` it is left to `finish_erasure`.
        """
        was_pending = self.erasure_pending
        with self._transaction() as writing:
            before = writing.total_changes
            yield writing
            if writing.total_changes != before:
                self._note.add()
        if finish:
            # An erasure in several steps waits only once for the same reader.
            self._finish(0 if was_pending else _ERASING_PATIENCE)

    def finish_erasure(self) -> None:
        """Finishes a pending erasure, unless readers prevent it."""
        self._finish(_ERASING_PATIENCE)

    @property
    def erasure_pending(self) -> bool:
        """Whether erased content may still be in the bytes of the file or its log."""
        return self._note.exists()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Opens a read transaction on the current state of the file; erasures stay pending until it ends."""
        with self._reading, self._explain_errors():
            self._reader.execute("BEGIN")
            try:
                self._reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
                yield self._reader
            finally:
                self._reader.execute("ROLLBACK")

    def clear_log(self) -> None:
        """Empties the write-ahead log, which reveals the order of changes; deferred while another process reads."""
        with self._writing:
            if not empty_log(self._writer, _ERASING_PATIENCE):
                with self._explain_errors():
                    self._writer.execute("BEGIN IMMEDIATE")
                    try:
                        self._note.add()
                    finally:
                        self._writer.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, self._explain_errors():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:  # if the disk is full, SQLite has rolled back itself
                    self._writer.execute("ROLLBACK")
                raise

    def _finish(self, patience: float) -> None:
        if self._note.exists():
            with self._writing:
                finish_erasure(self._writer, self._note, patience)

    def _prepare(self) -> None:
        _use_write_ahead_log(self._writer)
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            kind, version = (
                self._writer.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
            tables = self._writer.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if kind != self._kind and tables:
                raise InputError(f"{self.path} is a database of another program: move it away")
            if version > len(self._upgrades):
                raise InputError(f"{self.path} was written by a newer Quaestor: update Quaestor")
            reached = version if tables else 0
            run_upgrades(self._writer, self._upgrades[reached:])
            if reached < len(self._upgrades):
                self._writer.execute(f"PRAGMA application_id = {self._kind}")
                self._writer.execute(f"PRAGMA user_version = {len(self._upgrades)}")
            self._writer.execute("COMMIT")
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise
        # A killed process, or an earlier version of this program, may have left erased content in the log.
        if finish_erasure(self._writer, self._note, 0):
            empty_log(self._writer, 0)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain_error(error) from error

    def _explain_error(self, error: sqlite3.Error) -> QuaestorError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return DamagedFile(f"{self.path} is damaged ({error}): {self._lost}")
        if code == sqlite3.SQLITE_BUSY:
            return TemporarilyUnavailable(
                f"{self.path} has been busy for {PATIENCE:.0f} seconds: stop the program that uses it"
            )
        if code == sqlite3.SQLITE_FULL:
            return TemporarilyUnavailable(f"{self.path} cannot grow, the disk is full: free some space, then try again")
        return TemporarilyUnavailable(f"{self.path} cannot be used ({error}): check its permissions and the disk space")


def run_upgrades(connection: sqlite3.Connection, upgrades: Iterable[str]) -> None:
    """Runs the statements that upgrade a file to a later version."""
    for upgrade in upgrades:
        for statement in upgrade.split(";\n"):
            connection.execute(statement)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switches the file to a write-ahead log; retries, because SQLite does not wait for locks in this case."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def read_without_key(file: Path, read: Callable[[sqlite3.Connection], Iterable[_Read]]) -> set[_Read]:
    """Returns unencrypted content of a private file, or an empty set without a file; raises InputError if damaged."""
    if not file.exists():
        return set()
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return set(read(connection))
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"{file} cannot be read ({error}), but it lists the withdrawn participants: restore a backup of it"
        ) from None
