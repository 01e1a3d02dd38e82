"""A study to one file, and back: its acts, answers, invitations and interviews, as they were at one moment.

Claims to be paid are never in that file: `claim_backups` puts them into one of their own. Interviews are in it as they
lie in their files, sealed; their keys are in no backup.
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
    copy_to_memory,
    compute_digest,
    restore_copy,
    is_empty,
    format_lines,
    replace_content,
    damaged_backup_error,
)
from quaestor.store.records import BackupReport, RestoreReport
from quaestor.store.schema import read_head, read_rows
from quaestor.study.contributions import BackupPart, WithdrawnData, PartCopy
from quaestor.study.features import Feature, backup_parts, features
from quaestor.study.folder import Study, backups_of, open_journal, store_address


@dataclass(frozen=True)
class RestoredPart:
    """One file of the study, and what it is to hold."""

    feature: Feature
    part: BackupPart
    path: Path
    copy: sqlite3.Connection
    """What it shall hold."""


@dataclass(frozen=True)
class PresentPart:
    """What a file of the study holds when it is restored."""

    restored: RestoredPart
    writing: sqlite3.Connection
    """The file itself, within a transaction."""
    kept: sqlite3.Connection
    """A copy of it without what is known to be withdrawn: it has to go from there as well, and is kept nowhere."""

    @cached_property
    def is_same(self) -> bool:
        return compute_digest(self.writing) == compute_digest(self.restored.copy)

    @property
    def is_replaced(self) -> bool:
        """Whether something is there that is neither withdrawn nor restored."""
        if self.is_same or is_empty(self.writing):
            return False
        return compute_digest(self.kept) != compute_digest(self.restored.copy)


class StudyRestore:
    """Implements `store.backup.RestoreTarget`: restores the files next to the journal, which `bring` alone changes."""

    def __init__(self, study: Study, parts: Sequence[RestoredPart], acts: Mapping[str, Any], damaged: str) -> None:
        self._study = study
        self._parts = parts
        self._acts = acts
        self._damaged_suffix = damaged
        """Appended to the names of files that cannot be read; empty where these are refused."""
        self.damaged: dict[Path, Path] = {}
        """Files that cannot be read, and the names under which they are kept."""
        self.left_out: dict[str, WithdrawnData] = {}
        """By feature, what was withdrawn since the backup was made."""
        self._present: dict[str, PresentPart] | None = None
        """By part, what is there; None before it is locked."""
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
                restored.part.name: PartCopy(restored.path, restored.copy, self._kept(restored))
                for restored in self._parts
                if restored.feature is feature
            }
            if feature.backup and mine:
                acts = self._acts[feature.name]
                self.left_out[feature.name] = feature.backup.leave_out(self._study, acts, mine)

    def _lock(self, restored: RestoredPart) -> PresentPart | None:
        """Locks a file until this ends, and copies it; None where there is none."""
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

    def _kept(self, restored: RestoredPart) -> sqlite3.Connection | None:
        present = self._present_part(restored)
        return present.kept if present else None

    def describe_difference(self) -> str:
        for restored in self._parts:
            present = self._present_part(restored)
            if present and present.is_replaced:
                part = restored.part
                return f"{restored.path} holds {part.count(present.kept):,} {part.table}, and not those"
        return ""

    def list_parts(self) -> Sequence[BackupLines]:
        return [
            BackupLines(restored.part.name, restored.part.form.version, format_lines(kept))
            for restored in self._parts
            if (kept := self._kept(restored))
        ]

    def restore(self) -> None:
        for path, aside in self.damaged.items():
            # The file itself last: a log that stayed behind would be replayed into the next one.
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
        """What the study has now of each kind."""
        return {restored.part.counted: restored.part.count(restored.copy) for restored in self._parts}

    def end(self, *error: object) -> None:
        """Release what is locked; what was not brought has not happened."""
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
        raise InputError(f"{backup.report.file} holds {min(unknown)!r}, which this Quaestor does not know: update it")
    with ExitStack() as copies:
        parts = [
            RestoredPart(
                feature, part, study.root / part.file, copies.enter_context(_copied(study, backup, feature, part))
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
def _copied(study: Study, backup: Backup, feature: Feature, part: BackupPart) -> Iterator[sqlite3.Connection]:
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
        raise damaged_backup_error(backup.report.file, f"an act is no withdrawal: {error}") from error


@dataclass(frozen=True)
class StudyRestored:
    """What a restore did, with the acts and beside them."""

    journal: RestoreReport
    beside: dict[str, int]
    """Responses, invitations, entries of interviews and of identities that the study has now, where the backup holds
    such; else it keeps what it has."""
    withdrawn: int
    """Responses of the backup that were left out, since they have been taken back."""
    unknown_since: str | None
    """The moment of the backup, where nothing here says what was withdrawn after it."""
    lists: tuple[str, ...] = ()
    """The lists that would say it."""
    participants: tuple[str, ...] = ()
    """Participants of the backup who were left out, since they have withdrawn."""
    pending: str = ""
    """What was replaced or withdrawn and can still be found in the bytes of a file, in words."""


def back_up_study(study: Study, file: Path | None = None, clock: Clock = exact_now) -> BackupReport:
    """All acts, answers, invitations and interviews to one file, by default one named after this moment.

    Nobody writes while they are looked at, which is an instant; what is written down is what they were then.
    """
    target = file or backups_of(study) / f"study-{format_file_stamp(clock())}.backup"
    with ExitStack() as opened:
        journal = opened.enter_context(open_journal(study, clock))
        found = [part for part in backup_parts() if (study.root / part.file).exists()]
        files = [opened.enter_context(part.form.open(study.root / part.file)) for part in found]
        opened.enter_context(explain_errors(journal.database))
        with ExitStack() as looked:
            with ExitStack() as locks:
                locks.enter_context(journal.database.writing())
                for one in files:
                    locks.enter_context(one.writing())
                acts = opened.enter_context(journal.database.reading())
                read_head(acts)  # from here on it sees what is there now
                still = [looked.enter_context(file.snapshot()) for file in files]
            copies = [opened.enter_context(closing(copy_to_memory(snapshot))) for snapshot in still]
        parts = [BackupLines(part.name, part.form.version, format_lines(copy)) for part, copy in zip(found, copies, strict=True)]
        return write_backup(read_rows(acts), target, format_timestamp(clock()), parts)


def keys_apart(study: Study, report: BackupReport) -> tuple[Path, ...]:
    """The keys without which nobody can read what a backup holds of interviews; it never holds them."""
    keys = {part: key for feature in features() if feature.backup for part, key in feature.backup.keys(study).items()}
    return tuple(key for part, key in keys.items() if part in report.parts)


def restore_study(study: Study, file: Path, replacing: bool = False, clock: Clock = exact_now) -> StudyRestored:
    """What a backup holds into the study: all of it, or nothing; what was withdrawn since stays away.

    What was made here of the words of a participant who withdrew goes too, once all is there.
    """
    with open_backup(file) as backup, prepare_restore(study, backup, replacing, format_file_stamp(clock())) as beside:
        report = restore_backup(backup, store_address(study), beside, replacing, backups_of(study), clock)
        left_out = beside.left_out
        unknown = [name for withdrawn in left_out.values() for name in withdrawn.unknown]
        restored = StudyRestored(
            replace(report, damaged=(*report.damaged, *beside.damaged.values())),
            beside.counts(),
            sum(withdrawn.responses for withdrawn in left_out.values()),
            backup.report.created if unknown else None,
            tuple(unknown),
            tuple(name for withdrawn in left_out.values() for name in withdrawn.participants),
        )
    for feature in features():
        if feature.backup and feature.name in left_out:
            feature.backup.after_restore(study, left_out[feature.name])
    return replace(restored, pending=describe_pending_erasures(study.root))
