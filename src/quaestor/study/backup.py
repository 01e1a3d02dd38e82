"""A study to one file, and back: its acts, answers, invitations and interviews, as they were at one moment.

Claims to be paid are never in that file: `claim_backups` puts them into one of their own. Interviews are in it as they
lie in their files, sealed; their keys are in no backup.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from quaestor.base.clock import Clock, exact_now, format_file_stamp, format_timestamp
from quaestor.base.errors import InputError
from quaestor.base.files import fsync
from quaestor.store.backup import restore_from
from quaestor.store.backup_file import Backup, open_backup, write_backup
from quaestor.store.database import explained
from quaestor.store.erasure import describe_pending_erasures
from quaestor.store.private_file import DamagedFile, PrivateFile
from quaestor.store.private_file_copy import (
    Part,
    PrivateFileSchema,
    copied,
    digest_of,
    filled,
    is_empty,
    lines_of,
    refill,
    refusal,
)
from quaestor.store.records import BackupReport, RestoreReport
from quaestor.store.schema import head_of, rows
from quaestor.study.contributions import BackupPart, LeftOut, PartCopy
from quaestor.study.features import Feature, backup_parts, features
from quaestor.study.folder import Study, backups_of, open_journal, store_address


@dataclass(frozen=True)
class Returning:
    """One file of the study, and what it is to hold."""

    part: BackupPart
    path: Path
    copy: sqlite3.Connection
    there: sqlite3.Connection | None = None
    """What it holds now, within a transaction that may write; None where there is no file that can be read."""
    lasting: sqlite3.Connection | None = None
    """A copy of that, without what is known to be withdrawn: it has to go from there as well, and is kept nowhere."""

    @cached_property
    def same(self) -> bool:
        return self.there is not None and digest_of(self.there) == digest_of(self.copy)

    @cached_property
    def replaces(self) -> bool:
        """Whether something is there that is neither withdrawn nor what comes back."""
        if self.lasting is None or self.same or (self.there is not None and is_empty(self.there)):
            return False
        return digest_of(self.lasting) != digest_of(self.copy)


@dataclass
class BringingBack:
    """What `restore_from` brings back beside the acts; the study is changed by `bring` alone."""

    returning: list[Returning] = field(default_factory=list)
    damaged: dict[Path, Path] = field(default_factory=dict)
    """Files that cannot be read, and the names under which they are kept."""
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    """By feature, what was withdrawn since the backup was made."""
    _held: ExitStack = field(default_factory=ExitStack)
    _files: list[PrivateFile] = field(default_factory=list)

    def difference(self) -> str:
        for one in self.returning:
            if one.replaces and one.lasting is not None:
                return f"{one.path} holds {one.part.count(one.lasting):,} {one.part.table}, and not those"
        return ""

    def parts(self) -> Sequence[Part]:
        return [
            Part(one.part.name, one.part.form.version, lines_of(one.lasting)) for one in self.returning if one.lasting
        ]

    def bring(self) -> None:
        for path, aside in self.damaged.items():
            # The file itself last: a log that stayed behind would be replayed into the next one.
            for suffix in ("-wal", "-shm", ""):
                part = path.with_name(f"{path.name}{suffix}")
                if part.exists():
                    part.rename(f"{aside}{suffix}")
            fsync(path.parent)
        for one in self.returning:
            if one.same:
                continue
            writing = one.there or self._held.enter_context(self._opened(one.part.form, one.path).erasing(finish=False))
            refill(writing, one.copy)
            for feature in features():
                if feature.backup and one.part in feature.backup.parts:
                    feature.backup.note_withdrawals(one.part, one.path, one.copy)
        self._held.close()
        for file in self._files:
            file.finish_erasure()

    def counts(self) -> dict[str, int]:
        """What the study has now of each kind."""
        return {one.part.counted: one.part.count(one.copy) for one in self.returning}

    def hold(self, form: PrivateFileSchema, path: Path) -> tuple[sqlite3.Connection, sqlite3.Connection] | None:
        """A file of the study, in which nobody else can write meanwhile, and a copy of it; None where it is missing."""
        if not path.exists():
            return None
        file = self._opened(form, path)
        with file.reading() as reading:
            whole = reading.execute("PRAGMA integrity_check").fetchone()[0]
        if whole != "ok":
            raise DamagedFile(f"{path} is damaged ({whole.splitlines()[-1]}): {form.lost}")
        writing = self._held.enter_context(file.erasing(finish=False))
        with file.still() as still:
            return writing, copied(still)

    def _opened(self, form: PrivateFileSchema, path: Path) -> PrivateFile:
        file = form.opened(path)
        self._files.append(file)
        return file

    def end(self, *error: object) -> None:
        """Let go of what is held; what was not brought has not happened."""
        try:
            self._held.__exit__(*error)  # type: ignore[arg-type]
        finally:
            for file in self._files:
                file.close()


@contextmanager
def bringing_back(study: Study, backup: Backup, replace: bool, stamp: str) -> Iterator[BringingBack]:
    """Make and check all copies before the study is looked at, then hold what is there until this ends."""
    if unknown := backup.report.parts.keys() - {part.name for part in backup_parts()}:
        raise InputError(f"{backup.report.file} holds {min(unknown)!r}, which this Quaestor does not know: update it")
    with ExitStack() as copies:
        made = [
            (part, study.root / part.file, copies.enter_context(_copied(study, backup, feature, part)))
            for feature in features()
            if feature.backup
            for part in feature.backup.parts
            if part.name in backup.report.parts
        ]
        acts = {feature.name: _acts_read(feature, backup) for feature in features()}
        bringing = BringingBack()
        copies.push(bringing.end)
        for part, path, copy in made:
            there, lasting = None, None
            try:
                if found := bringing.hold(part.form, path):
                    there, lasting = found[0], copies.enter_context(closing(found[1]))
            except DamagedFile:
                if not replace:
                    raise
                bringing.damaged[path] = path.with_name(f"{path.name}.damaged-{stamp}")
            bringing.returning.append(Returning(part, path, copy, there, lasting))
        by_name = {one.part.name: PartCopy(one.path, one.copy, one.lasting) for one in bringing.returning}
        for feature in features():
            mine = {part.name for part in feature.backup.parts} & by_name.keys() if feature.backup else set()
            if feature.backup and mine:
                held = {name: by_name[name] for name in mine}
                bringing.left_out[feature.name] = feature.backup.leave_out(study, acts[feature.name], held)
        yield bringing


@contextmanager
def _copied(study: Study, backup: Backup, feature: Feature, part: BackupPart) -> Iterator[sqlite3.Connection]:
    source = backup.report.file
    with filled(part.form, backup.report.parts[part.name].version, backup.lines(part.name), source) as copy:
        try:
            if feature.backup:
                feature.backup.check(study, part, copy, source)
        except (ValueError, TypeError, RecursionError) as error:
            raise refusal(source, str(error)) from error
        yield copy


def _acts_read(feature: Feature, backup: Backup) -> Any:
    try:
        return feature.backup.read_acts(backup) if feature.backup else None
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise refusal(backup.report.file, f"an act is no withdrawal: {error}") from error


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
        files = [opened.enter_context(part.form.opened(study.root / part.file)) for part in found]
        opened.enter_context(explained(journal.database))
        with ExitStack() as looked:
            with ExitStack() as held:
                # The journal first, as whoever records an act does whose words lie in one of the files.
                held.enter_context(journal.database.writing())
                for one in files:
                    held.enter_context(one.writing())
                acts = opened.enter_context(journal.database.reading())
                head_of(acts)  # from here on it sees what is there now
                still = [looked.enter_context(one.still()) for one in files]
            copies = [opened.enter_context(closing(copied(one))) for one in still]
        parts = [Part(part.name, part.form.version, lines_of(copy)) for part, copy in zip(found, copies, strict=True)]
        return write_backup(rows(acts), target, format_timestamp(clock()), parts)


def keys_apart(study: Study, report: BackupReport) -> tuple[Path, ...]:
    """The keys without which nobody can read what a backup holds of interviews; it never holds them."""
    keys = {part: key for feature in features() if feature.backup for part, key in feature.backup.keys(study).items()}
    return tuple(key for part, key in keys.items() if part in report.parts)


def restore_study(study: Study, file: Path, replacing: bool = False, clock: Clock = exact_now) -> StudyRestored:
    """What a backup holds into the study: all of it, or nothing; what was withdrawn since stays away.

    What was made here of the words of a participant who withdrew goes too, once all is there.
    """
    with open_backup(file) as backup, bringing_back(study, backup, replacing, format_file_stamp(clock())) as beside:
        report = restore_from(backup, store_address(study), beside, replacing, backups_of(study), clock)
        left_out = beside.left_out
        unknown = [name for one in left_out.values() for name in one.unknown]
        restored = StudyRestored(
            replace(report, damaged=(*report.damaged, *beside.damaged.values())),
            beside.counts(),
            sum(one.responses for one in left_out.values()),
            backup.report.made if unknown else None,
            tuple(unknown),
            tuple(name for one in left_out.values() for name in one.participants),
        )
    for feature in features():
        if feature.backup and feature.name in left_out:
            feature.backup.after_restore(study, left_out[feature.name])
    return replace(restored, pending=describe_pending_erasures(study.root))
