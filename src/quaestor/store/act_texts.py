"""Free text of acts in a private file next to the journal, so that it can be erased when a person withdraws.

The journal is append-only. An act about a person who can withdraw therefore contains only references: to texts by the
key of the act and their number, and to labels by a random token. Each row belongs to an owner, who can withdraw.
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
from quaestor.store.keys import Seal, SealError, label_context, text_context
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
    """A text of an act; it is erased when the first of its owners withdraws."""

    act: str
    number: int
    owners: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class NewLabel:
    """A word that raters use as a label; it is erased when the last of its owners withdraws."""

    token: str
    owners: tuple[str, ...]
    word: str


class Codec(Protocol):
    """How texts are encoded in the file."""

    def pack(self, text: str, context: str) -> bytes: ...

    def unpack(self, packed: bytes, context: str) -> str: ...

    def fingerprint(self, text: str) -> bytes:
        """Returns a hash of the text, which finds a label without decrypting all of them."""


class PlainCodec:
    """Stores texts unencrypted, in a file that only its owner can read."""

    def pack(self, text: str, context: str) -> bytes:
        return json.dumps({"words": text}).encode()

    def unpack(self, packed: bytes, context: str) -> str:
        return str(json.loads(packed)["words"])

    def fingerprint(self, text: str) -> bytes:
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class SealedCodec:
    """Encrypts texts; each is bound to its context, the row it belongs to."""

    def __init__(self, seal: Seal, key: Path) -> None:
        self._seal = seal
        self._key = key

    def pack(self, text: str, context: str) -> bytes:
        return self._seal.seal(json.dumps({"words": text}), context)

    def unpack(self, packed: bytes, context: str) -> str:
        try:
            return str(json.loads(self._seal.open(packed, context))["words"])
        except SealError:
            raise InputError(
                f"{self._key} cannot decrypt the stored texts: restore the key that they were written with"
            ) from None

    def fingerprint(self, text: str) -> bytes:
        return self._seal.fingerprint(text)


IsErased = Callable[[sqlite3.Connection, str], bool]


class ActTexts:
    """The texts and labels in one private file; thread-safe."""

    def __init__(self, file: PrivateFile, codec: Codec, is_erased: IsErased) -> None:
        self._file = file
        self._codec = codec
        self._is_erased = is_erased

    def store(self, texts: Sequence[NewText], labels: Sequence[NewLabel] = ()) -> None:
        """Writes the texts of acts that are about to be recorded, replacing those of a failed attempt.

        Stores nothing for an owner who has withdrawn in the meantime.
        """
        with self._file.writing() as writing:
            owners = {owner for text in texts for owner in text.owners}
            owners |= {owner for label in labels for owner in label.owners}
            erased = {owner for owner in owners if self._is_erased(writing, owner)}
            for act in dict.fromkeys(text.act for text in texts):
                writing.execute("DELETE FROM words WHERE act = ?", (act,))
            for text in texts:
                if not erased.intersection(text.owners):
                    writing.executemany("INSERT INTO words VALUES (?, ?, ?, ?)", self._build_text_rows(text))
            for label in labels:
                rows = [row for row in self._build_label_rows(label) if row[1] not in erased]
                writing.executemany("INSERT OR IGNORE INTO labels VALUES (?, ?, ?, ?)", rows)

    def read_texts(self, act: str) -> dict[int, str]:
        """Returns the texts of an act by number, without erased ones."""
        with self._file.reading() as reading:
            rows = reading.execute("SELECT number, owner, said FROM words WHERE act = ?", (act,)).fetchall()
        return {number: self._codec.unpack(packed, text_context(act, number, owner)) for number, owner, packed in rows}

    def find_label(self, token: str) -> str | None:
        """Returns the word of a label's token; None if it was erased."""
        with self._file.reading() as reading:
            row = reading.execute("SELECT owner, said FROM labels WHERE token = ? LIMIT 1", (token,)).fetchone()
        return self._codec.unpack(row[1], label_context(token, row[0])) if row else None

    def find_token(self, word: str) -> str | None:
        """Returns the token of a word that is already used as a label."""
        with self._file.reading() as reading:
            query = "SELECT token FROM labels WHERE fingerprint = ? LIMIT 1"
            row = reading.execute(query, (self._codec.fingerprint(word),)).fetchone()
        return str(row[0]) if row else None

    def is_erased(self, owner: str) -> bool:
        """Whether an owner has withdrawn."""
        with self._file.reading() as reading:
            return self._is_erased(reading, owner)

    def count_erasures(self) -> int:
        """Returns how often texts were erased; texts read before this number changed may no longer exist.

        A withdrawal without any texts does not count, so that sessions do not reload for it.
        """
        with self._file.reading() as reading:
            return int(reading.execute("SELECT count(*) FROM text_erasures").fetchone()[0])

    def replace_texts(self, change: Callable[[str], str]) -> int:
        """Replaces texts and labels with the result of a function, erases the old ones, returns how many changed."""
        changed: set[tuple[str, ...]] = set()
        with self._file.erasing() as writing:
            for act, number, owner, packed in writing.execute("SELECT act, number, owner, said FROM words").fetchall():
                before = self._codec.unpack(packed, text_context(act, number, owner))
                if (after := change(before)) != before:
                    rows = self._build_text_rows(NewText(act, number, (owner,), after))
                    writing.executemany("INSERT OR REPLACE INTO words VALUES (?, ?, ?, ?)", rows)
                    changed.add((act, str(number)))
            for token, owner, packed in writing.execute("SELECT token, owner, said FROM labels").fetchall():
                before = self._codec.unpack(packed, label_context(token, owner))
                if (after := change(before)) != before:
                    labels = self._build_label_rows(NewLabel(token, (owner,), after))
                    writing.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?)", labels)
                    changed.add((token,))
        return len(changed)

    def _build_text_rows(self, new_text: NewText) -> list[tuple[str, int, str, bytes]]:
        return [
            (
                new_text.act,
                new_text.number,
                owner,
                self._codec.pack(new_text.text, text_context(new_text.act, new_text.number, owner)),
            )
            for owner in new_text.owners
        ]

    def _build_label_rows(self, new_label: NewLabel) -> list[tuple[str, str, bytes, bytes]]:
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
    """Returns a token for a label; it is random, so that it reveals nothing about an erased word."""
    return secrets.token_hex(6)


def erase_texts(writing: sqlite3.Connection, owner: str) -> int:
    """Erases an owner's texts and labels within the caller's transaction and returns the number of rows."""
    shared = "(act, number) IN (SELECT act, number FROM words WHERE owner = ?)"
    erased: int = writing.execute(f"DELETE FROM words WHERE {shared}", (owner,)).rowcount  # noqa: S608
    erased += writing.execute("DELETE FROM labels WHERE owner = ?", (owner,)).rowcount
    if erased:
        writing.execute("INSERT INTO text_erasures DEFAULT VALUES")
    return erased


def list_owners(reading: sqlite3.Connection) -> set[str]:
    """Returns the owners of all texts and labels."""
    return {owner for (owner,) in reading.execute("SELECT owner FROM words UNION SELECT owner FROM labels")}


def require_valid_texts(copy: sqlite3.Connection) -> None:
    """Raises ValueError if a row of a restored copy is not a valid text."""
    for (row,) in copy.execute("SELECT said FROM words UNION ALL SELECT said FROM labels"):
        packed = json.loads(row)
        if not isinstance(packed, dict) or not isinstance(packed.get("words"), str):
            raise ValueError("a text of an act is invalid")
