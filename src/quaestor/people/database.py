"""The database file of accounts, people.db, and its schema."""

from __future__ import annotations

from pathlib import Path

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
