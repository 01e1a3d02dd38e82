"""Signing in by name and password: the same words and the same work for everybody, and a wait after wrong guesses.

Wrong guesses are counted where they come from, so that nobody locks out anybody else: by name and address together, by
address, and more slowly by name. A browser that has signed in to the account before is counted for itself alone.
"""

from __future__ import annotations

import hashlib
import ipaddress
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from quaestor.base.clock import written
from quaestor.people.credentials import Passwords
from quaestor.people.directory import Directory

WINDOW = timedelta(minutes=15)
WRONG_FROM_A_PLACE = 5
"""Wrong guesses for one name from one address: whoever guesses locks out nobody but those beside them."""
WRONG_ON_A_DEVICE = 5
"""The same in a browser that has signed in to the account before, whatever others guess and from where."""
WRONG_FROM_AN_ADDRESS = 20
"""For any name. More than for one: a whole group of raters may come from one address."""
WRONG_FOR_A_NAME, _LONG_WINDOW = 40, timedelta(hours=1)
"""From all addresses together, so that many of them guess no faster than a few."""
_LONGEST_ADDRESS = 100
_MOST_ATTEMPTS = 20_000
"""Rows that are kept of all attempts; the oldest go first."""


@dataclass(frozen=True)
class _Limit:
    """So many attempts in a stretch of time under one subject."""

    subject: str
    most: int
    within: timedelta = WINDOW


@dataclass(frozen=True)
class SignedIn:
    token: str


@dataclass(frozen=True)
class Refused:
    """Not signed in; `wait` says how long to wait before the next try counts, if there is a wait."""

    wait: timedelta | None = None


def sign_in(
    directory: Directory, passwords: Passwords, name: str, password: str, address: str, now: datetime, device: str = ""
) -> SignedIn | Refused:
    """Sign somebody in, or not; whether the name exists can be told neither by words nor by time.

    `device` is the token of a browser that has signed in before; others' guesses do not count against it.
    """
    name = name.encode("utf-8", "replace").decode("utf-8")  # half a character is no name a database could look for
    limits = _limits(directory, name, address, now, device)
    # Counted before the password is looked at, so that guesses sent all at once are no way around the limit.
    wait = _count(directory, limits, now)
    if wait is not None:
        return Refused(wait)
    hashed = directory.password_of(name)
    if not passwords.verify(hashed, password) or hashed is None:
        return Refused()
    token = directory.start_session(name, hashed, now)
    if token is None:
        return Refused()
    own, *shared = limits
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM attempts WHERE subject = ?", (own.subject,))
        # What others did wrong stays counted; this attempt was none of it.
        writing.executemany(
            "DELETE FROM attempts WHERE number = (SELECT max(number) FROM attempts WHERE subject = ?)",
            [(limit.subject,) for limit in shared],
        )
    return SignedIn(token)


def _limits(directory: Directory, name: str, address: str, now: datetime, device: str) -> list[_Limit]:
    """What an attempt is counted under: first what is the person's own, then what they share with others."""
    if directory.knows_device(device, name, now):
        return [_Limit(_subject("device", f"{device}\0{name}"), WRONG_ON_A_DEVICE)]
    network = network_of(address)
    return [
        _Limit(_subject("place", f"{network}\0{name}"), WRONG_FROM_A_PLACE),
        _Limit(_subject("address", network), WRONG_FROM_AN_ADDRESS),
        _Limit(_subject("name", name), WRONG_FOR_A_NAME, _LONG_WINDOW),
    ]


def _count(directory: Directory, limits: Sequence[_Limit], now: datetime) -> timedelta | None:
    """Note an attempt; where there were too many, note nothing and say how long to wait."""
    with directory.file.writing() as writing:
        writing.execute("DELETE FROM attempts WHERE made <= ?", (written(now - _LONG_WINDOW),))
        # After a clock that was ahead nobody can tell how long ago an attempt was, and a wait must never grow.
        writing.execute("DELETE FROM attempts WHERE made > ?", (written(now),))
        waits = [_wait(writing, limit, now) for limit in limits]
        if longest := max((wait for wait in waits if wait is not None), default=None):
            return longest
        writing.executemany(
            "INSERT INTO attempts (subject, made) VALUES (?, ?)", [(limit.subject, written(now)) for limit in limits]
        )
        writing.execute(
            "DELETE FROM attempts WHERE number <= (SELECT max(number) FROM attempts) - ?", (_MOST_ATTEMPTS,)
        )
    return None


def _wait(connection: sqlite3.Connection, limit: _Limit, now: datetime) -> timedelta | None:
    found = connection.execute(
        "SELECT made FROM attempts WHERE subject = ? AND made > ? ORDER BY made DESC LIMIT 1 OFFSET ?",
        (limit.subject, written(now - limit.within), limit.most - 1),
    ).fetchone()
    return None if found is None else datetime.fromisoformat(found[0]) + limit.within - now


def _subject(kind: str, text: str) -> str:
    """What a try is counted under: neither names nor addresses of strangers are kept, however long they are."""
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def network_of(address: str) -> str:
    """Whose attempts count together: whoever has one address of IPv6 has the 2^64 beside it as well.

    An address of IPv4 that is written as one of IPv6, as a socket for both does, is one of IPv4.
    """
    try:
        found = plain_address(address)
    except ValueError:
        return address[:_LONGEST_ADDRESS]
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)


def plain_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address; one of IPv4 also where a server that listens at `::` gets it in the form of IPv6."""
    address = ipaddress.ip_address(text)
    return (address.ipv4_mapped or address) if isinstance(address, ipaddress.IPv6Address) else address
