"""Texts that people were shown, in all their versions: guides and agreements, which are no secret."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass

from quaestor.store.private_file import PrivateFile


@dataclass(frozen=True)
class KeptText:
    """A text that people were shown, in one of its versions; texts are no secret and outlive every erasure."""

    name: str
    version: int
    text: str
    sha256: str
    day: str


class KeptTexts:
    """The texts of one private file, by name and version."""

    def __init__(self, file: PrivateFile) -> None:
        self._file = file

    def add(self, name: str, text: str, day: str) -> KeptText:
        """Keep a text; one that is the newest already stays what it is."""
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        with self._file.writing() as writing:
            newest = _newest(writing, name)
            if newest is not None and newest.sha256 == sha256:
                return newest
            made = KeptText(name, newest.version + 1 if newest else 1, text, sha256, day)
            writing.execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?)", (name, made.version, text, sha256, day))
            return made

    def get(self, name: str, version: int | None = None) -> KeptText | None:
        """A version of a text, else the newest; None where it was never shown."""
        with self._file.reading() as reading:
            if version is None:
                return _newest(reading, name)
            row = reading.execute("SELECT * FROM texts WHERE name = ? AND version = ?", (name, version)).fetchone()
        return KeptText(*row) if row else None

    def versions(self, name: str) -> list[KeptText]:
        """All versions of a text, the first one first."""
        with self._file.reading() as reading:
            found = reading.execute("SELECT * FROM texts WHERE name = ? ORDER BY version", (name,)).fetchall()
        return [KeptText(*row) for row in found]


def _newest(connection: sqlite3.Connection, name: str) -> KeptText | None:
    row = connection.execute("SELECT * FROM texts WHERE name = ? ORDER BY version DESC LIMIT 1", (name,)).fetchone()
    return KeptText(*row) if row else None
