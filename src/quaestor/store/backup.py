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
from quaestor.store.database import Damaged, explained
from quaestor.store.journal import Journal, database_at
from quaestor.store.private_file_copy import Part
from quaestor.store.records import RestoreReport
from quaestor.store.schema import acts, add_rows, head_of, rows


class RestoreTarget(Protocol):
    """What comes back together with the acts, and is not in the store."""

    def hold(self) -> None:
        """Lock what is there until the restore ends; called again, it does nothing.

        The journal is locked already, as the order of locks asks for.
        """

    def difference(self) -> str:
        """What is there and would be replaced, in words; empty where nothing is."""

    def parts(self) -> Sequence[Part]:
        """What is there, to be kept before it is replaced."""

    def bring(self) -> None:
        """Put what comes back in its place, for good; the acts follow at once."""


def restore_from(
    backup: Backup, address: str | Path, beside: RestoreTarget, replace: bool, backups: Path | None, clock: Clock
) -> RestoreReport:
    """Bring an open backup, and more than acts, into a store that is missing, empty, or holds the first acts of it.

    Any other store is refused, or with `replace` kept in a file of `backups` (or next to the store) and replaced. All
    comes back, or nothing.
    """
    try:
        return _bring(backup, address, beside, replace, backups, clock)
    except Damaged:
        if not replace:
            raise
    aside = database_at(address).set_aside(format_file_stamp(clock()))
    report = _bring(backup, address, beside, replace, backups, clock)
    return dataclasses.replace(report, kept=report.kept or aside, damaged=(aside,))


def _bring(
    backup: Backup, address: str | Path, beside: RestoreTarget, replace: bool, backups: Path | None, clock: Clock
) -> RestoreReport:
    with Journal.open(address, clock, backups) as journal:
        database, kept = journal.database, None
        with explained(database), database.writing() as connection:
            before = head_of(connection)
            differs = _first_difference(backup, connection)
            beside.hold()
            others = beside.difference()
            if (differs is not None or others) and not replace:
                there = others or f"{database.shown} holds {before:,} acts, and from act {differs:,} on not those"
                raise StateError(
                    f"{there} of {backup.report.file}: restore with --replace, which keeps what is there in a file"
                )
            if differs is not None or others:
                target = database.beside(backups, f"before-restore-{format_file_stamp(clock())}.backup")
                kept = write_backup(rows(connection), target, format_timestamp(clock()), beside.parts()).file
            if differs is None:
                add_rows(connection, (row for row in backup.rows() if row.number > before))
            else:
                with database.unguarded(connection):
                    connection.execute(delete(acts))
                    add_rows(connection, backup.rows())
                before = 0
            _verify(backup, connection)
            beside.bring()
        return RestoreReport(backup.report.acts, backup.report.acts - before, kept)


def _first_difference(backup: Backup, connection: Connection) -> int | None:
    """The number of the first act of the store that the backup does not have just so."""
    for number, (there, ours) in enumerate(zip_longest(rows(connection), backup.rows()), start=1):
        if there is None:
            return None
        if there != ours:
            return number
    return None


def _verify(backup: Backup, connection: Connection) -> None:
    """Before the commit, so that a restore that went wrong has not happened."""
    digest = Digest()
    for _ in digest.through(rows(connection)):
        pass
    if digest.sha256 != backup.report.sha256:
        raise StateError(f"{backup.report.file} did not read back as it was restored, so nothing was: try again")
