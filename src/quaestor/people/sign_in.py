"""Signing in by name and password: the same words and the same work for everybody, and a wait after wrong guesses."""

from __future__ import annotations

import hashlib
import ipaddress
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta

from quaestor.people.directory import Directory
from quaestor.people.passwords import Passwords
from quaestor.store.moments import written

WINDOW = timedelta(minutes=15)
WRONG_FOR_A_NAME = 5
WRONG_FROM_AN_ADDRESS = 20
"""More than for a name: a whole group of raters may come from one address."""


@dataclass(frozen=True)
class SignedIn:
    token: str


@dataclass(frozen=True)
class Refused:
    """Not signed in; `wait` says how long to wait before the next try counts, if there is a wait."""

    wait: timedelta | None = None


def sign_in(
    directory: Directory, passwords: Passwords, name: str, password: str, address: str, now: datetime
) -> SignedIn | Refused:
    """Sign somebody in, or not; whether the name exists can be told neither by words nor by time."""
    name = name.encode("utf-8", "replace").decode("utf-8")  # half a character is no name a database could look for
    subjects = (_subject("name", name), _subject("address", network_of(address)))
    # Counted before the password is looked at, so that guesses sent all at once are no way around the limit.
    wait = _count(directory, subjects, now)
    if wait is not None:
        return Refused(wait)
    hashed = directory.password_of(name)
    if not passwords.verify(hashed, password) or hashed is None:
        return Refused()
    token = directory.start_session(name, hashed, now)
    if token is None:
        return Refused()
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM attempts WHERE subject = ?", (subjects[0],))
        writing.execute(
            "DELETE FROM attempts WHERE number = (SELECT max(number) FROM attempts WHERE subject = ?)", (subjects[1],)
        )
    return SignedIn(token)


def _count(directory: Directory, subjects: tuple[str, str], now: datetime) -> timedelta | None:
    """Note a try; where there were too many, note nothing and say how long to wait."""
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM attempts WHERE made <= ?", (written(now - WINDOW),))
        waits = [
            _wait(writing, subject, limit, now)
            for subject, limit in zip(subjects, (WRONG_FOR_A_NAME, WRONG_FROM_AN_ADDRESS), strict=True)
        ]
        if longest := max((wait for wait in waits if wait is not None), default=None):
            return longest
        writing.executemany(
            "INSERT INTO attempts (subject, made) VALUES (?, ?)", [(subject, written(now)) for subject in subjects]
        )
    return None


def _wait(connection: sqlite3.Connection, subject: str, limit: int, now: datetime) -> timedelta | None:
    found = connection.execute(
        "SELECT made FROM attempts WHERE subject = ? ORDER BY made DESC LIMIT 1 OFFSET ?", (subject, limit - 1)
    ).fetchone()
    return None if found is None else datetime.fromisoformat(found[0]) + WINDOW - now


def _subject(kind: str, text: str) -> str:
    """What a try is counted under: neither names nor addresses of strangers are kept, however long they are."""
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def network_of(address: str) -> str:
    """Whoever has one address of IPv6 has the 2^64 beside it as well."""
    try:
        found = plain_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)


def plain_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address; one of IPv4 also where a server that listens at `::` gets it in the form of IPv6."""
    address = ipaddress.ip_address(text)
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address
