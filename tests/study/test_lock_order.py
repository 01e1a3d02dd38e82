"""Locks are always taken in the order that `study.contributions` states."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.coded_interviews import ROUND, coded_study, copy_of, stretch

from quaestor.coding.rating_files import rate
from quaestor.coding.session import open_coding
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.store.private_file import PrivateFile
from quaestor.store.sqlite import SQLite
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.features import backup_parts
from quaestor.study.folder import Study

PROCESS, JOURNAL = "process", "journal"
FILES = [part.file for part in backup_parts()]
ORDER = [PROCESS, JOURNAL, *FILES]


@dataclass
class Locks:
    """Records each lock that a thread takes, and refuses one that comes before a lock it holds already."""

    taken: list[str] = field(default_factory=list)
    _held: list[str] = field(default_factory=list)

    @contextmanager
    def holding(self, name: str, lock: AbstractContextManager[Any]) -> Iterator[Any]:
        assert not self._held or ORDER.index(name) >= max(map(ORDER.index, self._held)), (name, self._held)
        with lock as inside:
            if name not in self._held:
                self.taken.append(name)
            self._held.append(name)
            try:
                yield inside
            finally:
                self._held.remove(name)


class RecordedLock:
    """The lock of a session within its process."""

    def __init__(self, locks: Locks) -> None:
        self._lock, self._locks, self._entered = threading.RLock(), locks, list[AbstractContextManager[None]]()

    def __enter__(self) -> None:
        holding = self._locks.holding(PROCESS, self._lock)
        holding.__enter__()
        self._entered.append(holding)

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with a coded round over a transcript and with every private file."""
    study = coded_study(tmp_path_factory.mktemp("made"))
    for part in backup_parts():
        part.form.open(study.root / part.file).close()
    return study


@pytest.fixture
def study(study_template: Study, tmp_path: Path) -> Study:
    return copy_of(study_template, tmp_path / "study")


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> Locks:
    locks = Locks()
    journal_writing, file_transaction = SQLite.writing, PrivateFile._transaction
    monkeypatch.setattr("quaestor.study.session.threading", SimpleNamespace(RLock=lambda: RecordedLock(locks)))
    monkeypatch.setattr(SQLite, "writing", lambda database: locks.holding(JOURNAL, journal_writing(database)))
    monkeypatch.setattr(PrivateFile, "_transaction", lambda file: locks.holding(file.path.name, file_transaction(file)))
    return locks


def test_an_act_with_free_text_takes_locks_in_order(study: Study, locks: Locks) -> None:
    with open_coding(study) as coding:
        locks.taken.clear()
        rate(coding, ROUND, "rater-1", "P1/00001", {"themes": [stretch(0, 25, "indicator", memo="a memo")]})
        assert locks.taken[-3:] == [PROCESS, JOURNAL, "interviews.db"]


def test_a_withdrawal_takes_locks_in_order(study: Study, locks: Locks) -> None:
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    assert {PROCESS, JOURNAL, "interviews.db", "identities.db"} <= set(locks.taken)


def test_a_backup_and_a_restore_take_locks_in_order(study: Study, locks: Locks, tmp_path: Path) -> None:
    backup = back_up_study(study, tmp_path / "one.backup").file
    assert locks.taken == [JOURNAL, *FILES]
    locks.taken.clear()
    restore_study(study, backup)
    assert locks.taken == [JOURNAL, *FILES]
