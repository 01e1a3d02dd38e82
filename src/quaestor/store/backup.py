"""Restores all acts of a journal from a backup file, also into the other kind of database."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, delete

from quaestor.base.clock import Clock, format_file_stamp, format_timestamp
from quaestor.base.errors import StateError
from quaestor.store.backup_file import Backup, Digest, write_backup
from quaestor.store.database import DamagedStore, explain_errors
from quaestor.store.journal import Journal, parse_database_url
from quaestor.store.private_file_copy import BackupLines
from quaestor.store.records import RestoreReport
from quaestor.store.schema import acts, add_rows, read_head, read_rows


class RestoreTarget(Protocol):
    """The private files that are restored together with the acts."""

    def lock(self) -> None:
        """Locks the existing files until the restore ends; does nothing if called again.

        The caller has locked the journal already: the journal comes first in the lock order.
        """

    def describe_difference(self) -> str:
        """Describes existing content that would be replaced, to be followed by `than FILE`; empty if there is none."""

    def list_parts(self) -> Sequence[BackupLines]:
        """Returns the existing content, which is backed up before it is replaced."""

    def restore(self) -> None:
        """Writes the restored content for good; the acts are committed right after."""


def restore_backup(
    backup: Backup, address: str | Path, target: RestoreTarget, replace: bool, backups: Path | None, clock: Clock
) -> RestoreReport:
    """Restores a backup into a store that is missing, empty, or has the first acts of the backup.

    Refuses any other store, or with `replace` backs it up (into `backups` or next to the store) and replaces it.
    Restores everything or nothing.
    """
    try:
        return _restore(backup, address, target, replace, backups, clock)
    except DamagedStore:
        if not replace:
            raise
    aside = parse_database_url(address).set_aside(format_file_stamp(clock()))
    report = _restore(backup, address, target, replace, backups, clock)
    return dataclasses.replace(report, kept=report.kept or aside, damaged=(aside,))


def _restore(
    backup: Backup, address: str | Path, target: RestoreTarget, replace: bool, backups: Path | None, clock: Clock
) -> RestoreReport:
    with Journal.open(address, clock, backups) as journal:
        database, kept = journal.database, None
        with explain_errors(database), database.writing() as connection:
            before = read_head(connection)
            first_different = _find_first_difference(backup, connection)
            target.lock()
            difference = target.describe_difference()
            if (first_different is not None or difference) and not replace:
                existing = difference or (
                    f"{database.display_name} contains {before:,} acts, from act {first_different:,} on other ones"
                )
                raise StateError(
                    f"{existing} than {backup.report.file}: restore with --replace, which backs up this data first"
                )
            if first_different is not None or difference:
                backup_path = database.name_file(backups, f"before-restore-{format_file_stamp(clock())}.backup")
                existing_rows, created = read_rows(connection), format_timestamp(clock())
                kept = write_backup(existing_rows, backup_path, created, target.list_parts()).file
            if first_different is None:
                add_rows(connection, (row for row in backup.read_rows() if row.number > before))
            else:
                with database.allow_deletion(connection):
                    connection.execute(delete(acts))
                    add_rows(connection, backup.read_rows())
                before = 0
            _verify(backup, connection)
            target.restore()
        return RestoreReport(backup.report.acts, backup.report.acts - before, kept)


def _find_first_difference(backup: Backup, connection: Connection) -> int | None:
    """Returns the number of the first act in the store that differs from the backup; None if none does."""
    for number, (existing, restored) in enumerate(zip_longest(read_rows(connection), backup.read_rows()), start=1):
        if existing is None:
            return None
        if existing != restored:
            return number
    return None


def _verify(backup: Backup, connection: Connection) -> None:
    """Raises StateError if the written acts differ from the backup; runs before the commit, which is then undone."""
    digest = Digest()
    for _ in digest.pass_through(read_rows(connection)):
        pass
    if digest.sha256 != backup.report.sha256:
        raise StateError(
            f"{backup.report.file} could not be verified after writing, so nothing was restored: try again"
        )
