"""Creates a store, brings an older one up to date after a verified backup, refuses a newer one."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from quaestor.base.clock import Clock
from quaestor.base.errors import StateError
from quaestor.store.databases import Database, explained
from quaestor.store.moments import stamp, written

REVISIONS = ("0001", "0002")
LATEST = REVISIONS[-1]


def bring_up_to_date(database: Database, clock: Clock, backups: Path | None, target: str = LATEST) -> Path | None:
    """Afterwards the store is there and of this program's revision; returns the backup where one was made."""
    with explained(database):
        with database.reading() as connection:
            if _checked(database, connection) == target:
                return None
        with database.writing() as connection:
            # Somebody else may have done it while we waited for the lock.
            found = _checked(database, connection)
            if found == target:
                return None
            kept = None
            if found is not None:
                kept = database.beside(backups, f"before-{target}-{stamp(clock())}")
                kept.parent.mkdir(parents=True, exist_ok=True)
                database.keep(kept, connection, written(clock()))
            _migrate(connection, target)
            return kept


def _checked(database: Database, connection: Connection) -> str | None:
    found = database.revision(connection)
    if found is not None and found not in REVISIONS:
        raise StateError(
            f"{database.shown} was written by a newer Quaestor (revision {found}, this one knows {LATEST}): "
            "update Quaestor"
        )
    return found


def _migrate(connection: Connection, target: str) -> None:
    # Most of a second to import, and needed once in a store's life.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    command.upgrade(config, target)
