"""Backs up a study to one file and restores it: acts, answers, invitations and interviews at one moment.

Payment claims are never in that file: `surveys.claim_backup` writes them to a separate one. Interviews are copied
encrypted; their keys are in no backup.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from quaestor.base.clock import Clock, exact_now, format_file_stamp, format_timestamp
from quaestor.base.errors import InputError
from quaestor.base.files import fsync
from quaestor.store.backup import restore_backup
from quaestor.store.backup_file import Backup, open_backup, write_backup
from quaestor.store.database import explain_errors
from quaestor.store.erasure import describe_pending_erasures
from quaestor.store.private_file import DamagedFile, PrivateFile
from quaestor.store.private_file_copy import (
    BackupLines,
    PrivateFileSchema,
    compute_digest,
    copy_to_memory,
    damaged_backup_error,
    format_lines,
    is_empty,
    replace_content,
    restore_copy,
)
from quaestor.store.records import BackupReport, RestoreReport
from quaestor.store.schema import read_head, read_rows
from quaestor.study.contributions import BackupPart, PartCopy, WithdrawnData
from quaestor.study.features import Feature, backup_parts, features
from quaestor.study.folder import Study, backup_folder, open_journal, store_address


@dataclass(frozen=True)
class RestoredPart:
    """One file of the study, and its restored content."""

    feature: Feature
    part: BackupPart
    path: Path
    copy: sqlite3.Connection
    """A copy with the content to restore."""


@dataclass(frozen=True)
class PresentPart:
    """The current content of a file during a restore."""

    restored: RestoredPart
    writing: sqlite3.Connection
    """The file itself, within a transaction."""
    kept: sqlite3.Connection
    """A copy without withdrawn data, which must also leave the current file."""

    @cached_property
    def is_same(self) -> bool:
        return compute_digest(self.writing) == compute_digest(self.restored.copy)

    @property
    def is_replaced(self) -> bool:
        """Tells whether the file has data that is neither withdrawn nor restored."""
        if self.is_same or is_empty(self.writing):
            return False
        return compute_digest(self.kept) != compute_digest(self.restored.copy)


class StudyRestore:
    """Implements `store.backup.RestoreTarget`: restores the files next to the journal in `restore` only."""

    def __init__(self, study: Study, parts: Sequence[RestoredPart], acts: Mapping[str, Any], damaged: str) -> None:
        self._study = study
        self._parts = parts
        self._acts = acts
        self._damaged_suffix = damaged
        """Suffix for files that cannot be read; empty if these are refused."""
        self.damaged: dict[Path, Path] = {}
        """Unreadable files, and the names under which they are kept."""
        self.left_out: dict[str, WithdrawnData] = {}
        """By feature, what was withdrawn since the backup."""
        self._present: dict[str, PresentPart] | None = None
        """By part, the current content; None before it is locked."""
        self._copies = ExitStack()
        self._transactions = ExitStack()
        self._files: list[PrivateFile] = []

    def lock(self) -> None:
        if self._present is not None:
            return
        self._present = {}
        for restored in self._parts:
            try:
                if present := self._lock(restored):
                    self._present[restored.part.name] = present
            except DamagedFile:
                if not self._damaged_suffix:
                    raise
                path = restored.path
                self.damaged[path] = path.with_name(f"{path.name}{self._damaged_suffix}")
        for feature in features():
            mine = {
                restored.part.name: PartCopy(restored.path, restored.copy, self._find_present(restored))
                for restored in self._parts
                if restored.feature is feature
            }
            if feature.backup and mine:
                acts = self._acts[feature.name]
                self.left_out[feature.name] = feature.backup.leave_out(self._study, acts, mine)

    def _lock(self, restored: RestoredPart) -> PresentPart | None:
        """Locks a file until the restore ends, and copies it; None if it does not exist."""
        form, path = restored.part.form, restored.path
        if not path.exists():
            return None
        file = self._open(form, path)
        with file.reading() as reading:
            whole = reading.execute("PRAGMA integrity_check").fetchone()[0]
        if whole != "ok":
            raise DamagedFile(f"{path} is damaged ({whole.splitlines()[-1]}): {form.lost}")
        writing = self._transactions.enter_context(file.erasing(finish=False))
        with file.snapshot() as still:
            return PresentPart(restored, writing, self._copies.enter_context(closing(copy_to_memory(still))))

    def _open(self, form: PrivateFileSchema, path: Path) -> PrivateFile:
        file = form.open(path)
        self._files.append(file)
        return file

    def _present_part(self, restored: RestoredPart) -> PresentPart | None:
        return (self._present or {}).get(restored.part.name)

    def _find_present(self, restored: RestoredPart) -> sqlite3.Connection | None:
        present = self._present_part(restored)
        return present.kept if present else None

    def describe_difference(self) -> str:
        for restored in self._parts:
            present = self._present_part(restored)
            if present and present.is_replaced:
                part = restored.part
                return f"{restored.path} contains {part.count(present.kept):,} other {part.table}"
        return ""

    def list_parts(self) -> Sequence[BackupLines]:
        return [
            BackupLines(restored.part.name, restored.part.form.version, format_lines(kept))
            for restored in self._parts
            if (kept := self._find_present(restored))
        ]

    def restore(self) -> None:
        for path, aside in self.damaged.items():
            # The file itself last: a leftover write-ahead log would be replayed into the next file.
            for suffix in ("-wal", "-shm", ""):
                part = path.with_name(f"{path.name}{suffix}")
                if part.exists():
                    part.rename(f"{aside}{suffix}")
            fsync(path.parent)
        for restored in self._parts:
            present = self._present_part(restored)
            if present and present.is_same:
                continue
            form, path = restored.part.form, restored.path
            if present:
                writing = present.writing
            else:
                writing = self._transactions.enter_context(self._open(form, path).erasing(finish=False))
            replace_content(writing, restored.copy)
            if restored.feature.backup:
                restored.feature.backup.note_withdrawals(restored.part, path, restored.copy)
        self._transactions.close()
        for file in self._files:
            file.finish_erasure()

    def counts(self) -> dict[str, int]:
        """Returns the number of entries of each part after the restore."""
        return {restored.part.counted: restored.part.count(restored.copy) for restored in self._parts}

    def end(self, *error: object) -> None:
        """Releases all locks; uncommitted changes are rolled back."""
        try:
            self._transactions.__exit__(*error)  # type: ignore[arg-type]
        finally:
            self._copies.close()
            for file in self._files:
                file.close()


@contextmanager
def prepare_restore(study: Study, backup: Backup, replace: bool, stamp: str) -> Iterator[StudyRestore]:
    """Makes and checks all copies before anything of the study is locked."""
    if unknown := backup.report.parts.keys() - {part.name for part in backup_parts()}:
        raise InputError(f"{backup.report.file} contains {min(unknown)!r}, which is unknown: update Quaestor")
    with ExitStack() as copies:
        parts = [
            RestoredPart(
                feature,
                part,
                study.root / part.file,
                copies.enter_context(_open_checked_copy(study, backup, feature, part)),
            )
            for feature in features()
            if feature.backup
            for part in feature.backup.parts
            if part.name in backup.report.parts
        ]
        acts = {feature.name: _acts_read(feature, backup) for feature in features()}
        restore = StudyRestore(study, parts, acts, f".damaged-{stamp}" if replace else "")
        copies.push(restore.end)
        yield restore


@contextmanager
def _open_checked_copy(
    study: Study, backup: Backup, feature: Feature, part: BackupPart
) -> Iterator[sqlite3.Connection]:
    source = backup.report.file
    with restore_copy(part.form, backup.report.parts[part.name].version, backup.read_lines(part.name), source) as copy:
        try:
            if feature.backup:
                feature.backup.check(study, part, copy, source)
        except (ValueError, TypeError, RecursionError) as error:
            raise damaged_backup_error(source, str(error)) from error
        yield copy


def _acts_read(feature: Feature, backup: Backup) -> Any:
    try:
        return feature.backup.read_acts(backup) if feature.backup else None
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise damaged_backup_error(backup.report.file, f"an act is not a valid withdrawal: {error}") from error


@dataclass(frozen=True)
class StudyRestoreResult:
    """Result of a restore: acts and other files."""

    journal: RestoreReport
    entries: dict[str, int]
    """Number of responses, invitations, interview and identity entries after the restore, for each part in the backup;
    other parts stay unchanged."""
    withdrawn: int
    """Number of responses left out because they were withdrawn."""
    unknown_since: str | None
    """The time of the backup, if withdrawals after it are unknown here."""
    lists: tuple[str, ...] = ()
    """The lists that would contain them."""
    participants: tuple[str, ...] = ()
    """Number of participants left out because they withdrew."""
    pending: str = ""
    """Descriptions of replaced or withdrawn data that is still in the bytes of a file."""


def back_up_study(study: Study, file: Path | None = None, clock: Clock = exact_now) -> BackupReport:
    """Writes all acts, answers, invitations and interviews to one file, by default named after the current time.

    Writing is blocked only for the instant in which the snapshots start.
    """
    target = file or backup_folder(study) / f"study-{format_file_stamp(clock())}.backup"
    with ExitStack() as opened:
        journal = opened.enter_context(open_journal(study, clock))
        present = [part for part in backup_parts() if (study.root / part.file).exists()]
        files = [opened.enter_context(part.form.open(study.root / part.file)) for part in present]
        opened.enter_context(explain_errors(journal.database))
        with ExitStack() as looked:
            with ExitStack() as locks:
                locks.enter_context(journal.database.writing())
                for private_file in files:
                    locks.enter_context(private_file.writing())
                acts = opened.enter_context(journal.database.reading())
                read_head(acts)  # starts the snapshot
                still = [looked.enter_context(file.snapshot()) for file in files]
            copies = [opened.enter_context(closing(copy_to_memory(snapshot))) for snapshot in still]
        parts = [
            BackupLines(part.name, part.form.version, format_lines(copy))
            for part, copy in zip(present, copies, strict=True)
        ]
        return write_backup(read_rows(acts), target, format_timestamp(clock()), parts)


def list_keys(study: Study, report: BackupReport) -> tuple[Path, ...]:
    """Lists the keys needed to read the interviews of a backup, which never contains them."""
    keys = {part: key for feature in features() if feature.backup for part, key in feature.backup.keys(study).items()}
    return tuple(key for part, key in keys.items() if part in report.parts)


def restore_study(study: Study, file: Path, replacing: bool = False, clock: Clock = exact_now) -> StudyRestoreResult:
    """Restores a backup completely or not at all; data withdrawn since is left out.

    Afterwards it also removes everything derived from withdrawn participants' data.
    """
    with open_backup(file) as backup, prepare_restore(study, backup, replacing, format_file_stamp(clock())) as target:
        report = restore_backup(backup, store_address(study), target, replacing, backup_folder(study), clock)
        left_out = target.left_out
        unknown = [name for withdrawn in left_out.values() for name in withdrawn.unknown]
        restored = StudyRestoreResult(
            replace(report, damaged=(*report.damaged, *target.damaged.values())),
            target.counts(),
            sum(withdrawn.responses for withdrawn in left_out.values()),
            backup.report.created if unknown else None,
            tuple(unknown),
            tuple(name for withdrawn in left_out.values() for name in withdrawn.participants),
        )
    for feature in features():
        if feature.backup and feature.name in left_out:
            feature.backup.after_restore(study, left_out[feature.name])
    return replace(restored, pending=describe_pending_erasures(study.root))
