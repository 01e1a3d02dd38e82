"""Sealed files on their way back from a backup: opened once to be sure, without whoever withdrew since."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.store.act_texts import erase_texts, list_owners
from quaestor.store.erasure import DAY, PSEUDONYM
from quaestor.store.keys import SealError, Seal, entry_context, label_context, piece_context, read_secret, text_context

_ENTRIES = "SELECT participant, about, kind, key, said FROM entries"
_PIECES = "SELECT about, number, said FROM pieces"
_WORDS = "SELECT act, number, owner, said FROM words"
_LABELS = "SELECT token, owner, said FROM labels"
_ANYTHING = " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in ("entries", "pieces", "words", "labels"))  # noqa: S608
_STRAY = "SELECT about, participant FROM pieces EXCEPT SELECT about, participant FROM entries LIMIT 1"


def require_valid_copy(copy: sqlite3.Connection, key: Path, whose: str, source: Path) -> None:
    """Raises ValueError where a row is none that a sealed file could hold, InputError where the key is another one."""
    for participant, day in copy.execute("SELECT participant, day FROM erasures"):
        if not PSEUDONYM.fullmatch(participant) or not DAY.fullmatch(day):
            raise ValueError("an erasure of nobody")
    for text, sha256 in copy.execute("SELECT text, sha256 FROM texts"):
        if hashlib.sha256(text.encode()).hexdigest() != sha256:
            raise ValueError("the SHA-256 of a text differs")
    if copy.execute(_STRAY).fetchone():
        raise ValueError("pieces that belong to no entry")
    if copy.execute(f"{_ANYTHING} LIMIT 1").fetchone() is None:
        return
    if not key.exists():
        raise InputError(
            f"{key} is not there, and without it nobody can read the {whose} of {source}: "
            "put the key there that was kept apart, and restore again"
        )
    _open_all(copy, Seal(read_secret(key, whose)), key, whose, source)


def _open_all(copy: sqlite3.Connection, seal: Seal, key: Path, whose: str, source: Path) -> None:
    opened, closed = 0, None
    for said, place in _sealed_in(copy):
        try:
            text = seal.open(said, place)
        except SealError as error:
            closed = error
            continue
        if not isinstance(json.loads(text), dict):
            raise ValueError("an entry that says nothing")
        opened += 1
    if closed is not None and not opened:
        raise InputError(
            f"{key} does not open the {whose} of {source}: "
            "keep that key elsewhere, put the one there that was there when the backup was made, and restore again"
        )
    if closed is not None:
        raise closed


def _sealed_in(copy: sqlite3.Connection) -> Iterator[tuple[bytes, str]]:
    for participant, about, kind, key, said in copy.execute(_ENTRIES):
        yield said, entry_context(participant, about, kind, key)
    for about, number, said in copy.execute(_PIECES):
        yield said, piece_context(about, number)
    for act, number, owner, said in copy.execute(_WORDS):
        yield said, text_context(act, number, owner)
    for token, owner, said in copy.execute(_LABELS):
        yield said, label_context(token, owner)


def read_erasures(file: sqlite3.Connection) -> dict[str, str]:
    """Who withdrew, as the file knows it, and the day of it."""
    return dict(file.execute("SELECT participant, day FROM erasures ORDER BY number").fetchall())


def list_participants(file: sqlite3.Connection) -> dict[str, set[str]]:
    """Of whom the file holds anything, and what it is about, such as their interviews."""
    found: dict[str, set[str]] = {}
    for participant, about in file.execute(
        "SELECT participant, about FROM entries UNION SELECT participant, about FROM pieces"
    ):
        found.setdefault(participant, set()).update({about} - {""})
    for owner in list_owners(file):
        found.setdefault(owner, set())
    return found


def remove_withdrawn(copy: sqlite3.Connection, known: Mapping[str, str]) -> dict[str, set[str]]:
    """Take everybody out of a copy who is known to have withdrawn, put that on record in it; who they are, and what of.

    The record is in one order, so that two files which know the same hold the same.
    """
    together = dict(known)
    for participant, day in read_erasures(copy).items():
        together[participant] = min(day, together.get(participant, day))
    in_order = sorted(together.items(), key=lambda one: (one[1], int(one[0].removeprefix("P"))))
    copy.execute("DELETE FROM erasures")
    numbered = [(number, *one) for number, one in enumerate(in_order, start=1)]
    copy.executemany("INSERT INTO erasures (number, participant, day) VALUES (?, ?, ?)", numbered)
    gone = {one: about for one, about in list_participants(copy).items() if one in together}
    for participant in gone:
        for table in ("entries", "pieces"):
            copy.execute(f"DELETE FROM {table} WHERE participant = ?", (participant,))  # noqa: S608
        erase_texts(copy, participant)
    return gone
