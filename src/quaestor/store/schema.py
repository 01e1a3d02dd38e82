"""The table of the journal: reading and writing rows, and upgrading an older store after a backup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    column,
    func,
    insert,
    select,
    table,
)

from quaestor.base.clock import Clock, format_file_stamp, format_timestamp
from quaestor.base.errors import StateError
from quaestor.store.database import Database, explain_errors
from quaestor.store.records import ActRow

VERSIONS = "quaestor_revision"
"""The table in which Alembic stores the revision; it identifies a store of Quaestor."""
PAGE = 2_000

_Number = BigInteger().with_variant(Integer(), "sqlite")

acts = Table(
    "acts",
    MetaData(),
    Column("number", _Number, primary_key=True, autoincrement=False),
    Column("time", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("codebook", _Number, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("payload", Text, nullable=False),
)
_REVISION = select(column("version_num", Text)).select_from(table(VERSIONS))
_HEAD = select(func.coalesce(func.max(acts.c.number), 0))
_AFTER = select(acts).where(acts.c.number > bindparam("after")).order_by(acts.c.number).limit(PAGE)
_KEY = select(acts).where(acts.c.key == bindparam("key"))
_KEYS = select(acts).where(acts.c.key.in_(bindparam("keys", expanding=True)))
_KINDS = (
    select(acts)
    .where(acts.c.number > bindparam("after"), acts.c.kind.in_(bindparam("kinds", expanding=True)))
    .order_by(acts.c.number)
)
_INSERT = insert(acts)


def read_revision(connection: Connection) -> str | None:
    """Returns the revision of a store; None until its creation is committed."""
    revision: str | None = connection.execute(_REVISION).scalar_one_or_none()
    return revision


def read_head(connection: Connection) -> int:
    """Returns the number of the last act, or 0."""
    return int(connection.execute(_HEAD).scalar_one())


def read_page(connection: Connection, after: int) -> list[ActRow]:
    """Returns the next rows in order, at most `PAGE` of them."""
    return list(map(ActRow._make, connection.execute(_AFTER, {"after": after}).all()))


def read_pages(connection: Connection, after: int = 0) -> Iterator[list[ActRow]]:
    """Yields all rows that a transaction sees, page by page."""
    while page := read_page(connection, after):
        yield page
        after = page[-1].number


def read_rows(connection: Connection, after: int = 0) -> Iterator[ActRow]:
    """Yields all rows that a transaction sees, with at most one page in memory."""
    return (row for page in read_pages(connection, after) for row in page)


def find_rows(connection: Connection, keys: Sequence[str]) -> dict[str, ActRow]:
    """Returns the rows with these keys."""
    if len(keys) == 1:  # the most frequent case, in half the time
        return _index_by_key(connection.execute(_KEY, {"key": keys[0]}))
    rows: dict[str, ActRow] = {}
    for start in range(0, len(keys), PAGE):
        rows |= _index_by_key(connection.execute(_KEYS, {"keys": keys[start : start + PAGE]}))
    return rows


def read_rows_of_kinds(connection: Connection, kinds: Sequence[str], after: int) -> list[ActRow]:
    return list(map(ActRow._make, connection.execute(_KINDS, {"after": after, "kinds": list(kinds)})))


def _index_by_key(result: Iterable[Any]) -> dict[str, ActRow]:
    return {row.key: row for row in map(ActRow._make, result)}


def add_rows(connection: Connection, new: Iterable[ActRow]) -> int:
    """Inserts rows unchanged and returns their number; the caller holds the write lock."""
    remaining, count = iter(new), 0
    while batch := [row._asdict() for row in islice(remaining, PAGE)]:
        connection.execute(_INSERT, batch)
        count += len(batch)
    return count


REVISIONS = ("0001", "0002")
LATEST = REVISIONS[-1]


def upgrade_store(database: Database, clock: Clock, backups: Path | None, target: str = LATEST) -> Path | None:
    """Creates the store or upgrades it to this program's revision; returns the backup if one was made."""
    with explain_errors(database):
        with database.reading() as connection:
            if _read_known_revision(database, connection) == target:
                return None
        with database.writing() as connection:
            # Another process may have done it while we waited for the lock.
            revision = _read_known_revision(database, connection)
            if revision == target:
                return None
            kept = None
            if revision is not None:
                kept = database.name_file(backups, f"before-{target}-{format_file_stamp(clock())}")
                kept.parent.mkdir(parents=True, exist_ok=True)
                database.write_copy(kept, connection, format_timestamp(clock()))
            _migrate(connection, target)
            return kept


def _read_known_revision(database: Database, connection: Connection) -> str | None:
    revision = database.read_revision(connection)
    if revision is not None and revision not in REVISIONS:
        raise StateError(
            f"{database.display_name} was written by a newer Quaestor (revision {revision}, this one knows {LATEST}): "
            "update Quaestor"
        )
    return revision


def _migrate(connection: Connection, target: str) -> None:
    # Imported here: it takes most of a second and is needed once per store.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    command.upgrade(config, target)
