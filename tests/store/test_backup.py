"""Backups restore all acts into both databases; a damaged one restores nothing."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError
from tests.support.postgres import new_database
from tests.support.store_backup import back_up, restore

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.store.backup_file import open_backup
from quaestor.store.journal import Journal
from quaestor.store.records import Act, NewAct


def notes(number: int, word: str = "note") -> list[NewAct]:
    return [NewAct("note", "änn", {"text": f"{word} {index} \0 😀", "\ud800": None}, index) for index in range(number)]


def acts_of(address: str | Path) -> list[Act]:
    with Journal.open(address) as journal:
        return list(journal.acts())


@pytest.fixture(params=["sqlite", "postgresql"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """A second store, so that every way between the databases is tried."""
    if request.param == "sqlite":
        return tmp_path / "other.db"
    return new_database(request.getfixturevalue("postgresql_server"))


@pytest.fixture
def backup(journal: Journal, tmp_path: Path) -> Path:
    """Of a store with 2,100 acts, more than a page."""
    journal.append(notes(2100))
    return back_up(journal, tmp_path / "one.backup").file


def test_a_restored_backup_has_every_act_unchanged(journal: Journal, backup: Path, other: str | Path) -> None:
    report = restore(backup, other)
    assert (report.acts, report.added, report.kept) == (2100, 2100, None)
    assert acts_of(other) == list(journal.acts())
    assert restore(backup, other).added == 0
    with Journal.open(other) as restored:
        assert restored.append([NewAct("note", "r1", {})])[0].number == 2101


def test_the_same_acts_have_the_same_hash_in_both_databases(
    journal: Journal, backup: Path, other: str | Path, tmp_path: Path
) -> None:
    restore(backup, other)
    first = back_up(journal, tmp_path / "two.backup")
    with Journal.open(other) as restored:
        second = back_up(restored, tmp_path / "three.backup")
    assert (first.sha256, first.acts) == (second.sha256, second.acts)


def test_a_backup_is_one_file_without_leftover_files(backup: Path) -> None:
    restore(backup, backup.with_name("new.db"))
    assert [path.name for path in backup.parent.iterdir() if "backup" in path.name] == ["one.backup"]


def test_an_empty_journal_can_be_backed_up(journal: Journal, other: str | Path, tmp_path: Path) -> None:
    assert back_up(journal, tmp_path / "backups" / "empty.backup").acts == 0
    assert restore(tmp_path / "backups" / "empty.backup", other).acts == 0


def test_a_backup_never_overwrites(journal: Journal, backup: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(InputError, match="already exists: name another file"):
        back_up(journal, backup)
    assert backup.read_bytes() == before


def test_a_backup_is_consistent_while_others_write(journal: Journal, tmp_path: Path) -> None:
    journal.append(notes(500))
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            journal.append(notes(3))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        reports = [back_up(journal, tmp_path / f"{number}.backup") for number in range(5)]
    finally:
        ended.set()
        writer.join()
    everything = list(journal.acts())
    for report in reports:
        assert (report.acts - 500) % 3 == 0
        restore(report.file, tmp_path / f"{report.file.name}.db")
        assert acts_of(tmp_path / f"{report.file.name}.db") == everything[: report.acts]


def test_a_store_with_the_first_acts_of_the_backup_gets_the_rest(
    journal: Journal, other: str | Path, tmp_path: Path
) -> None:
    journal.append(notes(10))
    restore(back_up(journal, tmp_path / "one.backup").file, other)
    journal.append(notes(5))
    report = restore(back_up(journal, tmp_path / "two.backup").file, other)
    assert (report.acts, report.added) == (15, 5)
    assert acts_of(other) == list(journal.acts())


@pytest.mark.parametrize("also", [0, 2100], ids=["other acts", "later acts"])
def test_a_store_with_other_acts_is_refused_or_kept_and_replaced(
    journal: Journal, backup: Path, other: str | Path, tmp_path: Path, also: int
) -> None:
    if also:
        restore(backup, other)
    with Journal.open(other) as store:
        store.append(notes(7, "other"))
    there = acts_of(other)
    with pytest.raises(
        StateError, match=f"from act {also + 1:,} on other ones than .*restore with --replace"
    ) as refused:
        restore(backup, other)
    assert "\n" not in str(refused.value)
    assert acts_of(other) == there

    report = restore(backup, other, replace=True, backups=tmp_path / "kept")
    assert (report.acts, report.added) == (2100, 2100)
    assert acts_of(other) == list(journal.acts())
    assert report.kept is not None
    assert report.kept.parent == tmp_path / "kept"
    restore(report.kept, tmp_path / "again.db")
    assert acts_of(tmp_path / "again.db") == there


def test_acts_are_protected_again_after_a_restore(backup: Path, other: str | Path, tmp_path: Path) -> None:
    with Journal.open(other) as store:
        store.append(notes(1, "other"))
    restore(backup, other, replace=True, backups=tmp_path / "kept")
    for statement in ("UPDATE acts SET actor = 'r4'", "DELETE FROM acts"):
        with (
            Journal.open(other) as store,
            pytest.raises(DBAPIError, match="never"),
            store.database.writing() as connection,
        ):
            connection.exec_driver_sql(statement)


def test_an_open_journal_sees_and_continues_a_restored_store(backup: Path, other: str | Path, tmp_path: Path) -> None:
    with Journal.open(other) as open_before:
        open_before.append(notes(1, "other"))
        restore(backup, other, replace=True, backups=tmp_path / "kept")
        assert open_before.append(notes(1, "later"))[0].number == 2101
    assert len(acts_of(other)) == 2101


def flip(content: bytearray, chance: random.Random) -> bytes:
    """One bit of one act."""
    at = content.index(b"note %d " % chance.randrange(1000, 2000))
    content[at] ^= 1
    return bytes(content)


DAMAGE: dict[str, Callable[[bytearray, random.Random], bytes]] = {
    "empty": lambda content, chance: b"",
    "text": lambda content, chance: b"not a backup" * 1000,
    "cut short": lambda content, chance: bytes(content[: len(content) // 2]),
    "cut at the end": lambda content, chance: bytes(content[:-1]),
    "a flipped bit": flip,
    "a page of zeros": lambda content, chance: bytes(content[:8192] + b"\0" * 4096 + content[12288:]),
    "no header": lambda content, chance: b"\0" * 100 + bytes(content[100:]),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_backup_is_refused_and_the_store_is_unchanged(tmp_path: Path, damage: str) -> None:
    with Journal.open(tmp_path / "study.db") as journal:
        journal.append(notes(2100))
        backup = back_up(journal, tmp_path / "one.backup").file
    backup.write_bytes(DAMAGE[damage](bytearray(backup.read_bytes()), random.Random(3)))
    with Journal.open(tmp_path / "other.db") as store:
        store.append(notes(2, "other"))
    there = acts_of(tmp_path / "other.db")
    for replace in (False, True):
        with pytest.raises(InputError, match=r"damaged|not a backup") as refused:
            restore(backup, tmp_path / "other.db", replace=replace)
        assert "\n" not in str(refused.value)
    assert acts_of(tmp_path / "other.db") == there
    assert not list(tmp_path.glob("other.db.*"))


def test_a_backup_with_changed_bytes_never_restores_other_acts(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "study.db") as journal:
        journal.append(notes(200))
        backup = back_up(journal, tmp_path / "one.backup").file
        recorded = list(journal.acts())
    whole, chance = backup.read_bytes(), random.Random(11)
    for number in range(150):
        content = bytearray(whole)
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        backup.write_bytes(content)
        try:
            with open_backup(backup) as opened:
                found = [row.act() for row in opened.read_rows()]
        except InputError as refused:
            assert "\n" not in str(refused), number
        else:
            assert found == recorded, number


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("DELETE FROM acts WHERE number = 3", "act 3 is missing"),
        ("DELETE FROM acts WHERE number = 10", "its SHA-256 differs"),
        ("UPDATE acts SET actor = 'r4' WHERE number = 3", "its SHA-256 differs"),
        ("DELETE FROM backup", "its SHA-256 differs"),
        ("DROP TABLE acts", "is not a backup of Quaestor"),
        ("PRAGMA user_version = 3", "written by a newer Quaestor"),
        ("PRAGMA application_id = 7", "is not a backup of Quaestor"),
    ],
)
def test_a_manipulated_backup_is_refused(tmp_path: Path, statement: str, expected: str) -> None:
    with Journal.open(tmp_path / "study.db") as journal:
        journal.append(notes(10))
        backup = back_up(journal, tmp_path / "one.backup").file
    with closing(sqlite3.connect(backup, isolation_level=None)) as connection:
        connection.execute(statement)
    with pytest.raises(InputError, match=expected):
        restore(backup, tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()


def test_a_missing_backup_is_refused(tmp_path: Path) -> None:
    for file in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="is not a file: name a backup"):
            restore(file, tmp_path / "other.db")


def test_a_damaged_store_is_set_aside_and_restored(tmp_path: Path) -> None:
    file = tmp_path / "study.db"
    with Journal.open(file) as journal:
        journal.append(notes(500))
        backup = back_up(journal, tmp_path / "one.backup").file
        recorded = list(journal.acts())
    whole = file.read_bytes()
    for damaged in (b"x" * 9000, whole[:8192] + b"\xff" * 8192 + whole[16384:]):
        file.write_bytes(damaged)
        with pytest.raises(QuaestorError, match=r"damaged.*quaestor restore FILE --replace"):
            restore(backup, file)
        assert file.read_bytes() == damaged
        report = restore(backup, file, replace=True)
        assert report.kept is not None
        assert report.kept.read_bytes() == damaged
        assert acts_of(file) == recorded


def test_a_failed_restore_changes_nothing(
    backup: Path, other: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal.open(other) as store:
        store.append(notes(2, "other"))
    there = acts_of(other)

    def fail(*given: object) -> None:
        raise OSError(os.strerror(5))

    monkeypatch.setattr("quaestor.store.backup._verify", fail)
    with pytest.raises(OSError, match="error"):
        restore(backup, other, replace=True, backups=tmp_path / "kept")
    assert acts_of(other) == there


def test_a_backup_that_cannot_be_verified_is_removed(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(notes(3))
    monkeypatch.setattr("quaestor.store.backup_file.fsync", lambda path: path.write_bytes(path.read_bytes()[:5000]))
    with pytest.raises(QuaestorError, match=r"damaged|could not be verified"):
        back_up(journal, tmp_path / "one.backup")
    assert not [path for path in tmp_path.iterdir() if "backup" in path.name]
