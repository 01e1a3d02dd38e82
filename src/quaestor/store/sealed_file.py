"""A journal that can forget: entries about people, sealed under a key that lies elsewhere, erased for good on demand.

The journal of the study keeps everything for ever, so that nothing which somebody may take back belongs there. Here
each entry belongs to a participant, by pseudonym; what it says can only be read with the key. Entries are added and
not changed, but to take somebody's name out; `erase` removes all of one participant, and that it did is on record.
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
from quaestor.store.keys import SealError, RepeatableSeal, Seal, entry_context, piece_context, get_or_create_secret
from quaestor.store.private_file_copy import CopiedFile, PrivateFileSchema
from quaestor.store.records import to_canonical_json, new_key
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
"""Those in which each row is a participant's."""


def sealed_file_schema(name: str, kind: int) -> PrivateFileSchema:
    """What a backup holds of such a file."""
    return PrivateFileSchema(
        name, kind, (_FIRST, _SECOND, _THIRD), "restore a backup of it with `quaestor restore FILE --replace`"
    )


@dataclass(frozen=True)
class NewEntry:
    """Something that is to be kept; whoever asks again with the same key means the same entry."""

    kind: str
    actor: str
    said: Mapping[str, Any]
    participant: str = ""
    about: str = ""
    """What it belongs to, such as an interview; empty where it is about the participant, or the whole study."""
    time: str = ""
    key: str = field(default_factory=new_key)


@dataclass(frozen=True)
class SealedEntry:
    """An entry on record."""

    number: int
    participant: str
    about: str
    kind: str
    actor: str
    time: str
    key: str
    said: dict[str, Any]


@dataclass(frozen=True)
class SealedChanges:
    """What shall be said in the place of entries and pieces, by their numbers, and which entries are added."""

    entries: Mapping[int, Mapping[str, Any]]
    pieces: Mapping[int, Mapping[str, Any]]
    added: Sequence[NewEntry] = ()


class SealedFile:
    """Entries and pieces, `texts` and `words` in one private file; safe for many threads.

    Where `listed` is given, whoever is erased stands in that list too, which outlives the file. Where a `copy` is
    given, all is read and changed there, and the file itself is left alone.
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
            if not key.exists() and self._holds_anything():
                raise InputError(
                    f"{key} is not there, and nothing else opens {path}: bring back the key that was there"
                )
            # A copy in which nothing is sealed needs no key, and must not make one.
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

    def _holds_anything(self) -> bool:
        with self._file.reading() as reading:
            asked = " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in (*_TABLES, "words", "labels"))  # noqa: S608
            return reading.execute(f"{asked} LIMIT 1").fetchone() is not None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Nobody else writes here, nor puts in place what was made of it, as long as this lasts."""
        with self._file.writing():
            yield

    # Entries

    def add(self, *entries: NewEntry) -> list[SealedEntry]:
        """Keep entries, all or none; the disk has them on return. A key that is known is answered with its entry."""
        return self.add_computed(lambda _: entries)

    def add_computed(
        self,
        decide: Callable[[Sequence[SealedEntry]], Iterable[NewEntry]],
        about: str | None = None,
        participant: str | None = None,
    ) -> list[SealedEntry]:
        """Keep what a function makes of the entries about something or of a participant, with nobody in between."""
        where, values = _where(about, participant)
        with self._file.writing() as writing:
            known = self._opened(_rows(writing, where, values)) if values else []
            return [self._kept(writing, one) for one in decide(known)]

    def replace_entry(self, new: NewEntry) -> SealedEntry:
        """Keep an entry in the place of those of its kind about the same; of what it replaces nothing stays."""
        with self._file.erasing() as writing:
            _drop(writing, new.participant, new.about, new.kind)
            return self._kept(writing, new)

    def delete_entries(self, participant: str, kind: str, about: str = "") -> bool:
        """Remove the entries of one kind for good, and nothing else; whether there were any."""
        with self._file.erasing() as writing:
            return _drop(writing, participant, about, kind)

    def replace_texts(self, written: Mapping[str, Sequence[str]], change: Callable[[str], str]) -> int:
        """Write what a function makes of texts in their place: by kind of entry, which of them; how many it changed.

        A text may be a list of lines. Of what an entry said before nothing stays.
        """
        changed = 0
        with self._file.erasing() as writing:
            for one in self._opened(_rows(writing, "1", ())):
                texts = {name: one.said[name] for name in written.get(one.kind, ()) if one.said.get(name)}
                said = {
                    name: change(text) if isinstance(text, str) else [change(line) for line in text]
                    for name, text in texts.items()
                }
                if said != texts:
                    self._replace(writing, one, {**one.said, **said})
                    changed += 1
        return changed

    def change_content(self, about: str, decide: Callable[[], SealedChanges]) -> bool:
        """Change entries and pieces about something, with nobody in between, all or none; whether anything changed.

        Of what they said before nothing stays.
        """
        with self._file.erasing() as writing:
            made = decide()
            for one in self._opened(_rows(writing, "about = ?", (about,))) if made.entries else ():
                if one.number in made.entries:
                    self._replace(writing, one, made.entries[one.number])
            for number, piece in made.pieces.items():
                sealed = self._seal.seal(to_canonical_json(piece, "piece"), piece_context(about, number))
                writing.execute("UPDATE pieces SET said = ? WHERE about = ? AND number = ?", (sealed, about, number))
            for new in made.added:
                self._kept(writing, new)
        return bool(made.entries or made.pieces or made.added)

    def _replace(self, writing: sqlite3.Connection, entry: SealedEntry, said: Mapping[str, Any]) -> None:
        sealed = self._seal.seal(
            to_canonical_json(said, entry.kind), entry_context(entry.participant, entry.about, entry.kind, entry.key)
        )
        writing.execute("UPDATE entries SET said = ? WHERE number = ?", (sealed, entry.number))

    def _kept(self, writing: sqlite3.Connection, new: NewEntry) -> SealedEntry:
        text = to_canonical_json(new.said, new.kind)
        known = self._opened(_rows(writing, "key = ?", (new.key,)))
        if known:
            one = known[0]
            if (one.kind, one.about, one.said) != (new.kind, new.about, json.loads(text)):
                raise StateError(f"the key of this {new.kind} has been used for something else")
            return one
        if new.participant and _is_erased(writing, new.participant):
            raise StateError(f"{new.participant} has withdrawn: nothing can be kept about them")
        place = entry_context(new.participant, new.about, new.kind, new.key)
        row = (new.participant, new.about, new.kind, new.actor, new.time, new.key, self._seal.seal(text, place))
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
        """Entries in their order: all, those about something, or those of a participant."""
        where, values = _where(about, participant)
        with self._file.reading() as reading:
            rows = _rows(reading, f"number > ? AND {where}", [str(after), *values])
        return self._opened(rows)

    def read_head(self, about: str | None = None) -> int:
        """The number of the last entry (about something): what was worked out from it holds until it changes."""
        with self._file.reading() as reading:
            if about is None:
                row = reading.execute("SELECT max(number) FROM entries").fetchone()
            else:
                row = reading.execute("SELECT max(number) FROM entries WHERE about = ?", (about,)).fetchone()
        return int(row[0] or 0)

    def read_change_counter(self) -> int:
        """Another number after every change of the file, also of one that `head` does not count."""
        return self._file.read_change_counter()

    def _opened(self, rows: Sequence[tuple[Any, ...]]) -> list[SealedEntry]:
        return [self._entry(*row) for row in rows]

    def _entry(
        self, number: int, participant: str, about: str, kind: str, actor: str, time: str, key: str, said: bytes
    ) -> SealedEntry:
        text = self._opened_text(said, entry_context(participant, about, kind, key))
        return SealedEntry(number, participant, about, kind, actor, time, key, json.loads(text))

    # Pieces

    def put_pieces(self, about: str, participant: str, pieces: Sequence[Mapping[str, Any]], *new: NewEntry) -> None:
        """Keep the pieces of something large, such as the turns of a transcript, with entries that tell of it.

        What was there before is replaced: pieces are what came in from elsewhere, and nobody writes in them.
        """
        with self._file.writing() as writing:
            if _is_erased(writing, participant):
                raise StateError(f"{participant} has withdrawn: nothing can be kept about them")
            writing.execute("DELETE FROM pieces WHERE about = ?", (about,))
            writing.executemany(
                "INSERT INTO pieces VALUES (?, ?, ?, ?)",
                [
                    (
                        about,
                        number,
                        participant,
                        self._seal.seal(to_canonical_json(piece, "piece"), piece_context(about, number)),
                    )
                    for number, piece in enumerate(pieces)
                ],
            )
            for one in new:
                self._kept(writing, one)

    def read_pieces(self, about: str) -> list[dict[str, Any]]:
        """The pieces of something, in their order."""
        with self._file.reading() as reading:
            rows = reading.execute(
                "SELECT number, said FROM pieces WHERE about = ? ORDER BY number", (about,)
            ).fetchall()
        return [json.loads(self._opened_text(said, piece_context(about, number))) for number, said in rows]

    # Erasure

    def erase(self, participant: str, day: str) -> bool:
        """Remove all that is a participant's for good; whether there was anything, or it had been done."""
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
        """Whether something erased may still be found in the bytes of the file."""
        return self._file.erasure_pending

    def list_erased(self) -> dict[str, str]:
        """Who withdrew, and the day of it."""
        with self._file.reading() as reading:
            return dict(reading.execute("SELECT participant, day FROM erasures ORDER BY number").fetchall())

    def list_withdrawn(self) -> set[str]:
        """Who stands in the list of those who withdrew, which may know more than a file that was lost and made anew."""
        return self._listed.list_names() if self._listed is not None else set()

    def _opened_text(self, sealed: bytes, place: str) -> str:
        try:
            return self._seal.open(sealed, place)
        except SealError:
            raise InputError(
                f"{self._key} does not open {self.path}: bring back the key that was there when it was written"
            ) from None


def _where(about: str | None, participant: str | None) -> tuple[str, list[str]]:
    """What entries are asked for by, as a condition and its values; all of them where nothing is said."""
    asked = {"about = ?": about, "participant = ?": participant}
    said = {where: value for where, value in asked.items() if value is not None}
    return " AND ".join(said) or "1", list(said.values())


def _rows(connection: sqlite3.Connection, where: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    asked = "SELECT number, participant, about, kind, actor, time, key, said FROM entries"
    return connection.execute(f"{asked} WHERE {where} ORDER BY number", values).fetchall()


def _drop(connection: sqlite3.Connection, participant: str, about: str, kind: str) -> bool:
    where = "participant = ? AND about = ? AND kind = ?"
    return connection.execute(f"DELETE FROM entries WHERE {where}", (participant, about, kind)).rowcount > 0  # noqa: S608


def _is_erased(connection: sqlite3.Connection, participant: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM erasures WHERE participant = ?", (participant,)).fetchone())


def change_stamp(path: Path) -> str:
    """Changes with every entry that comes or goes and every erasure, without the key; empty where there is no file."""
    if not path.exists():
        return ""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        entries = connection.execute("SELECT max(number), count(*) FROM entries").fetchone()
        erasures = connection.execute("SELECT count(*) FROM erasures").fetchone()
        return "/".join(str(entry) for entry in (*entries, *erasures))
    finally:
        connection.close()
