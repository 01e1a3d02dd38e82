"""What the journal asks of a database, and how its failures are explained."""

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
    """A store that cannot be read any more."""


class Database(Protocol):
    """One of the two databases a journal can live in."""

    @property
    def display_name(self) -> str:
        """Where the store is, in words that hold no password."""

    def prepare(self) -> None:
        """Make sure a store can be opened or made here, or refuse in one sentence."""

    def close(self) -> None: ...

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the store, however long it takes."""

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that holds the write lock from its first moment."""

    def read_head(self) -> int:
        """The number of the last act, 0 where there is none; asked for very often."""

    def read_revision(self, connection: Connection) -> str | None:
        """The revision noted in the store; none where there is no store yet."""

    def name_file(self, folder: Path | None, words: str) -> Path:
        """The name of a file that belongs to the store, in a folder or where the store's files are."""

    def write_copy(self, target: Path, connection: Connection, made: str) -> None:
        """Write a verified copy of a store of an older revision to a new file."""

    def set_aside(self, stamp: str) -> Path:
        """Make room where a damaged store is; nothing of it is lost."""

    def allow_deletion(self, connection: Connection) -> AbstractContextManager[None]:
        """Within a restore that replaces, acts may be removed."""

    def explain_error(self, error: DBAPIError) -> QuaestorError:
        """A failure of the database as one sentence."""


@contextmanager
def explain_errors(database: Database) -> Iterator[None]:
    """Failures of the database leave as one sentence."""
    try:
        yield
    except DBAPIError as error:
        raise database.explain_error(error) from error
    except NoConnectionFree as error:
        raise TemporarilyUnavailable(
            f"{database.display_name} is too busy, no connection became free: try again"
        ) from error


def format_error(error: DBAPIError) -> str:
    """What the database itself said, without the statement and its values."""
    lines = str(error.orig).strip().splitlines()
    return lines[0].strip() if lines else type(error.orig).__name__
