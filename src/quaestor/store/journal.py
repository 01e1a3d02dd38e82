"""The journal: every human act, in the order in which it was acknowledged, never changed and never lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection

from quaestor.base.clock import Clock
from quaestor.base.errors import StateError
from quaestor.store.databases import Database, database_at, explained
from quaestor.store.moments import exact_now, written
from quaestor.store.records import Act, NewAct, Row, row_of
from quaestor.store.revisions import bring_up_to_date
from quaestor.store.tables import PAGE, add_rows, head_of, page, rows, rows_by_key


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
        database = database_at(address)
        try:
            database.prepare()
            bring_up_to_date(database, clock, backups)
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
        with explained(self.database), self.database.reading() as connection:
            return head_of(connection)

    def acts(self, after: int = 0) -> Iterator[Act]:
        """The acts with higher numbers, in order; no act with a lower number can appear later."""
        while True:
            # Page by page: a reader that takes its time, or never ends, holds nothing open.
            with explained(self.database), self.database.reading() as connection:
                found = page(connection, after)
            for row in found:
                yield row.act()
            if len(found) < PAGE:
                return
            after = found[-1].number

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """The one write transaction: holds the write lock from the start, commits at the end, or nothing happened."""
        if self._writer == threading.get_ident():
            raise RuntimeError("a thread that writes cannot begin to write: use the Writing it has")
        with self._turn:
            self._writer = threading.get_ident()
            try:
                with explained(self.database), self.database.writing() as connection:
                    yield Writing(connection, self.clock)
            finally:
                self._writer = None

    def append(self, acts: Sequence[NewAct]) -> list[Act]:
        """Put acts on record, all or none; they are on the disk when this returns."""
        with self.writing() as writing:
            return writing.append(acts)


class Writing:
    """A journal within its write transaction: nobody else can write until it ends."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._head: int | None = None
        self._unknown: set[str] = set()
        """Keys that were looked for and are not on record; nobody else can put them there meanwhile."""

    def head(self) -> int:
        """The number of the last act, those of this transaction included."""
        if self._head is None:
            self._head = head_of(self._connection)
        return self._head

    def acts(self, after: int = 0) -> Iterator[Act]:
        """The acts with higher numbers, in order, those of this transaction included."""
        return (row.act() for row in rows(self._connection, after))

    def find(self, key: str) -> Act | None:
        """The act on record with a key."""
        found = rows_by_key(self._connection, [key]).get(key)
        if found is None:
            self._unknown.add(key)
        return found.act() if found else None

    def append(self, acts: Sequence[NewAct]) -> list[Act]:
        """Put acts on record; an act whose key is there already is returned as it is on record."""
        time = written(self._clock())
        wanted = [row_of(act, time) for act in acts]
        asked = [row.key for row in wanted if row.key not in self._unknown]
        known = rows_by_key(self._connection, asked) if asked else {}
        head = self.head()
        recorded: list[Act] = []
        new: list[Row] = []
        for row in wanted:
            found = known.get(row.key)
            if found is None:
                known[row.key] = found = row._replace(number=head + len(new) + 1)
                new.append(found)
            elif not found.says_the_same_as(row):
                raise StateError(
                    f"the key {row.key!r} already stands for act {found.number} ({found.kind} by {found.actor}), "
                    f"which says something else than this {row.kind} by {row.actor}: use a new key for a new act"
                )
            recorded.append(found.act())
        add_rows(self._connection, new)
        self._head = head + len(new)
        self._unknown.difference_update(row.key for row in new)
        return recorded
