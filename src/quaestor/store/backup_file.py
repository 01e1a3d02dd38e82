"""The file of a backup: one portable SQLite file of acts, the same whatever database they came from."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import fsync
from quaestor.store.records import BackupReport, Row
from quaestor.store.tables import VERSIONS

BACKUP = 0x51554142
"""What SQLite calls an application id: `QUAB` marks a backup."""
FORMAT = 1

_MAKE = f"""
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA application_id = {BACKUP};
    PRAGMA user_version = {FORMAT};
    CREATE TABLE acts (
        number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL,
        codebook INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, payload TEXT NOT NULL
    );
    CREATE TABLE backup (made TEXT NOT NULL, acts INTEGER NOT NULL, sha256 TEXT NOT NULL);
"""
_ROWS = "SELECT number, time, kind, actor, codebook, key, payload FROM acts ORDER BY number"


class Digest:
    """The SHA-256 over acts in order, and how many there were."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.count = 0

    def through(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows, counted and hashed on their way."""
        for row in rows:
            self._hash.update(row.line())
            self.count += 1
            yield row

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


@dataclass(frozen=True)
class Backup:
    """A backup that was found whole, open for reading."""

    report: BackupReport
    _connection: sqlite3.Connection

    def rows(self) -> Iterator[Row]:
        return map(Row._make, self._connection.execute(_ROWS))


def write_backup(rows: Iterable[Row], target: Path, made: str) -> BackupReport:
    """Write rows to a new file and read it back; the file is there whole and verified, or not at all."""
    if target.exists():
        raise InputError(f"{target} is already there: name another file for the backup")
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    aside.unlink(missing_ok=True)
    try:
        digest = _write(rows, aside, made)
        fsync(aside)
        with open_backup(aside) as written:
            if (written.report.acts, written.report.sha256) != (digest.count, digest.sha256):
                raise StateError(f"{target} did not read back as it was written: check the disk, then try again")
        os.replace(aside, target)
        fsync(target.parent)
    except sqlite3.Error as error:
        raise StateError(f"{target} cannot be written: {error}") from error
    finally:
        aside.unlink(missing_ok=True)
    return BackupReport(target, digest.count, digest.sha256, made)


def _write(rows: Iterable[Row], aside: Path, made: str) -> Digest:
    digest = Digest()
    with closing(sqlite3.connect(aside, isolation_level=None)) as connection:
        connection.executescript(_MAKE)
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO acts VALUES (?, ?, ?, ?, ?, ?, ?)", digest.through(rows))
        connection.execute("INSERT INTO backup VALUES (?, ?, ?)", (made, digest.count, digest.sha256))
        connection.execute("COMMIT")
    return digest


@contextmanager
def open_backup(file: Path) -> Iterator[Backup]:
    """A backup, or the copy of a store that an upgrade kept, after it was read whole and found undamaged."""
    if not file.is_file():
        raise InputError(f"{file} is no file: name a backup")
    # What is read is never written to; a backup has no journal of its own that could matter.
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True)) as connection:
            yield Backup(_verify(connection, file), connection)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is damaged or no backup ({error}): nothing was restored, use another one") from error


def _verify(connection: sqlite3.Connection, file: Path) -> BackupReport:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    is_backup = _pragma(connection, "application_id") == BACKUP
    if "acts" not in tables or not (is_backup or VERSIONS in tables):
        raise InputError(f"{file} is no backup of Quaestor: name one")
    if is_backup and _pragma(connection, "user_version") != FORMAT:
        raise InputError(f"{file} was written by a newer Quaestor: update Quaestor")
    if (found := str(_pragma(connection, "integrity_check"))) != "ok":
        raise InputError(f"{file} is damaged ({found.splitlines()[-1]}): nothing was restored, use another one")
    digest = Digest()
    for expected, row in enumerate(digest.through(map(Row._make, connection.execute(_ROWS))), start=1):
        if row.number != expected:
            raise InputError(f"{file} is damaged (act {expected} is missing): nothing was restored, use another one")
    if not is_backup:
        return BackupReport(file, digest.count, digest.sha256, "")
    said = connection.execute("SELECT made, acts, sha256 FROM backup").fetchall()
    if [(acts, sha256) for _, acts, sha256 in said] != [(digest.count, digest.sha256)]:
        raise InputError(f"{file} is damaged (its SHA-256 differs): nothing was restored, use another one")
    return BackupReport(file, digest.count, digest.sha256, said[0][0])


def _pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
