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
import re
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.files import fsync, write_atomically

ERASING = "-erasing"
_ROWS, _LOG = "rows", "log"
"""What is left to do: rewrite the file and empty its log, or only empty the log."""


@dataclass(frozen=True)
class ErasureNote:
    """The note beside a database file; whoever changes it holds the write lock of the database."""

    path: Path

    @classmethod
    def for_database(cls, database: Path) -> ErasureNote:
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
        listed = self.read()
        if listed is not None and listed[0] == token:
            self.path.unlink()
            fsync(self.path.parent)

    def _write(self, token: str, left: str) -> None:
        write_atomically(self.path, f"{token} {left}".encode(), private=True)


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


def list_pending_erasures(folder: Path) -> list[str]:
    """The files of a folder in whose bytes something erased may still be found."""
    return sorted(ErasureNote(path).database.name for path in folder.glob(f"*{ERASING}"))


def finish_erasures(folder: Path) -> list[str]:
    """Try to finish the pending erasures of a folder without waiting for anybody; those that are still pending."""
    for name in list_pending_erasures(folder):
        note = ErasureNote.for_database(folder / name)
        if not note.database.exists():  # it was moved away, and what was in it with it
            note.path.unlink(missing_ok=True)
            continue
        with contextlib.suppress(sqlite3.Error), closing(open_connection(note.database, 0)) as connection:
            finish_erasure(connection, note, 0)
    return list_pending_erasures(folder)


def open_connection(database: Path, patience: float) -> sqlite3.Connection:
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


ERASED_LIST = "withdrawn-participants.txt"
PSEUDONYM = re.compile(r"P[0-9]{1,9}")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LINE = re.compile(rf"({PSEUDONYM.pattern})\t({DAY.pattern})")


@dataclass(frozen=True)
class ErasedList:
    """The list of participants who withdrew, next to the sealed files, so that it is there when they are not.

    A backup knows who withdrew before it was made; a restore needs those since. Each line holds a pseudonym and a day,
    so the list may be copied anywhere. To add to it, hold the write lock of the file next to it.
    """

    path: Path

    @classmethod
    def for_file(cls, file: Path) -> ErasedList:
        return cls(file.with_name(ERASED_LIST))

    def read(self) -> dict[str, str]:
        """Who withdrew, and the first day of it; a line that is none is refused, since it may have been one."""
        files: dict[str, str] = {}
        for number, line in enumerate(self._lines(), start=1):
            read = _LINE.fullmatch(line)
            if read is None:
                raise InputError(f"{self.path}, line {number} is no withdrawal: bring back a copy of it, or remove it")
            files[read[1]] = min(read[2], files.get(read[1], read[2]))
        return files

    def list_names(self) -> set[str]:
        """Whoever may stand there, whatever else does."""
        return {line.partition("\t")[0] for line in self._lines()}

    def add(self, new: Mapping[str, str]) -> None:
        """On the disk when this returns; whatever else stands there stays, so that nobody is hindered by it."""
        lines, known = self._lines(), self.list_names()
        added = [f"{participant}\t{day}" for participant, day in new.items() if participant not in known]
        if added:
            text = "".join(f"{line}\n" for line in [*lines, *added])
            write_atomically(self.path, text.encode("utf-8", "surrogateescape"), private=True)

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text("utf-8", "surrogateescape").splitlines()
        except FileNotFoundError:
            return []


def describe_pending_erasures(folder: Path) -> str:
    """What is not finished, why, and what to do, in a few sentences; empty where nothing is pending."""
    names = list_pending_erasures(folder)
    if not names:
        return ""
    files = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return (
        f"What was erased can still be found in the bytes of {files}, because another program was using the file or "
        "the disk was full. The desk tries to remove it every minute, and so does the next command that opens the "
        "file; until then, do not copy it."
    )
