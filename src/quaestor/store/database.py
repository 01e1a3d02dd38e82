"""The interface of a journal's database, and the explanation of its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from quaestor.base.errors import QuaestorError, TemporarilyUnavailable


class DamagedStore(TemporarilyUnavailable):
    """The store is damaged and cannot be read."""


class Database(Protocol):
    """The database of a journal: SQLite or PostgreSQL."""

    @property
    def display_name(self) -> str:
        """The location of the store for messages, without a password."""

    def prepare(self) -> None:
        """Ensures that a store can be opened or created; raises an error otherwise."""

    def close(self) -> None: ...

    def reading(self) -> AbstractContextManager[Connection]:
        """Opens a transaction that sees one state of the store, regardless of its duration."""

    def writing(self) -> AbstractContextManager[Connection]:
        """Opens a transaction that holds the write lock from its start."""

    def read_head(self) -> int:
        """Returns the number of the last act, or 0; called very often."""

    def read_revision(self, connection: Connection) -> str | None:
        """Returns the schema revision of the store; None if there is no store yet."""

    def name_file(self, folder: Path | None, suffix: str) -> Path:
        """Returns the path for a file about the store, in a folder or next to the store."""

    def write_copy(self, target: Path, connection: Connection, created: str) -> None:
        """Writes a verified copy of a store of an older revision to a new file."""

    def set_aside(self, stamp: str) -> Path:
        """Renames a damaged store to make room for a new one; nothing of it is deleted."""

    def allow_deletion(self, connection: Connection) -> AbstractContextManager[None]:
        """Disables the triggers that protect acts, for a restore that replaces them."""

    def explain_error(self, error: DBAPIError) -> QuaestorError:
        """Returns a database error as an error with a message for the user."""


@contextmanager
def explain_errors(database: Database) -> Iterator[None]:
    """Converts database errors into errors with a message for the user."""
    try:
        yield
    except DBAPIError as error:
        raise database.explain_error(error) from error
    except NoConnectionFree as error:
        raise TemporarilyUnavailable(
            f"{database.display_name} is too busy and has no free connection: try again"
        ) from error


def format_error(error: DBAPIError) -> str:
    """Returns the first line of the database's own message, without the statement and its values."""
    lines = str(error.orig).strip().splitlines()
    return lines[0].strip() if lines else type(error.orig).__name__
