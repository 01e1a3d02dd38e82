"""Restores interviews from a backup, without the participants withdrawn since then and without their names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.deidentify.name_forms import KnownName
from quaestor.interviews.free_text import WITHDRAW_ACT
from quaestor.interviews.names.erased_names import ErasedNames, erase_names, list_names_of_participant
from quaestor.interviews.repository import (
    AUDIO,
    AUDIO_FILE,
    IDENTITIES,
    IDENTITIES_FILE,
    INTERVIEWS,
    INTERVIEWS_FILE,
    Interviews,
    list_keys,
    open_copies,
)
from quaestor.interviews.withdrawal import forget_withdrawn
from quaestor.store.backup_file import Backup
from quaestor.store.database import DamagedStore
from quaestor.store.erasure import DAY, ERASED_LIST, PSEUDONYM, ErasedList
from quaestor.store.private_file_copy import is_empty, restore_copy
from quaestor.store.records import Act
from quaestor.store.sealed_file_restore import list_participants, read_erasures, remove_withdrawn, require_valid_copy
from quaestor.study.contributions import BackupPart, PartCopy, WithdrawnData
from quaestor.study.folder import Study, has_journal, open_journal

Copies = Mapping[str, sqlite3.Connection]
"""Copies of the sealed files, by name."""


@dataclass
class WithdrawnParticipants:
    """The known withdrawn participants, and what a restore removed because of them."""

    left_out: set[str] = field(default_factory=set)
    """Participants of the backup who have withdrawn since then."""
    erased: dict[str, set[str]] = field(default_factory=dict)
    """All withdrawn participants, with those of their interviews that were still here."""
    names: dict[str, list[KnownName]] = field(default_factory=dict, repr=False)
    """The names of participants of whom anything was still present_files, by pseudonym."""
    known: bool = True
    """Whether anything here tells who withdrew after the backup was made."""


def remove_withdrawn_participants(
    study: Study, recorded: Mapping[str, str], copies: Copies, present_files: Copies
) -> WithdrawnParticipants:
    """Removes everybody who withdrew, according to the list, the journals or any of the files, from all files.

    Their names are erased from what others said and wrote, as in the withdrawal: an earlier backup has both.
    """
    listed = ErasedList.for_file(study.root / INTERVIEWS_FILE)
    gone = _merge_withdrawals(
        recorded, listed.read(), *(read_erasures(copy) for copy in (*copies.values(), *present_files.values()))
    )
    withdrawn_participants = WithdrawnParticipants(erased={participant: set() for participant in gone})
    withdrawn_participants.known = listed.path.exists() or any(not is_empty(copy) for copy in present_files.values())
    withdrawn_participants.names = _erase_names(study, gone, copies, present_files)
    for copy in copies.values():
        withdrawn_participants.left_out |= remove_withdrawn(copy, gone).keys()
    for copy_here in present_files.values():
        for participant, about in remove_withdrawn(copy_here, gone).items():
            withdrawn_participants.erased[participant] |= {name for name in about if name.split("-")[0] == participant}
    return withdrawn_participants


def _erase_names(
    study: Study, gone: Mapping[str, str], copies: Copies, present_files: Copies
) -> dict[str, list[KnownName]]:
    """Erases the names of withdrawn participants from all files; returns all names known in any of them."""
    opened_copies, names = [], dict[str, list[KnownName]]()
    with ExitStack() as opened:
        for files in (copies, present_files):
            present = {participant for file in files.values() for participant in list_participants(file)} & gone.keys()
            if not present or INTERVIEWS.name not in files:
                continue
            identities = files.get(IDENTITIES.name) or opened.enter_context(restore_copy(IDENTITIES, 1, (), study.root))
            # The present files may have a key that is missing: then nobody here can read or change them.
            with suppress(InputError) if files is present_files else nullcontext():
                interviews_copy = Interviews(None, *open_copies(study, files[INTERVIEWS.name], identities))
                known = {
                    participant: list_names_of_participant(interviews_copy, participant).names
                    for participant in sorted(present)
                }
                opened_copies.append((interviews_copy, known))
        for _, known in opened_copies:
            for participant, known_names in known.items():
                names.setdefault(participant, []).extend(known_names)
        for interviews_copy, known in opened_copies:
            for participant, anywhere in names.items():
                # Ids of other names are assigned per file.
                elsewhere = [name for name in anywhere if name.id == participant]
                erased = ErasedNames(participant, tuple(dict.fromkeys([*known.get(participant, ()), *elsewhere])))
                erase_names(interviews_copy, erased, participant, f"{gone[participant]}T00:00:00+00:00")
    return names


def _read_recorded_withdrawals(study: Study) -> dict[str, str]:
    """Returns who withdrew according to the journal, which may be left when all other files are lost."""
    if not has_journal(study):
        return {}
    try:
        with open_journal(study) as journal:
            return _read_withdrawal_acts(act for act in journal.acts() if act.kind == WITHDRAW_ACT)
    except DamagedStore:  # reported, or set aside, when the acts are restored
        return {}


def _read_withdrawal_acts(acts: Iterable[Act]) -> dict[str, str]:
    dates: dict[str, str] = {}
    for act in acts:
        participant, day = str(act.payload["participant"]), act.time[:10]
        if PSEUDONYM.fullmatch(participant) and DAY.fullmatch(day):
            dates.setdefault(participant, day)
    return dates


def _merge_withdrawals(*known: Mapping[str, str]) -> dict[str, str]:
    """Merges withdrawals, keeping the first day of each."""
    first_days: dict[str, str] = {}
    for days in known:
        for participant, day in days.items():
            first_days[participant] = min(day, first_days.get(participant, day))
    return first_days


class InterviewBackup:
    """Backs up transcripts before identities; both are sealed, and no backup contains their keys."""

    parts = (
        BackupPart(INTERVIEWS, INTERVIEWS_FILE, "interviews", "entries", "entries of interviews"),
        BackupPart(IDENTITIES, IDENTITIES_FILE, "identities", "entries", "of identities"),
        BackupPart(AUDIO, AUDIO_FILE, "audio", "entries", "audio recordings"),
    )

    def keys(self, study: Study) -> Mapping[str, Path]:
        keys = list_keys(study)
        return {**keys, AUDIO.name: keys[INTERVIEWS.name]}

    def check(self, study: Study, part: BackupPart, copy: sqlite3.Connection, source: Path) -> None:
        require_valid_copy(copy, self.keys(study)[part.name], part.name, source)
        ErasedList.for_file(
            study.root / INTERVIEWS_FILE
        ).read()  # an unreadable list is refused before any lock is taken

    def read_acts(self, backup: Backup) -> dict[str, str]:
        """Returns who withdrew according to the acts of a backup."""
        return _read_withdrawal_acts(row.act() for row in backup.read_rows() if row.kind == WITHDRAW_ACT)

    def leave_out(self, study: Study, acts: Mapping[str, str], copies: Mapping[str, PartCopy]) -> WithdrawnData:
        """Remove everybody who withdrew: a participant whom one file knows to have withdrawn is removed from all."""
        present = {name: copy.present for name, copy in copies.items() if copy.present is not None}
        withdrawn = remove_withdrawn_participants(
            study,
            {**_read_recorded_withdrawals(study), **acts},
            {name: copy.copy for name, copy in copies.items()},
            present,
        )
        people = sorted(withdrawn.left_out, key=lambda pseudonym: int(pseudonym.removeprefix("P")))
        return WithdrawnData(participants=people, unknown=[] if withdrawn.known else [ERASED_LIST], details=withdrawn)

    def note_withdrawals(self, part: BackupPart, path: Path, copy: sqlite3.Connection) -> None:
        if part.form is INTERVIEWS:
            ErasedList.for_file(path).add(read_erasures(copy))

    def after_restore(self, study: Study, left_out: WithdrawnData) -> None:
        withdrawn: WithdrawnParticipants = left_out.details
        forget_withdrawn(study, withdrawn.erased, withdrawn.names)
