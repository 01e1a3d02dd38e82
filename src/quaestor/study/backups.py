"""A study to one file, and back: its acts, answers, invitations and interviews, as they were at one moment.

Claims to be paid are never in that file: `claim_backups` puts them into one of their own. Interviews are in it as they
lie in their files, sealed; their keys are in no backup.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from quaestor.base.clock import Clock
from quaestor.store.backup import restore_from
from quaestor.store.backup_file import open_backup, write_backup
from quaestor.store.databases import explained
from quaestor.store.moments import exact_now, stamp, written
from quaestor.store.private_copy import Part, copied, lines_of
from quaestor.store.records import BackupReport, RestoreReport
from quaestor.store.tables import head_of, rows
from quaestor.study.bringing_back import BESIDE, bringing_back
from quaestor.study.erasures import describe_pending_erasures
from quaestor.study.folder import Study
from quaestor.study.interviews.files import keys_of
from quaestor.study.interviews.withdrawal import forget_withdrawn
from quaestor.study.journal import backups_of, open_journal, store_address


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
    target = file or backups_of(study) / f"study-{stamp(clock())}.backup"
    with ExitStack() as opened:
        journal = opened.enter_context(open_journal(study, clock))
        found = [(form, study.root / name) for form, name in BESIDE if (study.root / name).exists()]
        files = [opened.enter_context(form.opened(path)) for form, path in found]
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
        parts = [Part(form.name, form.version, lines_of(copy)) for (form, _), copy in zip(found, copies, strict=True)]
        return write_backup(rows(acts), target, written(clock()), parts)


def keys_apart(study: Study, report: BackupReport) -> tuple[Path, ...]:
    """The keys without which nobody can read what a backup holds of interviews; it never holds them."""
    return tuple(key for part, key in keys_of(study).items() if part in report.parts)


def restore_study(study: Study, file: Path, replacing: bool = False, clock: Clock = exact_now) -> StudyRestored:
    """What a backup holds into the study: all of it, or nothing; what was withdrawn since stays away.

    What was made here of the words of a participant who withdrew goes too, once all is there.
    """
    with open_backup(file) as backup, bringing_back(study, backup, replacing, stamp(clock())) as beside:
        report = restore_from(backup, store_address(study), beside, replacing, backups_of(study), clock)
        restored = StudyRestored(
            replace(report, damaged=(*report.damaged, *beside.damaged.values())),
            beside.counts(),
            beside.withdrawn,
            backup.report.made if beside.unknown else None,
            tuple(beside.unknown),
            tuple(sorted(beside.participants.left_out, key=lambda one: int(one.removeprefix("P")))),
        )
        erased, names = beside.participants.erased, beside.participants.names
    forget_withdrawn(study, erased, names)
    return replace(restored, pending=describe_pending_erasures(study.root))
