"""A journal in PostgreSQL; writers take an advisory lock, so that act numbers follow the order of commits."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError

from quaestor.base.errors import InputError, MissingDependency, QuaestorError, StateError, TemporarilyUnavailable
from quaestor.store.backup_file import write_backup
from quaestor.store.database import explain_errors, format_error
from quaestor.store.schema import VERSIONS, read_head, read_revision, read_rows

_LOCK = 0x5155414553544F52
"""The number of the writers' advisory lock: `QUAESTOR` as bytes."""
_DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"


class PostgreSQL:
    """The database of a journal on a PostgreSQL server."""

    def __init__(self, url: URL) -> None:
        if importlib.util.find_spec("psycopg") is None:
            raise MissingDependency("a store in PostgreSQL needs psycopg: pip install 'quaestor[postgres]'")
        # The query part of the URL may contain a password as well.
        self.display_name = url.set(drivername="postgresql", password=None, query={}).render_as_string()
        timeout = {} if "connect_timeout" in url.query else {"connect_timeout": 10}
        self._engine = create_engine(
            url,
            connect_args={"client_encoding": "utf8", **timeout},
            max_overflow=15,
            pool_timeout=60,
            # The server may have been restarted since the last act.
            pool_pre_ping=True,
        )
        event.listen(self._engine, "connect", _make_durable)

    def prepare(self) -> None:
        with explain_errors(self), self.reading() as connection:
            encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            raise InputError(f"{self.display_name} is encoded as {encoding}: create a database with ENCODING 'UTF8'")

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        # Read committed: reads after the lock include what its previous holder wrote.
        options = {"isolation_level": "READ COMMITTED", "postgresql_readonly": False}
        with self._engine.connect().execution_options(**options) as connection, connection.begin():
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            yield connection

    def read_head(self) -> int:
        with explain_errors(self), self.reading() as connection:
            return read_head(connection)

    def read_revision(self, connection: Connection) -> str | None:
        if self._has_table(connection, VERSIONS):
            return read_revision(connection)
        # Another process may create both tables between two checks; they appear together, so check again.
        if self._has_table(connection, "acts") and not self._has_table(connection, VERSIONS):
            raise InputError(f"{self.display_name} has a table `acts` of another program: name another database")
        return None

    def _has_table(self, connection: Connection, table: str) -> bool:
        return connection.exec_driver_sql(f"SELECT to_regclass('{table}')").scalar_one() is not None

    def name_file(self, folder: Path | None, suffix: str) -> Path:
        return (folder or Path.cwd()) / f"{self._engine.url.database}.{suffix}"

    def write_copy(self, target: Path, connection: Connection, created: str) -> None:
        write_backup(read_rows(connection), target, created)

    def set_aside(self, stamp: str) -> Path:
        raise StateError(f"{self.display_name} is damaged: repair the server, or name another database")

    @contextmanager
    def allow_deletion(self, connection: Connection) -> Iterator[None]:
        connection.exec_driver_sql("ALTER TABLE acts DISABLE TRIGGER USER")
        yield
        connection.exec_driver_sql("ALTER TABLE acts ENABLE TRIGGER USER")

    def explain_error(self, error: DBAPIError) -> QuaestorError:
        if getattr(error.orig, "sqlstate", None) is None:
            remedy = "start the server, or correct the address of the store"
            return TemporarilyUnavailable(f"{self.display_name} cannot be reached ({format_error(error)}): {remedy}")
        return TemporarilyUnavailable(f"{self.display_name} cannot be used: {format_error(error)}")


def _make_durable(connection: DBAPIConnection, record: object) -> None:
    """Makes commits durable: a server may be configured to acknowledge before it has written."""
    cursor = connection.cursor()
    cursor.execute(_DURABLE)
    cursor.close()
    connection.commit()
