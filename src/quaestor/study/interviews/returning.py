"""Interviews on their way back from a backup: opened with the keys at hand, without whoever withdrew since."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quaestor.store.backup_file import Backup
from quaestor.store.databases import Damaged
from quaestor.store.erased_list import DAY, PSEUDONYM, ErasedList
from quaestor.store.private_copy import is_empty
from quaestor.store.records import Act
from quaestor.store.sealed_copy import erased_in, leave_out
from quaestor.study.folder import Study
from quaestor.study.interviews.free_text import WITHDRAW_ACT
from quaestor.study.journal import has_journal, open_journal


@dataclass
class WithdrawnParticipants:
    """Who is known to have withdrawn, and what a restore took out on their account."""

    left_out: set[str] = field(default_factory=set)
    """Those of the backup who have withdrawn since."""
    erased: dict[str, set[str]] = field(default_factory=dict)
    """Everybody who withdrew, with the interviews of theirs that were still here."""
    known: bool = True
    """Whether anything here says who withdrew after the backup was made."""


def take_back(
    listed: ErasedList,
    on_record: Mapping[str, str],
    copies: Sequence[sqlite3.Connection],
    there: Sequence[sqlite3.Connection],
) -> WithdrawnParticipants:
    """Take everybody who withdrew, as the list, the journals or any of the files know it, out of all the files."""
    gone = _together(on_record, listed.read(), *(erased_in(one) for one in (*copies, *there)))
    made = WithdrawnParticipants(erased={one: set() for one in gone})
    made.known = listed.path.exists() or any(not is_empty(one) for one in there)
    for copy in copies:
        made.left_out |= leave_out(copy, gone).keys()
    for one in there:
        for participant, about in leave_out(one, gone).items():
            made.erased[participant] |= {name for name in about if name.split("-")[0] == participant}
    return made


def on_record_in(backup: Backup) -> dict[str, str]:
    """Who withdrew as the acts of a backup have it; raises LookupError, TypeError or ValueError where one is none."""
    return _withdrawals(row.act() for row in backup.rows() if row.kind == WITHDRAW_ACT)


def on_record_here(study: Study) -> dict[str, str]:
    """Who withdrew as the journal of the study has it, which may be there when all else is lost."""
    if not has_journal(study):
        return {}
    try:
        with open_journal(study) as journal:
            return _withdrawals(act for act in journal.acts() if act.kind == WITHDRAW_ACT)
    except Damaged:  # whoever restores the acts says so, or sets it aside
        return {}


def _withdrawals(acts: Iterable[Act]) -> dict[str, str]:
    found: dict[str, str] = {}
    for act in acts:
        participant, day = str(act.payload["participant"]), act.time[:10]
        if PSEUDONYM.fullmatch(participant) and DAY.fullmatch(day):
            found.setdefault(participant, day)
    return found


def _together(*known: Mapping[str, str]) -> dict[str, str]:
    """Everybody whom any of them names, with the first day."""
    found: dict[str, str] = {}
    for one in known:
        for participant, day in one.items():
            found[participant] = min(day, found.get(participant, day))
    return found
