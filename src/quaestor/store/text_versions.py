"""All versions of the texts that participants were shown, such as guides and consent forms; they are not secret."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from quaestor.store.private_file import PrivateFile


@dataclass(frozen=True)
class TextVersion:
    """A version of a text that participants were shown; it is not secret and survives every erasure."""

    name: str
    version: int
    text: str
    sha256: str
    day: str


class TextVersions:
    """The texts in a private file, by name and version."""

    def __init__(self, file: PrivateFile) -> None:
        self._file = file

    def add(self, name: str, text: str, day: str) -> TextVersion:
        """Stores a text as a new version, unless it equals the newest one, and returns that version."""
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        with self._file.writing() as writing:
            newest = _find_newest(writing, name)
            if newest is not None and newest.sha256 == sha256:
                return newest
            kept_text = TextVersion(name, newest.version + 1 if newest else 1, text, sha256, day)
            writing.execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?)", (name, kept_text.version, text, sha256, day))
            return kept_text

    def get(self, name: str, version: int | None = None) -> TextVersion | None:
        """Returns a version of a text, by default the newest; None if there is none."""
        with self._file.reading() as reading:
            if version is None:
                return _find_newest(reading, name)
            row = reading.execute("SELECT * FROM texts WHERE name = ? AND version = ?", (name, version)).fetchone()
        return TextVersion(*row) if row else None

    def list_versions(self, name: str) -> list[TextVersion]:
        """Returns all versions of a text, oldest first."""
        with self._file.reading() as reading:
            rows = reading.execute("SELECT * FROM texts WHERE name = ? ORDER BY version", (name,)).fetchall()
        return [TextVersion(*row) for row in rows]

    def replace_texts(self, prefix: str, change: Callable[[str, str], str]) -> int:
        """Replaces texts by name prefix with the result of a function, erases the old ones, returns how many changed.

        Used to remove a person's name.
        """
        changed = 0
        with self._file.erasing() as writing:
            rows = writing.execute("SELECT * FROM texts WHERE substr(name, 1, ?) = ?", (len(prefix), prefix)).fetchall()
            for version in (TextVersion(*row) for row in rows):
                text = change(version.name.removeprefix(prefix), version.text)
                if text != version.text:
                    sha256 = hashlib.sha256(text.encode()).hexdigest()
                    values = (text, sha256, version.name, version.version)
                    writing.execute("UPDATE texts SET text = ?, sha256 = ? WHERE name = ? AND version = ?", values)
                    changed += 1
        return changed


def _find_newest(connection: sqlite3.Connection, name: str) -> TextVersion | None:
    row = connection.execute("SELECT * FROM texts WHERE name = ? ORDER BY version DESC LIMIT 1", (name,)).fetchone()
    return TextVersion(*row) if row else None
