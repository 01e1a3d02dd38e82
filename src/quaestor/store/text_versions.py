"""Texts that people were shown, in all their versions: guides and agreements, which are no secret."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from quaestor.store.private_file import PrivateFile


@dataclass(frozen=True)
class TextVersion:
    """A text that people were shown, in one of its versions; texts are no secret and outlive every erasure."""

    name: str
    version: int
    text: str
    sha256: str
    day: str


class TextVersions:
    """The texts of one private file, by name and version."""

    def __init__(self, file: PrivateFile) -> None:
        self._file = file

    def add(self, name: str, text: str, day: str) -> TextVersion:
        """Keep a text; one that is the newest already stays what it is."""
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        with self._file.writing() as writing:
            newest = _newest(writing, name)
            if newest is not None and newest.sha256 == sha256:
                return newest
            kept_text = TextVersion(name, newest.version + 1 if newest else 1, text, sha256, day)
            writing.execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?)", (name, kept_text.version, text, sha256, day))
            return kept_text

    def get(self, name: str, version: int | None = None) -> TextVersion | None:
        """A version of a text, else the newest; None where it was never shown."""
        with self._file.reading() as reading:
            if version is None:
                return _newest(reading, name)
            row = reading.execute("SELECT * FROM texts WHERE name = ? AND version = ?", (name, version)).fetchone()
        return TextVersion(*row) if row else None

    def list_versions(self, name: str) -> list[TextVersion]:
        """All versions of a text, the first one first."""
        with self._file.reading() as reading:
            found = reading.execute("SELECT * FROM texts WHERE name = ? ORDER BY version", (name,)).fetchall()
        return [TextVersion(*row) for row in found]

    def replace_texts(self, begins: str, change: Callable[[str, str], str]) -> int:
        """Write what a function makes of the texts whose name begins so in their place; how many it changed.

        For a name that nobody may read there any more: of what a text said before nothing stays.
        """
        changed = 0
        with self._file.erasing() as writing:
            rows = writing.execute("SELECT * FROM texts WHERE substr(name, 1, ?) = ?", (len(begins), begins)).fetchall()
            for one in (TextVersion(*row) for row in rows):
                text = change(one.name.removeprefix(begins), one.text)
                if text != one.text:
                    sha256 = hashlib.sha256(text.encode()).hexdigest()
                    at = (text, sha256, one.name, one.version)
                    writing.execute("UPDATE texts SET text = ?, sha256 = ? WHERE name = ? AND version = ?", at)
                    changed += 1
        return changed


def _newest(connection: sqlite3.Connection, name: str) -> TextVersion | None:
    row = connection.execute("SELECT * FROM texts WHERE name = ? ORDER BY version DESC LIMIT 1", (name,)).fetchone()
    return TextVersion(*row) if row else None
