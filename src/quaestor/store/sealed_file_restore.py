"""Checks a sealed file from a backup before it is restored, and removes participants who withdrew since."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.store.act_texts import erase_texts, list_owners
from quaestor.store.erasure import DAY, PSEUDONYM
from quaestor.store.keys import Seal, SealError, entry_context, label_context, piece_context, read_secret, text_context

_ENTRIES = "SELECT participant, about, kind, key, said FROM entries"
_PIECES = "SELECT about, number, said FROM pieces"
_WORDS = "SELECT act, number, owner, said FROM words"
_LABELS = "SELECT token, owner, said FROM labels"
_ANYTHING = " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in ("entries", "pieces", "words", "labels"))  # noqa: S608
_STRAY = "SELECT about, participant FROM pieces EXCEPT SELECT about, participant FROM entries LIMIT 1"


def require_valid_copy(copy: sqlite3.Connection, key: Path, content: str, source: Path) -> None:
    """Raises ValueError if a row is not valid in a sealed file, InputError if the key does not fit."""
    for participant, day in copy.execute("SELECT participant, day FROM erasures"):
        if not PSEUDONYM.fullmatch(participant) or not DAY.fullmatch(day):
            raise ValueError("an erasure without a participant")
    for text, sha256 in copy.execute("SELECT text, sha256 FROM texts"):
        if hashlib.sha256(text.encode()).hexdigest() != sha256:
            raise ValueError("the SHA-256 of a text differs")
    if copy.execute(_STRAY).fetchone():
        raise ValueError("pieces without an entry")
    if copy.execute(f"{_ANYTHING} LIMIT 1").fetchone() is None:
        return
    if not key.exists():
        raise InputError(
            f"{key} is missing, and the {content} of {source} cannot be read without it: "
            "copy the separately stored key there, and restore again"
        )
    _decrypt_all(copy, Seal(read_secret(key, content)), key, content, source)


def _decrypt_all(copy: sqlite3.Connection, seal: Seal, key: Path, content: str, source: Path) -> None:
    opened, closed = 0, None
    for sealed, context in _read_sealed(copy):
        try:
            text = seal.open(sealed, context)
        except SealError as error:
            closed = error
            continue
        if not isinstance(json.loads(text), dict):
            raise ValueError("an entry without content")
        opened += 1
    if closed is not None and not opened:
        raise InputError(
            f"{key} cannot decrypt the {content} of {source}: "
            "move that key away, copy the key from the time of the backup there, and restore again"
        )
    if closed is not None:
        raise closed


def _read_sealed(copy: sqlite3.Connection) -> Iterator[tuple[bytes, str]]:
    for participant, about, kind, key, sealed in copy.execute(_ENTRIES):
        yield sealed, entry_context(participant, about, kind, key)
    for about, number, sealed in copy.execute(_PIECES):
        yield sealed, piece_context(about, number)
    for act, number, owner, sealed in copy.execute(_WORDS):
        yield sealed, text_context(act, number, owner)
    for token, owner, sealed in copy.execute(_LABELS):
        yield sealed, label_context(token, owner)


def read_erasures(file: sqlite3.Connection) -> dict[str, str]:
    """Returns the withdrawn participants in a file with the day."""
    return dict(file.execute("SELECT participant, day FROM erasures ORDER BY number").fetchall())


def list_participants(file: sqlite3.Connection) -> dict[str, set[str]]:
    """Returns the participants with content in a file, each with its subjects, such as interviews."""
    subjects: dict[str, set[str]] = {}
    for participant, about in file.execute(
        "SELECT participant, about FROM entries UNION SELECT participant, about FROM pieces"
    ):
        subjects.setdefault(participant, set()).update({about} - {""})
    for owner in list_owners(file):
        subjects.setdefault(owner, set())
    return subjects


def remove_withdrawn(copy: sqlite3.Connection, known: Mapping[str, str]) -> dict[str, set[str]]:
    """Removes participants who are known to have withdrawn from a copy, records it there, and returns their subjects.

    The record is sorted, so that files with the same withdrawals have the same content.
    """
    withdrawn = dict(known)
    for participant, day in read_erasures(copy).items():
        withdrawn[participant] = min(day, withdrawn.get(participant, day))
    in_order = sorted(withdrawn.items(), key=lambda row: (row[1], int(row[0].removeprefix("P"))))
    copy.execute("DELETE FROM erasures")
    numbered = [(number, *row) for number, row in enumerate(in_order, start=1)]
    copy.executemany("INSERT INTO erasures (number, participant, day) VALUES (?, ?, ?)", numbered)
    removed = {name: subjects for name, subjects in list_participants(copy).items() if name in withdrawn}
    for participant in removed:
        for table in ("entries", "pieces"):
            copy.execute(f"DELETE FROM {table} WHERE participant = ?", (participant,))  # noqa: S608
        erase_texts(copy, participant)
    return removed
