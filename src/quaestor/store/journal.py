"""The journal: the append-only record of all human acts, in the order in which they were acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError

from quaestor.base.clock import Clock, exact_now, format_timestamp
from quaestor.base.errors import InputError, StateError
from quaestor.base.names import is_storable
from quaestor.store.database import Database, explain_errors
from quaestor.store.postgres import PostgreSQL
from quaestor.store.records import Act, ActRow, NewAct, build_row, parse_acts
from quaestor.store.schema import (
    PAGE,
    add_rows,
    find_rows,
    read_head,
    read_page,
    read_pages,
    read_rows_of_kinds,
    upgrade_store,
)
from quaestor.store.sqlite import SQLite


class Journal:
    """The acts of a study; thread-safe, and several processes may share the store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.clock = clock
        # Writers of this process queue here, in order, instead of polling the database lock.
        self._write_lock = threading.Lock()
        self._writer: int | None = None

    @classmethod
    def open(cls, address: str | Path, clock: Clock = exact_now, backups: Path | None = None) -> Journal:
        """Opens a journal; creates the store, or upgrades it after a verified backup (into `backups`)."""
        database = parse_database_url(address)
        try:
            database.prepare()
            upgrade_store(database, clock, backups)
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def head(self) -> int:
        """Returns the number of the last act, or 0."""
        with explain_errors(self.database):
            return self.database.read_head()

    def acts(self, after: int = 0) -> Iterator[Act]:
        """Yields the acts after a number in order; no act with a lower number can appear later."""
        while True:
            # Page by page: a slow or abandoned reader keeps no transaction open.
            with explain_errors(self.database), self.database.reading() as connection:
                rows = read_page(connection, after)
            yield from parse_acts(rows)
            if len(rows) < PAGE:
                return
            after = rows[-1].number

    def read_acts_of_kinds(self, kinds: Sequence[str], after: int = 0) -> list[Act]:
        """Returns the acts of some kinds after a number in order, without reading every rating."""
        with explain_errors(self.database), self.database.reading() as connection:
            return parse_acts(read_rows_of_kinds(connection, kinds, after))

    @contextmanager
    def writing(self) -> Iterator[JournalTransaction]:
        """Opens the write transaction, which holds the write lock from its start and commits when the block ends."""
        if self._writer == threading.get_ident():
            raise RuntimeError("this thread is already writing: use its JournalTransaction")
        with self._write_lock:
            self._writer = threading.get_ident()
            try:
                with explain_errors(self.database), self.database.writing() as connection:
                    writing = JournalTransaction(connection, self.clock)
                    yield writing
                    writing.write()
            finally:
                self._writer = None

    def append(self, acts: Sequence[NewAct]) -> list[Act]:
        """Records acts durably, all or none."""
        with self.writing() as writing:
            return writing.append(acts)


class JournalTransaction:
    """An open write transaction of a journal; nobody else can write until it ends."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._head: int | None = None
        self._rows_by_key: dict[str, ActRow | None] = {}
        """Rows by key, or None for unused keys; valid for the transaction, because nobody else can write."""
        self._unwritten: list[ActRow] = []

    def head(self) -> int:
        """Returns the number of the last act, including those of this transaction."""
        if self._head is None:
            self._head = read_head(self._connection)
        return self._head

    def acts(self, after: int = 0) -> Iterator[Act]:
        """Returns the acts after a number in order, including those of this transaction."""
        self.write()
        return (act for page in read_pages(self._connection, after) for act in parse_acts(page))

    def look_up(self, keys: Iterable[str]) -> None:
        """Reads many keys in one query, before they are looked up individually with `find`."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._rows_by_key]
        if unknown:
            possible = [key for key in unknown if is_storable(key)]  # other keys cannot even be queried
            self._rows_by_key |= dict.fromkeys(unknown) | find_rows(self._connection, possible)

    def find(self, key: str) -> Act | None:
        """Returns the recorded act with a key."""
        self.look_up([key])
        row = self._rows_by_key[key]
        return row.act() if row else None

    def append(self, acts: Sequence[NewAct]) -> list[Act]:
        """Records acts; an act whose key is already recorded is returned as recorded."""
        time = format_timestamp(self._clock())
        new_rows = [build_row(act, time) for act in acts]
        self.look_up(row.key for row in new_rows)
        head = self.head()
        new: dict[str, ActRow] = {}
        recorded: list[Act] = []
        for row in new_rows:
            existing = self._rows_by_key[row.key] or new.get(row.key)
            if existing is None:
                new[row.key] = existing = row._replace(number=head + len(new) + 1)
            elif not existing.has_same_content(row):
                raise StateError(
                    f"the key {row.key!r} is already used by act {existing.number} ({existing.kind} by "
                    f"{existing.actor}), which differs from this {row.kind} by {row.actor}: use a new key for a new act"
                )
            recorded.append(existing.act())
        self._head = head + len(new)
        self._rows_by_key |= new
        self._unwritten += new.values()
        return recorded

    def write(self) -> None:
        """Writes the appended acts to the database."""
        new, self._unwritten = self._unwritten, []
        add_rows(self._connection, new)


_ADDRESS_FORMATS = "write sqlite:///FILE or postgresql://USER@HOST/DATABASE"


def parse_database_url(address: str | Path) -> Database:
    """Returns the database of an address without opening it."""
    if isinstance(address, Path):
        return SQLite(address)
    url = _parse_address(address)
    if url.drivername == "sqlite":
        if not url.database or url.query:
            raise InputError(f"the address of a SQLite store must name only its file: {_ADDRESS_FORMATS}")
        return parse_database_url(Path(url.database))
    return PostgreSQL(url)


def _parse_address(address: str) -> URL:
    """Parses an address; error messages never show it, because it may contain a password."""
    scheme = address.partition("://")[0]
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise InputError(
            f"the address of the store starts with neither sqlite:// nor postgresql://: {_ADDRESS_FORMATS}"
        )
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    # With a second @, a part of the password would be parsed as the host name.
    if url is None or "@" in f"{url.host}{url.database}":
        raise InputError(
            f"the address of the store cannot be read: {_ADDRESS_FORMATS},"
            " with special characters of the password as %XX"
        )
    return url.set(drivername="sqlite" if scheme == "sqlite" else "postgresql+psycopg")
