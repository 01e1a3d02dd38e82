"""The invitations file: by the hash of a link, its batch and stratum, and whether it was used.

It stores no times, and nothing that leads from an invitation to a response. All invitations of a batch are written in
the order of their hashes, and the write-ahead log is emptied each time one is used. Invitations that are sent by e-mail
also have a recipient, whose address and link are encrypted (`surveys.store.recipients`).
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from quaestor.store.private_file_copy import PrivateFileSchema

_KIND = 0x51496E76
_FIRST = """
CREATE TABLE invitations (
    token BLOB PRIMARY KEY, survey TEXT NOT NULL, batch TEXT NOT NULL, stratum TEXT NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID
"""
_SECOND = """
CREATE TABLE recipients (
    id BLOB PRIMARY KEY, survey TEXT NOT NULL, invitation BLOB NOT NULL UNIQUE, sealed BLOB NOT NULL,
    mails INTEGER NOT NULL, trying INTEGER NOT NULL, refused INTEGER NOT NULL, gone INTEGER NOT NULL
) WITHOUT ROWID
"""
INVITATIONS = PrivateFileSchema(
    "invitations", _KIND, (_FIRST, _SECOND), "restore a backup of it, or send new invitations"
)


@dataclass(frozen=True)
class Invitation:
    """One invitation link."""

    survey: str
    batch: str
    stratum: str
    used: bool


@dataclass(frozen=True)
class InvitationCount:
    """Number of invitations of a batch and stratum, and how many were used."""

    batch: str
    stratum: str
    sent: int
    used: int


class InvitationFile:
    """All invitations of a study; safe for threads and processes."""

    def __init__(self, path: Path) -> None:
        self._file = INVITATIONS.open(path)

    def __enter__(self) -> InvitationFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def add(self, survey: str, batch: str, stratum: str, tokens: Sequence[str]) -> None:
        """Stores invitations, all or none; only the hash of each token."""
        with self._file.writing() as writing:
            insert_invitations(writing, [(hash_token(token), survey, batch, stratum) for token in tokens])
        self._file.clear_log()

    def find(self, token: str) -> Invitation | None:
        with self._file.reading() as reading:
            return _find(reading, token)

    @contextmanager
    def using(self, token: str) -> Iterator[Invitation | None]:
        """Yields an invitation and marks it as used at the end; locks it meanwhile."""
        with self._file.writing() as writing:
            yield _find(writing, token)
            writing.execute("UPDATE invitations SET used = 1 WHERE token = ?", (hash_token(token),))
        self._file.clear_log()

    def sent(self, survey: str, *, without_unmailed: bool = False) -> list[InvitationCount]:
        """Counts by batch and stratum; on request without the links of recipients who were not mailed yet."""
        unmailed = "SELECT invitation FROM recipients WHERE mails = 0 AND trying = 0"
        without = f" AND (used OR token NOT IN ({unmailed}))" if without_unmailed else ""
        query = "SELECT batch, stratum, count(*), sum(used) FROM invitations WHERE survey = ?"
        with self._file.reading() as reading:
            rows = reading.execute(f"{query}{without} GROUP BY 1, 2 ORDER BY 1, 2", (survey,)).fetchall()
        return [InvitationCount(*row) for row in rows]

    def in_stratum(self, survey: str, stratum: str) -> int:
        """Returns the number of invitations in a stratum."""
        with self._file.reading() as reading:
            rows = reading.execute(
                "SELECT count(*) FROM invitations WHERE survey = ? AND stratum = ?", (survey, stratum)
            ).fetchone()
        return int(rows[0])


def insert_invitations(writing: sqlite3.Connection, new: Sequence[tuple[bytes, str, str, str]]) -> None:
    """Adds unused invitations (hash, survey, batch, stratum), and writes all in the order of their hashes."""
    rows = [(*invitation, 0) for invitation in new]
    rows += writing.execute("SELECT token, survey, batch, stratum, used FROM invitations").fetchall()
    writing.execute("DELETE FROM invitations")
    writing.executemany("INSERT INTO invitations VALUES (?, ?, ?, ?, ?)", sorted(rows))


def _find(connection: sqlite3.Connection, token: str) -> Invitation | None:
    row = connection.execute(
        "SELECT survey, batch, stratum, used FROM invitations WHERE token = ?", (hash_token(token),)
    ).fetchone()
    return Invitation(row[0], row[1], row[2], bool(row[3])) if row else None


def hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
