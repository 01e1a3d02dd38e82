"""The backup file: a portable SQLite file of acts, the same from every kind of database.

It may also contain the lines of private files. It has exactly the tables that are created here: a file with a trigger,
a view or anything else is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import fsync
from quaestor.store.private_file_copy import BackupLines, LineDigest, damaged_backup_error
from quaestor.store.records import ActRow, BackupReport, PartReport
from quaestor.store.schema import VERSIONS

BACKUP = 0x51554142
"""The SQLite application id of a backup: `QUAB`."""
CLAIMS = 0x51554143
"""The application id of a backup of claims, `QUAC`; claims never share a file with answers."""
FORMAT = 2

_ACTS = """
    CREATE TABLE acts (
        number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL,
        codebook INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, payload TEXT NOT NULL
    );
    CREATE TABLE backup (made TEXT NOT NULL, acts INTEGER NOT NULL, sha256 TEXT NOT NULL);
"""
_PARTS = """
    CREATE TABLE parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL, rows TEXT NOT NULL, sha256 TEXT NOT NULL);
    CREATE TABLE lines (part TEXT NOT NULL, number INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (part, number))
    WITHOUT ROWID;
"""
_FORMATS = {1: _ACTS, FORMAT: _ACTS + _PARTS}
_ROWS = "SELECT number, time, kind, actor, codebook, key, payload FROM acts ORDER BY number"
_LINES = "SELECT CAST(line AS TEXT) FROM lines WHERE part = ? ORDER BY number"
_SCHEMA = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
_MAX_VALUE_BYTES = 256 * 2**20
"""The longest value, so that a hostile file cannot fill the memory."""
_UNFINISHED = ".unfinished"


class Digest:
    """The SHA-256 over acts in order, and their number."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.count = 0

    def pass_through(self, rows: Iterable[ActRow]) -> Iterator[ActRow]:
        """Yields the rows while counting and hashing them."""
        for row in rows:
            self._hash.update(row.line())
            self.count += 1
            yield row

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


@dataclass(frozen=True)
class Backup:
    """A verified backup, open for reading."""

    report: BackupReport
    _connection: sqlite3.Connection

    def read_rows(self) -> Iterator[ActRow]:
        return map(ActRow._make, self._connection.execute(_ROWS))

    def read_lines(self, part: str) -> Iterator[str]:
        return (line for (line,) in self._connection.execute(_LINES, (part,)))


def write_backup(
    rows: Iterable[ActRow], target: Path, created: str, parts: Sequence[BackupLines] = (), kind: int = BACKUP
) -> BackupReport:
    """Writes rows and parts to a new private file and verifies it by reading it back, completely or not at all."""
    if target.exists():
        raise InputError(f"{target} already exists: name another file for the backup")
    target.parent.mkdir(parents=True, exist_ok=True)
    with _open_temporary(target) as temporary:
        try:
            report = _write(rows, parts, temporary, target, created, kind)
            fsync(temporary)
            with open_backup(temporary, kind) as written:
                if written.report != BackupReport(temporary, report.acts, report.sha256, created, report.parts):
                    raise StateError(f"{target} could not be verified after writing: check the disk, then try again")
            os.replace(temporary, target)
            fsync(target.parent)
        except sqlite3.Error as error:
            raise StateError(f"{target} cannot be written: {error}") from error
    return report


@contextmanager
def _open_temporary(target: Path) -> Iterator[Path]:
    """Yields a locked temporary file for a backup, after removing those that killed processes left."""
    try:
        import fcntl
    except ImportError:  # a system without file locks
        fcntl = None  # type: ignore[assignment]
    if fcntl is not None:
        for left in target.parent.glob(f".*{_UNFINISHED}"):
            with suppress(OSError), left.open("rb") as lock_file:
                fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the process that writes it is alive
                left.unlink()
    temporary = target.with_name(f".{target.name}.{os.getpid()}{_UNFINISHED}")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "rb") as lock_file:
        if fcntl is not None:
            fcntl.flock(lock_file, fcntl.LOCK_EX)
        try:
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)


def _write(
    rows: Iterable[ActRow], parts: Sequence[BackupLines], temporary: Path, target: Path, created: str, kind: int
) -> BackupReport:
    digest, reports = Digest(), {}
    with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
        for pragma in (
            "journal_mode = OFF",
            "synchronous = OFF",
            f"application_id = {kind}",
            f"user_version = {FORMAT}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.executescript(_FORMATS[FORMAT])
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO acts VALUES (?, ?, ?, ?, ?, ?, ?)", digest.pass_through(rows))
        connection.execute("INSERT INTO backup VALUES (?, ?, ?)", (created, digest.count, digest.sha256))
        for part in parts:
            lines = LineDigest()
            numbered = (
                (part.name, number, line) for number, line in enumerate(lines.pass_through(part.lines), start=1)
            )
            connection.executemany("INSERT INTO lines VALUES (?, ?, ?)", numbered)
            reports[part.name] = report = lines.report(part.name, part.version)
            values = (report.name, report.version, json.dumps(report.rows), report.sha256)
            connection.execute("INSERT INTO parts VALUES (?, ?, ?, ?)", values)
        connection.execute("COMMIT")
    return BackupReport(target, digest.count, digest.sha256, created, reports)


@contextmanager
def open_backup(file: Path, kind: int = BACKUP) -> Iterator[Backup]:
    """Opens a backup, or the copy of a store that an upgrade kept, after verifying all of it."""
    if not file.is_file():
        raise InputError(f"{file} is not a file: name a backup")
    # Read-only: a backup has no log file that would have to be replayed.
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
            yield Backup(_verify(connection, file, kind), connection)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{file} is damaged or not a backup ({reason}): nothing was restored, use another one"
        ) from error


def _verify(connection: sqlite3.Connection, file: Path, kind: int) -> BackupReport:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    application = _read_pragma(connection, "application_id")
    if {application, kind} == {BACKUP, CLAIMS}:
        raise InputError(
            f"{file} contains claims, which are kept separately: run `quaestor restore --claims {file}`"
            if application == CLAIMS
            else f"{file} contains no claims: run `quaestor restore {file}`"
        )
    is_backup = application == kind
    if "acts" not in tables or not (is_backup or (kind == BACKUP and VERSIONS in tables)):
        raise InputError(f"{file} is not a backup of Quaestor: name a file that `quaestor backup` wrote")
    written = int(str(_read_pragma(connection, "user_version")))
    if is_backup and written not in _FORMATS:
        raise InputError(f"{file} was written by a newer Quaestor: update Quaestor")
    if is_backup and (difference := _describe_schema_difference(connection, written)):
        raise damaged_backup_error(file, difference)
    if (integrity := str(_read_pragma(connection, "integrity_check"))) != "ok":
        raise damaged_backup_error(file, integrity.splitlines()[-1])
    digest = Digest()
    for expected, row in enumerate(digest.pass_through(map(ActRow._make, connection.execute(_ROWS))), start=1):
        if row.number != expected:
            raise damaged_backup_error(file, f"act {expected} is missing")
    if not is_backup:
        return BackupReport(file, digest.count, digest.sha256, "")
    summary = connection.execute("SELECT made, acts, sha256 FROM backup").fetchall()
    if [(acts, sha256) for _, acts, sha256 in summary] != [(digest.count, digest.sha256)]:
        raise damaged_backup_error(file, "its SHA-256 differs")
    parts = _verify_parts(connection, file) if written > 1 else {}
    return BackupReport(file, digest.count, digest.sha256, summary[0][0], parts)


def _verify_parts(connection: sqlite3.Connection, file: Path) -> dict[str, PartReport]:
    """Returns the reports of the file's parts after verifying each."""
    reports = {}
    for name, version, rows, sha256 in connection.execute("SELECT name, version, rows, sha256 FROM parts").fetchall():
        digest = LineDigest()
        for _ in digest.pass_through(line for (line,) in connection.execute(_LINES, (name,))):
            pass
        report = digest.report(str(name), version)
        if (json.dumps(report.rows), report.sha256) != (rows, sha256) or not isinstance(version, int):
            raise damaged_backup_error(file, f"the SHA-256 of its {name} differs")
        reports[report.name] = report
    if connection.execute("SELECT 1 FROM lines WHERE part NOT IN (SELECT name FROM parts)").fetchone():
        raise damaged_backup_error(file, "it contains lines without a part")
    return reports


def _describe_schema_difference(connection: sqlite3.Connection, written: int) -> str:
    """Describes how the schema of the file differs from that of a backup; empty if it does not."""
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.executescript(_FORMATS[written])
        expected = plain.execute(_SCHEMA).fetchall()
    actual = connection.execute(_SCHEMA).fetchall()
    if actual == expected:
        return ""
    foreign = [row for row in actual if row not in expected]
    if not foreign:
        return "tables are missing"
    return f"it contains the {foreign[0][0]} {str(foreign[0][1])[:60]!r}, which does not belong in a backup"


def _read_pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
