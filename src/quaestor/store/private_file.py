"""A private file of a study: for the eyes of its owner alone, durable, shared by several processes."""

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
from quaestor.store.erasure import ErasureNote, open_connection, empty_log, finish_erasure

_Read = TypeVar("_Read")
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
_ERASING_PATIENCE = 2.0
"""Seconds that whoever erases waits for those who read; after that the erasure is pending."""


class DamagedFile(TemporarilyUnavailable):
    """A private file that cannot be read any more."""


class PrivateFile:
    """A SQLite file with one connection that reads, which never waits, and one that writes.

    `upgrades` are the statements that lead from each version of the file to the next; one is only ever added at the
    end. `kind` is the number that says whose file it is, `lost` what to do where it is damaged.
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
        with self._explained():
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
        with self._reading, self._explained():
            yield self._reader

    def read_change_counter(self) -> int:
        """Another number after every commit, of this process or of another; what was read before it may have changed.

        The connection that reads never writes, so SQLite counts the commits of everybody else for it.
        """
        with self.reading() as reading:
            return int(reading.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its first moment, and is on the disk when it ends."""
        with self._transaction() as writing:
            yield writing
        self._finish(0)

    @contextmanager
    def erasing(self, *, finish: bool = True) -> Iterator[sqlite3.Connection]:
        """The same for a transaction that removes words for good: none of their bytes is left in the file or its log.

        Where a process that reads keeps us from that, or this one is killed, the erasure is pending: the next write,
        the next opening or `finish_erasures` finishes it. Without `finish` it is left to `finish_erasure`.
        """
        was_pending = self.erasure_pending
        with self._transaction() as writing:
            before = writing.total_changes
            yield writing
            if writing.total_changes != before:
                self._note.add()
        if finish:
            # Whoever erases in several steps waits once for the same reader.
            self._finish(0 if was_pending else _ERASING_PATIENCE)

    def finish_erasure(self) -> None:
        """Finish an erasure that is pending, as far as those who read let us."""
        self._finish(_ERASING_PATIENCE)

    @property
    def erasure_pending(self) -> bool:
        """Whether words that were erased may still be found in the bytes of the file or its log."""
        return self._note.exists()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """The file as it is at this moment, whatever is written meanwhile; as long as it lasts nothing is forgotten."""
        with self._reading, self._explained():
            self._reader.execute("BEGIN")
            try:
                self._reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
                yield self._reader
            finally:
                self._reader.execute("ROLLBACK")

    def clear_log(self) -> None:
        """Empty the log of changes, so that it does not tell what came when; where somebody reads, a little later."""
        with self._writing:
            if not empty_log(self._writer, _ERASING_PATIENCE):
                with self._explained():
                    self._writer.execute("BEGIN IMMEDIATE")
                    try:
                        self._note.add()
                    finally:
                        self._writer.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, self._explained():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:  # where the disk is full, SQLite has taken everything back itself
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
                raise InputError(f"{self.path} was made by a newer Quaestor: install that one")
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
        # A process that was killed, or an earlier version of this program, may have left erased words in the log.
        if finish_erasure(self._writer, self._note, 0):
            empty_log(self._writer, 0)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    def _refusal(self, error: sqlite3.Error) -> QuaestorError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return DamagedFile(f"{self.path} is damaged ({error}): {self._lost}")
        if code == sqlite3.SQLITE_BUSY:
            return TemporarilyUnavailable(
                f"{self.path} has been busy for {PATIENCE:.0f} seconds: end the program that holds it"
            )
        if code == sqlite3.SQLITE_FULL:
            return TemporarilyUnavailable(f"{self.path} cannot grow, the disk is full: free some space, then try again")
        return TemporarilyUnavailable(
            f"{self.path} cannot be used ({error}): check its permissions and the space on the disk"
        )


def run_upgrades(connection: sqlite3.Connection, upgrades: Iterable[str]) -> None:
    """Lead the tables of a file from one version to a later one."""
    for upgrade in upgrades:
        for statement in upgrade.split(";\n"):
            connection.execute(statement)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Once for a file; SQLite does not wait for others here, so that we must."""
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
    """What a private file that may not be there says to anybody, without its key; refuses where it is damaged."""
    if not file.exists():
        return set()
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return set(read(connection))
    except sqlite3.DatabaseError as error:
        raise InputError(f"{file} cannot be read ({error}), which says who withdrew: restore a backup of it") from None
