"""Backup and restore of a store alone, without the files that a study keeps next to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quaestor.base.clock import Clock, exact_now, format_timestamp
from quaestor.store.backup import restore_backup
from quaestor.store.backup_file import open_backup, write_backup
from quaestor.store.database import explain_errors
from quaestor.store.journal import Journal
from quaestor.store.private_file_copy import BackupLines
from quaestor.store.records import BackupReport, RestoreReport
from quaestor.store.schema import read_rows


class Nothing:
    """No more than the acts."""

    def lock(self) -> None:
        return

    def describe_difference(self) -> str:
        return ""

    def list_parts(self) -> Sequence[BackupLines]:
        return ()

    def restore(self) -> None:
        return


def back_up(journal: Journal, target: Path) -> BackupReport:
    """Write all acts, as they are at one moment, to one file, and read it back; writers need not wait."""
    with explain_errors(journal.database), journal.database.reading() as connection:
        return write_backup(read_rows(connection), target, format_timestamp(journal.clock()))


def restore(
    source: Path, address: str | Path, *, replace: bool = False, backups: Path | None = None, clock: Clock = exact_now
) -> RestoreReport:
    """Bring a backup into a store that is missing, empty, or holds the first acts of the backup.

    Any other store is refused, or with `replace` kept in a file of `backups` (or beside the store) and replaced.
    """
    with open_backup(source) as backup:
        return restore_backup(backup, address, Nothing(), replace, backups, clock)
