"""Accounts, invitations and sessions of a study, and the private file that stores them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from quaestor.base.clock import format_timestamp
from quaestor.base.errors import InputError, StateError
from quaestor.people.credentials import hash_token, new_token
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
        super().__init__(path, _KIND, _UPGRADES, "move it away and send new invitations")


@dataclass(frozen=True)
class Account:
    """A person who has joined; the name is the actor of their acts in the journal."""

    name: str
    role: Role
    created: datetime


@dataclass(frozen=True)
class AccountInvitation:
    """An invitation link sent to a person; only a hash of its token is stored."""

    number: int
    name: str
    role: Role
    created: datetime
    expires: datetime

    @property
    def is_reusable(self) -> bool:
        """Whether the link works until it expires: a reviewer has no account and uses the link each time."""
        return self.role is Role.REVIEWER


@dataclass(frozen=True)
class SignInSession:
    """A signed-in person, by an account or by a reviewer's invitation."""

    name: str
    role: Role
    expires: datetime
    invitation: int | None = None


INVITATION_LIFETIME = timedelta(days=7)
SESSION_LIFETIME = timedelta(hours=12)
_RENEWAL_INTERVAL = timedelta(minutes=10)
_MAX_NAME_LENGTH = 200
DEVICE_LIFETIME = timedelta(days=90)
MAX_DEVICES = 20
"""Devices remembered per account; a new one replaces the least recently used."""


class Directory:
    """The stored accounts, invitations, sessions and devices; the current time is passed in."""

    def __init__(self, path: Path) -> None:
        self.file = PeopleFile(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.file.close()

    def list_accounts(self) -> list[Account]:
        with self.file.reading() as reading:
            rows = reading.execute("SELECT name, role, made FROM accounts ORDER BY made, name").fetchall()
        return [Account(name, Role(role), _parse_time(created)) for name, role, created in rows]

    def find_password_hash(self, name: str) -> str | None:
        with self.file.reading() as reading:
            row = reading.execute("SELECT password FROM accounts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def remove(self, name: str) -> bool:
        """Erases an account, its sessions and the invitations for its name; returns whether there were any."""
        with self.file.erasing() as writing:
            deleted = writing.execute("DELETE FROM accounts WHERE name = ?", (name,)).rowcount
            deleted += writing.execute("DELETE FROM invitations WHERE name = ?", (name,)).rowcount
        return deleted > 0

    def rename(self, old: str, new: str) -> None:
        """Renames an account and its open invitations; its sessions, filters and devices stay."""
        with self.file.writing() as writing:
            writing.execute("PRAGMA defer_foreign_keys = ON")
            writing.execute("UPDATE accounts SET name = ? WHERE name = ?", (new, old))
            writing.execute("UPDATE sessions SET account = ? WHERE account = ?", (new, old))
            writing.execute("UPDATE filters SET account = ? WHERE account = ?", (new, old))
            writing.execute("UPDATE devices SET account = ? WHERE account = ?", (new, old))
            writing.execute("UPDATE invitations SET name = ? WHERE name = ?", (new, old))

    def change_role(self, name: str, role: Role) -> bool:
        """Changes the role of an account, effective from its next page; returns whether the account exists.

        Raises StateError if the study would lose its only lead.
        """
        with self.file.writing() as writing:
            row = writing.execute("SELECT role FROM accounts WHERE name = ?", (name,)).fetchone()
            if row is None:
                return False
            leads = writing.execute("SELECT count(*) FROM accounts WHERE role = ?", (Role.LEAD,)).fetchone()[0]
            if row[0] == Role.LEAD and role is not Role.LEAD and leads == 1:
                raise StateError(f"{name!r} is the only lead: appoint another one first")
            writing.execute("UPDATE accounts SET role = ? WHERE name = ?", (role, name))
        return True

    def read_last_seen(self) -> dict[str, datetime]:
        """Returns when each signed-in account was last active, to within ten minutes; nothing is kept of others."""
        with self.file.reading() as reading:
            rows = reading.execute(_LATEST_SESSIONS).fetchall()
        return {name: _parse_time(expires) - SESSION_LIFETIME for name, expires in rows}

    def invite(
        self, name: str, role: Role, now: datetime, lifetime: timedelta = INVITATION_LIFETIME
    ) -> tuple[str, AccountInvitation]:
        """Replaces the open invitation for a name with a new one; returns its token, which cannot be read later."""
        require_valid_name(name)
        token, expires = new_token(), now + lifetime
        with self.file.writing() as writing:
            _drop_expired(writing, now)
            writing.execute("DELETE FROM invitations WHERE name = ?", (name,))
            number = writing.execute(
                "INSERT INTO invitations (token, name, role, made, expires) VALUES (?, ?, ?, ?, ?)",
                (hash_token(token), name, role, format_timestamp(now), format_timestamp(expires)),
            ).lastrowid
        return token, AccountInvitation(int(number or 0), name, role, now, expires)

    def list_invitations(self, now: datetime) -> list[AccountInvitation]:
        """Returns the invitations that have not expired."""
        with self.file.reading() as reading:
            rows = reading.execute(
                f"{_INVITATIONS} WHERE expires > ? ORDER BY number", (format_timestamp(now),)
            ).fetchall()
        return [_build_invitation(row) for row in rows]

    def find_invitation(self, token: str, now: datetime) -> AccountInvitation | None:
        """Returns the invitation of a token, or None if it was used, revoked, replaced, is expired or unknown."""
        with self.file.reading() as reading:
            return _find_open_invitation(reading, token, now)

    def revoke(self, name: str) -> bool:
        """Deletes the invitation for a name, with the sessions of a reviewer's; returns whether there was one."""
        with self.file.writing() as writing:
            return writing.execute("DELETE FROM invitations WHERE name = ?", (name,)).rowcount > 0

    def accept_invitation(self, token: str, hashed: str | None, now: datetime) -> str | None:
        """Creates the account of an invitation, signs it in and returns the session's token; None without invitation.

        The invitation is used up, unless it is a reviewer's. An account of the same name gets the new password and
        role, and its sessions and devices end.
        """
        session = new_token()
        with self.file.writing() as writing:
            invitation = _find_open_invitation(writing, token, now)
            if invitation is None:
                return None
            if invitation.is_reusable:
                expires = min(now + SESSION_LIFETIME, invitation.expires)
                _add_session(writing, session, None, invitation.number, expires)
                return session
            if hashed is None:
                raise StateError("joining needs a password: choose one")
            writing.execute("DELETE FROM invitations WHERE number = ?", (invitation.number,))
            writing.execute("DELETE FROM sessions WHERE account = ?", (invitation.name,))
            writing.execute("DELETE FROM devices WHERE account = ?", (invitation.name,))
            writing.execute(
                "INSERT INTO accounts (name, role, password, made) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET role = excluded.role, password = excluded.password",
                (invitation.name, invitation.role, hashed, format_timestamp(now)),
            )
            _add_session(writing, session, invitation.name, None, now + SESSION_LIFETIME)
        return session

    def start_session(self, name: str, hashed: str, now: datetime) -> str | None:
        """Signs an account in and returns the session's token, or None if its password hash is no longer `hashed`."""
        token = new_token()
        with self.file.writing() as writing:
            _drop_expired(writing, now)
            known = writing.execute("SELECT 1 FROM accounts WHERE name = ? AND password = ?", (name, hashed)).fetchone()
            if known is None:
                return None
            _add_session(writing, token, name, None, now + SESSION_LIFETIME)
        return token

    def find_session(self, token: str, now: datetime) -> SignInSession | None:
        """Returns the open session of a token, with the person's current role."""
        with self.file.reading() as reading:
            row = reading.execute(_SESSION, {"token": hash_token(token), "now": format_timestamp(now)}).fetchone()
        return None if row is None else SignInSession(row[0], Role(row[1]), _parse_time(row[2]), row[3])

    def renew_session(self, token: str, now: datetime) -> None:
        """Extends a session to its full lifetime from now; a reviewer's ends with the link at the latest."""
        with self.file.writing() as writing:
            writing.execute(
                "UPDATE sessions SET expires = min(:renewed, coalesce((SELECT expires FROM invitations"
                " WHERE number = sessions.invitation), :renewed)) WHERE token = :token",
                {"renewed": format_timestamp(now + SESSION_LIFETIME), "token": hash_token(token)},
            )

    def end_session(self, token: str) -> None:
        with self.file.writing() as writing:
            writing.execute("DELETE FROM sessions WHERE token = ?", (hash_token(token),))

    def end_sessions(self, session: SignInSession, device: str = "") -> None:
        """Ends all sessions of the session's account or invitation and forgets its devices, except for `device`."""
        with self.file.writing() as writing:
            if session.invitation is None:
                writing.execute("DELETE FROM sessions WHERE account = ?", (session.name,))
                writing.execute(
                    "DELETE FROM devices WHERE account = ? AND token <> ?", (session.name, hash_token(device))
                )
            else:
                writing.execute("DELETE FROM sessions WHERE invitation = ?", (session.invitation,))

    def knows_device(self, device: str, name: str, now: datetime) -> bool:
        """Whether the browser with this device token has signed in to an account before."""
        if not device:
            return False
        with self.file.reading() as reading:
            row = reading.execute(
                "SELECT 1 FROM devices WHERE token = ? AND account = ? AND used > ?",
                (hash_token(device), name, format_timestamp(now - DEVICE_LIFETIME)),
            ).fetchone()
        return row is not None

    def remember_device(self, session: str, device: str, now: datetime) -> str | None:
        """Remembers the browser of a new session under a new device token, which replaces `device`, and returns it.

        Returns None for a reviewer, who has no account. Other accounts of the same browser move to the new token.
        """
        token = new_token()
        with self.file.writing() as writing:
            writing.execute("DELETE FROM devices WHERE used <= ?", (format_timestamp(now - DEVICE_LIFETIME),))
            # If the clock was ahead before, no device may last longer than if it had been used now.
            writing.execute("UPDATE devices SET used = :now WHERE used > :now", {"now": format_timestamp(now)})
            row = writing.execute("SELECT account FROM sessions WHERE token = ?", (hash_token(session),)).fetchone()
            if row is None or row[0] is None:
                return None
            if device:
                writing.execute("UPDATE devices SET token = ? WHERE token = ?", (hash_token(token), hash_token(device)))
            writing.execute(
                "INSERT INTO devices (token, account, used) VALUES (?, ?, ?) "
                "ON CONFLICT (token, account) DO UPDATE SET used = excluded.used",
                (hash_token(token), row[0], format_timestamp(now)),
            )
            writing.execute(
                "DELETE FROM devices WHERE account = :account AND token NOT IN "
                "(SELECT token FROM devices WHERE account = :account ORDER BY used DESC, rowid DESC LIMIT :most)",
                {"account": row[0], "most": MAX_DEVICES},
            )
        return token


_INVITATIONS = "SELECT number, name, role, made, expires FROM invitations"
_LATEST_SESSIONS = "SELECT account, max(expires) FROM sessions WHERE account IS NOT NULL GROUP BY account"
_SESSION = """
SELECT coalesce(accounts.name, invitations.name), coalesce(accounts.role, invitations.role), sessions.expires,
       sessions.invitation
FROM sessions LEFT JOIN accounts ON accounts.name = sessions.account
LEFT JOIN invitations ON invitations.number = sessions.invitation
WHERE sessions.token = :token AND sessions.expires > :now
"""


def needs_renewal(session: SignInSession, now: datetime) -> bool:
    """Whether the last renewal of a session is long enough ago to be worth a write."""
    return session.expires - now <= SESSION_LIFETIME - _RENEWAL_INTERVAL


def require_valid_name(name: str) -> None:
    """Raises InputError for a name that is empty, too long or could look like another one on a page."""
    if not name or name != name.strip() or not name.isprintable() or len(name) > _MAX_NAME_LENGTH:
        raise InputError(
            f"{name[:60]!r} cannot be the name of a person: use 1 to {_MAX_NAME_LENGTH} visible characters, "
            "without a space at either end"
        )


def _find_open_invitation(connection: sqlite3.Connection, token: str, now: datetime) -> AccountInvitation | None:
    row = connection.execute(
        f"{_INVITATIONS} WHERE token = ? AND expires > ?", (hash_token(token), format_timestamp(now))
    ).fetchone()
    return None if row is None else _build_invitation(row)


def _build_invitation(row: tuple[int, str, str, str, str]) -> AccountInvitation:
    return AccountInvitation(row[0], row[1], Role(row[2]), _parse_time(row[3]), _parse_time(row[4]))


def _add_session(
    connection: sqlite3.Connection, token: str, account: str | None, invitation: int | None, expires: datetime
) -> None:
    connection.execute(
        "INSERT INTO sessions (token, account, invitation, expires) VALUES (?, ?, ?, ?)",
        (hash_token(token), account, invitation, format_timestamp(expires)),
    )


def _drop_expired(connection: sqlite3.Connection, now: datetime) -> None:
    """Deletes expired invitations and sessions."""
    connection.execute("DELETE FROM invitations WHERE expires <= ?", (format_timestamp(now),))
    connection.execute("DELETE FROM sessions WHERE expires <= ?", (format_timestamp(now),))


def _parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)
