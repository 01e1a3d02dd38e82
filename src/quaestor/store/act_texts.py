"""Free text of acts, kept in a private file next to the journal, so that the people it is about can have it erased.

The journal is append-only. An act about somebody who can withdraw therefore holds references: to texts, by the key of
the act and their number, and to labels, by a random token. Each row belongs to an owner, the person who can withdraw.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quaestor.base.errors import InputError
from quaestor.store.keys import SealError, Seal, label_context, text_context
from quaestor.store.private_file import PrivateFile

TEXT_TABLES = """
CREATE TABLE words (
    act TEXT NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL, said BLOB NOT NULL,
    PRIMARY KEY (act, number, owner)
) WITHOUT ROWID;
CREATE INDEX words_of_owner ON words (owner);
CREATE TABLE labels (
    token TEXT NOT NULL, owner TEXT NOT NULL, said BLOB NOT NULL, fingerprint BLOB NOT NULL,
    PRIMARY KEY (token, owner)
) WITHOUT ROWID;
CREATE INDEX labels_of_owner ON labels (owner);
CREATE INDEX labels_by_fingerprint ON labels (fingerprint);
CREATE TABLE text_erasures (number INTEGER PRIMARY KEY);
"""


@dataclass(frozen=True)
class NewText:
    """A text of an act; it is erased as soon as one of its owners withdraws."""

    act: str
    number: int
    owners: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class NewLabel:
    """A word that raters use as a label; it is known by its token until the last of its owners withdraws."""

    token: str
    owners: tuple[str, ...]
    word: str


class Codec(Protocol):
    """How a text lies in the file."""

    def pack(self, text: str, place: str) -> bytes: ...

    def unpack(self, packed: bytes, place: str) -> str: ...

    def fingerprint(self, text: str) -> bytes:
        """The same for the same text: finds a label without opening all of them."""


class PlainCodec:
    """For a file that only its owner can read."""

    def pack(self, text: str, place: str) -> bytes:
        return json.dumps({"words": text}).encode()

    def unpack(self, packed: bytes, place: str) -> str:
        return str(json.loads(packed)["words"])

    def fingerprint(self, text: str) -> bytes:
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class SealedCodec:
    """For a file that is only read with its key; each text is bound to its place."""

    def __init__(self, seal: Seal, key: Path) -> None:
        self._seal = seal
        self._key = key

    def pack(self, text: str, place: str) -> bytes:
        return self._seal.seal(json.dumps({"words": text}), place)

    def unpack(self, packed: bytes, place: str) -> str:
        try:
            return str(json.loads(self._seal.open(packed, place))["words"])
        except SealError:
            raise InputError(f"{self._key} does not open what was written: bring back the key that was there") from None

    def fingerprint(self, text: str) -> bytes:
        return self._seal.fingerprint(text)


IsErased = Callable[[sqlite3.Connection, str], bool]


class ActTexts:
    """The texts and labels in one private file; safe for many threads."""

    def __init__(self, file: PrivateFile, codec: Codec, is_erased: IsErased) -> None:
        self._file = file
        self._codec = codec
        self._is_erased = is_erased

    def store(self, texts: Sequence[NewText], labels: Sequence[NewLabel] = ()) -> None:
        """Put the texts of acts that are about to be recorded on the disk; what a failed attempt left is replaced.

        Nothing is stored about an owner who has withdrawn meanwhile: it would have to be erased at once.
        """
        with self._file.writing() as writing:
            owners = {owner for text in texts for owner in text.owners}
            owners |= {owner for label in labels for owner in label.owners}
            erased = {owner for owner in owners if self._is_erased(writing, owner)}
            for act in dict.fromkeys(text.act for text in texts):
                writing.execute("DELETE FROM words WHERE act = ?", (act,))
            for text in texts:
                if not erased.intersection(text.owners):
                    writing.executemany("INSERT INTO words VALUES (?, ?, ?, ?)", self._text_rows(text))
            for label in labels:
                rows = [row for row in self._label_rows(label) if row[1] not in erased]
                writing.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?, ?, ?)", rows)

    def read_texts(self, act: str) -> dict[int, str]:
        """The texts of an act by their numbers; those that were erased are missing."""
        with self._file.reading() as reading:
            rows = reading.execute("SELECT number, owner, said FROM words WHERE act = ?", (act,)).fetchall()
        return {number: self._codec.unpack(packed, text_context(act, number, owner)) for number, owner, packed in rows}

    def find_label(self, token: str) -> str | None:
        """The word behind the token of a label; None where it was erased."""
        with self._file.reading() as reading:
            row = reading.execute("SELECT owner, said FROM labels WHERE token = ? LIMIT 1", (token,)).fetchone()
        return self._codec.unpack(row[1], label_context(token, row[0])) if row else None

    def find_token(self, word: str) -> str | None:
        """The token of a word that somebody used as a label before."""
        with self._file.reading() as reading:
            query = "SELECT token FROM labels WHERE fingerprint = ? LIMIT 1"
            row = reading.execute(query, (self._codec.fingerprint(word),)).fetchone()
        return str(row[0]) if row else None

    def is_erased(self, owner: str) -> bool:
        """Whether an owner has withdrawn."""
        with self._file.reading() as reading:
            return self._is_erased(reading, owner)

    def count_erasures(self) -> int:
        """How often texts were erased: what was read before this number changed may be gone by now.

        A withdrawal of somebody about whom nothing was written does not count: it must not make sessions read again.
        """
        with self._file.reading() as reading:
            return int(reading.execute("SELECT count(*) FROM text_erasures").fetchone()[0])

    def replace_texts(self, change: Callable[[str], str]) -> int:
        """Replace each text and label by what a function makes of it, for good; returns how many it changed."""
        changed: set[tuple[str, ...]] = set()
        with self._file.erasing() as writing:
            for act, number, owner, packed in writing.execute("SELECT act, number, owner, said FROM words").fetchall():
                before = self._codec.unpack(packed, text_context(act, number, owner))
                if (after := change(before)) != before:
                    rows = self._text_rows(NewText(act, number, (owner,), after))
                    writing.executemany("INSERT OR REPLACE INTO words VALUES (?, ?, ?, ?)", rows)
                    changed.add((act, str(number)))
            for token, owner, packed in writing.execute("SELECT token, owner, said FROM labels").fetchall():
                before = self._codec.unpack(packed, label_context(token, owner))
                if (after := change(before)) != before:
                    labels = self._label_rows(NewLabel(token, (owner,), after))
                    writing.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?)", labels)
                    changed.add((token,))
        return len(changed)

    def _text_rows(self, new_text: NewText) -> list[tuple[str, int, str, bytes]]:
        return [
            (
                new_text.act,
                new_text.number,
                owner,
                self._codec.pack(new_text.text, text_context(new_text.act, new_text.number, owner)),
            )
            for owner in new_text.owners
        ]

    def _label_rows(self, new_label: NewLabel) -> list[tuple[str, str, bytes, bytes]]:
        fingerprint = self._codec.fingerprint(new_label.word)
        return [
            (
                new_label.token,
                owner,
                self._codec.pack(new_label.word, label_context(new_label.token, owner)),
                fingerprint,
            )
            for owner in new_label.owners
        ]


def new_token() -> str:
    """A token for a label; random, so that it says nothing of a word that was erased."""
    return secrets.token_hex(6)


def erase_texts(writing: sqlite3.Connection, owner: str) -> int:
    """Erase what belongs to an owner within a transaction, together with the owner's other data; returns how much."""
    shared = "(act, number) IN (SELECT act, number FROM words WHERE owner = ?)"
    erased: int = writing.execute(f"DELETE FROM words WHERE {shared}", (owner,)).rowcount  # noqa: S608
    erased += writing.execute("DELETE FROM labels WHERE owner = ?", (owner,)).rowcount
    if erased:
        writing.execute("INSERT INTO text_erasures DEFAULT VALUES")
    return erased


def list_owners(reading: sqlite3.Connection) -> set[str]:
    """Everybody to whom a text or a label belongs."""
    return {owner for (owner,) in reading.execute("SELECT owner FROM words UNION SELECT owner FROM labels")}


def require_valid_texts(copy: sqlite3.Connection) -> None:
    """Raises ValueError where a row of a copy is no text that could be read back."""
    for (said,) in copy.execute("SELECT said FROM words UNION ALL SELECT said FROM labels"):
        packed = json.loads(said)
        if not isinstance(packed, dict) or not isinstance(packed.get("words"), str):
            raise ValueError("a text of an act is none")
