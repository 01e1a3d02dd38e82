"""Accounts, invitations and sessions of a study, and the private file that stores them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from quaestor.base.clock import written
from quaestor.base.errors import InputError, StateError
from quaestor.people.credentials import fingerprint, new_token
from quaestor.people.roles import Role
from quaestor.store.private_file import PrivateFile

_KIND = 0x51506C65
_FIRST = """
CREATE TABLE accounts (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL, made TEXT NOT NULL
);
CREATE TABLE invitations (
    number INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL,
    made TEXT NOT NULL, expires TEXT NOT NULL
);
CREATE TABLE sessions (
    token TEXT PRIMARY KEY,
    account TEXT REFERENCES accounts (name) ON DELETE CASCADE,
    invitation INTEGER REFERENCES invitations (number) ON DELETE CASCADE,
    expires TEXT NOT NULL,
    CHECK ((account IS NULL) <> (invitation IS NULL))
);
CREATE INDEX sessions_of_account ON sessions (account);
CREATE INDEX sessions_of_invitation ON sessions (invitation);
CREATE TABLE attempts (number INTEGER PRIMARY KEY, subject TEXT NOT NULL, made TEXT NOT NULL);
CREATE INDEX attempts_of_subject ON attempts (subject, made);
"""
_FILTERS = """
CREATE TABLE filters (
    number INTEGER PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (name) ON DELETE CASCADE,
    name TEXT NOT NULL, query TEXT NOT NULL, made TEXT NOT NULL,
    UNIQUE (account, name)
);
"""
_DEVICES = """
CREATE TABLE devices (
    token TEXT NOT NULL, account TEXT NOT NULL REFERENCES accounts (name) ON DELETE CASCADE, used TEXT NOT NULL,
    PRIMARY KEY (token, account)
);
CREATE INDEX devices_of_account ON devices (account, used);
"""
_UPGRADES = (_FIRST, _FILTERS, _DEVICES)


class PeopleFile(PrivateFile):
    """Accounts, invitations, sessions, attempts, saved filters and known devices."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, _KIND, _UPGRADES, "move it away and invite everybody again")


@dataclass(frozen=True)
class Account:
    """Somebody who joined; the name is the actor in the journal."""

    name: str
    role: Role
    made: datetime


@dataclass(frozen=True)
class Invitation:
    """A link somebody was given; the link itself is not known any more."""

    number: int
    name: str
    role: Role
    made: datetime
    expires: datetime

    @property
    def is_the_access(self) -> bool:
        """A reviewer has no account: the link opens the study as often as it is followed, until it expires."""
        return self.role is Role.REVIEWER


@dataclass(frozen=True)
class Session:
    """Somebody who is signed in: by an account, or by a reviewer's invitation."""

    name: str
    role: Role
    expires: datetime
    invitation: int | None = None


INVITED_FOR = timedelta(days=7)
SIGNED_IN_FOR = timedelta(hours=12)
_RENEWED_AFTER = timedelta(minutes=10)
_LONGEST_NAME = 200
DEVICE_KNOWN_FOR = timedelta(days=90)
MOST_DEVICES = 20
"""Devices of one account; the one that was not used for longest is dropped for a new one."""


class Directory:
    """People at rest; every method that looks at the clock is given the time."""

    def __init__(self, path: Path) -> None:
        self.file = PeopleFile(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.file.close()

    def accounts(self) -> list[Account]:
        with self.file.reading() as reading:
            rows = reading.execute("SELECT name, role, made FROM accounts ORDER BY made, name").fetchall()
        return [Account(name, Role(role), _moment(made)) for name, role, made in rows]

    def password_of(self, name: str) -> str | None:
        with self.file.reading() as reading:
            row = reading.execute("SELECT password FROM accounts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def remove(self, name: str) -> bool:
        """Erase an account, its sessions, and the invitations under its name; whether there was anything."""
        with self.file.erasing() as writing:
            gone = writing.execute("DELETE FROM accounts WHERE name = ?", (name,)).rowcount
            gone += writing.execute("DELETE FROM invitations WHERE name = ?", (name,)).rowcount
        return gone > 0

    def change_role(self, name: str, role: Role) -> bool:
        """Give an account another role, from its next page on; whether there is such an account.

        A study keeps somebody who leads it.
        """
        with self.file.writing() as writing:
            found = writing.execute("SELECT role FROM accounts WHERE name = ?", (name,)).fetchone()
            if found is None:
                return False
            leads = writing.execute("SELECT count(*) FROM accounts WHERE role = ?", (Role.LEAD,)).fetchone()[0]
            if found[0] == Role.LEAD and role is not Role.LEAD and leads == 1:
                raise StateError(f"{name!r} alone leads this study: it needs somebody who does")
            writing.execute("UPDATE accounts SET role = ? WHERE name = ?", (role, name))
        return True

    def seen(self) -> dict[str, datetime]:
        """When those who are signed in were last here, to within ten minutes; of others it is not kept."""
        with self.file.reading() as reading:
            rows = reading.execute(_SEEN).fetchall()
        return {name: _moment(expires) - SIGNED_IN_FOR for name, expires in rows}

    def invite(self, name: str, role: Role, now: datetime, lasting: timedelta = INVITED_FOR) -> tuple[str, Invitation]:
        """A new link in place of an open one under the same name; its token is told this once."""
        check_name(name)
        token, expires = new_token(), now + lasting
        with self.file.writing() as writing:
            _drop_expired(writing, now)
            writing.execute("DELETE FROM invitations WHERE name = ?", (name,))
            number = writing.execute(
                "INSERT INTO invitations (token, name, role, made, expires) VALUES (?, ?, ?, ?, ?)",
                (fingerprint(token), name, role, written(now), written(expires)),
            ).lastrowid
        return token, Invitation(int(number or 0), name, role, now, expires)

    def invitations(self, now: datetime) -> list[Invitation]:
        """Those that can still be used."""
        with self.file.reading() as reading:
            rows = reading.execute(f"{_INVITATIONS} WHERE expires > ? ORDER BY number", (written(now),)).fetchall()
        return [_invitation(row) for row in rows]

    def invitation(self, token: str, now: datetime) -> Invitation | None:
        """What a link stands for; nothing where it was used, revoked, replaced, has expired or never was."""
        with self.file.reading() as reading:
            return _open_invitation(reading, token, now)

    def revoke(self, name: str) -> bool:
        """Take back what was sent under a name, and with a reviewer's link its sessions; whether there was any."""
        with self.file.writing() as writing:
            return writing.execute("DELETE FROM invitations WHERE name = ?", (name,)).rowcount > 0

    def accept(self, token: str, hashed: str | None, now: datetime) -> str | None:
        """Join by a link and be signed in: the session's token, or nothing where the link is not open.

        A link is used up by this, but for a reviewer's. An account that was there gets the new password and role,
        whoever was signed in with the old ones is so no more, and no device is known any more.
        """
        session = new_token()
        with self.file.writing() as writing:
            found = _open_invitation(writing, token, now)
            if found is None:
                return None
            if found.is_the_access:
                expires = min(now + SIGNED_IN_FOR, found.expires)
                _add_session(writing, session, None, found.number, expires)
                return session
            if hashed is None:
                raise StateError("joining needs a password: choose one")
            writing.execute("DELETE FROM invitations WHERE number = ?", (found.number,))
            writing.execute("DELETE FROM sessions WHERE account = ?", (found.name,))
            writing.execute("DELETE FROM devices WHERE account = ?", (found.name,))
            writing.execute(
                "INSERT INTO accounts (name, role, password, made) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET role = excluded.role, password = excluded.password",
                (found.name, found.role, hashed, written(now)),
            )
            _add_session(writing, session, found.name, None, now + SIGNED_IN_FOR)
        return session

    def start_session(self, name: str, hashed: str, now: datetime) -> str | None:
        """Sign an account in whose password is still the one that was checked: the session's token, told this once."""
        token = new_token()
        with self.file.writing() as writing:
            _drop_expired(writing, now)
            known = writing.execute("SELECT 1 FROM accounts WHERE name = ? AND password = ?", (name, hashed)).fetchone()
            if known is None:
                return None
            _add_session(writing, token, name, None, now + SIGNED_IN_FOR)
        return token

    def session(self, token: str, now: datetime) -> Session | None:
        """Who holds a token, with the role they have now."""
        with self.file.reading() as reading:
            row = reading.execute(_SESSION, {"token": fingerprint(token), "now": written(now)}).fetchone()
        return None if row is None else Session(row[0], Role(row[1]), _moment(row[2]), row[3])

    def renew(self, token: str, now: datetime) -> None:
        """Let a session that is in use last from now on, a reviewer's as long as the link."""
        with self.file.writing() as writing:
            writing.execute(
                "UPDATE sessions SET expires = min(:wanted, coalesce((SELECT expires FROM invitations"
                " WHERE number = sessions.invitation), :wanted)) WHERE token = :token",
                {"wanted": written(now + SIGNED_IN_FOR), "token": fingerprint(token)},
            )

    def end_session(self, token: str) -> None:
        with self.file.writing() as writing:
            writing.execute("DELETE FROM sessions WHERE token = ?", (fingerprint(token),))

    def end_sessions(self, of: Session, device: str = "") -> None:
        """Sign somebody out wherever they are signed in; only the device they do it from stays known."""
        with self.file.writing() as writing:
            if of.invitation is None:
                writing.execute("DELETE FROM sessions WHERE account = ?", (of.name,))
                writing.execute("DELETE FROM devices WHERE account = ? AND token <> ?", (of.name, fingerprint(device)))
            else:
                writing.execute("DELETE FROM sessions WHERE invitation = ?", (of.invitation,))

    def knows_device(self, device: str, name: str, now: datetime) -> bool:
        """Whether somebody signed in to an account before from the browser that holds a device token."""
        if not device:
            return False
        with self.file.reading() as reading:
            row = reading.execute(
                "SELECT 1 FROM devices WHERE token = ? AND account = ? AND used > ?",
                (fingerprint(device), name, written(now - DEVICE_KNOWN_FOR)),
            ).fetchone()
        return row is not None

    def remember_device(self, session: str, device: str, now: datetime) -> str | None:
        """Know the browser of a session that has just begun, by a new token in place of the one it had.

        None for a reviewer, who has no account. Other accounts that signed in from the same browser keep it.
        """
        token = new_token()
        with self.file.writing() as writing:
            writing.execute("DELETE FROM devices WHERE used <= ?", (written(now - DEVICE_KNOWN_FOR),))
            # After a clock that was ahead, nothing lasts longer than if it had been used now.
            writing.execute("UPDATE devices SET used = :now WHERE used > :now", {"now": written(now)})
            row = writing.execute("SELECT account FROM sessions WHERE token = ?", (fingerprint(session),)).fetchone()
            if row is None or row[0] is None:
                return None
            if device:
                writing.execute(
                    "UPDATE devices SET token = ? WHERE token = ?", (fingerprint(token), fingerprint(device))
                )
            writing.execute(
                "INSERT INTO devices (token, account, used) VALUES (?, ?, ?) "
                "ON CONFLICT (token, account) DO UPDATE SET used = excluded.used",
                (fingerprint(token), row[0], written(now)),
            )
            writing.execute(
                "DELETE FROM devices WHERE account = :account AND token NOT IN "
                "(SELECT token FROM devices WHERE account = :account ORDER BY used DESC, rowid DESC LIMIT :most)",
                {"account": row[0], "most": MOST_DEVICES},
            )
        return token


_INVITATIONS = "SELECT number, name, role, made, expires FROM invitations"
_SEEN = "SELECT account, max(expires) FROM sessions WHERE account IS NOT NULL GROUP BY account"
_SESSION = """
SELECT coalesce(accounts.name, invitations.name), coalesce(accounts.role, invitations.role), sessions.expires,
       sessions.invitation
FROM sessions LEFT JOIN accounts ON accounts.name = sessions.account
LEFT JOIN invitations ON invitations.number = sessions.invitation
WHERE sessions.token = :token AND sessions.expires > :now
"""


def is_due(session: Session, now: datetime) -> bool:
    """Whether a session has been in use for long enough that its renewal is worth a write."""
    return session.expires - now <= SIGNED_IN_FOR - _RENEWED_AFTER


def check_name(name: str) -> None:
    """Refuses a name that cannot be told from another on a page, or that is no name."""
    if not name or name != name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise InputError(
            f"{name[:60]!r} cannot be the name of a person: take 1 to {_LONGEST_NAME} visible characters, "
            "without a space at either end"
        )


def _open_invitation(connection: sqlite3.Connection, token: str, now: datetime) -> Invitation | None:
    row = connection.execute(
        f"{_INVITATIONS} WHERE token = ? AND expires > ?", (fingerprint(token), written(now))
    ).fetchone()
    return None if row is None else _invitation(row)


def _invitation(row: tuple[int, str, str, str, str]) -> Invitation:
    return Invitation(row[0], row[1], Role(row[2]), _moment(row[3]), _moment(row[4]))


def _add_session(
    connection: sqlite3.Connection, token: str, account: str | None, invitation: int | None, expires: datetime
) -> None:
    connection.execute(
        "INSERT INTO sessions (token, account, invitation, expires) VALUES (?, ?, ?, ?)",
        (fingerprint(token), account, invitation, written(expires)),
    )


def _drop_expired(connection: sqlite3.Connection, now: datetime) -> None:
    """What can no longer be used is not kept."""
    connection.execute("DELETE FROM invitations WHERE expires <= ?", (written(now),))
    connection.execute("DELETE FROM sessions WHERE expires <= ?", (written(now),))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
