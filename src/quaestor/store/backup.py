"""Restores a backup: all acts of a store from one file, between databases as well."""

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
from quaestor.store.private_file_copy import BackupPart
from quaestor.store.records import RestoreReport
from quaestor.store.schema import acts, add_rows, read_head, read_rows


class RestoreTarget(Protocol):
    """What comes back together with the acts, and is not in the store."""

    def lock(self) -> None:
        """Lock what is there until the restore ends; called again, it does nothing.

        The journal is locked already, as the order of locks asks for.
        """

    def describe_difference(self) -> str:
        """What is there and would be replaced, in words; empty where nothing is."""

    def list_parts(self) -> Sequence[BackupPart]:
        """What is there, to be kept before it is replaced."""

    def restore(self) -> None:
        """Put what comes back in its place, for good; the acts follow at once."""


def restore_backup(
    backup: Backup, address: str | Path, target: RestoreTarget, replace: bool, backups: Path | None, clock: Clock
) -> RestoreReport:
    """Bring an open backup, and more than acts, into a store that is missing, empty, or holds the first acts of it.

    Any other store is refused, or with `replace` kept in a file of `backups` (or next to the store) and replaced. All
    comes back, or nothing.
    """
    try:
        return _bring(backup, address, target, replace, backups, clock)
    except DamagedStore:
        if not replace:
            raise
    aside = parse_database_url(address).set_aside(format_file_stamp(clock()))
    report = _bring(backup, address, target, replace, backups, clock)
    return dataclasses.replace(report, kept=report.kept or aside, damaged=(aside,))


def _bring(
    backup: Backup, address: str | Path, beside: RestoreTarget, replace: bool, backups: Path | None, clock: Clock
) -> RestoreReport:
    with Journal.open(address, clock, backups) as journal:
        database, kept = journal.database, None
        with explain_errors(database), database.writing() as connection:
            before = read_head(connection)
            differs = _first_difference(backup, connection)
            beside.lock()
            others = beside.describe_difference()
            if (differs is not None or others) and not replace:
                there = (
                    others or f"{database.display_name} holds {before:,} acts, and from act {differs:,} on not those"
                )
                raise StateError(
                    f"{there} of {backup.report.file}: restore with --replace, which keeps what is there in a file"
                )
            if differs is not None or others:
                target = database.name_file(backups, f"before-restore-{format_file_stamp(clock())}.backup")
                kept = write_backup(read_rows(connection), target, format_timestamp(clock()), beside.list_parts()).file
            if differs is None:
                add_rows(connection, (row for row in backup.read_rows() if row.number > before))
            else:
                with database.allow_deletion(connection):
                    connection.execute(delete(acts))
                    add_rows(connection, backup.read_rows())
                before = 0
            _verify(backup, connection)
            beside.restore()
        return RestoreReport(backup.report.acts, backup.report.acts - before, kept)


def _first_difference(backup: Backup, connection: Connection) -> int | None:
    """The number of the first act of the store that the backup does not have just so."""
    for number, (there, ours) in enumerate(zip_longest(read_rows(connection), backup.read_rows()), start=1):
        if there is None:
            return None
        if there != ours:
            return number
    return None


def _verify(backup: Backup, connection: Connection) -> None:
    """Before the commit, so that a restore that went wrong has not happened."""
    digest = Digest()
    for _ in digest.through(read_rows(connection)):
        pass
    if digest.sha256 != backup.report.sha256:
        raise StateError(f"{backup.report.file} did not read back as it was restored, so nothing was: try again")
