"""A journal that supports erasure: encrypted entries about participants, whose key is stored elsewhere.

The journal of the study keeps everything, so nothing that a participant may withdraw belongs there. Here each entry
belongs to a participant, identified by pseudonym, and can only be read with the key. Entries are added and not changed,
except to remove a name; `erase` deletes everything of a participant and records that it did.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from quaestor.base.errors import InputError, StateError
from quaestor.store.act_texts import TEXT_TABLES, ActTexts, SealedCodec, erase_texts
from quaestor.store.erasure import ErasedList
from quaestor.store.keys import RepeatableSeal, Seal, SealError, entry_context, get_or_create_secret, piece_context
from quaestor.store.private_file_copy import CopiedFile, PrivateFileSchema
from quaestor.store.records import new_key, to_canonical_json
from quaestor.store.text_versions import TextVersions

_FIRST = """
CREATE TABLE texts (
    name TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL, sha256 TEXT NOT NULL, day TEXT NOT NULL,
    PRIMARY KEY (name, version)
);
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, participant TEXT NOT NULL, about TEXT NOT NULL, kind TEXT NOT NULL,
    actor TEXT NOT NULL, time TEXT NOT NULL, key TEXT NOT NULL UNIQUE, said BLOB NOT NULL
);
CREATE INDEX entries_about ON entries (about, number);
CREATE INDEX entries_of_participant ON entries (participant);
CREATE TABLE pieces (
    about TEXT NOT NULL, number INTEGER NOT NULL, participant TEXT NOT NULL, said BLOB NOT NULL,
    PRIMARY KEY (about, number)
) WITHOUT ROWID;
CREATE INDEX pieces_of_participant ON pieces (participant);
CREATE TABLE erasures (number INTEGER PRIMARY KEY AUTOINCREMENT, participant TEXT NOT NULL, day TEXT NOT NULL);
"""
_SECOND = """
CREATE TABLE words (
    act TEXT NOT NULL, number INTEGER NOT NULL, participant TEXT NOT NULL, said BLOB NOT NULL,
    PRIMARY KEY (act, number)
) WITHOUT ROWID;
CREATE INDEX words_of_participant ON words (participant);
"""
_BEFORE = "\nALTER TABLE words RENAME TO words_of_one_owner;\n"
_AFTER = """
INSERT INTO words SELECT act, number, participant, said FROM words_of_one_owner;
DROP TABLE words_of_one_owner;
"""
_THIRD = _BEFORE + TEXT_TABLES.strip() + _AFTER
"""Texts about several people, and labels."""
_TABLES = ("entries", "pieces")
"""The tables in which each row belongs to a participant."""


def sealed_file_schema(name: str, kind: int) -> PrivateFileSchema:
    """Returns the schema of a sealed file."""
    return PrivateFileSchema(
        name, kind, (_FIRST, _SECOND, _THIRD), "restore a backup of it with `quaestor restore FILE --replace`"
    )


@dataclass(frozen=True)
class NewEntry:
    """An entry to be stored; a second one with the same key is the same entry."""

    kind: str
    actor: str
    content: Mapping[str, Any]
    participant: str = ""
    about: str = ""
    """The subject, such as an interview; empty if it is the participant or the whole study."""
    time: str = ""
    key: str = field(default_factory=new_key)


@dataclass(frozen=True)
class SealedEntry:
    """A stored entry."""

    number: int
    participant: str
    about: str
    kind: str
    actor: str
    time: str
    key: str
    content: dict[str, Any]


@dataclass(frozen=True)
class SealedChanges:
    """New content of entries and pieces by number, and new entries."""

    entries: Mapping[int, Mapping[str, Any]]
    pieces: Mapping[int, Mapping[str, Any]]
    added: Sequence[NewEntry] = ()


class SealedFile:
    """Entries, pieces, `texts` and `words` in one private file; thread-safe.

    With `listed`, erased participants are also added to that list, which survives the loss of the file. With a `copy`,
    everything is read and changed there, and the file itself is not touched.
    """

    def __init__(
        self,
        path: Path,
        key: Path,
        kind: int,
        whose: str,
        listed: ErasedList | None = None,
        copy: sqlite3.Connection | None = None,
    ) -> None:
        self.path = path
        self._key = key
        self._listed = listed
        self._file = sealed_file_schema(whose, kind).open(path) if copy is None else CopiedFile(copy)
        try:
            if not key.exists() and self._has_sealed_content():
                raise InputError(f"{key} is missing, and {path} cannot be read without it: restore the original key")
            # A copy without encrypted content needs no key, and must not create one.
            secret = get_or_create_secret(key, whose) if copy is None or key.exists() else b""
        except BaseException:
            self._file.close()
            raise
        self._seal = Seal(secret) if copy is None else RepeatableSeal(secret)
        self.texts = TextVersions(self._file)
        self.words = ActTexts(self._file, SealedCodec(self._seal, key), _is_erased)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def _has_sealed_content(self) -> bool:
        with self._file.reading() as reading:
            query = " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in (*_TABLES, "words", "labels"))  # noqa: S608
            return reading.execute(f"{query} LIMIT 1").fetchone() is not None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Locks the file against writers, including those that publish content derived from it."""
        with self._file.writing():
            yield

    # Entries

    def add(self, *entries: NewEntry) -> list[SealedEntry]:
        """Stores entries durably, all or none; returns the existing entry for a known key."""
        return self.add_computed(lambda _: entries)

    def add_computed(
        self,
        build_entries: Callable[[Sequence[SealedEntry]], Iterable[NewEntry]],
        about: str | None = None,
        participant: str | None = None,
    ) -> list[SealedEntry]:
        """Stores the entries that a function builds from existing ones, in one transaction."""
        where, values = _build_condition(about, participant)
        with self._file.writing() as writing:
            known = self._decrypt_rows(_read_rows(writing, where, values)) if values else []
            return [self._insert(writing, entry) for entry in build_entries(known)]

    def replace_entry(self, new: NewEntry) -> SealedEntry:
        """Replaces the entries of the same kind and subject with a new one, and erases the old ones."""
        with self._file.erasing() as writing:
            _delete(writing, new.participant, new.about, new.kind)
            return self._insert(writing, new)

    def delete_entries(self, participant: str, kind: str, about: str = "") -> bool:
        """Erases the entries of one kind; returns whether there were any."""
        with self._file.erasing() as writing:
            return _delete(writing, participant, about, kind)

    def replace_texts(self, text_fields: Mapping[str, Sequence[str]], change: Callable[[str], str]) -> int:
        """Replaces texts of entries with the result of a function, erases the old ones, and returns how many changed.

        `text_fields` names the fields with text for each kind of entry; a text may be a list of lines or a table.
        """
        changed = 0
        with self._file.erasing() as writing:
            for entry in self._decrypt_rows(_read_rows(writing, "1", ())):
                texts = {
                    name: entry.content[name] for name in text_fields.get(entry.kind, ()) if entry.content.get(name)
                }
                replaced = {name: _change_text(text, change) for name, text in texts.items()}
                if replaced != texts:
                    self._replace(writing, entry, {**entry.content, **replaced})
                    changed += 1
        return changed

    def change_content(self, about: str, build_changes: Callable[[], SealedChanges]) -> bool:
        """Changes entries and pieces of a subject in one transaction and erases the old content.

        Returns whether anything changed.
        """
        with self._file.erasing() as writing:
            changes = build_changes()
            for entry in self._decrypt_rows(_read_rows(writing, "about = ?", (about,))) if changes.entries else ():
                if entry.number in changes.entries:
                    self._replace(writing, entry, changes.entries[entry.number])
            for number, piece in changes.pieces.items():
                sealed = self._seal.seal(to_canonical_json(piece, "piece"), piece_context(about, number))
                writing.execute("UPDATE pieces SET said = ? WHERE about = ? AND number = ?", (sealed, about, number))
            for new in changes.added:
                self._insert(writing, new)
        return bool(changes.entries or changes.pieces or changes.added)

    def _replace(self, writing: sqlite3.Connection, entry: SealedEntry, content: Mapping[str, Any]) -> None:
        sealed = self._seal.seal(
            to_canonical_json(content, entry.kind), entry_context(entry.participant, entry.about, entry.kind, entry.key)
        )
        writing.execute("UPDATE entries SET said = ? WHERE number = ?", (sealed, entry.number))

    def _insert(self, writing: sqlite3.Connection, new: NewEntry) -> SealedEntry:
        text = to_canonical_json(new.content, new.kind)
        known = self._decrypt_rows(_read_rows(writing, "key = ?", (new.key,)))
        if known:
            existing = known[0]
            if (existing.kind, existing.about, existing.content) != (new.kind, new.about, json.loads(text)):
                raise StateError(f"the key of this {new.kind} was already used for another entry")
            return existing
        if new.participant and _is_erased(writing, new.participant):
            raise StateError(f"{new.participant} has withdrawn: nothing about them can be stored")
        context = entry_context(new.participant, new.about, new.kind, new.key)
        row = (new.participant, new.about, new.kind, new.actor, new.time, new.key, self._seal.seal(text, context))
        cursor = writing.execute(
            "INSERT INTO entries (participant, about, kind, actor, time, key, said) VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )
        return SealedEntry(
            int(cursor.lastrowid or 0),
            new.participant,
            new.about,
            new.kind,
            new.actor,
            new.time,
            new.key,
            json.loads(text),
        )

    def read_entries(
        self, about: str | None = None, participant: str | None = None, after: int = 0
    ) -> list[SealedEntry]:
        """Returns entries in order: all, those of a subject, or those of a participant."""
        where, values = _build_condition(about, participant)
        with self._file.reading() as reading:
            rows = _read_rows(reading, f"number > ? AND {where}", [str(after), *values])
        return self._decrypt_rows(rows)

    def read_head(self, about: str | None = None) -> int:
        """Returns the number of the last entry, of all or of a subject; caches are valid until it changes."""
        with self._file.reading() as reading:
            if about is None:
                row = reading.execute("SELECT max(number) FROM entries").fetchone()
            else:
                row = reading.execute("SELECT max(number) FROM entries WHERE about = ?", (about,)).fetchone()
        return int(row[0] or 0)

    def read_change_counter(self) -> int:
        """Returns a number that changes with every commit, including changes that add no entry."""
        return self._file.read_change_counter()

    def _decrypt_rows(self, rows: Sequence[tuple[Any, ...]]) -> list[SealedEntry]:
        return [self._build_entry(*row) for row in rows]

    def _build_entry(
        self, number: int, participant: str, about: str, kind: str, actor: str, time: str, key: str, sealed: bytes
    ) -> SealedEntry:
        text = self._decrypt(sealed, entry_context(participant, about, kind, key))
        return SealedEntry(number, participant, about, kind, actor, time, key, json.loads(text))

    # Pieces

    def put_pieces(self, about: str, participant: str, pieces: Iterable[Mapping[str, Any]], *new: NewEntry) -> None:
        """Stores the pieces of a large subject, such as the turns of a transcript, together with new entries.

        Replaces existing pieces, since they are imported content that nobody edits.
        """
        with self._file.writing() as writing:
            self._insert_pieces(writing, about, participant, pieces, new)

    def replace_pieces(self, about: str, participant: str, pieces: Iterable[Mapping[str, Any]], new: NewEntry) -> None:
        """Replaces the pieces of a subject and its entries of the same kind, and erases the old ones."""
        with self._file.erasing() as writing:
            _delete(writing, participant, about, new.kind)
            self._insert_pieces(writing, about, participant, pieces, [new])

    def delete_pieces(self, about: str, participant: str, kind: str) -> bool:
        """Erases the pieces of a subject and its entries of one kind; returns whether there were any."""
        with self._file.erasing() as writing:
            writing.execute("DELETE FROM pieces WHERE about = ?", (about,))
            return _delete(writing, participant, about, kind)

    def _insert_pieces(
        self,
        writing: sqlite3.Connection,
        about: str,
        participant: str,
        pieces: Iterable[Mapping[str, Any]],
        new: Iterable[NewEntry],
    ) -> None:
        """Replaces the pieces of a subject; reads and encrypts them one by one, since they may be large."""
        if _is_erased(writing, participant):
            raise StateError(f"{participant} has withdrawn: nothing about them can be stored")
        writing.execute("DELETE FROM pieces WHERE about = ?", (about,))
        writing.executemany(
            "INSERT INTO pieces VALUES (?, ?, ?, ?)",
            (
                (
                    about,
                    number,
                    participant,
                    self._seal.seal(to_canonical_json(piece, "piece"), piece_context(about, number)),
                )
                for number, piece in enumerate(pieces)
            ),
        )
        for entry in new:
            self._insert(writing, entry)

    def read_piece(self, about: str, number: int) -> dict[str, Any] | None:
        """Returns one piece of a subject; None if there is none."""
        with self._file.reading() as reading:
            row = reading.execute("SELECT said FROM pieces WHERE about = ? AND number = ?", (about, number)).fetchone()
        piece: dict[str, Any] | None = json.loads(self._decrypt(row[0], piece_context(about, number))) if row else None
        return piece

    def read_pieces(self, about: str) -> list[dict[str, Any]]:
        """Returns the pieces of a subject in order."""
        with self._file.reading() as reading:
            rows = reading.execute(
                "SELECT number, said FROM pieces WHERE about = ? ORDER BY number", (about,)
            ).fetchall()
        return [json.loads(self._decrypt(sealed, piece_context(about, number))) for number, sealed in rows]

    # Erasure

    def erase(self, participant: str, day: str) -> bool:
        """Erases everything of a participant; returns whether there was anything."""
        with self._file.erasing() as writing:
            rowcounts = [
                writing.execute(f"DELETE FROM {table} WHERE participant = ?", (participant,)).rowcount  # noqa: S608
                for table in _TABLES
            ]
            rowcounts.append(erase_texts(writing, participant))
            if not _is_erased(writing, participant):
                writing.execute("INSERT INTO erasures (participant, day) VALUES (?, ?)", (participant, day))
            if self._listed is not None:
                self._listed.add({participant: day})
        return any(rowcounts)

    @property
    def erasure_pending(self) -> bool:
        """Whether erased content may still be in the bytes of the file."""
        return self._file.erasure_pending

    def list_erased(self) -> dict[str, str]:
        """Returns the withdrawn participants with the day."""
        with self._file.reading() as reading:
            return dict(reading.execute("SELECT participant, day FROM erasures ORDER BY number").fetchall())

    def list_withdrawn(self) -> set[str]:
        """Returns the participants in the list of withdrawals, which may know more than a file created after a loss."""
        return self._listed.list_names() if self._listed is not None else set()

    def _decrypt(self, sealed: bytes, context: str) -> str:
        try:
            return self._seal.open(sealed, context)
        except SealError:
            raise InputError(
                f"{self._key} cannot decrypt {self.path}: restore the key that the file was written with"
            ) from None


def _build_condition(about: str | None, participant: str | None) -> tuple[str, list[str]]:
    """Returns the SQL condition for a subject and a participant, with its values."""
    filters = {"about = ?": about, "participant = ?": participant}
    conditions = {where: value for where, value in filters.items() if value is not None}
    return " AND ".join(conditions) or "1", list(conditions.values())


def _change_text(text: Any, change: Callable[[str], str]) -> Any:
    if isinstance(text, str):
        return change(text)
    if isinstance(text, dict):
        return {name: change(words) for name, words in text.items()}
    return [change(line) for line in text]


def _read_rows(connection: sqlite3.Connection, where: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    query = "SELECT number, participant, about, kind, actor, time, key, said FROM entries"
    return connection.execute(f"{query} WHERE {where} ORDER BY number", values).fetchall()


def _delete(connection: sqlite3.Connection, participant: str, about: str, kind: str) -> bool:
    where = "participant = ? AND about = ? AND kind = ?"
    return connection.execute(f"DELETE FROM entries WHERE {where}", (participant, about, kind)).rowcount > 0  # noqa: S608


def _is_erased(connection: sqlite3.Connection, participant: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM erasures WHERE participant = ?", (participant,)).fetchone())


def change_stamp(path: Path) -> str:
    """Returns a stamp that changes with every new or erased entry; needs no key, and is empty without a file."""
    if not path.exists():
        return ""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        entries = connection.execute("SELECT max(number), count(*) FROM entries").fetchone()
        erasures = connection.execute("SELECT count(*) FROM erasures").fetchone()
        return "/".join(str(number) for number in (*entries, *erasures))
    finally:
        connection.close()
