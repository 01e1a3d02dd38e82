"""The people who are invited by e-mail, in the invitations file: who they are is encrypted, what was sent is counted.

A recipient is known by a keyed hash of survey and address. Address, name, columns and link are sealed, and readable
only with `invitations.key`, which no backup contains. No time is stored, so that nothing can be compared with the days
of responses. A recipient who wants no more mails, or whom the lead removes, keeps only the hash: nobody can read it,
but the same address is recognised.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.store.keys import Seal, SealError, get_or_create_secret, read_secret
from quaestor.surveys.store.invitations import INVITATIONS, hash_token, insert_invitations

INVITATIONS_KEY = "invitations.key"
_PADDED = 512
"""Sealed contents are filled up to a multiple of this length, which therefore reveals little."""


class Gone(IntEnum):
    """Why the address of a recipient is no longer stored."""

    NO = 0
    OPTED_OUT = 1
    REMOVED = 2


@dataclass(frozen=True)
class Addressee:
    """Who a recipient is; excluded from `repr`, so that it appears in no log."""

    address: str = field(repr=False)
    token: str = field(repr=False)
    """The random part of the personal link."""
    name: str = field(default="", repr=False)
    language: str = ""
    columns: dict[str, str] = field(default_factory=dict, repr=False)
    """Values for the link and the texts, by column."""


@dataclass(frozen=True)
class Recipient:
    """A stored recipient."""

    id: bytes
    person: Addressee | None
    """None if the address is no longer stored."""
    mails: int
    """How far they are: 0 before the invitation, 1 after it, 2 after the first reminder, and so on."""
    trying: bool
    """A mail was being handed to the server; while nobody sends, it is unknown whether it was accepted."""
    refused: int
    """The server's code for refusing the address permanently; 0 otherwise."""
    gone: Gone
    used: bool
    """Whether the link was used."""


@dataclass(frozen=True)
class RecipientCounts:
    """How many recipients there are, in each state."""

    all: int = 0
    invited: int = 0
    reminded: int = 0
    started: int = 0
    opted_out: int = 0
    refused: int = 0
    uncertain: int = 0


class RecipientFile:
    """The recipients of a study; safe for threads and processes."""

    def __init__(self, path: Path) -> None:
        self._key = path.with_name(INVITATIONS_KEY)
        self._file = INVITATIONS.open(path)
        self._opened_seal: Seal | None = None

    def __enter__(self) -> RecipientFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def _seal(self) -> Seal:
        """Reads the key when it is needed: counting and opting out work without it."""
        if self._opened_seal is None:
            with self._file.reading() as reading:
                is_sealed = reading.execute("SELECT 1 FROM recipients LIMIT 1").fetchone() is not None
            if is_sealed and not self._key.exists():
                raise InputError(f"{self._key} is missing, and the addresses cannot be read without it: restore it")
            self._opened_seal = Seal((read_secret if is_sealed else get_or_create_secret)(self._key, "invitations"))
        return self._opened_seal

    def add(self, survey: str, batch: str, people: Sequence[tuple[Addressee, str]]) -> dict[str, Gone]:
        """Stores new people, each with a stratum and an invitation, all or none; returns who is known already.

        A person whom the lead removed is added again; one who opted out is not.
        """
        ids = {person.address: self._identify(survey, person.address) for person, _ in people}
        with self._file.writing() as writing:
            states = {name: Gone(gone) for name, gone in writing.execute("SELECT id, gone FROM recipients")}
            known = {address: states[name] for address, name in ids.items() if name in states}
            new = [(person, stratum) for person, stratum in people if known.get(person.address) in (None, Gone.REMOVED)]
            insert_invitations(writing, [(hash_token(person.token), survey, batch, stratum) for person, stratum in new])
            rows = [
                (ids[person.address], survey, hash_token(person.token), self._sealed(ids[person.address], person))
                for person, _ in new
            ]
            writing.executemany("INSERT OR REPLACE INTO recipients VALUES (?, ?, ?, ?, 0, 0, 0, 0)", rows)
        self._file.clear_log()
        return {address: gone for address, gone in known.items() if gone is not Gone.REMOVED}

    def read(self, survey: str) -> list[Recipient]:
        """Returns the recipients of a survey in the order of their hashes."""
        query = (
            "SELECT id, sealed, mails, trying, refused, gone, coalesce(used, 0) FROM recipients"
            " LEFT JOIN invitations ON token = invitation WHERE recipients.survey = ? ORDER BY id"
        )
        with self._file.reading() as reading:
            rows = reading.execute(query, (survey,)).fetchall()
        return [
            Recipient(name, self._opened(name, sealed), mails, bool(trying), refused, Gone(gone), bool(used))
            for name, sealed, mails, trying, refused, gone, used in rows
        ]

    def count(self, survey: str) -> RecipientCounts:
        query = (
            "SELECT count(*), total(mails > 0), total(mails > 1), total(coalesce(used, 0)), total(gone = 1),"
            " total(gone = 0 AND refused > 0), total(gone = 0 AND trying)"
            " FROM recipients LEFT JOIN invitations ON token = invitation WHERE recipients.survey = ? AND gone < 2"
        )
        with self._file.reading() as reading:
            return RecipientCounts(*map(int, reading.execute(query, (survey,)).fetchone()))

    def claim(self, recipient: Recipient) -> bool:
        """Marks a recipient as being mailed, durably; returns False if somebody else mails them or they opted out."""
        with self._file.writing() as writing:
            changed = writing.execute(
                "UPDATE recipients SET trying = 1 WHERE id = ? AND trying = ? AND mails = ? AND gone = 0",
                (recipient.id, recipient.trying, recipient.mails),
            )
            return changed.rowcount == 1

    def release(self, recipient: Recipient, *, mails: int | None = None, refused: int = 0) -> None:
        """Records the outcome of a mail: how far the recipient is, or the code of a refusal."""
        with self._file.writing() as writing:
            writing.execute(
                "UPDATE recipients SET trying = 0, mails = ?, refused = ? WHERE id = ?",
                (recipient.mails if mails is None else mails, refused, recipient.id),
            )

    def opt_out(self, token: str) -> bool:
        """Erases the address behind a link; returns whether the link has a recipient."""
        with self._file.erasing() as writing:
            row = writing.execute("SELECT gone FROM recipients WHERE invitation = ?", (hash_token(token),)).fetchone()
            if row is not None and row[0] == Gone.NO:
                _forget(writing, "invitation = ?", hash_token(token), Gone.OPTED_OUT)
        return row is not None

    def is_opted_out(self, token: str) -> bool | None:
        """Tells whether the recipient of a link opted out or was removed; None if the link has no recipient."""
        with self._file.reading() as reading:
            row = reading.execute("SELECT gone FROM recipients WHERE invitation = ?", (hash_token(token),)).fetchone()
        return None if row is None else row[0] != Gone.NO

    def remove(self, survey: str, addresses: Sequence[str] | None = None) -> int:
        """Erases the given addresses of a survey, or all of them; returns how many there were."""
        removed = 0
        chosen = None if addresses is None else {self._identify(survey, address) for address in addresses}
        with self._file.erasing() as writing:
            rows = writing.execute("SELECT id FROM recipients WHERE survey = ? AND gone = 0", (survey,)).fetchall()
            for (name,) in rows:
                if chosen is None or name in chosen:
                    _forget(writing, "id = ?", name, Gone.REMOVED)
                    removed += 1
        return removed

    def clear_log(self) -> None:
        """Empties the write-ahead log, which reveals the order of changes."""
        self._file.clear_log()

    def _identify(self, survey: str, address: str) -> bytes:
        return self._seal.fingerprint(f"{survey}\0{address.casefold()}")

    def _sealed(self, name: bytes, person: Addressee) -> bytes:
        text = json.dumps(asdict(person), ensure_ascii=True)
        return self._seal.seal(text.ljust(-(-len(text) // _PADDED) * _PADDED), name.hex())

    def _opened(self, name: bytes, sealed: bytes) -> Addressee | None:
        if not sealed:
            return None
        try:
            return Addressee(**json.loads(self._seal.open(sealed, name.hex())))
        except SealError:
            raise InputError(
                f"{self._key} is not the key that sealed these addresses: restore the original key"
            ) from None


def _forget(writing: sqlite3.Connection, where: str, value: bytes, gone: Gone) -> None:
    writing.execute(f"UPDATE recipients SET sealed = x'', trying = 0, gone = ? WHERE {where}", (gone, value))  # noqa: S608


def keep_recipients(copy: sqlite3.Connection, present: sqlite3.Connection) -> None:
    """Keeps in a restored copy what happened to recipients since: mails, opt-outs and removals.

    Otherwise a restore would bring back erased addresses, and mail people again who were mailed or opted out.
    """
    opted_out = {name for (name,) in copy.execute("SELECT id FROM recipients WHERE gone = 1").fetchall()}
    for row in present.execute("SELECT * FROM recipients").fetchall():
        name, _, invitation, *_ = row
        copy.execute("INSERT OR REPLACE INTO recipients VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        # The link that the person has must keep working; the response to it is not in the copy.
        query = "SELECT token, survey, batch, stratum, 0 FROM invitations WHERE token = ?"
        invited = present.execute(query, (invitation,)).fetchall()
        copy.executemany("INSERT OR IGNORE INTO invitations VALUES (?, ?, ?, ?, ?)", invited)
        if name in opted_out:
            _forget(copy, "id = ?", name, Gone.OPTED_OUT)
