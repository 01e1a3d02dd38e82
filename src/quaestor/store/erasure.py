"""Making an erasure complete: SQLite removes a row at once, and its bytes only when we see to it.

Three places keep the words of a deleted row, even where `secure_delete` overwrites the row itself:

- the write-ahead log, and the pages it has not been copied to yet, while any process reads an older state;
- the unused part of a page that the row lay in before the page was split;
- the same after a process was killed between the deletion and whatever cleans up after it.

So a note beside the file says that an erasure is pending. It is on the disk before the deletion is committed, and is
removed when the file was rewritten and its log emptied. Whoever writes to the file or opens it next tries again.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.files import fsync, write_whole

ERASING = "-erasing"
_ROWS, _LOG = "rows", "log"
"""What is left to do: rewrite the file and empty its log, or only empty the log."""


@dataclass(frozen=True)
class ErasureNote:
    """The note beside a database file; whoever changes it holds the write lock of the database."""

    path: Path

    @classmethod
    def beside(cls, database: Path) -> ErasureNote:
        return cls(database.with_name(f"{database.name}{ERASING}"))

    @property
    def database(self) -> Path:
        return self.path.with_name(self.path.name.removesuffix(ERASING))

    def exists(self) -> bool:
        return self.path.exists()

    def add(self) -> None:
        """Say that another erasure is pending; on the disk when this returns."""
        self._write(secrets.token_hex(8), _ROWS)

    def read(self) -> tuple[str, str] | None:
        """The token of the latest erasure, and what is left to do; None where nothing is pending."""
        try:
            token, _, left = self.path.read_text("ascii", "replace").partition(" ")
        except FileNotFoundError:
            return None
        return token, left

    def mark_rewritten(self, token: str) -> None:
        if self.read() == (token, _ROWS):
            self._write(token, _LOG)

    def remove(self, token: str) -> None:
        """Remove the note, unless a later erasure has changed it."""
        found = self.read()
        if found is not None and found[0] == token:
            self.path.unlink()
            fsync(self.path.parent)

    def _write(self, token: str, left: str) -> None:
        write_whole(self.path, f"{token} {left}".encode(), private=True)


def finish_erasure(connection: sqlite3.Connection, note: ErasureNote, patience: float) -> bool:
    """Overwrite what was erased, as far as others let us within `patience` seconds; whether nothing is left to do."""
    pending = note.read()
    if pending is None:
        return True
    token, left = pending
    try:
        with _waiting(connection, patience):
            if left != _LOG:
                # The one way to be rid of copies in unused parts of pages; those it frees are overwritten.
                connection.execute("VACUUM")
                with _write_lock(connection):
                    note.mark_rewritten(token)
            if not _empty_log(connection):
                return False
            with _write_lock(connection):
                note.remove(token)
    except sqlite3.Error:  # another program writes, or the disk is full: the note stays, and it is tried again
        return False
    return not note.exists()


def empty_log(connection: sqlite3.Connection, patience: float) -> bool:
    """Copy the write-ahead log into the file and cut it to nothing; whether nobody kept us from it."""
    try:
        with _waiting(connection, patience):
            return _empty_log(connection)
    except sqlite3.Error:
        return False


def erasures_pending(folder: Path) -> list[str]:
    """The files of a folder in whose bytes something erased may still be found."""
    return sorted(ErasureNote(path).database.name for path in folder.glob(f"*{ERASING}"))


def finish_erasures(folder: Path) -> list[str]:
    """Try to finish the pending erasures of a folder without waiting for anybody; those that are still pending."""
    for name in erasures_pending(folder):
        note = ErasureNote.beside(folder / name)
        if not note.database.exists():  # it was moved away, and what was in it with it
            note.path.unlink(missing_ok=True)
            continue
        with contextlib.suppress(sqlite3.Error), closing(connect(note.database, 0)) as connection:
            finish_erasure(connection, note, 0)
    return erasures_pending(folder)


def connect(database: Path, patience: float) -> sqlite3.Connection:
    """A connection on which every commit is durable, and what is deleted is overwritten."""
    connection = sqlite3.connect(database, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _empty_log(connection: sqlite3.Connection) -> bool:
    busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


@contextmanager
def _waiting(connection: sqlite3.Connection, patience: float) -> Iterator[None]:
    """Wait for others this long and no longer: whoever empties the log keeps every writer waiting meanwhile."""
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual}")


@contextmanager
def _write_lock(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")  # nothing was written to the database
