"""The journal: every human act, in the order in which it was acknowledged, never changed and never lost."""

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
from quaestor.store.records import Act, NewAct, ActRow, parse_acts, build_row
from quaestor.store.schema import (
    PAGE,
    add_rows,
    upgrade_store,
    read_head,
    read_page,
    read_pages,
    find_rows,
    read_rows_of_kinds,
)
from quaestor.store.sqlite import SQLite


class Journal:
    """The acts of one study. Threads and processes may share a store; a journal may be shared by threads."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.clock = clock
        # Writers of one process queue here, in order, instead of polling the database.
        self._turn = threading.Lock()
        self._writer: int | None = None

    @classmethod
    def open(cls, address: str | Path, clock: Clock = exact_now, backups: Path | None = None) -> Journal:
        """Create the store, upgrade it after a verified backup (into `backups`), or refuse it in one sentence."""
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
        """The number of the last act; 0 where there is none."""
        with explain_errors(self.database):
            return self.database.read_head()

    def acts(self, after: int = 0) -> Iterator[Act]:
        """The acts with higher numbers, in order; no act with a lower number can appear later."""
        while True:
            # Page by page: a reader that takes its time, or never ends, holds nothing open.
            with explain_errors(self.database), self.database.reading() as connection:
                rows = read_page(connection, after)
            yield from parse_acts(rows)
            if len(rows) < PAGE:
                return
            after = rows[-1].number

    def acts_of_kinds(self, kinds: Sequence[str], after: int = 0) -> list[Act]:
        """The acts of some kinds with higher numbers, in order, without reading every rating."""
        with explain_errors(self.database), self.database.reading() as connection:
            return parse_acts(read_rows_of_kinds(connection, kinds, after))

    @contextmanager
    def writing(self) -> Iterator[JournalTransaction]:
        """The one write transaction: holds the write lock from the start, commits at the end, or nothing happened."""
        if self._writer == threading.get_ident():
            raise RuntimeError("a thread that writes cannot begin to write: use the Writing it has")
        with self._turn:
            self._writer = threading.get_ident()
            try:
                with explain_errors(self.database), self.database.writing() as connection:
                    writing = JournalTransaction(connection, self.clock)
                    yield writing
                    writing.write()
            finally:
                self._writer = None

    def append(self, acts: Sequence[NewAct]) -> list[Act]:
        """Put acts on record, all or none; they are on the disk when this returns."""
        with self.writing() as writing:
            return writing.append(acts)


class JournalTransaction:
    """A journal within its write transaction: nobody else can write until it ends."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._head: int | None = None
        self._looked_up: dict[str, ActRow | None] = {}
        """Keys and what stands behind them; nobody else can put anything there meanwhile."""
        self._unwritten: list[ActRow] = []

    def head(self) -> int:
        """The number of the last act, those of this transaction included."""
        if self._head is None:
            self._head = read_head(self._connection)
        return self._head

    def acts(self, after: int = 0) -> Iterator[Act]:
        """The acts with higher numbers, in order, those of this transaction included."""
        self.write()
        return (act for page in read_pages(self._connection, after) for act in parse_acts(page))

    def look_up(self, keys: Iterable[str]) -> None:
        """Ask for many keys at once which are about to be found one by one."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._looked_up]
        if unknown:
            possible = [key for key in unknown if is_storable(key)]  # a database cannot even be asked for others
            self._looked_up |= dict.fromkeys(unknown) | find_rows(self._connection, possible)

    def find(self, key: str) -> Act | None:
        """The act on record with a key."""
        self.look_up([key])
        row = self._looked_up[key]
        return row.act() if row else None

    def append(self, acts: Sequence[NewAct]) -> list[Act]:
        """Put acts on record; an act whose key is there already is returned as it is on record."""
        time = format_timestamp(self._clock())
        new_rows = [build_row(act, time) for act in acts]
        self.look_up(row.key for row in new_rows)
        head = self.head()
        new: dict[str, ActRow] = {}
        recorded: list[Act] = []
        for row in new_rows:
            existing = self._looked_up[row.key] or new.get(row.key)
            if existing is None:
                new[row.key] = existing = row._replace(number=head + len(new) + 1)
            elif not existing.has_same_content(row):
                raise StateError(
                    f"the key {row.key!r} already stands for act {existing.number} ({existing.kind} by {existing.actor}), "
                    f"which says something else than this {row.kind} by {row.actor}: use a new key for a new act"
                )
            recorded.append(existing.act())
        self._head = head + len(new)
        self._looked_up |= new
        self._unwritten += new.values()
        return recorded

    def write(self) -> None:
        """What was appended goes to the database together."""
        new, self._unwritten = self._unwritten, []
        add_rows(self._connection, new)


_FORMS = "write sqlite:///FILE or postgresql://USER@HOST/DATABASE"


def parse_database_url(address: str | Path) -> Database:
    """The database an address names; nothing is opened yet."""
    if isinstance(address, Path):
        return SQLite(address)
    url = _read_address(address)
    if url.drivername == "sqlite":
        if not url.database or url.query:
            raise InputError(f"an address of a SQLite store names its file and nothing else: {_FORMS}")
        return parse_database_url(Path(url.database))
    return PostgreSQL(url)


def _read_address(address: str) -> URL:
    """The parts of an address; what is refused is never shown, it may hold a password."""
    scheme = address.partition("://")[0]
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise InputError(f"the address of the store begins with neither sqlite:// nor postgresql://: {_FORMS}")
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    # A second @ would put the rest of a password into the name of the host.
    if url is None or "@" in f"{url.host}{url.database}":
        raise InputError(
            f"the address of the store cannot be read: {_FORMS}, with special characters of a password as %XX"
        )
    return url.set(drivername="sqlite" if scheme == "sqlite" else "postgresql+psycopg")
