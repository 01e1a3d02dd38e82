"""Completes erasures: SQLite deletes a row immediately, but its bytes may remain in the file.

The bytes of a deleted row can remain in three places, even though `secure_delete` overwrites the row itself:

- the write-ahead log, and the pages it has not been copied to yet, while a process reads an older state;
- the unused part of a page that contained the row before the page was split;
- both of these after a process was killed between the deletion and the cleanup.

A note next to the file therefore records that an erasure is pending. It is written before the deletion is committed and
removed after the file was rewritten and its log emptied. The next process that writes to or opens the file tries again.
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
"""The remaining work: rewrite the file and empty its log, or only empty the log."""


@dataclass(frozen=True)
class ErasureNote:
    """The note of a pending erasure next to a database file; change it only with the write lock of the database."""

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
        """Records durably that another erasure is pending."""
        self._write(secrets.token_hex(8), _ROWS)

    def read(self) -> tuple[str, str] | None:
        """Returns the token of the latest erasure and the remaining work; None if nothing is pending."""
        try:
            token, _, left = self.path.read_text("ascii", "replace").partition(" ")
        except FileNotFoundError:
            return None
        return token, left

    def mark_rewritten(self, token: str) -> None:
        if self.read() == (token, _ROWS):
            self._write(token, _LOG)

    def remove(self, token: str) -> None:
        """Removes the note, unless a later erasure has changed it."""
        listed = self.read()
        if listed is not None and listed[0] == token:
            self.path.unlink()
            fsync(self.path.parent)

    def _write(self, token: str, left: str) -> None:
        write_atomically(self.path, f"{token} {left}".encode(), private=True)


def finish_erasure(connection: sqlite3.Connection, note: ErasureNote, patience: float) -> bool:
    """Overwrites erased content, waiting up to `patience` seconds for others; returns whether it is complete."""
    pending = note.read()
    if pending is None:
        return True
    token, left = pending
    try:
        with _set_patience(connection, patience):
            if left != _LOG:
                # Only VACUUM removes copies in unused parts of pages; pages that it frees are overwritten.
                connection.execute("VACUUM")
                with _write_lock(connection):
                    note.mark_rewritten(token)
            if not _truncate_log(connection):
                return False
            with _write_lock(connection):
                note.remove(token)
    except sqlite3.Error:  # another program writes, or the disk is full: keep the note and retry later
        return False
    return not note.exists()


def empty_log(connection: sqlite3.Connection, patience: float) -> bool:
    """Copies the write-ahead log into the file and truncates it; returns False if another process prevented it."""
    try:
        with _set_patience(connection, patience):
            return _truncate_log(connection)
    except sqlite3.Error:
        return False


def list_pending_erasures(folder: Path) -> list[str]:
    """Returns the names of the files in a folder that may still contain erased bytes."""
    return sorted(ErasureNote(path).database.name for path in folder.glob(f"*{ERASING}"))


def finish_erasures(folder: Path) -> list[str]:
    """Tries to finish the pending erasures of a folder without waiting; returns those that are still pending."""
    for name in list_pending_erasures(folder):
        note = ErasureNote.for_database(folder / name)
        if not note.database.exists():  # the file was moved away with its content
            note.path.unlink(missing_ok=True)
            continue
        with contextlib.suppress(sqlite3.Error), closing(open_connection(note.database, 0)) as connection:
            finish_erasure(connection, note, 0)
    return list_pending_erasures(folder)


def open_connection(database: Path, patience: float) -> sqlite3.Connection:
    """Opens a connection with durable commits that overwrites deleted content."""
    connection = sqlite3.connect(database, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _truncate_log(connection: sqlite3.Connection) -> bool:
    busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


@contextmanager
def _set_patience(connection: sqlite3.Connection, patience: float) -> Iterator[None]:
    """Limits the wait for other processes: emptying the log blocks every writer."""
    (previous,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {previous}")


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
    """The list of withdrawn participants, in a file of its own, so that it survives the loss of the sealed files.

    A backup contains the withdrawals before it was made; a restore needs the later ones too. Each line is a pseudonym
    and a day, so that the list may be copied anywhere. Add to it only with the write lock of the sealed file.
    """

    path: Path

    @classmethod
    def for_file(cls, file: Path) -> ErasedList:
        return cls(file.with_name(ERASED_LIST))

    def read(self) -> dict[str, str]:
        """Returns withdrawn participants with the day; raises InputError for an invalid line, which may hide one."""
        files: dict[str, str] = {}
        for number, line in enumerate(self._lines(), start=1):
            read = _LINE.fullmatch(line)
            if read is None:
                raise InputError(
                    f"{self.path}, line {number} is not a withdrawal: restore a copy of the list, or remove the line"
                )
            files[read[1]] = min(read[2], files.get(read[1], read[2]))
        return files

    def list_names(self) -> set[str]:
        """Returns the pseudonyms in the list, ignoring invalid parts of lines."""
        return {line.partition("\t")[0] for line in self._lines()}

    def add(self, new: Mapping[str, str]) -> None:
        """Adds participants durably; keeps invalid lines, so that they do not prevent a withdrawal."""
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
    """Explains which erasures are pending and what to do; empty if there are none."""
    names = list_pending_erasures(folder)
    if not names:
        return ""
    files = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return (
        f"Erased content may still be in the bytes of {files}, because another program was using the file or "
        "the disk was full. The desk tries to remove it every minute, and so does the next command that opens the "
        "file. Do not copy the file until then."
    )
