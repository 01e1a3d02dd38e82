"""Signing in by name and password: equal messages and work for known and unknown names, and a wait after wrong guesses.

Wrong guesses are counted by origin, so that nobody can lock out anybody else: by name and address together, by address,
and with a higher limit by name. A browser that has signed in to the account before has its own count.
"""

from __future__ import annotations

import hashlib
import ipaddress
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from quaestor.base.clock import format_timestamp
from quaestor.people.credentials import Passwords
from quaestor.people.directory import Directory

WINDOW = timedelta(minutes=15)
MAX_WRONG_PER_NAME_AND_ADDRESS = 5
"""Wrong guesses for one name from one address; they lock the name only for that address."""
MAX_WRONG_PER_DEVICE = 5
"""The same in a browser that has signed in to the account before; guesses from elsewhere do not count."""
MAX_WRONG_PER_ADDRESS = 20
"""Wrong guesses for any name from one address; higher because a group of raters may share an address."""
MAX_WRONG_PER_NAME, _LONG_WINDOW = 40, timedelta(hours=1)
"""Wrong guesses for one name from all addresses, so that many addresses guess no faster than a few."""
_MAX_ADDRESS_LENGTH = 100
_MAX_ATTEMPTS = 20_000
"""Stored attempts; the oldest are deleted first."""


@dataclass(frozen=True)
class _Limit:
    """The number of attempts allowed for one subject within a period of time."""

    subject: str
    attempts: int
    period: timedelta = WINDOW


@dataclass(frozen=True)
class SignedIn:
    token: str


@dataclass(frozen=True)
class SignInRefused:
    """A refused sign-in; `wait` is the time until the next attempt is possible, if there is a limit."""

    wait: timedelta | None = None


def sign_in(
    directory: Directory, passwords: Passwords, name: str, password: str, address: str, now: datetime, device: str = ""
) -> SignedIn | SignInRefused:
    """Signs a person in or refuses; neither the answer nor its duration reveals whether the name exists.

    `device` is the token of a browser that has signed in before; guesses from elsewhere do not count against it.
    """
    name = name.encode("utf-8", "replace").decode("utf-8")  # SQLite cannot look up an unpaired surrogate
    limits = _list_limits(directory, name, address, now, device)
    # Counted before the password is checked, so that simultaneous guesses cannot get around the limit.
    wait = _count_attempt(directory, limits, now)
    if wait is not None:
        return SignInRefused(wait)
    hashed = directory.find_password_hash(name)
    if not passwords.verify(hashed, password) or hashed is None:
        return SignInRefused()
    token = directory.start_session(name, hashed, now)
    if token is None:
        return SignInRefused()
    own, *shared = limits
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM attempts WHERE subject = ?", (own.subject,))
        # Wrong guesses of others stay counted; only this attempt is taken out again.
        writing.executemany(
            "DELETE FROM attempts WHERE number = (SELECT max(number) FROM attempts WHERE subject = ?)",
            [(limit.subject,) for limit in shared],
        )
    return SignedIn(token)


def _list_limits(directory: Directory, name: str, address: str, now: datetime, device: str) -> list[_Limit]:
    """Returns the limits of an attempt: first the person's own, then those shared with others."""
    if directory.knows_device(device, name, now):
        return [_Limit(_hash_subject("device", f"{device}\0{name}"), MAX_WRONG_PER_DEVICE)]
    network = group_by_network(address)
    return [
        _Limit(_hash_subject("place", f"{network}\0{name}"), MAX_WRONG_PER_NAME_AND_ADDRESS),
        _Limit(_hash_subject("address", network), MAX_WRONG_PER_ADDRESS),
        _Limit(_hash_subject("name", name), MAX_WRONG_PER_NAME, _LONG_WINDOW),
    ]


def _count_attempt(directory: Directory, limits: Sequence[_Limit], now: datetime) -> timedelta | None:
    """Stores an attempt; after too many attempts stores nothing and returns how long to wait."""
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM attempts WHERE made <= ?", (format_timestamp(now - _LONG_WINDOW),))
        # If the clock was ahead before, the age of an attempt is unknown; drop it, because a wait must never grow.
        writing.execute("DELETE FROM attempts WHERE made > ?", (format_timestamp(now),))
        waits = [_read_wait(writing, limit, now) for limit in limits]
        if longest := max((wait for wait in waits if wait is not None), default=None):
            return longest
        writing.executemany(
            "INSERT INTO attempts (subject, made) VALUES (?, ?)",
            [(limit.subject, format_timestamp(now)) for limit in limits],
        )
        writing.execute("DELETE FROM attempts WHERE number <= (SELECT max(number) FROM attempts) - ?", (_MAX_ATTEMPTS,))
    return None


def _read_wait(connection: sqlite3.Connection, limit: _Limit, now: datetime) -> timedelta | None:
    row = connection.execute(
        "SELECT made FROM attempts WHERE subject = ? AND made > ? ORDER BY made DESC LIMIT 1 OFFSET ?",
        (limit.subject, format_timestamp(now - limit.period), limit.attempts - 1),
    ).fetchone()
    return None if row is None else datetime.fromisoformat(row[0]) + limit.period - now


def _hash_subject(kind: str, text: str) -> str:
    """Returns the key that attempts are counted under; a hash, so that no names or addresses are stored."""
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def group_by_network(address: str) -> str:
    """Returns the network whose attempts are counted together: for IPv6 the /64, which one person usually owns."""
    try:
        parsed = parse_address(address)
    except ValueError:
        return address[:_MAX_ADDRESS_LENGTH]
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Parses an IP address; an IPv4 address mapped to IPv6, as a server at `::` receives it, becomes IPv4."""
    address = ipaddress.ip_address(text)
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address
