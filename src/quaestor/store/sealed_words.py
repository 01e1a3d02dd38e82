"""Words that acts of the journal refer to: whoever they are about can take them back, and the acts stay as they are."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from quaestor.base.errors import InputError, StateError
from quaestor.store.private_file import PrivateFile
from quaestor.store.seal import NotOpened, Seal, words_place

WORDS = "words"
WORDS_TABLE = """
CREATE TABLE words (
    act TEXT NOT NULL, number INTEGER NOT NULL, participant TEXT NOT NULL, said BLOB NOT NULL,
    PRIMARY KEY (act, number)
) WITHOUT ROWID;
CREATE INDEX words_of_participant ON words (participant);
"""


class SealedWords:
    """The words of acts, by the key of the act and their place in it; each of them belongs to a participant."""

    def __init__(self, file: PrivateFile, seal: Seal, key: Path) -> None:
        self._file = file
        self._seal = seal
        self._key = key

    def keep(self, act: str, words: Sequence[tuple[str, str]]) -> None:
        """Keep the words of an act that is about to be recorded, each with whom it is about; a failed attempt is over.

        Their numbers are their places here.
        """
        rows = [(act, number, who, self._sealed(act, number, who, said)) for number, (who, said) in enumerate(words)]
        with self._file.writing() as writing:
            for participant in dict.fromkeys(who for who, _ in words):
                if writing.execute("SELECT 1 FROM erasures WHERE participant = ?", (participant,)).fetchone():
                    raise StateError(f"{participant} has withdrawn: nothing can be kept about them")
            writing.execute("DELETE FROM words WHERE act = ?", (act,))
            writing.executemany("INSERT INTO words VALUES (?, ?, ?, ?)", rows)

    def of(self, act: str) -> dict[int, str]:
        """The words of an act by their number; none where whoever they are about has taken them back."""
        asked = "SELECT act, number, participant, said FROM words WHERE act = ?"
        with self._file.reading() as reading:
            rows = reading.execute(asked, (act,)).fetchall()
        return {row[1]: self._opened(*row) for row in rows}

    def change(self, change: Callable[[str], str]) -> int:
        """Write what a function makes of words in their place; how many it changed."""
        changed = 0
        with self._file.erasing() as writing:
            for row in writing.execute("SELECT act, number, participant, said FROM words").fetchall():
                act, number, participant, _ = row
                before = self._opened(*row)
                after = change(before)
                if after != before:
                    self._replace(writing, act, number, participant, after)
                    changed += 1
        return changed

    def _replace(self, writing: sqlite3.Connection, act: str, number: int, participant: str, words: str) -> None:
        said = self._sealed(act, number, participant, words)
        writing.execute("UPDATE words SET said = ? WHERE act = ? AND number = ?", (said, act, number))

    def _sealed(self, act: str, number: int, participant: str, words: str) -> bytes:
        return self._seal.sealed(json.dumps({"words": words}), words_place(act, number, participant))

    def _opened(self, act: str, number: int, participant: str, said: bytes) -> str:
        try:
            return str(json.loads(self._seal.opened(said, words_place(act, number, participant)))["words"])
        except NotOpened:
            raise InputError(f"{self._key} does not open what was written: bring back the key that was there") from None
